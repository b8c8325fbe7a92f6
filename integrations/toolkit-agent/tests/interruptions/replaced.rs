//! Teams whose agents have changed when a run continues.

use crate::support::{Nothing, assert_sendable, transcript};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use toolkit_agent::session::MemoryStore;
use toolkit_agent::team::{ParallelAgent, SequentialAgent};
use toolkit_agent::{
    Agent, AgentError, ChatModel, Message, ModelError, ModelRequest, ModelResponse, ScriptedModel, Sessions,
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

const TEAMS: [&[&str]; 6] =
    [&["a", "b"], &["c", "b", "a"], &["d", "a", "b", "c"], &["a", "b", "c", "d"], &["a", "d", "c"], &[]];

/// After a crash at any time, a team of other agents changes nothing, and the team of before ends the run: each of its
/// agents has paid once.
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
            let paid_before = paid.lock().unwrap().clone();
            let refused = sessions.resume(&team(is_group, names, &paid, allow), "ada", "1").await;
            let case = format!("group {is_group}, {names:?} after {crash} ms");
            assert!(matches!(refused.unwrap_err().error, AgentError::TeamChanged(_)), "{case}");
            assert_eq!(*paid.lock().unwrap(), paid_before, "{case}");
            let mut abandoned = sessions.open("ada", "1").await.unwrap();
            abandoned.abandon();
            assert_sendable(&abandoned);
            let lines = transcript(abandoned.messages());
            for name in &paid_before {
                assert!(lines.contains(&format!("{name}:  calls pay")), "{name} {case}");
            }
            sessions.resume(&before, "ada", "1").await.unwrap();
            let paid = paid.lock().unwrap().clone();
            assert_eq!(paid.iter().collect::<BTreeSet<_>>().len(), paid.len(), "{paid:?} {case}");
            let conversation = sessions.open("ada", "1").await.unwrap();
            assert_sendable(&conversation);
            let lines = transcript(conversation.messages());
            for name in ["a", "b", "c"] {
                let answers = lines.iter().filter(|line| line.ends_with(&format!("{name} is done."))).count();
                assert_eq!(answers, 1, "{name} {case}: {lines:#?}");
            }
        }
    }
}
