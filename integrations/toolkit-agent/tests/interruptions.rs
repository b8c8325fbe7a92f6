//! Interrupted runs: calls that wait for an approval, an answer or a result of the program.

mod changed;
mod decided;
mod keys;
mod replaced;

use crate::support::{Nothing, assert_sendable, transcript};
use futures_util::FutureExt;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use toolkit_agent::session::{
    ConversationInfo, ConversationLog, ConversationStore, MemoryStore, StateScope, StoreError,
};
use toolkit_agent::team::{LoopAgent, ParallelAgent, SequentialAgent};
use toolkit_agent::{
    Agent, AgentError, AgentOutput, Conversation, Decision, Decisions, Message, ModelRequest, ModelResponse,
    PendingCall, Run, RunAgent, RunError, RunOptions, RunOutput, ScriptedModel, Sessions, Usage,
};
use toolkit_core::context::SessionDelta;
use toolkit_core::error::Pending;
use toolkit_core::middleware::{Approval, PermissionRule, Permissions};
use toolkit_core::{ClosureTool, Dispatcher, ToolCall, ToolContext, ToolError, ToolRegistry};

/// The runs of `pay` and `look`.
#[derive(Clone, Default)]
struct Runs {
    counts: Arc<[AtomicU32; 2]>,
    /// The number of saves before each run of a tool, with the index of the tool.
    saves: Arc<Mutex<Vec<(usize, usize)>>>,
    /// The number of saves before each model call.
    asked: Arc<Mutex<Vec<usize>>>,
    store: MemoryStore,
    /// The agent that has another name in this program.
    renamed: Option<&'static str>,
}

impl Runs {
    fn asked(&self) -> u32 {
        u32::try_from(self.asked.lock().unwrap().len()).unwrap()
    }

    fn saves(&self) -> usize {
        let log = self.store.load("ada", "1").now_or_never().unwrap().unwrap();
        log.map_or(0, |log| log.entries.len())
    }

    fn counts(&self) -> [u32; 2] {
        [0, 1].map(|index| self.counts[index].load(Ordering::Relaxed))
    }

    fn count(&self, index: usize) {
        self.counts[index].fetch_add(1, Ordering::Relaxed);
        self.saves.lock().unwrap().push((index, self.saves()));
    }

    /// Returns how many runs of a tool may have begun when the log had `length` entries.
    fn before(&self, index: usize, length: usize) -> u32 {
        let begun = |(of, saves): &&(usize, usize)| *of == index && *saves <= length;
        u32::try_from(self.saves.lock().unwrap().iter().filter(begun).count()).unwrap()
    }

