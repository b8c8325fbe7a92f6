//! Tools that the client of a run answers.

use super::owned::{KEY, Program, agent, local};
use serde_json::json;
use std::sync::Arc;
use toolkit_agent::Decision;
use toolkit_agent::runs::{ClientTool, RunInput, Runs as _, RunsError};
use toolkit_agent::session::{ConversationStore as _, RunStatus};
use toolkit_core::error::Pending;
use toolkit_llm::{ModelRequest, ScriptedModel};

fn place() -> ClientTool {
    let parameters = json!({"type": "object", "properties": {"exact": {"type": "boolean"}}});
    ClientTool::new("place", "Returns where the user is.", parameters)
}

fn has_place(request: &ModelRequest) -> bool {
    request.tools.contains("place")
}

#[tokio::test]
async fn a_client_answers_the_calls_of_its_tools_also_after_a_restart() {
    let model = ScriptedModel::new().call("place", r#"{"exact": true}"#).text("In Rome.").text("Bye.");
    let program = Program::new(model.clone());
    let input = RunInput::new("Where am I?").with_run("1").with_tools(vec![place()]);
    program.runs.submit(KEY, input).await.unwrap();
    let is_waiting = |status: &RunStatus| matches!(status, RunStatus::Waiting { .. });
    let RunStatus::Waiting { calls, .. } = program.status(is_waiting).await else { unreachable!() };
    assert!(matches!(calls[0].reason, Pending::Deferred { .. }), "{:?}", calls[0].reason);

    // Another process has the same store, and no word of the tools.
    let restarted =
        local(agent(model.clone(), &Arc::default(), &program.permits).build().unwrap(), &program.store);
    restarted.decide(KEY, &calls[0].id, Decision::Answer("Rome".into()), "ada").await.unwrap();
    program.ended().await;
    assert_eq!(program.texts().await.last().unwrap(), "In Rome.");
    program.begin("Bye.", "2").await;
    program.status(|status| matches!(status, RunStatus::Ended { run, .. } if &**run == "2")).await;
    let has: Vec<bool> = model.requests().iter().map(has_place).collect();
    assert_eq!(has, [true, true, false]);
}

#[tokio::test]
async fn tools_that_no_model_can_call_are_refused() {
    let program = Program::new(ScriptedModel::new());
    for tools in [
        vec![ClientTool::new("a b", "", json!({}))],
        vec![ClientTool::new("a", "", json!({"type": 5}))],
        vec![place(), place()],
    ] {
        let refused = program.runs.submit(KEY, RunInput::new("Hi.").with_tools(tools.clone())).await;
        assert!(matches!(refused, Err(RunsError::Refused(_))), "{tools:?}: {refused:?}");
    }
    assert!(program.store.inbox(KEY).await.unwrap().is_empty());
}
