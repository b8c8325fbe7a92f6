//! Conversations that are shortened between runs.

use crate::support::agent;
use serde::Deserialize;
use toolkit_agent::{Agent, Conversation};
use toolkit_core::ToolCall;
use toolkit_core::schemars::JsonSchema;
use toolkit_llm::{Message, ModelRequest, ModelResponse, ScriptedModel};

fn talkative() -> Agent {
    let model = ScriptedModel::new().fallback(|request: &ModelRequest| {
        Ok(match request.messages.last() {
            Some(Message::Tool(_)) => ModelResponse::text("An answer. ".repeat(100)),
            _ => ModelResponse::calls([ToolCall::new("1", "add", r#"{"a": 1, "b": 2}"#)]),
        })
    });
    agent(model).build().unwrap()
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Door {
    colour: String,
}

/// Checks that the request defines the tools of its calls.
fn assert_defined(request: &ModelRequest, case: &str) {
    for message in request.messages.iter() {
        let Message::Assistant(said) = message else { continue };
        for call in &said.calls {
            assert!(request.tools.get(&call.name).is_some(), "{case}: {call:?}");
        }
    }
}

#[tokio::test]
async fn an_answer_in_a_shortened_conversation_is_no_call_of_an_undefined_tool() {
    for before in 0..3 {
        for after in 0..3 {
            for max in [1, 3, 5, 8] {
                let case = format!("{before} runs before, {after} after, {max} messages are kept");
                let mut conversation = Conversation::new("1");
                let agent = talkative();
                for _ in 0..before {
                    agent.run("question").on(&mut conversation).await.unwrap();
                }
                conversation.keep_latest(max);
                let model = ScriptedModel::new().call("final_answer", r#"{"colour": "blue"}"#);
                let typed = crate::support::agent(model).build().unwrap();
                typed.run("Which colour?").on(&mut conversation).typed::<Door>().await.unwrap();
                for _ in 0..after {
                    conversation.push(Message::user("Well."));
                    conversation.push(Message::assistant("Well."));
                }
                conversation.keep_latest(max);
                let model = ScriptedModel::new().text("done").text("done");
                let plain = crate::support::agent(model.clone()).build().unwrap();
                plain.run("And now?").on(&mut conversation).await.unwrap();
                conversation.keep_latest(max);
                plain.run("And now?").on(&mut conversation).await.unwrap();
                model.requests().iter().for_each(|request| assert_defined(request, &case));
            }
        }
    }
}