    /// Creates `pay`, which needs approval, and `look`; `ask` and `job`, which wait for a result.
    fn tools(&self, is_interrupted: bool) -> (ToolRegistry, Permissions) {
        let count = |index: usize, said: &'static str| {
            let runs = self.clone();
            move |_: Nothing| {
                runs.count(index);
                said
            }
        };
        let later = |error: fn() -> ToolError, said: &'static str| {
            move |_: Nothing| if is_interrupted { Err(error()) } else { Ok(said) }
        };
        let tools = [
            ClosureTool::new("pay", "Pays.", count(0, "paid")).unwrap(),
            ClosureTool::new("look", "Looks.", count(1, "seen")).unwrap(),
            ClosureTool::new("ask", "Asks.", later(|| ToolError::question("Which colour?"), "blue")).unwrap(),
            ClosureTool::new("job", "Works.", later(|| ToolError::deferred(17), "built")).unwrap(),
            ClosureTool::with_context("enough", "Escalates.", |_: Nothing, context: ToolContext| {
                context.actions().escalate();
                context.session().set("enough", true);
            })
            .unwrap(),
        ];
        let rules = Permissions::new()
            .rule(PermissionRule::ask("it costs money").for_tool("pay").unwrap())
            .rule(PermissionRule::allow());
        let rules = if is_interrupted {
            rules.decide_later()
        } else {
            rules.with_handler(|_| async { Approval::Granted })
        };
        (ToolRegistry::from_tools(tools).unwrap(), rules)
    }

    /// Creates an agent that makes these calls, and then says that it is done. Agents among the tools are called, too.
    fn agent(&self, name: &str, calls: &str, below: &[Agent], is_interrupted: bool) -> Agent {
        let (mut tools, mut permissions) = self.tools(is_interrupted);
        for agent in below {
            tools.register(agent.to_tool().unwrap()).unwrap();
        }
        if needs_approval(name) {
            let ask = Permissions::new().rule(PermissionRule::ask("it may cost money"));
            permissions = if is_interrupted {
                ask.decide_later()
            } else {
                ask.with_handler(|_| async { Approval::Granted })
            };
        }
        let agents: Vec<String> = below.iter().map(|agent| agent.name().to_owned()).collect();
        let turns: Vec<Vec<String>> =
            calls.split('/').map(|turn| turn.split_whitespace().map(str::to_owned).collect()).collect();
        let said = format!("{name} is done.");
        let runs = self.clone();
        let model = ScriptedModel::new().fallback(move |request: &ModelRequest| {
            runs.asked.lock().unwrap().push(runs.saves());
            let latest =
                request.messages.iter().rev().take_while(|message| !matches!(message, Message::User(_)));
            let turn = latest.filter(|message| matches!(message, Message::Tool(_))).count();
            let response = match turns.get(turn) {
                None => ModelResponse::text(said.clone()),
                Some(calls) => ModelResponse::calls(calls.iter().enumerate().map(|(number, tool)| {
                    let arguments = match tool.as_str() {
                        "transfer_to_agent" => r#"{"agent_name": "spec"}"#,
                        tool if agents.iter().any(|agent| agent == tool) => r#"{"request": "Help."}"#,
                        _ => "{}",
                    };
                    ToolCall::new(format!("call_{number}"), tool.as_str(), arguments)
                })),
            };
            Ok(response.with_usage(Usage::new(10, 1)))
        });
        let dispatcher = Dispatcher::new(tools).unwrap().with_middleware(permissions);
        let builder = Agent::builder(model).name(self.named(name)).dispatcher(dispatcher);
        let price = toolkit_agent::Price::per_million(1.0, 1.0);
        let transfers = calls_transfer(name).then(|| self.agent("spec", "pay look", &[], is_interrupted));
        transfers
            .into_iter()
            .fold(builder, toolkit_agent::AgentBuilder::sub_agent)
            .price(price)
            .build()
            .unwrap()
    }

    /// Returns the name of an agent in this program.
    fn named(&self, name: &str) -> String {
        if self.renamed == Some(name) { format!("{name}_2") } else { name.to_owned() }
    }

    fn team(&self, kind: usize, is_interrupted: bool) -> Agent {
        let named = |name: &str| self.named(name);
        let one = |name: &str, calls: &str, below: &[Agent]| self.agent(name, calls, below, is_interrupted);
        match kind {
            0 => one("root", "pay look ask job", &[]),
            1 => one("root", "expert look pay", &[one("expert", "pay ask", &[])]),
            2 => {
                let expert = one("expert", "job pay", &[]);
                one("root", "middle pay", &[one("middle", "look expert", &[expert])])
            }
            3 => {
                ParallelAgent::new(named("team"), [one("one", "pay look", &[]), one("two", "look ask", &[])])
                    .into()
            }
            4 => SequentialAgent::new(named("team"), [one("one", "pay", &[]), one("two", "look pay", &[])])
                .into(),
            5 => LoopAgent::new(named("team"), [one("one", "pay look", &[])]).with_max_iterations(3).into(),
            6 => one("handing", "transfer_to_agent", &[]),
            7 => {
                let expert = one("expert", "pay", &[]);
                let group = ParallelAgent::new(
                    "group",
                    [one("one", "expert", &[expert]), one("two", "look job", &[])],
                );
                let last = one("handing", "transfer_to_agent", &[]);
                SequentialAgent::new(named("team"), [group.into(), last]).into()
            }
            8 => {
                let escalating = one("one", "look enough / pay / ask", &[]);
                LoopAgent::new(named("team"), [escalating]).with_max_iterations(3).into()
            }
            9 => {
                let expert = one("expert", "job pay", &[]);
                let middle = one("careful_middle", "look expert / pay", &[expert]);
                let careful = one("careful", "careful_middle pay", &[middle]);
                ParallelAgent::new(named("team"), [careful, one("two", "look ask", &[])]).into()
            }
            _ => {
                let inner =
                    SequentialAgent::new(named("inner"), [one("one", "pay", &[]), one("two", "look", &[])]);
                let group = ParallelAgent::new(named("group"), [inner.into(), one("three", "ask", &[])]);
                LoopAgent::new(named("team"), [group.into()]).with_max_iterations(2).into()
            }
        }
    }
}

const KINDS: usize = 11;
/// The loop that ends because of a call. If the result of this call is lost, the loop goes on, and calls again.
const ESCALATING: usize = 8;
/// The teams with a transfer.
const TRANSFERRING: [usize; 2] = [6, 7];

/// Returns whether all calls of an agent need approval, also those of agents.
fn needs_approval(name: &str) -> bool {
    name.starts_with("careful")
}

fn calls_transfer(name: &str) -> bool {
    name == "handing"
}

/// Decides about a call as the handler and the tools of the uninterrupted run do.
fn decision(call: &PendingCall) -> Decision {
    match &call.reason {
        Pending::Question { .. } => Decision::Answer("blue".into()),
        Pending::Deferred { .. } => Decision::Answer("built".into()),
        _ => Decision::Approve,
    }
}

/// Which of the pending calls are decided at once.
#[derive(Debug, Clone, Copy)]
enum Order {
    First,
    Last,
    All,
}

