//! New input after a run was stopped in its tool calls.

use crate::support::{Nothing, assert_sendable, reloaded, transcript};
use futures_util::FutureExt;
use serde::Deserialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use toolkit_agent::session::{ConversationKey, ConversationStore, MemoryStore};
use toolkit_agent::{Agent, AgentError, Sessions};
use toolkit_core::middleware::{PermissionRule, Permissions};
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{ClosureTool, Dispatcher, ToolCall, ToolError, ToolRegistry};
use toolkit_llm::{ModelRequest, ModelResponse, ScriptedModel};

const MAY_HAVE_RUN: &str = "Tool `pay` was started, but the program stopped before it had a result. It may have run; \
    find out before calling it again";

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Invoice {
    invoice: u32,
}

/// Creates `pay`, which counts, and from invoice 5 on takes a minute, and `ask` and `job`, which wait for the
/// program. Payments of 3 and 4 need approval.
fn tools(paid: &Arc<AtomicU32>) -> (ToolRegistry, Permissions) {
    let paid = paid.clone();
    let pay = move |Invoice { invoice }: Invoice| {
        paid.fetch_add(1, Ordering::Relaxed);
        async move {
            if invoice >= 5 {
                sleep(Duration::from_secs(60)).await;
            }
            format!("invoice {invoice} is paid")
        }
    };
    let ask = |_: Nothing| Err::<(), _>(ToolError::question("Which one?"));
    let job = |_: Nothing| Err::<(), _>(ToolError::deferred(17));
    let tools = [
        ClosureTool::new("pay", "Pays.", pay).unwrap(),
        ClosureTool::new("ask", "Asks.", ask).unwrap(),
        ClosureTool::new("job", "Works.", job).unwrap(),
    ];
    let needs_approval = |_: &toolkit_core::ToolDefinition, arguments: &serde_json::Value| {
        [3, 4].contains(&arguments["invoice"].as_u64().unwrap_or(0))
    };
    let permissions = Permissions::new()
        .rule(PermissionRule::ask("it is large").for_tool("pay").unwrap().when(needs_approval))
        .rule(PermissionRule::allow())
        .decide_later();
    (ToolRegistry::from_tools(tools).unwrap(), permissions)
}

fn caller(name: &str, calls: &[(&str, &str)], paid: &Arc<AtomicU32>, below: Option<&Agent>) -> Agent {
    let (mut tools, permissions) = tools(paid);
    below.into_iter().for_each(|agent| tools.register(agent.to_tool().unwrap()).unwrap());
    let calls = calls.iter().zip(0..);
    let calls =
        calls.map(|((tool, arguments), number)| ToolCall::new(format!("{number}"), *tool, *arguments));
    let model = ScriptedModel::new().response(ModelResponse::calls(calls)).text("done");
    let dispatcher = Dispatcher::new(tools).unwrap().with_middleware(permissions);
    Agent::builder(model).name(name).dispatcher(dispatcher).build().unwrap()
}

/// Runs for ten seconds, and returns what the model reads after new input in memory and in the saved
/// conversation.
async fn read_after(agent: Agent) -> Vec<Vec<String>> {
    let store = MemoryStore::new();
    let sessions = Sessions::new(store.clone());
    let mut conversation = sessions.user("ada").conversation("1").open().await.unwrap();
    let ended = timeout(Duration::from_secs(10), agent.run("go").on(&mut conversation)).await;
    if let Ok(ended) = ended {
        assert!(matches!(ended.map_err(AgentError::from), Err(AgentError::Interrupted { .. })));
    }
    let saved = Sessions::new(store).user("ada").conversation("1").open().await.unwrap();
    let mut read = Vec::new();
    for mut conversation in [reloaded(&conversation), reloaded(&saved)] {
        let model = ScriptedModel::new().text("I see.");
        let other = Agent::builder(model.clone()).name(agent.name()).build().unwrap();
        other.run("And now?").on(&mut conversation).await.unwrap();
        assert_sendable(&conversation);
        read.push(transcript(&model.requests()[0].messages)[2..].to_vec());
    }
    read
}

