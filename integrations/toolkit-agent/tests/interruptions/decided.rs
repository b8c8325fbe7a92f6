//! Calls that were decided and then cut by a crash.

use crate::support::transcript;
use serde::Deserialize;
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use toolkit_agent::session::MemoryStore;
use toolkit_agent::{Agent, AgentError, Decision, Decisions, RunOptions, ScriptedModel, Sessions};
use toolkit_core::middleware::{PermissionRule, Permissions};
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{ClosureTool, Dispatcher, ToolRegistry};

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Amount {
    amount: u32,
}

/// An agent whose idempotent tool needs approval and takes a second.
fn agent(amounts: &Arc<Mutex<Vec<u32>>>) -> Agent {
    let amounts = amounts.clone();
    let tool = ClosureTool::new("set_limit", "Sets the limit.", move |arguments: Amount| {
        amounts.lock().unwrap().push(arguments.amount);
        async { sleep(Duration::from_secs(1)).await }
    });
    let tool = tool.unwrap().with_metadata(|metadata| metadata.with_idempotent(true));
    let permissions = Permissions::new().rule(PermissionRule::ask("it matters")).decide_later();
    let dispatcher = Dispatcher::new(ToolRegistry::from_tools([tool]).unwrap()).unwrap();
    let model = ScriptedModel::new().call("set_limit", r#"{"amount": 1000}"#).text("Done.");
    Agent::builder(model).dispatcher(dispatcher.with_middleware(permissions)).build().unwrap()
}

/// A repeated call runs as it was decided: it is not asked about again, and it has the arguments of the decision.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_repeated_after_a_crash_keeps_its_decision() {
    for (decision, amount) in [(Decision::Approve, 1_000), (Decision::Change(json!({"amount": 1})), 1)] {
        let amounts = Arc::default();
        let agent = agent(&amounts);
        let sessions = Sessions::new(MemoryStore::new());
        let ended = sessions.run(&agent, "ada", "1", "go").await.map_err(AgentError::from);
        let Err(AgentError::Interrupted { pending, .. }) = ended else { panic!("{ended:?}") };
        let options = RunOptions::new().with_decisions(Decisions::new().with(&pending[0].id, decision));
        let cut = sessions.resume_with(&agent, "ada", "1", options);
        assert!(timeout(Duration::from_millis(500), cut).await.is_err());
        let output = sessions.resume(&agent, "ada", "1").await.unwrap();
        assert_eq!(output.text, "Done.", "{:?}", transcript(&output.messages));
        assert_eq!(*amounts.lock().unwrap(), [amount, amount]);
    }
}
