//! Logs that are cut after any entry.

use crate::support::{Nothing, assert_sendable, transcript};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use toolkit_agent::session::{ConversationStore, MemoryStore};
use toolkit_agent::team::{LoopAgent, ParallelAgent, SequentialAgent};
use toolkit_agent::{
    Agent, AgentBuilder, Limits, Message, ModelRequest, ModelResponse, RunOptions, RunOutput, ScriptedModel,
    Sessions,
};
use toolkit_core::{ClosureTool, ToolCall, ToolRegistry};

/// A call of an agent.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Call {
    /// May run again.
    Look,
    /// Must not run twice.
    Pay,
    /// Calls another agent, which pays.
    Expert,
}

#[derive(Debug, Clone)]
enum Team {
    /// An agent with these calls in each of its turns.
    Agent(Vec<Vec<Call>>),
    /// An agent with these calls, which then hands over to an agent with the others.
    Handing(Vec<Vec<Call>>, Vec<Vec<Call>>),
    Sequence(Vec<Self>),
    Parallel(Vec<Self>),
    Loop(Vec<Self>),
}

fn team() -> impl Strategy<Value = Team> {
    let call = prop::sample::select(&[Call::Look, Call::Pay, Call::Expert][..]);
    let turns = prop::collection::vec(prop::collection::vec(call, 1..4), 0..3);
    let leaf = prop_oneof![
        turns.clone().prop_map(Team::Agent),
        (turns.clone(), turns).prop_map(|(turns, later)| Team::Handing(turns, later)),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        let teams = prop::collection::vec(inner, 1..4);
        prop_oneof![
            teams.clone().prop_map(Team::Sequence),
            teams.clone().prop_map(Team::Parallel),
            teams.prop_map(Team::Loop),
        ]
    })
}

/// The programs of a run: each begins with nothing but the team and the log.
struct Program {
    /// The payments, by the id of their call.
    paid: Arc<Mutex<Vec<String>>>,
    agents: usize,
}

impl Program {
    fn name(&mut self) -> String {
        self.agents += 1;
        format!("agent_{}", self.agents)
    }

    fn build(&mut self, team: &Team) -> Agent {
        match team {
            Team::Agent(turns) => self.agent(turns, None),
            Team::Handing(turns, later) => {
                let later = self.agent(later, None);
                self.agent(turns, Some(later))
            }
            Team::Sequence(teams) => {
                let name = self.name();
                let teams: Vec<_> = teams.iter().map(|team| self.build(team)).collect();
                SequentialAgent::new(name, teams).into()
            }
            Team::Parallel(teams) => {
                let name = self.name();
                let teams: Vec<_> = teams.iter().map(|team| self.build(team)).collect();
                ParallelAgent::new(name, teams).into()
            }
            Team::Loop(teams) => {
                let name = self.name();
                let teams: Vec<_> = teams.iter().map(|team| self.build(team)).collect();
                LoopAgent::new(name, teams).with_max_iterations(2).into()
            }
        }
    }

    fn agent(&mut self, turns: &[Vec<Call>], later: Option<Agent>) -> Agent {
        let name = self.name();
        let mut tools = ToolRegistry::new();
        let look = ClosureTool::new("look", "Looks.", |_: Nothing| "seen").unwrap();
        tools.register(look.with_metadata(|metadata| metadata.with_read_only(true))).unwrap();
        let paid = self.paid.clone();
        let pay = ClosureTool::with_context(
            "pay",
            "Pays.",
            move |_: Nothing, context: toolkit_core::ToolContext| {
                let id = context.call_id().map(ToString::to_string).unwrap_or_default();
                paid.lock().unwrap().push(id);
                async {
                    tokio::task::yield_now().await;
                    "paid"
                }
            },
        );
        tools.register(pay.unwrap()).unwrap();
        if turns.iter().flatten().any(|call| *call == Call::Expert) {
            let expert = self.agent(&[vec![Call::Pay, Call::Look]], None);
            let tool = expert.to_tool().unwrap().with_name(toolkit_core::ToolName::new("expert").unwrap());
            tools.register(tool).unwrap();
        }
        let turns = turns.to_vec();
        let own = name.clone();
        let to = later.as_ref().map(|later| json!({"agent_name": later.name()}).to_string());
        let model = ScriptedModel::new().fallback(move |request: &ModelRequest| {
            // The calls of this agent since it last answered, each with an id that no other call has.
            let messages = &request.messages;
            let is_answer = |message: &Message| match message {
                Message::Assistant(message) => message.agent == own && message.calls.is_empty(),
                _ => false,
            };
            let input = messages.first().map(Message::to_text).unwrap_or_default();
            let answers = messages.iter().filter(|message| is_answer(message)).count();
            let since = messages.iter().rposition(is_answer).map_or(0, |index| index + 1);
            let turn =
                messages.iter().skip(since).filter(|message| matches!(message, Message::Tool(_))).count();
            Ok(match turns.get(turn) {
                None if to.is_some() => {
                    let id = format!("{input}/{own}.{answers}.{turn}.to");
                    let arguments = to.clone().unwrap_or_default();
                    ModelResponse::calls([ToolCall::new(id, "transfer_to_agent", arguments)])
                }
                None => ModelResponse::text(format!("{own} is done.")),
                Some(calls) => ModelResponse::calls(calls.iter().enumerate().map(|(index, call)| {
                    let id = format!("{input}/{own}.{answers}.{turn}.{index}");
                    match call {
                        Call::Look => ToolCall::new(id, "look", "{}"),
                        Call::Pay => ToolCall::new(id, "pay", "{}"),
                        Call::Expert => {
                            ToolCall::new(id.clone(), "expert", json!({"request": id}).to_string())
                        }
                    }
                })),
            })
        });
        // A streamed message that was cut after one of its calls goes on without the others.
        let builder = Agent::builder(model).name(name).tools(tools).streaming(false);
        later.into_iter().fold(builder, AgentBuilder::sub_agent).build().unwrap()
    }
}

