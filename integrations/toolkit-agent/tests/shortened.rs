//! Conversations that are shortened between runs.

use crate::support::{agent, assert_sendable};
use proptest::prelude::*;
use serde::Deserialize;
use toolkit_agent::session::MemoryStore;
use toolkit_agent::{Agent, Conversation, Message, ModelRequest, ModelResponse, ScriptedModel, Sessions};
use toolkit_core::ToolCall;
use toolkit_core::schemars::JsonSchema;

/// Creates an agent that calls a tool, and then answers with a long text.
fn talkative() -> Agent {
    let model = ScriptedModel::new().fallback(|request: &ModelRequest| {
        Ok(match request.messages.last() {
            Some(Message::Tool(_)) => ModelResponse::text("An answer. ".repeat(100)),
            _ => ModelResponse::calls([ToolCall::new("1", "add", r#"{"a": 1, "b": 2}"#)]),
        })
    });
    agent(model).build().unwrap()
}

#[derive(Debug, Clone)]
enum Step {
    Run,
    Push,
    Keep(usize),
    Save,
    /// A save that the store refuses.
    Refused,
    Load,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        Just(Step::Run),
        Just(Step::Push),
        (0..9_usize).prop_map(Step::Keep),
        Just(Step::Save),
        Just(Step::Refused),
        Just(Step::Load),
    ]
}

/// Returns what a program sees of a conversation.
fn view(conversation: &Conversation) -> (Vec<Message>, Vec<bool>, Option<Vec<Message>>) {
    let times =
        (0..conversation.messages().len()).map(|index| conversation.time_of(index).is_some()).collect();
    let run = conversation.latest_run().map(|run| run.messages.to_vec());
    (conversation.messages().to_vec(), times, run)
}

proptest! {
    #![proptest_config(crate::support::cases(256))]

    #[test]
    fn a_shortened_conversation_is_saved_as_it_is(steps in prop::collection::vec(step(), 0..20)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(check(&steps))?;
    }
}

async fn check(steps: &[Step]) -> Result<(), TestCaseError> {
    let store = MemoryStore::new();
    let sessions = Sessions::new(store.clone());
    let agent = talkative();
    let mut conversation = sessions.open("ada", "1").await.unwrap();
    sessions.save(&mut conversation).await.unwrap();
    let deep = |levels| (0..levels).fold(serde_json::Value::Null, |inner, _| vec![inner].into());
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Run => drop(agent.run_in(&mut conversation, format!("question {number}")).await.unwrap()),
            Step::Push => conversation.push(Message::user(format!("message {number}"))),
            Step::Keep(max) => conversation.keep_latest(*max),
            Step::Save => sessions.save(&mut conversation).await.unwrap(),
            Step::Refused => {
                let set = |value| conversation.session().apply(&[("deep".to_owned(), value)].into());
                set(Some(deep(200)));
                prop_assert!(sessions.save(&mut conversation).await.is_err());
                conversation.session().apply(&[("deep".to_owned(), None)].into());
            }
            Step::Load => {
                sessions.save(&mut conversation).await.unwrap();
                let loaded = sessions.open("ada", "1").await.unwrap();
                prop_assert_eq!(view(&loaded), view(&conversation));
                conversation = loaded;
            }
        }
    }
    sessions.save(&mut conversation).await.unwrap();
    prop_assert_eq!(view(&sessions.open("ada", "1").await.unwrap()), view(&conversation));
    assert_sendable(&conversation);
    Ok(())
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Door {
    colour: String,
}

/// Checks that the request has no call of a tool that it does not define.
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
                    agent.run_in(&mut conversation, "question").await.unwrap();
                }
                conversation.keep_latest(max);
                let model = ScriptedModel::new().call("final_answer", r#"{"colour": "blue"}"#);
                let typed = crate::support::agent(model).build().unwrap();
                typed.run_as_in::<Door>(&mut conversation, "Which colour?").await.unwrap();
                for _ in 0..after {
                    conversation.push(Message::user("Well."));
                    conversation.push(Message::assistant("Well."));
                }
                conversation.keep_latest(max);
                let model = ScriptedModel::new().text("done").text("done");
                let plain = crate::support::agent(model.clone()).build().unwrap();
                plain.run_in(&mut conversation, "And now?").await.unwrap();
                conversation.keep_latest(max);
                plain.run_in(&mut conversation, "And now?").await.unwrap();
                model.requests().iter().for_each(|request| assert_defined(request, &case));
            }
        }
    }
}
