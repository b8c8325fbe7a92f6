//! Interrupted runs: calls that wait for an approval, an answer or a result.

mod changed;

use crate::support::{Nothing, Watched, assert_sendable, pending, transcript};
use serde_json::json;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use toolkit_agent::session::MemoryStore;
use toolkit_agent::{
    Agent, AgentError, AgentOutput, Conversation, Decision, Decisions, PendingCall, Run, RunAgent, RunError,
    RunOutput, Sessions,
};
use toolkit_core::middleware::{PermissionRule, Permissions};
use toolkit_core::{ClosureTool, Dispatcher, ToolCall, ToolContext, ToolError, ToolRegistry};
use toolkit_llm::{Message, ModelResponse, ScriptedModel};

#[derive(Clone, Default)]
struct Runs(Arc<[AtomicU32; 2]>);

impl Runs {
    fn counts(&self) -> [u32; 2] {
        [0, 1].map(|index| self.0[index].load(Ordering::Relaxed))
    }

    fn count(&self, index: usize, output: &'static str) -> impl Fn(Nothing) -> &'static str + use<> {
        let runs = self.0.clone();
        move |_| {
            runs[index].fetch_add(1, Ordering::Relaxed);
            output
        }
    }

    /// Creates `pay`, which needs approval, `look`, `slow` for a minute, and `ask` and `job`, which wait for
    /// a result.
    fn agent(&self, name: &str, model: ScriptedModel, below: &[Agent]) -> Agent {
        let slow = |_: Nothing| async {
            sleep(Duration::from_secs(60)).await;
            "slow"
        };
        let ask = |_: Nothing| Err::<(), _>(ToolError::question("Which colour?"));
        let tools = [
            ClosureTool::new("pay", "Pays.", self.count(0, "paid")).unwrap(),
            ClosureTool::new("look", "Looks.", self.count(1, "seen")).unwrap(),
            ClosureTool::new("slow", "Waits.", slow).unwrap(),
            ClosureTool::new("ask", "Asks.", ask).unwrap(),
            ClosureTool::new("job", "Works.", |_: Nothing| Err::<(), _>(ToolError::deferred(17))).unwrap(),
        ];
        let mut tools = ToolRegistry::from_tools(tools).unwrap();
        below.iter().for_each(|agent| tools.register(agent.to_tool().unwrap()).unwrap());
        let rules = Permissions::new()
            .rule(PermissionRule::ask("it costs money").for_tool("pay").unwrap())
            .rule(PermissionRule::allow())
            .decide_later();
        let dispatcher = Dispatcher::new(tools).unwrap().with_middleware(rules);
        Agent::builder(model).name(name).dispatcher(dispatcher).build().unwrap()
    }

    fn waiting(&self) -> Agent {
        self.agent("root", calls("pay look ask job").text("root is done."), &[])
    }

    /// Creates an agent with its own calls and one of a waiting agent.
    fn nested(&self) -> Agent {
        let expert = self.agent("expert", calls("pay ask").text("expert is done."), &[]);
        self.agent("root", calls("expert look pay").text("root is done."), &[expert])
    }
}

fn calls(tools: &str) -> ScriptedModel {
    let calls = tools.split(' ').enumerate().map(|(number, tool)| {
        let arguments = if tool == "expert" { r#"{"request": "Help."}"# } else { "{}" };
        ToolCall::new(format!("call_{number}"), tool, arguments)
    });
    ScriptedModel::new().response(ModelResponse::calls(calls))
}

fn approved(pending: &[PendingCall]) -> Decisions {
    pending.iter().fold(Decisions::new(), |all, call| match call.reason {
        toolkit_core::error::Pending::Question { .. } => all.answer(&call.id, "blue"),
        toolkit_core::error::Pending::Deferred { .. } => all.answer(&call.id, "built"),
        _ => all.approve(&call.id),
    })
}

async fn decide(
    agent: &Agent,
    conversation: &mut Conversation,
    decisions: Decisions,
) -> Result<RunOutput, RunError> {
    agent.resume(&mut *conversation).decide(decisions).await
}

#[tokio::test]
async fn pending_calls_name_their_agent_their_call_and_their_reason() {
    let runs = Runs::default();
    let agent = runs.nested();
    let mut conversation = Conversation::new("1");
    let found = pending(agent.run("go").on(&mut conversation).await);
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
    // Without a decision, nothing runs, although another attempt began.
    let before = (conversation.pending(), conversation.messages().to_vec(), conversation.spent());
    assert_eq!(pending(decide(&agent, &mut conversation, Decisions::new()).await), before.0);
    let after = (conversation.pending(), conversation.messages().to_vec(), conversation.spent());
    assert_eq!(after, before);
    assert_eq!(runs.counts(), [0, 1]);
}

#[tokio::test]
async fn an_invalid_decision_changes_nothing() {
    let runs = Runs::default();
    let agent = runs.waiting();
    let mut conversation = Conversation::new("1");
    pending(agent.run("go").on(&mut conversation).await);
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
    let agent = runs.waiting();
    let mut conversation = Conversation::new("1");
    pending(agent.run("go").on(&mut conversation).await);
    let decisions = Decisions::new()
        .deny("1.1.0", "too expensive")
        .answer("1.1.2", json!({"colour": "red"}))
        .with("1.1.3", Decision::Fail("the job crashed".to_owned()));
    decide(&agent, &mut conversation, decisions).await.unwrap();
    let results = "results: Tool `pay` was denied: too expensive, seen, {\"colour\":\"red\"}, Error running tool: the job \
        crashed";
    assert_eq!(transcript(conversation.messages())[2], results);
    assert_eq!(runs.counts(), [0, 1]);
}

#[tokio::test]
async fn of_two_programs_with_decisions_one_wins() {
    let store = MemoryStore::new();
    let runs = Runs::default();
    let agent = runs.waiting();
    let calls = pending(agent.run("go").on(Sessions::new(store.clone()).user("ada").conversation("1")).await);
    let resume = async || {
        // Both load before one saves.
        let waiting = Watched::new(&store, async |_| {
            tokio::task::yield_now().await;
            Ok(())
        });
        let place = Sessions::new(waiting).user("ada").conversation("1");
        agent.resume(place).decide(approved(&calls)).await
    };
    let both = tokio::join!(resume(), resume());
    let is_conflict = |ended: &Result<RunOutput, RunError>| matches!(ended, Err(RunError { error: AgentError::Store(error), .. }) if error.is_conflict());
    assert!(both.0.is_ok() && is_conflict(&both.1) || both.1.is_ok() && is_conflict(&both.0), "{both:?}");
    assert_eq!(runs.counts(), [1, 1]);
}

const WORKED_ON: &str = "a run works on this conversation, or its process has died; wait for the end of the run, or resume \
    without decisions to take it over, and decide then";

#[tokio::test(start_paused = true)]
async fn decisions_wait_for_the_end_of_a_run() {
    for (is_nested, is_crash) in [(false, false), (false, true), (true, false), (true, true)] {
        let runs = Runs::default();
        let mut agent = runs.agent("expert", calls("pay slow").text("paid"), &[]);
        if is_nested {
            agent = runs.agent("root", calls("expert").text("paid"), &[agent]);
        }
        let sessions = Sessions::default();
        let waiting = async || sessions.user("ada").conversation("1").open().await.unwrap().pending();
        let decide = async || {
            agent
                .resume(sessions.user("ada").conversation("1"))
                .decide(approved(&waiting().await))
                .await
                .map_err(AgentError::from)
        };
        let early = async {
            sleep(Duration::from_secs(1)).await;
            decide().await
        };
        let limit = Duration::from_secs(if is_crash { 10 } else { 100 });
        let run = timeout(limit, agent.run("go").on(sessions.user("ada").conversation("1")));
        let (ended, early) = tokio::join!(run, early);
        let refused = Err(AgentError::InvalidDecision(WORKED_ON.to_owned()));
        assert_eq!(early, refused);
        let ended = match ended {
            Ok(ended) => ended,
            Err(_) => {
                let calls = waiting().await;
                assert_eq!((decide().await, waiting().await), (refused, calls));
                agent.resume(sessions.user("ada").conversation("1")).await
            }
        };
        pending(ended);
        assert_eq!((decide().await.unwrap().text.as_str(), runs.counts()), ("paid", [1, 0]));
        let log =
            serde_json::to_string(&sessions.user("ada").conversation("1").open().await.unwrap()).unwrap();
        assert_eq!(log.contains("may have run"), is_crash && !is_nested, "{is_nested}: {log}");
    }
}

#[derive(serde::Deserialize, toolkit_core::schemars::JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Amount {
    euros: u32,
}

/// Creates an agent whose payments need approval, and their list.
fn paying(model: ScriptedModel) -> (Agent, Arc<Mutex<Vec<u32>>>) {
    let paid = Arc::new(Mutex::new(Vec::new()));
    let noted = paid.clone();
    let pay = ClosureTool::new("pay", "Pays.", move |Amount { euros }: Amount| {
        noted.lock().unwrap().push(euros);
    });
    let rules = Permissions::new().rule(PermissionRule::ask("money")).decide_later();
    let tools = ToolRegistry::from_tools([pay.unwrap()]).unwrap();
    (Agent::builder(model).tools(tools).middleware(rules).build().unwrap(), paid)
}

#[tokio::test]
async fn an_approval_may_change_the_arguments_or_hold_for_the_session() {
    let model = [500, 7, 8].into_iter().fold(ScriptedModel::new(), |model, euros| {
        model.call("pay", json!({"euros": euros}).to_string()).then()
    });
    let (agent, paid) = paying(model.text("done"));
    let mut conversation = Conversation::new("1");
    let calls = pending(agent.run("go").on(&mut conversation).await);
    let less = Decision::Change(json!({"euros": 5}));
    let calls = pending(decide(&agent, &mut conversation, Decisions::new().with(&calls[0].id, less)).await);
    let always = Decisions::new().with(&calls[0].id, Decision::ApproveForSession);
    assert_eq!(decide(&agent, &mut conversation, always).await.unwrap().text, "done");
    assert_eq!(*paid.lock().unwrap(), [5, 7, 8]);
}

/// An approval for the session would run the other call as the model wrote it.
#[tokio::test]
async fn a_changed_call_runs_changed_beside_an_approval_for_the_session() {
    for [first, second] in [["1.1.0", "1.1.1"], ["1.1.1", "1.1.0"]] {
        let calls = ["x", "y"].map(|id| ToolCall::new(id, "pay", r#"{"euros": 500}"#));
        let (agent, paid) = paying(ScriptedModel::new().response(ModelResponse::calls(calls)).text("done"));
        let mut conversation = Conversation::new("1");
        pending(agent.run("go").on(&mut conversation).await);
        let less = Decision::Change(json!({"euros": 5}));
        let decisions = Decisions::new().with(first, Decision::ApproveForSession).with(second, less);
        assert_eq!(decide(&agent, &mut conversation, decisions).await.unwrap().text, "done");
        paid.lock().unwrap().sort_unstable();
        assert_eq!(*paid.lock().unwrap(), [5, 500], "{first} first");
    }
}

#[tokio::test]
async fn of_calls_with_the_same_id_each_has_its_own_decision() {
    let runs = Runs::default();
    let model = ScriptedModel::new()
        .response(ModelResponse::calls(["x", "x", "x"].map(|id| ToolCall::new(id, "pay", "{}"))))
        .text("done");
    let agent = runs.agent("root", model, &[]);
    let mut conversation = Conversation::new("1");
    let waiting = pending(agent.run("go").on(&mut conversation).await);
    assert!(waiting.iter().all(|call| call.call.id == "x"), "the provider reads its own ids");
    let decisions = Decisions::new().approve("1.1.0").deny("1.1.1", "once is enough").approve("1.1.2");
    assert_eq!(decide(&agent, &mut conversation, decisions).await.unwrap().text, "done");
    let results = "results: paid, Tool `pay` was denied: once is enough, paid";
    assert_eq!(transcript(conversation.messages())[2], results);
    assert_eq!(runs.counts(), [2, 0]);
}

#[tokio::test]
async fn agents_called_with_the_same_id_wait_each_for_their_own_decision() {
    let runs = Runs::default();
    let model = ScriptedModel::new().fallback(|request| {
        Ok(match request.messages.last() {
            Some(Message::Tool(given)) => ModelResponse::text(given.results[0].to_text()),
            _ => ModelResponse::calls([ToolCall::new("x", "ask", "{}")]),
        })
    });
    let expert = runs.agent("expert", model, &[]);
    let twice = ["one", "two"].map(|text| ToolCall::new("x", "expert", json!({"request": text}).to_string()));
    let model = ScriptedModel::new().response(ModelResponse::calls(twice)).text("done");
    let agent = runs.agent("root", model, &[expert]);
    let mut conversation = Conversation::new("1");
    let waiting = pending(agent.run("go").on(&mut conversation).await);
    let ids: Vec<&str> = waiting.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["1.1.0/1.1.0", "1.1.1/1.1.0"]);
    let decisions = Decisions::new().answer(ids[0], "blue").answer(ids[1], "red");
    assert_eq!(decide(&agent, &mut conversation, decisions).await.unwrap().text, "done");
    assert_eq!(transcript(conversation.messages())[2], r#"results: {"response":"blue"}, {"response":"red"}"#);
}

/// Tools can use these keys where a provider repeats ids.
#[tokio::test]
async fn each_call_of_a_run_has_a_key_of_its_own() {
    let keys = Arc::<Mutex<Vec<String>>>::default();
    let seen = keys.clone();
    let note = ClosureTool::new_with_context("note", "Notes.", move |_: Nothing, context: ToolContext| {
        seen.lock().unwrap().extend(context.call_key());
    });
    let tools = ToolRegistry::from_tools([note.unwrap()]).unwrap();
    let twice = || ModelResponse::calls(["x", "x"].map(|id| ToolCall::new(id, "note", "{}")));
    let inner = ScriptedModel::new().response(twice()).text("noted");
    let inner = Agent::builder(inner).name("inner").tools(tools.clone()).build().unwrap();
    let mut all = tools;
    all.register(inner.to_tool().unwrap()).unwrap();
    let model = ScriptedModel::new()
        .response(twice())
        .response(ModelResponse::calls([ToolCall::new("x", "inner", r#"{"request": "Go."}"#)]))
        .text("done");
    Agent::builder(model).tools(all).build().unwrap().run("go").await.unwrap();
    keys.lock().unwrap().sort();
    assert_eq!(*keys.lock().unwrap(), ["1.1.0", "1.1.1", "1.2.0/1.1.0", "1.2.0/1.1.1"]);
}

/// An agent that asks another in its own conversation, and then twice in clones.
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

fn looking(runs: &Runs) -> Agent {
    let model = ScriptedModel::new().fallback(|request| {
        Ok(match request.messages.last() {
            Some(Message::Tool(_)) => ModelResponse::text("one is done."),
            _ => ModelResponse::calls([ToolCall::new("call_0", "look", "{}")]),
        })
    });
    runs.agent("one", model, &[])
}

#[tokio::test]
async fn conversations_of_a_custom_agent_stay_out_of_the_log() {
    let agent = Agent::from(Asking(looking(&Runs::default())));
    let sessions = Sessions::default();
    let mut conversation = sessions.user("ada").conversation("1").open().await.unwrap();
    conversation.session().apply(&[("kept".to_owned(), Some(1.into()))].into());
    for _ in 0..2 {
        agent.run("go").on(&mut conversation).await.unwrap();
        let saved = sessions.user("ada").conversation("1").open().await.unwrap();
        assert_eq!(saved.messages(), conversation.messages());
        assert_eq!(saved.session().get("kept"), Some(1.into()));
    }
    assert_eq!(conversation.messages().len(), 8);
}

#[tokio::test]
async fn a_cancelled_run_keeps_the_pending_calls_of_an_agent_called_as_a_tool() {
    let runs = Runs::default();
    let agent = runs.nested();
    let mut conversation = Conversation::new("1");
    let calls = pending(agent.run("go").on(&mut conversation).await);
    // The expert gets one of two decisions, and the run is cancelled before its start.
    let token = toolkit_core::CancellationToken::new();
    token.cancel();
    let decisions = Decisions::new().approve(&calls[0].id);
    let ended = agent.resume(&mut conversation).decide(decisions).cancellation(token).await;
    assert_eq!(ended.map_err(AgentError::from), Err(AgentError::Cancelled));
    assert_eq!(conversation.pending(), calls);
    decide(&agent, &mut conversation, approved(&calls)).await.unwrap();
    assert_eq!(runs.counts(), [2, 1]);
}

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
    let agent = Agent::from(Passing(looking(&Runs::default())));
    let mut conversation = Conversation::new("1");
    for _ in 0..2 {
        let output = agent.run("go").on(&mut conversation).await.unwrap();
        assert_eq!((output.messages.len(), output.model_calls, output.tool_calls), (8, 4, 2));
    }
    assert_sendable(&conversation);
}