const ORDERS: [Order; 3] = [Order::First, Order::Last, Order::All];

impl Order {
    fn decide(self, pending: &[PendingCall]) -> Decisions {
        let decided = match self {
            Self::First => &pending[..1],
            Self::Last => &pending[pending.len() - 1..],
            Self::All => pending,
        };
        decided.iter().fold(Decisions::new(), |all, call| all.with(call.id.as_str(), decision(call)))
    }
}

/// How a conversation reaches the next program.
#[derive(Debug, Clone)]
enum Way {
    InMemory,
    AsJson,
    Stored(MemoryStore),
}

impl Way {
    /// Returns the conversation in the next program, with the options of a run there.
    async fn reload(&self, conversation: Conversation) -> (Conversation, RunOptions) {
        let options = RunOptions::new();
        match self {
            Self::InMemory => (conversation, options),
            Self::AsJson => {
                let text = serde_json::to_string(&conversation).unwrap();
                (serde_json::from_str(&text).unwrap(), options)
            }
            Self::Stored(store) => {
                let sessions = Sessions::new(store.clone());
                (sessions.open("ada", "1").await.unwrap(), options.with_autosave(&sessions))
            }
        }
    }
}

/// Runs and resumes an agent until it answers.
async fn to_the_end(agent: &Agent, order: Order, way: &Way) -> (RunOutput, Conversation) {
    let (mut conversation, options) = way.reload(Conversation::new("1")).await;
    let mut ended = agent.run_with(&mut conversation, "go", options).await;
    let mut decided = Decisions::new();
    for _ in 0..50 {
        let pending = match ended.map_err(AgentError::from) {
            Ok(output) => return (output, conversation),
            Err(AgentError::Interrupted { pending, .. }) => pending,
            Err(error) => panic!("{error}"),
        };
        let reloaded = way.reload(conversation).await;
        conversation = reloaded.0;
        assert_eq!(conversation.pending(), pending);
        let ids: std::collections::BTreeSet<_> = pending.iter().map(|call| &call.id).collect();
        assert_eq!(ids.len(), pending.len(), "{pending:?}");
        // The ids of the provider repeat in each turn, but a decision is about one call of one turn.
        let late = pending.iter().find(|call| decided.get(&call.id).is_some());
        assert_eq!(late, None, "{decided:?}");
        let decisions = order.decide(&pending);
        let now = pending.iter().filter(|call| decisions.get(&call.id).is_some());
        decided = now.fold(decided, |all, call| all.with(&call.id, decision(call)));
        let options = reloaded.1.with_decisions(decisions);
        ended = agent.resume(&mut conversation, options).await;
    }
    panic!("the run does not end")
}

#[tokio::test]
async fn an_interrupted_run_ends_like_an_uninterrupted_one() {
    for kind in 0..KINDS {
        let expected_runs = Runs::default();
        let mut expected = Conversation::new("1");
        let output = expected_runs.team(kind, false).run_in(&mut expected, "go").await.unwrap();
        for order in ORDERS {
            let store = MemoryStore::new();
            for way in [Way::InMemory, Way::AsJson, Way::Stored(store.clone())] {
                let runs = Runs::default();
                let agent = runs.team(kind, true);
                let (ended, conversation) = to_the_end(&agent, order, &way).await;
                let case = format!("kind {kind}, {order:?}, {way:?}");
                assert_eq!(transcript(conversation.messages()), transcript(expected.messages()), "{case}");
                assert_eq!(runs.counts(), expected_runs.counts(), "{case}");
                assert_eq!((&ended.text, &ended.agent), (&output.text, &output.agent), "{case}");
                assert_eq!(transcript(&ended.messages), transcript(&output.messages), "{case}");
                let totals = |output: &RunOutput| (output.usage, output.model_calls, output.tool_calls);
                assert_eq!(totals(&ended), totals(&output), "{case}");
                assert!((ended.cost - output.cost).abs() < 1e-9, "{case}");
                assert_sendable(&conversation);
                assert_eq!(conversation.pending(), [], "{case}");
                if matches!(way, Way::Stored(_)) {
                    let saved = Sessions::new(store.clone()).open("ada", "1").await.unwrap();
                    assert_eq!(saved.messages(), conversation.messages(), "{case}");
                }
            }
        }
    }
}

fn pending(ended: Result<RunOutput, RunError>) -> Vec<PendingCall> {
    match ended.map_err(AgentError::from) {
        Err(AgentError::Interrupted { pending, .. }) => pending,
        ended => panic!("{ended:?}"),
    }
}

async fn decide(
    agent: &Agent,
    conversation: &mut Conversation,
    decisions: Decisions,
) -> Result<RunOutput, RunError> {
    agent.resume(conversation, RunOptions::new().with_decisions(decisions)).await
}