/// It reads which calls may have run, what waits elsewhere, and what called agents have done.
#[tokio::test(start_paused = true)]
async fn after_new_input_the_model_reads_what_the_calls_have_done() {
    let paid = Arc::default();
    let agent = |name: &str, calls: &[(&str, &str)], below| caller(name, calls, &paid, below);
    let help = r#"{"request": "Pay."}"#;
    let pay = |invoice| ("pay", invoice);
    let (one, two) = (pay(r#"{"invoice": 1}"#), pay(r#"{"invoice": 2}"#));
    let (approved, slow) = (pay(r#"{"invoice": 3}"#), pay(r#"{"invoice": 5}"#));
    let expert = agent("expert", &[one, approved], None);
    let middle = agent("middle", &[two, ("expert", help)], Some(&expert));
    let crashed = agent("expert", &[one, slow], None);
    let undecided = "Tool `pay` was not run: its approval was not decided";
    let started = "was started, but the program stopped before it had a result. Consider what it has done before \
        calling it again:";
    for (ways, agent, expected) in [
        (
            2,
            agent("root", &[one, slow, approved], None),
            format!("invoice 1 is paid, {MAY_HAVE_RUN}, {undecided}"),
        ),
        (
            2,
            agent("root", &[("ask", "{}"), ("job", "{}")], None),
            "The question of tool `ask` was not answered, Tool `job` has started work that may continue elsewhere, \
             and its result is not known. Find out before calling it again"
                .to_owned(),
        ),
        (
            2,
            agent("root", &[("middle", help)], Some(&middle)),
            format!(
                "Tool `middle` {started}\n\
                 - `pay` with {{\"invoice\": 2}}: finished with invoice 2 is paid\n\
                 - `expert` with {{\"request\": \"Pay.\"}}: Tool `expert` {started}\n  \
                 - `pay` with {{\"invoice\": 1}}: finished with invoice 1 is paid\n  \
                 - `pay` with {{\"invoice\": 3}}: {undecided}"
            ),
        ),
        (
            // The process that was stopped in the agent's call does not know its work.
            1,
            agent("root", &[("expert", help)], Some(&crashed)),
            format!(
                "Tool `expert` {started}\n\
                 - `pay` with {{\"invoice\": 1}}: finished with invoice 1 is paid\n\
                 - `pay` with {{\"invoice\": 5}}: {MAY_HAVE_RUN}"
            ),
        ),
    ] {
        for read in read_after(agent).await.into_iter().rev().take(ways) {
            assert_eq!(read, [format!("results: {expected}"), "user: And now?".to_owned()]);
        }
    }
    assert_eq!(paid.load(Ordering::Relaxed), 6);
}

#[tokio::test(start_paused = true)]
async fn an_agent_whose_call_fails_before_it_continues_tells_what_it_has_done() {
    let calls = [("pay", r#"{"invoice": 1}"#), ("pay", r#"{"invoice": 5}"#)];
    let expert = caller("expert", &calls, &Arc::default(), None);
    let agent = caller("root", &[("expert", r#"{"request": "Pay."}"#)], &Arc::default(), Some(&expert));
    let store = MemoryStore::new();
    let running = Sessions::new(store.clone());
    timeout(Duration::from_secs(10), agent.run("go").on(running.user("ada").conversation("1")))
        .await
        .unwrap_err();
    let tools = ToolRegistry::from_tools([expert.to_tool().unwrap()]).unwrap();
    let model = ScriptedModel::new().text("done");
    let failing = Agent::builder(model.clone())
        .name("root")
        .tools(tools)
        .before_tool(|_| Some(Err(ToolError::failed("no luck"))));
    failing.build().unwrap().resume(Sessions::new(store).user("ada").conversation("1")).await.unwrap();
    let results = format!(
        "results: Error running tool: no luck\n\
         The call was started before the run stopped. Consider what it has done before calling it again:\n\
         - `pay` with {{\"invoice\": 1}}: finished with invoice 1 is paid\n\
         - `pay` with {{\"invoice\": 5}}: {MAY_HAVE_RUN}"
    );
    assert_eq!(transcript(&model.requests()[0].messages)[2], results);
}

#[tokio::test]
async fn a_call_that_could_not_be_saved_was_not_run() {
    let store = MemoryStore::new();
    let paid = Arc::default();
    let deleting = store.clone();
    let model = ScriptedModel::new().fallback(move |_: &ModelRequest| {
        deleting.delete(ConversationKey { user: "ada", id: "1" }).now_or_never().unwrap().unwrap();
        Ok(ModelResponse::calls([ToolCall::new("0", "pay", r#"{"invoice": 1}"#)]))
    });
    let agent = Agent::builder(model).tools(tools(&paid).0).build().unwrap();
    let sessions = Sessions::new(store);
    let mut conversation = sessions.user("ada").conversation("1").open().await.unwrap();
    let ended = agent.run("go").on(&mut conversation).await;
    assert!(matches!(ended.map_err(AgentError::from), Err(AgentError::Store(_))));
    let result = "results: Tool `pay` was not run: the run stopped before the call began";
    assert_eq!(transcript(conversation.messages())[2], result);
    assert_eq!(paid.load(Ordering::Relaxed), 0);
}
