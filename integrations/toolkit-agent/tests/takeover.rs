//! Decisions about a conversation on which a process works.

use crate::support::{Nothing, transcript};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use toolkit_agent::session::MemoryStore;
use toolkit_agent::{
    Agent, AgentError, Decisions, ModelRequest, ModelResponse, PendingCall, RunOptions, ScriptedModel,
    Sessions,
};
use toolkit_core::middleware::{PermissionRule, Permissions};
use toolkit_core::{ClosureTool, Dispatcher, ToolRegistry};

/// Creates an agent that calls `pay`, which needs approval, and `slow`, which takes a minute, itself or within another
/// agent.
fn slow(is_nested: bool) -> Agent {
    let slow = |_: Nothing| async {
        sleep(Duration::from_secs(60)).await;
        "slow"
    };
    let tools = [
        ClosureTool::new("pay", "Pays.", |_: Nothing| "paid").unwrap(),
        ClosureTool::new("slow", "Is slow.", slow).unwrap(),
    ];
    let permissions = Permissions::new()
        .rule(PermissionRule::ask("it costs money").for_tool("pay").unwrap())
        .rule(PermissionRule::allow())
        .decide_later();
    let dispatcher =
        Dispatcher::new(ToolRegistry::from_tools(tools).unwrap()).unwrap().with_middleware(permissions);
    let model = ScriptedModel::new().call("pay", "{}").call("slow", "{}").fallback(said);
    let agent = Agent::builder(model).name("expert").dispatcher(dispatcher).build().unwrap();
    if !is_nested {
        return agent;
    }
    let model = ScriptedModel::new().call("expert", r#"{"request": "Pay."}"#).fallback(said);
    Agent::builder(model)
        .tools(ToolRegistry::from_tools([agent.to_tool().unwrap()]).unwrap())
        .build()
        .unwrap()
}

/// Answers with the results of the latest calls.
fn said(request: &ModelRequest) -> Result<ModelResponse, toolkit_agent::ModelError> {
    let latest = request.messages.last().map(std::slice::from_ref).unwrap_or_default();
    Ok(ModelResponse::text(transcript(latest).join("\n")))
}

async fn pending(store: &MemoryStore) -> Vec<PendingCall> {
    Sessions::new(store.clone()).open("ada", "1").await.unwrap().pending()
}

#[tokio::test(start_paused = true)]
async fn decisions_wait_for_the_end_of_a_run() {
    for (is_nested, is_crash) in [(false, false), (false, true), (true, false), (true, true)] {
        let store = MemoryStore::new();
        let agent = slow(is_nested);
        let decide = async || {
            let decisions =
                pending(&store).await.iter().fold(Decisions::new(), |all, call| all.approve(&call.id));
            assert!(!decisions.is_empty());
            let options = RunOptions::new().with_decisions(decisions);
            Sessions::new(store.clone()).resume_with(&agent, "ada", "1", options).await
        };
        let run = async { Sessions::new(store.clone()).run(&agent, "ada", "1", "go").await };
        let early = async {
            sleep(Duration::from_secs(1)).await;
            decide().await
        };
        let limit = Duration::from_secs(if is_crash { 10 } else { 100 });
        let (ended, early) = tokio::join!(timeout(limit, run), early);
        let refused = "a run works on this conversation, or its process has died; wait for the end of the run, or \
            resume without decisions to take it over, and decide then";
        assert_eq!(early.map_err(AgentError::from), Err(AgentError::InvalidDecision(refused.to_owned())));
        let ended = match ended {
            Ok(ended) => ended,
            Err(_) => {
                let calls = pending(&store).await;
                assert_eq!(
                    decide().await.unwrap_err().error,
                    AgentError::InvalidDecision(refused.to_owned())
                );
                assert_eq!(pending(&store).await, calls);
                Sessions::new(store.clone()).resume(&agent, "ada", "1").await
            }
        };
        assert!(matches!(ended.unwrap_err().error, AgentError::Interrupted { .. }));
        let text = decide().await.unwrap().text;
        assert_eq!(text.contains("may have run"), is_crash, "{text}");
        assert!(
            text.contains("results: paid, ") || text.contains(r#""response":"results: paid, "#),
            "{text}"
        );
        assert!(is_crash || text.contains("paid, slow"), "{text}");
    }
}
