//! The ids of pending calls, whatever ids the provider gives to calls.

use crate::support::Nothing;
use proptest::prelude::*;
use std::collections::BTreeSet;
use toolkit_agent::team::ParallelAgent;
use toolkit_agent::{
    Agent, AgentError, AgentOutput, Conversation, Message, ModelRequest, ModelResponse, PendingCall, Run,
    RunAgent, RunEvent, RunOptions, RunStream, ScriptedModel, Sessions,
};
use toolkit_core::{ClosureTool, ToolCall, ToolError, ToolRegistry};

/// Ids that repeat, and that look like the key of another call.
const IDS: [&str; 5] = ["x", "y", "x#2", "x/x", "0/x"];

/// The most calls of `ask` after one input: two turns of three calls in each of three agents.
const MAX_ASKED: usize = 6 * 6 * 6;

type Turn = Vec<(&'static str, &'static str)>;

fn turns(tools: &'static [&'static str]) -> impl Strategy<Value = Vec<Turn>> {
    let call = (prop::sample::select(&IDS), prop::sample::select(tools));
    prop::collection::vec(prop::collection::vec(call, 1..4), 1..3)
}

/// Creates an agent that makes these calls after each input, with the tool `ask` and these agents as tools.
fn agent(name: &str, turns: Vec<Turn>, below: &[Agent]) -> Agent {
    let ask = ClosureTool::new("ask", "Asks.", |_: Nothing| Err::<(), _>(ToolError::question("Which?")));
    let mut tools = ToolRegistry::from_tools([ask.unwrap()]).unwrap();
    for agent in below {
        tools.register(agent.to_tool().unwrap()).unwrap();
    }
    let model = ScriptedModel::new().fallback(move |request: &ModelRequest| {
        let latest = request.messages.iter().rev().take_while(|message| !matches!(message, Message::User(_)));
        let turn = latest.filter(|message| matches!(message, Message::Tool(_))).count();
        Ok(match turns.get(turn) {
            None => ModelResponse::text("Done."),
            Some(calls) => ModelResponse::calls(calls.iter().map(|(id, tool)| {
                let arguments = if *tool == "ask" { "{}" } else { r#"{"request": "Help."}"# };
                ToolCall::new(*id, *tool, arguments)
            })),
        })
    });
    Agent::builder(model).name(name).tools(tools).build().unwrap()
}

/// An agent that removes old messages before it begins. In a parallel group, it works on a copy.
struct Shortening(Agent, usize);

impl RunAgent for Shortening {
    fn name(&self) -> &str {
        "shortening"
    }

    async fn run(&self, conversation: &mut Conversation, run: &Run) -> Result<AgentOutput, AgentError> {
        if conversation.pending().is_empty() {
            conversation.keep_latest(self.1);
        }
        self.0.join_run(conversation, run).await
    }
}

/// Runs to the end. Returns the pending calls, and checks that the events have their ids.
async fn ended(mut events: RunStream<'_>) -> Result<Vec<PendingCall>, TestCaseError> {
    let mut emitted = BTreeSet::new();
    while let Some(event) = events.next().await {
        match event {
            Ok(RunEvent::CallPending { id, .. }) => prop_assert!(emitted.insert(id.clone()), "{id} again"),
            Ok(_) => {}
            Err(error) => match error.error {
                AgentError::Interrupted { pending, .. } => {
                    // A call that waits for a called agent is not decided itself.
                    let ids: BTreeSet<String> = pending.iter().map(|call| call.id.clone()).collect();
                    prop_assert_eq!(ids.len(), pending.len(), "{:?}", pending);
                    let is_around =
                        |id: &String| ids.iter().any(|inner| inner.starts_with(&format!("{id}/")));
                    emitted.retain(|id| !is_around(id));
                    prop_assert!(emitted.is_subset(&ids), "{emitted:?} {ids:?}");
                    return Ok(pending);
                }
                error => prop_assert!(false, "{error}"),
            },
        }
    }
    Ok(Vec::new())
}

/// How a conversation reaches the next run.
#[derive(Debug, Clone, Copy)]
enum Way {
    InMemory,
    AsJson,
    AsLog,
}

const WAYS: [Way; 3] = [Way::InMemory, Way::AsJson, Way::AsLog];

/// Returns the conversation in the next program, with the options of a run there.
async fn reloaded(
    mut conversation: Conversation,
    way: Way,
    sessions: &Sessions,
) -> (Conversation, RunOptions) {
    match way {
        Way::InMemory => (conversation, RunOptions::new()),
        Way::AsJson => {
            let saved = serde_json::to_string(&conversation).unwrap();
            (serde_json::from_str(&saved).unwrap(), RunOptions::new())
        }
        Way::AsLog => {
            sessions.save(&mut conversation).await.unwrap();
            (sessions.open("ada", "1").await.unwrap(), RunOptions::new().with_autosave(sessions))
        }
    }
}

proptest! {
    #![proptest_config(crate::support::cases(256))]

    #[test]
    fn events_have_the_ids_that_decisions_take(
        outer in turns(&["ask", "middle", "inner"]),
        middle in turns(&["ask", "inner"]),
        inner in turns(&["ask"]),
        is_parallel in any::<bool>(),
        shortens in prop::option::of(0..6_usize),
        // For each input, whether its pending calls are decided, and the length of the history after it.
        inputs in prop::collection::vec((any::<bool>(), prop::option::of(0..6_usize)), 1..5),
        order in prop::sample::select(&super::ORDERS),
        way in prop::sample::select(&WAYS),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let inner = agent("inner", inner, &[]);
            let middle = agent("middle", middle, std::slice::from_ref(&inner));
            let outer = agent("outer", outer, &[middle, inner]);
            let outer = match shortens {
                Some(max) => Agent::from(Shortening(outer, max)),
                None => outer,
            };
            let team = if is_parallel { ParallelAgent::new("team", [outer]).into() } else { outer };
            let sessions = Sessions::default();
            let mut conversation = Conversation::new("1").with_user_id("ada");
            // The ids of calls that are not pending any more.
            let mut earlier = BTreeSet::new();
            for (is_decided, max) in inputs {
                let (current, options) = reloaded(conversation, way, &sessions).await;
                conversation = current;
                let mut pending = ended(team.run_stream_in(&mut conversation, "Go.", options)).await?;
                let mut rounds = 0;
                while !pending.is_empty() {
                    prop_assert_eq!(&conversation.pending(), &pending);
                    let later = pending.iter().find(|call| earlier.contains(&call.id));
                    prop_assert!(later.is_none(), "a late decision reaches {:?}", later);
                    if !is_decided {
                        break;
                    }
                    let (current, options) = reloaded(conversation, way, &sessions).await;
                    conversation = current;
                    let options = options.with_decisions(order.decide(&pending));
                    let before: Vec<String> = pending.into_iter().map(|call| call.id).collect();
                    pending = ended(team.resume_stream(&mut conversation, options)).await?;
                    let is_left = |id: &String| pending.iter().any(|call| call.id == *id);
                    earlier.extend(before.into_iter().filter(|id| !is_left(id)));
                    rounds += 1;
                    prop_assert!(rounds <= MAX_ASKED, "the run does not end");
                }
                earlier.extend(pending.into_iter().map(|call| call.id));
                if let Some(max) = max {
                    conversation.keep_latest(max);
                }
            }
            Ok(())
        })?;
    }
}
