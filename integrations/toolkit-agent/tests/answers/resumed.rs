//! Typed answers after a crash: a new program continues each save.

use super::{BAD, City, Nothing, OSLO, oslo, pay};
use crate::support::{Form, Formed as _};
use crate::support::{assert_sendable, reloaded, store_of, transcript};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use toolkit_agent::session::{ConversationKey, ConversationStore, MemoryStore};
use toolkit_agent::team::ParallelAgent;
use toolkit_agent::{Agent, AgentError, Limits, Sessions};
use toolkit_core::{ClosureTool, ToolCall, ToolRegistry};
use toolkit_llm::model::answer::AnswerMode;
use toolkit_llm::{ModelResponse, ScriptedModel};

/// Returns a store for each prefix of the log.
async fn crashes(store: &MemoryStore) -> Vec<Sessions> {
    let log = store.load(ConversationKey { user: "ada", id: "1" }).await.unwrap().unwrap();
    let mut prefixes = Vec::new();
    for saves in 1..=log.entries.len() {
        prefixes.push(Sessions::new(store_of(&log.entries[..saves]).await));
    }
    prefixes
}

fn repeatable(paid: &Arc<AtomicU32>) -> ToolRegistry {
    let paid = paid.clone();
    let pay = ClosureTool::new("pay", "Pays.", move |_: Nothing| {
        paid.fetch_add(1, Ordering::Relaxed);
        "paid"
    });
    ToolRegistry::from_tools([pay.unwrap().map_metadata(|metadata| metadata.with_idempotent(true))]).unwrap()
}

#[tokio::test]
async fn a_refused_call_does_not_run_after_a_crash() {
    // The call is refused because of an invalid answer before it, or the limit of tool calls.
    for is_limited in [false, true] {
        for streaming in [false, true] {
            let paid = Arc::<AtomicU32>::default();
            let agent = |model: ScriptedModel, limits: Limits| {
                let builder = Agent::builder(model).tools(repeatable(&paid)).streaming(streaming);
                builder.limits(limits).build().unwrap()
            };
            let model = ScriptedModel::new();
            let (model, limits) = if is_limited {
                (model.call("pay", "{}"), Limits::default().with_max_tool_calls(0))
            } else {
                (model.call("final_answer", BAD).call("pay", "{}"), Limits::default())
            };
            let model = model.then().call("final_answer", OSLO);
            let store = MemoryStore::new();
            let sessions = Sessions::new(store.clone());
            let mut conversation = sessions.user("ada").conversation("1").open().await.unwrap();
            let agent_before = agent(model, limits);
            agent_before.run("Which?").on(&mut conversation).typed::<City>().await.unwrap();
            let prefixes = crashes(&store).await;
            assert!(prefixes.len() > 3);
            for (saves, sessions) in prefixes.into_iter().enumerate() {
                let model = ScriptedModel::new()
                    .fallback(|_| Ok(ModelResponse::calls([ToolCall::new("last", "final_answer", OSLO)])));
                let mut conversation = sessions.user("ada").conversation("1").open().await.unwrap();
                let mut untyped = reloaded(&conversation);
                let answer =
                    agent(model, Limits::default()).resume(&mut conversation).typed::<City>().await.unwrap();
                assert_eq!(answer.value, oslo());
                // Without the type, the call does not run either.
                let model = ScriptedModel::new().fallback(|_| Ok(ModelResponse::text("Oslo.")));
                agent(model, Limits::default()).resume(&mut untyped).await.unwrap();
                assert_sendable(&untyped);
                let lines = transcript(conversation.messages());
                assert_eq!(paid.load(Ordering::Relaxed), 0, "{is_limited} {streaming} {saves}: {lines:?}");
                assert_sendable(&conversation);
            }
        }
    }
}

/// The ways of an answer that is never valid.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Text,
    Call,
    Parallel,
}

impl Way {
    /// Creates an agent with answers numbered from `first`.
    fn agent(self, first: usize) -> (Agent, ScriptedModel) {
        let number = Arc::new(std::sync::atomic::AtomicUsize::new(first));
        let model = ScriptedModel::new().fallback(move |_| {
            let text = format!("answer-{}", number.fetch_add(1, Ordering::Relaxed));
            Ok(match self {
                Self::Call => ModelResponse::calls([ToolCall::new(
                    text.as_str(),
                    "final_answer",
                    format!(r#"{{"name": "{text}"}}"#),
                )]),
                _ => ModelResponse::text(text),
            })
        });
        let builder = Agent::builder(model.clone()).name("one");
        let agent = match self {
            Self::Call => builder.tools(pay(&Arc::default())),
            _ => builder,
        };
        let agent = agent.build().unwrap();
        match self {
            Self::Parallel => (ParallelAgent::new("team", [agent]).into(), model),
            _ => (agent, model),
        }
    }

    fn form(self) -> Form {
        let form = Form::new().with_attempts(ATTEMPTS);
        if self == Self::Text { form.with_mode(AnswerMode::Text) } else { form }
    }
}

const ATTEMPTS: u32 = 4;

#[tokio::test]
async fn the_number_of_answers_is_limited_across_crashes() {
    for way in [Way::Text, Way::Call, Way::Parallel] {
        let store = MemoryStore::new();
        let sessions = Sessions::new(store.clone());
        let (agent, model) = way.agent(1);
        let mut conversation = sessions.user("ada").conversation("1").open().await.unwrap();
        let ended = agent.run("Which?").on(&mut conversation).typed::<City>().form(way.form()).await;
        assert!(matches!(ended.unwrap_err().error, AgentError::InvalidOutput(_)));
        assert_eq!(model.requests().len(), ATTEMPTS as usize);
        let prefixes = crashes(&store).await;
        let last = prefixes.len() - 1;
        for (saves, sessions) in prefixes.into_iter().enumerate() {
            let mut conversation = sessions.user("ada").conversation("1").open().await.unwrap();
            let saved = serde_json::to_string(&conversation).unwrap();
            let given = (1..=ATTEMPTS).filter(|number| saved.contains(&format!("answer-{number}"))).count();
            let (agent, model) = way.agent(given + 1);
            let ended = agent.resume(&mut conversation).typed::<City>().form(way.form()).await;
            let error = ended.unwrap_err();
            assert!(matches!(error.error, AgentError::InvalidOutput(_)), "{way:?} {saves}: {error:?}");
            let requests = model.requests().len();
            match saves == last {
                // The run has failed, and the program asks for new answers.
                true => assert!(requests > 1, "{way:?} {saves}"),
                false => assert_eq!(requests, ATTEMPTS as usize - given, "{way:?} {saves}: {given} given"),
            }
            // A run has the messages of all attempts.
            let lines = transcript(&error.output.messages);
            assert_eq!(lines[0], "user: Which?", "{way:?} {saves}: {lines:?}");
            assert_eq!(error.output.messages.len(), conversation.messages().len());
        }
    }
}