#[tokio::test]
async fn pending_calls_name_their_agent_their_call_and_their_reason() {
    let runs = Runs::default();
    let agent = runs.team(1, true);
    let mut conversation = Conversation::new("1");
    let found = pending(agent.run_in(&mut conversation, "go").await);
    let found: Vec<_> = found
        .iter()
        .map(|call| (call.id.as_str(), call.agent.as_str(), call.call.name.as_str(), call.reason.to_string()))
        .collect();
    assert_eq!(
        found,
        [
            ("1.1.0/1.1.0", "expert", "pay", "waits for approval: it costs money".to_owned()),
            ("1.1.0/1.1.1", "expert", "ask", "waits for an answer: Which colour?".to_owned()),
            ("1.1.2", "root", "pay", "waits for approval: it costs money".to_owned()),
        ]
    );
    // Without a decision, nothing runs and no model is called.
    let before = serde_json::to_string(&conversation).unwrap();
    assert_eq!(pending(decide(&agent, &mut conversation, Decisions::new()).await).len(), 3);
    assert_eq!(serde_json::to_string(&conversation).unwrap(), before);
    assert_eq!(runs.counts(), [0, 1]);
}

#[tokio::test]
async fn an_invalid_decision_changes_nothing() {
    let runs = Runs::default();
    let agent = runs.team(0, true);
    let mut conversation = Conversation::new("1");
    pending(agent.run_in(&mut conversation, "go").await);
    let before = serde_json::to_string(&conversation).unwrap();
    for (decisions, expected) in [
        (
            Decisions::new().approve("1.1.9"),
            "call `1.1.9` is not pending; pending calls: `1.1.0`, `1.1.2`, `1.1.3`",
        ),
        (
            Decisions::new().approve("1.1.0").approve("1.1.2"),
            "call `1.1.2` needs no approval; give its result instead",
        ),
    ] {
        let refused = decide(&agent, &mut conversation, decisions).await;
        assert_eq!(refused.map_err(AgentError::from), Err(AgentError::InvalidDecision(expected.to_owned())));
        assert_eq!(serde_json::to_string(&conversation).unwrap(), before);
    }
    assert_eq!(runs.counts(), [0, 1]);
}

#[tokio::test]
async fn the_model_reads_each_decision() {
    let runs = Runs::default();
    let agent = runs.team(0, true);
    let mut conversation = Conversation::new("1");
    pending(agent.run_in(&mut conversation, "go").await);
    let decisions = Decisions::new()
        .deny("1.1.0", "too expensive")
        .answer("1.1.2", serde_json::json!({"colour": "red"}))
        .with("1.1.3", Decision::Fail("the job crashed".to_owned()));
    decide(&agent, &mut conversation, decisions).await.unwrap();
    let results = "results: Tool `pay` was denied: too expensive, seen, {\"colour\":\"red\"}, Error running tool: the job \
        crashed";
    assert_eq!(transcript(conversation.messages())[2], results);
    assert_eq!(runs.counts(), [0, 1]);
}

#[tokio::test]
async fn new_input_gives_up_the_pending_calls() {
    for kind in 0..KINDS {
        for way in [Way::InMemory, Way::AsJson, Way::Stored(MemoryStore::new())] {
            let case = format!("kind {kind}, {way:?}");
            let runs = Runs::default();
            let agent = runs.team(kind, true);
            let (mut conversation, options) = way.reload(Conversation::new("1")).await;
            let calls = pending(agent.run_with(&mut conversation, "go", options).await);
            let before = runs.counts();
            conversation = way.reload(conversation).await.0;
            conversation.push(Message::user("Forget it."));
            assert_sendable(&conversation);
            if let Way::Stored(store) = &way {
                // The store forgets the pending calls, too.
                let sessions = Sessions::new(store.clone());
                let mut saved = sessions.open("ada", "1").await.unwrap();
                saved.push(Message::user("Forget it."));
                sessions.save(&mut saved).await.unwrap();
            }
            let (mut conversation, options) = way.reload(conversation).await;
            assert_eq!(conversation.pending(), [], "{case}");
            let length = conversation.messages().len();
            let decisions = Order::All.decide(&calls);
            let refused = agent.resume(&mut conversation, options.with_decisions(decisions)).await;
            assert!(
                matches!(&refused, Err(RunError { error: AgentError::InvalidDecision(_), .. })),
                "{case}: {refused:?}"
            );
            let (mut conversation, options) = way.reload(conversation).await;
            assert_eq!(conversation.messages().len(), length, "{case}");
            pending(agent.run_with(&mut conversation, "go again", options).await);
            assert_sendable(&conversation);
            assert_eq!(runs.counts()[0], before[0], "{case}");
        }
    }
}

