//! Teams whose agents have changed when a run continues.

use crate::support::{Nothing, assert_sendable, transcript};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use toolkit_agent::session::MemoryStore;
use toolkit_agent::team::{ParallelAgent, SequentialAgent};
use toolkit_agent::{
    Agent, AgentError, ChatModel, Decisions, Message, ModelError, ModelRequest, ModelResponse, RunOptions,
    ScriptedModel, Sessions,
};
use toolkit_core::middleware::{PermissionRule, Permissions};
use toolkit_core::{ClosureTool, Dispatcher, ToolCall, ToolRegistry};

/// The agents that have paid.
type Paid = Arc<Mutex<Vec<&'static str>>>;

/// A model with a delay before each response.
struct Delayed(ScriptedModel, Duration);

impl ChatModel for Delayed {
    fn name(&self) -> &str {
        "delayed"
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        sleep(self.1).await;
        self.0.respond(request).await
    }
}

/// Creates an agent that pays once, and then says that it is done.
fn paying(name: &'static str, paid: &Paid, permissions: Permissions) -> Agent {
    let paid = paid.clone();
    let pay = ClosureTool::new("pay", "Pays.", move |_: Nothing| {
        paid.lock().unwrap().push(name);
        async { sleep(Duration::from_millis(2)).await }
    });
    let tools = ToolRegistry::from_tools([pay.unwrap()]).unwrap();
    let model = ScriptedModel::new().fallback(move |request: &ModelRequest| {
        Ok(match request.messages.last() {
            Some(Message::Tool(_)) => ModelResponse::text(format!("{name} is done.")),
            _ => ModelResponse::calls([ToolCall::new("1", "pay", "{}")]),
        })
    });
    let delay = match name {
        "a" => 3,
        "b" => 8,
        _ => 14,
    };
    let model = Delayed(model, Duration::from_millis(delay));
    let dispatcher = Dispatcher::new(tools).unwrap().with_middleware(permissions);
    Agent::builder(model).name(name).dispatcher(dispatcher).build().unwrap()
}

fn team(is_group: bool, names: &[&'static str], paid: &Paid, permissions: fn() -> Permissions) -> Agent {
    let agents = names.iter().map(|name| paying(name, paid, permissions()));
    if is_group {
        ParallelAgent::new("team", agents).into()
    } else {
        SequentialAgent::new("team", agents).into()
    }
}

const TEAMS: [&[&str]; 9] = [
    &["a", "b"],
    &["b", "c"],
    &["c", "b", "a"],
    &["b", "a", "c"],
    &["d", "a", "b", "c"],
    &["a", "b", "c", "d"],
    &["a", "d", "c"],
    &["d", "e", "a"],
    &[],
];

/// After a crash at any time, each agent of the new team has answered, no agent has paid twice, and the work of agents
/// that are gone is in the conversation.
#[tokio::test(start_paused = true)]
async fn a_changed_team_loses_nothing_and_repeats_nothing() {
    let allow = || Permissions::new().rule(PermissionRule::allow());
    for (is_group, names) in [true, false].into_iter().flat_map(|group| TEAMS.map(|names| (group, names))) {
        for crash in (1..).step_by(3) {
            let paid = Paid::default();
            let store = MemoryStore::new();
            let before = team(is_group, &["a", "b", "c"], &paid, allow);
            let run = async { Sessions::new(store.clone()).run(&before, "ada", "1", "go").await };
            if timeout(Duration::from_millis(crash), run).await.is_ok() {
                break;
            }
            // A dropped save finishes in its own task.
            sleep(Duration::from_millis(1)).await;
            let sessions = Sessions::new(store);
            let saved = serde_json::to_string(&sessions.open("ada", "1").await.unwrap()).unwrap();
            let said = ["a", "b", "c"].map(|name| format!("{name} is done."));
            let said = said.into_iter().filter(|text| saved.contains(text.as_str()));
            let paid_before = paid.lock().unwrap().clone();
            sessions.resume(&team(is_group, names, &paid, allow), "ada", "1").await.unwrap();
            let conversation = sessions.open("ada", "1").await.unwrap();
            assert_sendable(&conversation);
            let lines = transcript(conversation.messages());
            let paid = paid.lock().unwrap().clone();
            let case = format!("group {is_group}, {names:?} after {crash} ms: {paid:?}, {lines:#?}");
            assert_eq!(paid.iter().collect::<BTreeSet<_>>().len(), paid.len(), "{case}");
            let count = |text: &str| lines.iter().filter(|line| line.ends_with(text)).count();
            for text in said {
                assert_eq!(count(&text), 1, "{text} {case}");
            }
            for name in names {
                // In a sequence, a new agent in the place of one that has ended does not repeat its work, and an
                // agent that was replaced while it worked is in the conversation.
                let is_new = !is_group && ["d", "e"].contains(name);
                let answers = count(&format!("{name} is done."));
                assert!(answers == 1 || is_new && answers == 0, "{name} {case}");
            }
            for name in paid_before {
                assert!(lines.contains(&format!("{name}:  calls pay")), "{name} {case}");
            }
        }
    }
}

/// A decision about a call of an agent that is gone is refused, and the program with this agent can still continue.
#[tokio::test(start_paused = true)]
async fn a_decision_about_a_call_of_an_agent_that_is_gone_is_refused() {
    let ask = || Permissions::new().rule(PermissionRule::ask("it costs money")).decide_later();
    for is_group in [true, false] {
        let paid = Paid::default();
        let sessions = Sessions::default();
        let both = team(is_group, &["a", "b"], &paid, ask);
        let decide = async |agent: &Agent| {
            let pending = sessions.open("ada", "1").await.unwrap().pending();
            let decisions = pending.iter().fold(Decisions::new(), |all, call| all.approve(&call.id));
            assert!(!decisions.is_empty());
            let options = RunOptions::new().with_decisions(decisions);
            sessions.resume_with(agent, "ada", "1", options).await.map_err(|failed| failed.error)
        };
        let ended = sessions.run(&both, "ada", "1", "go").await;
        assert!(matches!(ended.unwrap_err().error, AgentError::Interrupted { .. }));
        // The other agent of the sequence has not begun.
        let gone = if is_group { "b" } else { "a" };
        let rest: &[&str] = if is_group { &["a"] } else { &[] };
        let text = format!(
            "the pending calls are calls of agent `{gone}`, and agent `team` runs; resume with `{gone}`"
        );
        let refused = decide(&team(is_group, rest, &paid, ask)).await;
        assert_eq!(refused.map(|output| output.text), Err(AgentError::InvalidDecision(text)));
        assert!(paid.lock().unwrap().is_empty());
        let mut ended = decide(&both).await;
        while matches!(ended, Err(AgentError::Interrupted { .. })) {
            ended = decide(&both).await;
        }
        assert_eq!(ended.map(|output| output.agent), Ok(if is_group { "team" } else { "b" }.to_owned()));
        assert_eq!(*paid.lock().unwrap(), ["a", "b"]);
    }
}
