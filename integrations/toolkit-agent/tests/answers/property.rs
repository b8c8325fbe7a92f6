//! After an invalid answer in a typed run, no tool runs.

use super::{City, OSLO, oslo, pay};
use crate::support::assert_sendable;
use crate::support::{Form, Formed as _};
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use toolkit_agent::{Agent, AgentError, Conversation};
use toolkit_core::{ToolCall, ToolChoice};
use toolkit_llm::model::answer::AnswerMode;
use toolkit_llm::{Message, ModelError, ModelRequest, ModelResponse, ScriptedModel};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    Text(&'static str),
    Answer(&'static str),
    Pay,
    Unknown,
    Refusal,
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        Just(Part::Text(OSLO)),
        Just(Part::Text("Oslo, I think.")),
        Just(Part::Answer(OSLO)),
        Just(Part::Answer(r#"{"name": 7}"#)),
        Just(Part::Answer("{")),
        Just(Part::Pay),
        Just(Part::Unknown),
        Just(Part::Refusal),
    ]
}

fn mode() -> impl Strategy<Value = Option<AnswerMode>> {
    prop::sample::select(vec![None, Some(AnswerMode::Native), Some(AnswerMode::Tool), Some(AnswerMode::Text)])
}

fn response(parts: &[Part], number: usize) -> Result<ModelResponse, ModelError> {
    let call = |(index, part): (usize, &Part)| {
        let (name, arguments) = match part {
            Part::Answer(arguments) => ("final_answer", *arguments),
            Part::Pay => ("pay", "{}"),
            Part::Unknown => ("no_such_tool", "{}"),
            _ => return None,
        };
        Some(ToolCall::new(format!("{number}_{index}"), name, arguments))
    };
    if parts.contains(&Part::Refusal) {
        return Err(ModelError::from_status(400, "no"));
    }
    let mut response = ModelResponse::calls(parts.iter().enumerate().filter_map(call));
    for part in parts {
        if let Part::Text(text) = part {
            response.message.text.push_str(text);
        }
    }
    Ok(response)
}

/// Returns whether the request asks only for the answer.
fn is_repair(request: &ModelRequest) -> bool {
    matches!(request.tool_use.choice, ToolChoice::None | ToolChoice::Tool(_))
}

proptest! {
    #![proptest_config(crate::support::cases(256))]

    #[test]
    fn nothing_runs_after_an_invalid_answer(
        script in prop::collection::vec(prop::collection::vec(part(), 1..4), 1..7),
        mode in mode(),
        streaming in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let paid = Arc::<AtomicU32>::default();
            let repairs = Arc::<AtomicBool>::default();
            let late = Arc::<AtomicU32>::default();
            let mut model = ScriptedModel::new();
            for (number, parts) in script.iter().enumerate() {
                let parts = parts.clone();
                let paid = paid.clone();
                let repairs = repairs.clone();
                let late = late.clone();
                model = match response(&parts, number) {
                    Err(error) => model.error(error),
                    Ok(response) => model.respond_with(move |request| {
                        // The tool ran between the first request for a repair and this one.
                        if is_repair(request) && !repairs.swap(true, Ordering::Relaxed) {
                            late.store(paid.load(Ordering::Relaxed), Ordering::Relaxed);
                        }
                        response.clone()
                    }),
                };
            }
            let agent = Agent::builder(model.clone()).tools(pay(&paid)).streaming(streaming).build().unwrap();
            let structured = Form { mode, ..Form::new() };
            let mut conversation = Conversation::new("1");
            let ended =
                agent.run("Which?").on(&mut conversation).typed::<City>().form(structured).await;
            assert_sendable(&conversation);
            if repairs.load(Ordering::Relaxed) {
                prop_assert_eq!(paid.load(Ordering::Relaxed), late.load(Ordering::Relaxed));
            }
            // After the first repair, every request asks only for the answer.
            let requests = model.requests();
            let first = requests.iter().position(is_repair).unwrap_or(requests.len());
            prop_assert!(requests[first..].iter().all(is_repair));
            prop_assert!(requests.len() - first <= 3, "{} repairs", requests.len() - first);
            // Some providers refuse calls of undefined tools.
            for request in &requests {
                for message in &request.messages {
                    let Message::Assistant(said) = message else { continue };
                    for call in said.calls.iter().filter(|call| call.name == said.answer_tool) {
                        prop_assert!(request.tools.contains(&call.name), "{:?}", request.messages);
                    }
                }
            }
            let later = ScriptedModel::new().text("Bye.");
            let other = Agent::builder(later.clone()).build().unwrap();
            other.run("Thanks.").on(&mut conversation.clone()).await.unwrap();
            for message in &later.requests()[0].messages {
                let Message::Assistant(said) = message else { continue };
                prop_assert!(said.calls.iter().all(|call| call.name != said.answer_tool), "{said:?}");
            }
            match ended.map_err(AgentError::from) {
                Ok(answer) => {
                    prop_assert_eq!(answer.value, oslo());
                    prop_assert_eq!(&*answer.output.messages, conversation.messages());
                }
                Err(AgentError::InvalidOutput(_) | AgentError::Model(_)) => {}
                Err(error) => prop_assert!(false, "{error}"),
            }
            Ok(())
        })?;
    }
}