/// Runs or resumes the team over the store. Returns the output and the payments of this process.
async fn process(team: &Team, store: &MemoryStore, begins: bool) -> (RunOutput, Vec<String>) {
    let mut program = Program { paid: Arc::default(), agents: 0 };
    let agent = program.build(team);
    let sessions = Sessions::new(store.clone());
    let limits = Limits::default().with_max_model_calls(5_000).with_max_tool_calls(5_000);
    let options = RunOptions::new().with_limits(limits).with_autosave(&sessions);
    let mut conversation = sessions.open("ada", "1").await.unwrap();
    let ended = if begins {
        agent.run_with(&mut conversation, "Go.", options).await
    } else {
        agent.resume(&mut conversation, options).await
    };
    let paid = program.paid.lock().unwrap().clone();
    (ended.unwrap(), paid)
}

async fn entries(store: &MemoryStore) -> Vec<Value> {
    let log = store.load("ada", "1").await.unwrap().unwrap();
    let lines = log.entries.iter();
    lines
        .flat_map(|line| serde_json::Deserializer::from_str(line).into_iter::<Value>())
        .map(Result::unwrap)
        .collect()
}

/// The calls that were started before the cut, of which the log has no result, by path and index.
fn may_have_run(entries: &[Value]) -> usize {
    let mut open = BTreeSet::new();
    for line in entries {
        let place =
            |index: u64| (line["node"].as_str().unwrap_or_default().to_owned(), line["turn"].as_u64(), index);
        match &line["entry"] {
            entry if entry.get("started").is_some() => {
                open.extend(entry["started"].as_array().unwrap().iter().filter_map(Value::as_u64).map(place));
            }
            entry if entry.get("result").is_some() => {
                open.remove(&place(entry["result"]["position"].as_u64().unwrap()));
            }
            _ => {}
        }
    }
    open.len()
}

const MAY_HAVE_RUN: &str = "Tool `pay` was started, but the program stopped before it had a result. It may have run; find \
    out before calling it again";

/// Checks each cut of the log of a run.
async fn check(team: &Team) -> Result<(), TestCaseError> {
    let whole = MemoryStore::new();
    let (output, paid) = process(team, &whole, true).await;
    let all = entries(&whole).await;
    let conversation = Sessions::new(whole).open("ada", "1").await.unwrap();
    let expected = transcript(conversation.messages());
    for cut in 2..=all.len() {
        let store = MemoryStore::new();
        let mut version = 0;
        for entry in &all[..cut] {
            version = store.append("ada", "1", version, &entry.to_string()).await.unwrap();
        }
        let (resumed, paid_again) = process(team, &store, false).await;
        let case = format!("after {} of {}: {}", cut, all.len(), all[cut - 1]);
        prop_assert_eq!((&resumed.text, &resumed.agent), (&output.text, &output.agent), "{}", case);
        let conversation = Sessions::new(store.clone()).open("ada", "1").await.unwrap();
        assert_sendable(&conversation);
        prop_assert_eq!(conversation.latest_run(), Some(resumed.clone()), "{}", &case);
        // The same transcript, except for payments that may have run.
        let lines = transcript(conversation.messages()).join("\n");
        let lost = lines.matches("was started, but the program stopped before it had a result").count();
        prop_assert!(lost <= may_have_run(&all[..cut]), "{}: {} lost", case, lost);
        if lines.contains("Tool `expert` was started") {
            // The called agent had not begun, so its work is missing.
            continue;
        }
        prop_assert_eq!(lines.replace(MAY_HAVE_RUN, "paid"), expected.join("\n"), "{}", &case);
        // A payment whose call had started is not repeated, and every other one is made once.
        let started: BTreeSet<&String> = paid.iter().filter(|id| !paid_again.contains(id)).collect();
        let unique: BTreeSet<&String> = paid_again.iter().collect();
        prop_assert_eq!(unique.len(), paid_again.len(), "{}: {:?}", &case, &paid_again);
        prop_assert_eq!(started.len() + unique.len(), paid.len(), "{}: {:?}", &case, &paid_again);
        prop_assert!(resumed.model_calls >= output.model_calls, "{} {:?} {:?}", &case, resumed, output);
        // An attempt that was cut is asked again, once in each of the agents that worked.
        prop_assert!(
            resumed.tool_calls >= output.tool_calls,
            "{} {} {}",
            &case,
            resumed.tool_calls,
            output.tool_calls
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(crate::support::cases(8))]

    #[test]
    fn a_run_continues_from_each_of_its_entries(team in team()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(check(&team))?;
    }
}