#[tokio::test]
async fn of_two_programs_with_decisions_one_wins() {
    let store = MemoryStore::new();
    let runs = Runs::default();
    let agent = runs.team(0, true);
    let sessions = Sessions::new(store.clone());
    let calls = pending(sessions.run(&agent, "ada", "1", "go").await);
    let resume = || {
        let options = RunOptions::new().with_decisions(Order::All.decide(&calls));
        (Sessions::new(store.clone()), options)
    };
    let ((one, decided), (other, also_decided)) = (resume(), resume());
    let (first, second) = tokio::join!(
        one.resume_with(&agent, "ada", "1", decided),
        other.resume_with(&agent, "ada", "1", also_decided)
    );
    let is_conflict = |ended: &Result<RunOutput, RunError>| matches!(ended, Err(RunError { error: AgentError::Store(error), .. }) if error.is_conflict);
    assert!(
        first.is_ok() && is_conflict(&second) || second.is_ok() && is_conflict(&first),
        "{first:?} {second:?}"
    );
    assert_eq!(runs.counts(), [1, 1]);
}

#[tokio::test]
async fn a_repeated_decision_does_not_reach_a_later_call_with_the_same_id() {
    let runs = Runs::default();
    let (tools, permissions) = runs.tools(true);
    // Some servers begin with the same id in each turn.
    let pay = || ModelResponse::calls([ToolCall::new("call_0", "pay", "{}")]);
    let model = ScriptedModel::new().response(pay()).response(pay()).text("done");
    let dispatcher = Dispatcher::new(tools).unwrap().with_middleware(permissions);
    let agent = Agent::builder(model).dispatcher(dispatcher).build().unwrap();
    let mut conversation = Conversation::new("1");
    pending(agent.run_in(&mut conversation, "go").await);
    let decisions = || Decisions::new().approve("1.1.0");
    let later = pending(decide(&agent, &mut conversation, decisions()).await);
    assert_eq!((later.len(), later[0].id.as_str(), later[0].call.id.as_str()), (1, "1.2.0", "call_0"));
    let refused = decide(&agent, &mut conversation, decisions()).await.map_err(AgentError::from);
    assert!(matches!(refused, Err(AgentError::InvalidDecision(_))), "{refused:?}");
    assert_eq!(runs.counts(), [1, 0]);
    let decided = decide(&agent, &mut conversation, Order::All.decide(&later)).await;
    assert_eq!((decided.unwrap().text.as_str(), runs.counts()), ("done", [2, 0]));
}

#[derive(serde::Deserialize, toolkit_core::schemars::JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Amount {
    euros: u32,
}

#[tokio::test]
async fn an_approval_may_change_the_arguments_or_hold_for_the_session() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = seen.clone();
    let pay = ClosureTool::new("pay", "Pays.", move |Amount { euros }: Amount| {
        noted.lock().unwrap().push(euros);
    });
    let model = ScriptedModel::new()
        .call("pay", r#"{"euros": 500}"#)
        .then()
        .call("pay", r#"{"euros": 7}"#)
        .then()
        .call("pay", r#"{"euros": 8}"#)
        .text("done");
    let dispatcher = Dispatcher::new(ToolRegistry::from_tools([pay.unwrap()]).unwrap())
        .unwrap()
        .with_middleware(Permissions::new().rule(PermissionRule::ask("money")).decide_later());
    let agent = Agent::builder(model).dispatcher(dispatcher).build().unwrap();
    let mut conversation = Conversation::new("1");
    let calls = pending(agent.run_in(&mut conversation, "go").await);
    let less = Decision::Change(serde_json::json!({"euros": 5}));
    let calls = pending(decide(&agent, &mut conversation, Decisions::new().with(&calls[0].id, less)).await);
    let always = Decisions::new().with(&calls[0].id, Decision::ApproveForSession);
    assert_eq!(decide(&agent, &mut conversation, always).await.unwrap().text, "done");
    assert_eq!(*seen.lock().unwrap(), [5, 7, 8]);
}

/// An approval for the session would let the other call run as the model wrote it.
#[tokio::test]
async fn a_changed_call_runs_changed_beside_an_approval_for_the_session() {
    for first in ["1.1.0", "1.1.1"] {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = seen.clone();
        let pay = ClosureTool::new("pay", "Pays.", move |Amount { euros }: Amount| {
            noted.lock().unwrap().push(euros);
        });
        let calls = ["x", "y"].map(|id| ToolCall::new(id, "pay", r#"{"euros": 500}"#));
        let model = ScriptedModel::new().response(ModelResponse::calls(calls)).text("done");
        let dispatcher = Dispatcher::new(ToolRegistry::from_tools([pay.unwrap()]).unwrap())
            .unwrap()
            .with_middleware(Permissions::new().rule(PermissionRule::ask("money")).decide_later());
        let agent = Agent::builder(model).dispatcher(dispatcher).build().unwrap();
        let mut conversation = Conversation::new("1");
        pending(agent.run_in(&mut conversation, "go").await);
        let second = if first == "1.1.0" { "1.1.1" } else { "1.1.0" };
        let less = Decision::Change(serde_json::json!({"euros": 5}));
        let decisions = Decisions::new().with(first, Decision::ApproveForSession).with(second, less);
        assert_eq!(decide(&agent, &mut conversation, decisions).await.unwrap().text, "done");
        seen.lock().unwrap().sort_unstable();
        assert_eq!(*seen.lock().unwrap(), [5, 500], "{first} first");
    }
}

/// The log of a run may end after any save: the run continues from there to the same answer, and no call runs twice.
#[tokio::test]
async fn a_run_continues_from_each_of_its_saves() {
    for kind in 0..KINDS {
        let first = Runs::default();
        let output =
            Sessions::new(first.store.clone()).run(&first.team(kind, false), "ada", "1", "go").await.unwrap();
        let entries = first.store.load("ada", "1").await.unwrap().unwrap().entries;
        for length in 1..=entries.len() {
            let again = Runs::default();
            let mut version = 0;
            for entry in &entries[..length] {
                version = again.store.append("ada", "1", version, entry).await.unwrap();
            }
            let sessions = Sessions::new(again.store.clone());
            let ended = sessions.resume(&again.team(kind, false), "ada", "1").await;
            let case = format!("kind {kind}, {length} of {}", entries.len());
            let ended = ended.unwrap_or_else(|error| panic!("{case}: {error}"));
            assert_eq!((&ended.text, &ended.agent), (&output.text, &output.agent), "{case}");
            // A save of any agent has the numbers of the whole run. It may have begun before the last call.
            let asked = first.asked.lock().unwrap().iter().filter(|saves| **saves + 1 < length).count();
            let counted = usize::try_from(ended.model_calls - again.asked()).unwrap();
            assert!(counted >= asked, "{case}: {counted} of {asked} model calls");
            assert_sendable(&sessions.open("ada", "1").await.unwrap());
            for index in [0, 1].into_iter().filter(|_| kind != ESCALATING) {
                let runs = first.before(index, length) + again.counts()[index];
                assert!(runs <= first.counts()[index], "{case}: {runs} runs of tool {index}");
            }
        }
    }
}

/// A store whose append fails once.
#[derive(Clone)]
struct Failing {
    store: MemoryStore,
    /// The number of appends before the failure.
    left: Arc<AtomicU32>,
}

impl ConversationStore for Failing {
    async fn load(&self, user: &str, id: &str) -> Result<Option<ConversationLog>, StoreError> {
        self.store.load(user, id).await
    }

    async fn append(&self, user: &str, id: &str, version: u64, entry: &str) -> Result<u64, StoreError> {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 0 {
            return Err(StoreError::new("the disk is full"));
        }
        self.store.append(user, id, version, entry).await
    }

    async fn replace(&self, user: &str, id: &str, version: u64, entry: &str) -> Result<u64, StoreError> {
        self.store.replace(user, id, version, entry).await
    }

    async fn list(&self, user: &str) -> Result<Vec<ConversationInfo>, StoreError> {
        self.store.list(user).await
    }

    async fn delete(&self, user: &str, id: &str) -> Result<bool, StoreError> {
        self.store.delete(user, id).await
    }

    async fn load_state(&self, scope: StateScope<'_>) -> Result<BTreeMap<String, Value>, StoreError> {
        self.store.load_state(scope).await
    }

    async fn update_state(&self, scope: StateScope<'_>, changes: &SessionDelta) -> Result<(), StoreError> {
        self.store.update_state(scope, changes).await
    }
}

/// The errors of the failed save and of those that depend on it.
const FAILURES: [&str; 2] = ["the disk is full", "an earlier save of the run has failed"];

/// Any save may fail: the run ends with an error, and continues from the store or from memory. No call runs twice.
#[tokio::test]
async fn a_failed_save_loses_no_work() {
    for kind in 0..KINDS {
        let expected = Runs::default();
        let output = expected.team(kind, false).run("go").await.unwrap();
        for is_reloaded in [false, true] {
            for failure in 0.. {
                let runs = Runs::default();
                let agent = runs.team(kind, true);
                let left = Arc::new(AtomicU32::new(failure));
                let sessions = Sessions::new(Failing { store: MemoryStore::new(), left: left.clone() });
                let mut conversation = sessions.open("ada", "1").await.unwrap();
                let options = || RunOptions::new().with_autosave(&sessions);
                let case = format!("kind {kind}, save {failure} fails, reloaded: {is_reloaded}");
                let mut ended = agent.run_with(&mut conversation, "go", options()).await;
                let text = loop {
                    let decisions = match ended.map_err(AgentError::from) {
                        Ok(output) => break output.text,
                        Err(AgentError::Interrupted { pending, .. }) => {
                            if is_reloaded {
                                conversation = sessions.open("ada", "1").await.unwrap();
                                assert_eq!(conversation.pending(), pending, "{case}");
                            }
                            Order::All.decide(&pending)
                        }
                        Err(AgentError::Store(error)) if FAILURES.contains(&error.message.as_str()) => {
                            if is_reloaded {
                                conversation = sessions.open("ada", "1").await.unwrap();
                                if conversation.messages().is_empty() {
                                    // Not even the input was saved.
                                    conversation.push(Message::user("go"));
                                }
                            }
                            Decisions::new()
                        }
                        Err(error) => panic!("{case}: {error}"),
                    };
                    ended = agent.resume(&mut conversation, options().with_decisions(decisions)).await;
                };
                // A call that could not be saved was cancelled. A model would transfer again; this one answers.
                if !TRANSFERRING.contains(&kind) {
                    assert_eq!(text, output.text, "{case}");
                }
                for index in [0, 1].into_iter().filter(|_| kind != ESCALATING) {
                    assert!(runs.counts()[index] <= expected.counts()[index], "{case}: {:?}", runs.counts());
                }
                assert_sendable(&conversation);
                let saved = sessions.open("ada", "1").await.unwrap();
                assert_eq!(saved.messages(), conversation.messages(), "{case}");
                assert_eq!(saved.session().get("enough"), conversation.session().get("enough"), "{case}");
                if left.load(Ordering::Relaxed) <= failure {
                    // No save has failed: all of them are tried.
                    break;
                }
            }
        }
    }
}

#[tokio::test]
async fn of_calls_with_the_same_id_each_has_its_own_decision() {
    let runs = Runs::default();
    let (tools, permissions) = runs.tools(true);
    let calls = || ["x", "x", "x"].map(|id| ToolCall::new(id, "pay", "{}"));
    let model = ScriptedModel::new().response(ModelResponse::calls(calls())).text("done");
    let dispatcher = Dispatcher::new(tools).unwrap().with_middleware(permissions);
    let agent = Agent::builder(model).dispatcher(dispatcher).build().unwrap();
    let mut conversation = Conversation::new("1");
    let mut ended = agent.run_in(&mut conversation, "go").await;
    let mut rounds = 0;
    let output = loop {
        match ended.map_err(AgentError::from) {
            Ok(output) => break output,
            Err(AgentError::Interrupted { pending, .. }) => {
                let decide = |all: Decisions, call: &PendingCall| match call.id.as_str() {
                    "1.1.1" => all.deny("1.1.1", "once is enough"),
                    id => all.approve(id),
                };
                let decisions = pending.iter().fold(Decisions::new(), decide);
                ended = agent.resume(&mut conversation, RunOptions::new().with_decisions(decisions)).await;
            }
            Err(error) => panic!("{error}"),
        }
        rounds += 1;
        assert!(rounds < 5);
    };
    assert_eq!(output.text, "done");
    let results = "results: paid, Tool `pay` was denied: once is enough, paid";
    assert_eq!(transcript(conversation.messages())[2], results);
    assert_eq!(runs.counts(), [2, 0]);
}

/// An agent that asks another agent in a conversation of its own, and then twice in clones.
struct Asking(Agent);

impl RunAgent for Asking {
    fn name(&self) -> &str {
        "asking"
    }

    async fn run(&self, conversation: &mut Conversation, run: &Run) -> Result<AgentOutput, AgentError> {
        let mut own = Conversation::new("own");
        own.push(Message::user("secret question"));
        self.0.join_run(&mut own, run).await?;
        let mut best = conversation.clone();
        let output = self.0.join_run(&mut best, run).await?;
        self.0.join_run(&mut conversation.clone(), run).await?;
        *conversation = best;
        Ok(output)
    }
}

#[tokio::test]
async fn conversations_of_a_custom_agent_stay_out_of_the_log() {
    let runs = Runs::default();
    let agent = Agent::from(Asking(runs.agent("one", "look enough", &[], false)));
    let sessions = Sessions::default();
    let mut conversation = sessions.open("ada", "1").await.unwrap();
    conversation.session().apply(&[("kept".to_owned(), Some(1.into()))].into());
    for _ in 0..2 {
        agent.run_with(&mut conversation, "go", RunOptions::new().with_autosave(&sessions)).await.unwrap();
        let saved = sessions.open("ada", "1").await.unwrap();
        assert_eq!(saved.messages(), conversation.messages());
        assert_eq!(saved.session().get("kept"), Some(1.into()));
    }
    assert_eq!(conversation.messages().len(), 8);
}

#[tokio::test]
async fn another_agent_reads_what_an_unfinished_turn_has_left() {
    let runs = Runs::default();
    let mut conversation = Conversation::new("1");
    pending(runs.team(0, true).run_in(&mut conversation, "go").await);
    let model = ScriptedModel::new().text("I see.");
    let other = Agent::builder(model.clone()).name("other").build().unwrap();
    conversation.abandon();
    other.resume(&mut conversation, RunOptions::new()).await.unwrap();
    let request = transcript(&model.requests()[0].messages).join("\n");
    assert!(
        request.contains("[root] called tool `pay`") && request.contains("`pay` was not run"),
        "{request}"
    );
    assert_sendable(&conversation);
}

#[tokio::test]
async fn an_interrupted_run_may_end_with_a_value() {
    let runs = Runs::default();
    let (tools, permissions) = runs.tools(true);
    #[derive(Debug, PartialEq, serde::Deserialize, toolkit_core::schemars::JsonSchema)]
    #[schemars(crate = "toolkit_core::schemars")]
    struct Door {
        colour: String,
    }
    let model = ScriptedModel::new().call("ask", "{}").text("Blue.").text(r#"{"colour": "blue"}"#);
    let dispatcher = Dispatcher::new(tools).unwrap().with_middleware(permissions);
    let agent = Agent::builder(model).dispatcher(dispatcher).build().unwrap();
    let mut conversation = Conversation::new("1");
    let ended = agent.run_as_in::<Door>(&mut conversation, "Paint the door.").await;
    let Err(AgentError::Interrupted { pending, .. }) = ended.map_err(AgentError::from) else { panic!() };
    let options = RunOptions::new().with_decisions(Order::All.decide(&pending));
    let structured = toolkit_agent::structured::StructuredOptions::new();
    let (door, output) = agent.resume_as::<Door>(&mut conversation, options, structured).await.unwrap();
    assert_eq!(door, Door { colour: "blue".to_owned() });
    // The model was asked once before the interruption, and twice after it.
    assert_eq!((output.model_calls, output.tool_calls), (3, 1));
}

#[tokio::test]
async fn agents_called_with_the_same_id_answer_in_a_saved_run() {
    let runs = Runs::default();
    let expert = runs.agent("expert", "look", &[], false);
    let tools = ToolRegistry::from_tools([expert.to_tool().unwrap()]).unwrap();
    let call = || ToolCall::new("x", "expert", r#"{"request": "Help."}"#);
    let model = ScriptedModel::new().response(ModelResponse::calls([call(), call()])).text("done");
    let agent = Agent::builder(model).tools(tools).build().unwrap();
    let sessions = Sessions::default();
    sessions.run(&agent, "ada", "1", "go").await.unwrap();
    let saved = sessions.open("ada", "1").await.unwrap();
    let answer = r#"{"response":"expert is done."}"#;
    assert_eq!(transcript(saved.messages())[2], format!("results: {answer}, {answer}"));
}

#[tokio::test]
async fn a_decision_is_not_lost_to_another_agent() {
    let runs = Runs::default();
    let mut conversation = Conversation::new("1");
    let calls = pending(runs.team(0, true).run_in(&mut conversation, "go").await);
    let other = runs.agent("other", "look", &[], true);
    let refused = decide(&other, &mut conversation, Order::All.decide(&calls)).await;
    assert!(matches!(&refused, Err(RunError { error: AgentError::TeamChanged(_), .. })), "{refused:?}");
    decide(&runs.team(0, true), &mut conversation, Order::All.decide(&calls)).await.unwrap();
    assert_eq!(runs.counts(), [1, 1]);
}

#[tokio::test]
async fn a_cancelled_run_keeps_the_pending_calls_of_an_agent_called_as_a_tool() {
    let runs = Runs::default();
    let agent = runs.team(1, true);
    let mut conversation = Conversation::new("1");
    let calls = pending(agent.run_in(&mut conversation, "go").await);
    // The expert gets one of two decisions, and the run is cancelled before it starts.
    let token = toolkit_core::CancellationToken::new();
    token.cancel();
    let decisions = Decisions::new().approve(&calls[0].id);
    let options = RunOptions::new().with_decisions(decisions).with_cancellation(token);
    let ended = agent.resume(&mut conversation, options).await;
    assert_eq!(ended.map_err(AgentError::from), Err(AgentError::Cancelled));
    assert_eq!(conversation.pending(), calls);
    decide(&agent, &mut conversation, Order::All.decide(&calls)).await.unwrap();
    assert_eq!(runs.counts(), [2, 1]);
}

/// An agent that asks another agent a question of its own.
struct Passing(Agent);

impl RunAgent for Passing {
    fn name(&self) -> &str {
        "passing"
    }

    async fn run(&self, conversation: &mut Conversation, run: &Run) -> Result<AgentOutput, AgentError> {
        let output = self.0.join_run(conversation, run).await?;
        conversation.push(Message::user("Really?"));
        self.0.join_run(conversation, run).await?;
        Ok(output)
    }
}

#[tokio::test]
async fn a_message_of_a_custom_agent_belongs_to_its_run() {
    let runs = Runs::default();
    let agent = Agent::from(Passing(runs.agent("one", "look", &[], false)));
    let mut conversation = Conversation::new("1");
    for _ in 0..2 {
        let output = agent.run_in(&mut conversation, "go").await.unwrap();
        assert_eq!((output.messages.len(), output.model_calls, output.tool_calls), (8, 4, 2));
    }
}
