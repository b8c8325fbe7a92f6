//! Turns with misbehaving models, tools and callers.

use crate::support::{Script, events};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::future::poll_fn;
use tokio::task::coop;
use toolkit_agent::{Agent, AgentBuilder, Conversation, Limits, RunEvent};
use toolkit_core::{ClosureTool, RunContext, ToolCall, ToolConfig, ToolContext, ToolRegistry, ToolResult};
use toolkit_llm::ApiFormat;
use toolkit_llm::transport::WireModel;
use toolkit_llm::{Message, ModelResponse, ScriptedModel, StreamEvent};

#[derive(Deserialize, JsonSchema)]
struct Number {
    n: i64,
}

fn agent(model: &ScriptedModel) -> AgentBuilder {
    let double = ClosureTool::new("double", "Doubles.", |number: Number| number.n * 2).unwrap();
    Agent::builder(model.clone()).tools(ToolRegistry::from_tools([double]).unwrap())
}

fn call(n: i64) -> ToolCall {
    ToolCall::new("same", "double", format!(r#"{{"n": {n}}}"#))
}

fn results(messages: &[Message]) -> Vec<String> {
    let given = messages.iter().filter_map(|message| match message {
        Message::Tool(given) => Some(given.results.iter().map(ToolResult::to_text)),
        _ => None,
    });
    given.flatten().map(std::borrow::Cow::into_owned).collect()
}

/// Gemini lacks this setting, and some servers ignore it.
#[tokio::test]
async fn one_call_of_each_message_runs_if_parallel_calls_are_off() {
    let refused = "Only one tool call per message is allowed";
    let calls = || ModelResponse::calls([call(1), call(2), call(3)]);
    for (parallel, expected) in [
        (None, ["2", "4", "6", "8"]),
        (Some(true), ["2", "4", "6", "8"]),
        (Some(false), ["2", refused, refused, "8"]),
    ] {
        let mut config = ToolConfig::default();
        config.parallel = parallel;
        for (streaming, by_callback) in [(false, false), (true, false), (false, true), (true, true)] {
            let model = ScriptedModel::new().response(calls()).call("double", r#"{"n": 4}"#).text("done");
            let agent = agent(&model).streaming(streaming);
            let agent = if by_callback {
                let config = config.clone();
                agent.before_model(move |request| {
                    request.tool_use = config.clone();
                    None
                })
            } else {
                agent.tool_config(config.clone())
            };
            let output = agent.build().unwrap().run("Go.").await.unwrap();
            let results = results(&output.messages);
            let case = format!("{parallel:?} {streaming} {by_callback}: {results:?}");
            let is_expected = |(result, start): (&String, &str)| result.starts_with(start);
            assert!(results.len() == 4 && results.iter().zip(expected).all(is_expected), "{case}");
            assert_eq!(output.tool_calls, if parallel == Some(false) { 2 } else { 4 }, "{case}");
        }
    }
}

#[tokio::test]
async fn a_call_missing_from_the_final_response_is_answered() {
    let deltas = [
        Ok(StreamEvent::Call(call(3))),
        Ok(StreamEvent::Done(Box::new(ModelResponse::text("I have called.")))),
    ];
    let model = ScriptedModel::new().deltas(deltas).text("done");
    let output = agent(&model).build().unwrap().run("Go.").await.unwrap();
    assert_eq!(output.text, "done");
    assert_eq!(results(&output.messages), ["6"]);
}

#[tokio::test]
async fn a_call_beyond_the_limit_emits_its_result() {
    let model = ScriptedModel::new().response(ModelResponse::calls([call(1), call(2)])).text("done");
    let agent = agent(&model).limits(Limits::default().with_max_tool_calls(1)).build().unwrap();
    let results = events(&agent).await.into_iter().filter_map(|event| match event {
        RunEvent::Result { result, .. } => Some((result.position, result.outcome.is_ok())),
        _ => None,
    });
    let mut results: Vec<_> = results.collect();
    results.sort_unstable();
    assert_eq!(results, [(0, true), (1, false)]);
}

/// Tokio's channels yield nothing in a task without budget.
#[tokio::test]
async fn a_busy_task_receives_all_events() {
    let agent = agent(&ScriptedModel::new().text("done")).streaming(false).build().unwrap();
    let mut events = agent.run("Go.").stream();
    let mut kinds = Vec::new();
    while coop::has_budget_remaining() {
        poll_fn(|cx| coop::poll_proceed(cx).map(|used| used.made_progress())).await;
    }
    while let Some(event) = events.next().await {
        kinds.push(crate::support::kind(&event.unwrap()));
    }
    assert_eq!(
        (kinds.first().unwrap().as_str(), kinds.last().unwrap().as_str()),
        ("agent_started agent", "finished")
    );
}

#[tokio::test]
async fn tools_see_the_context_of_the_run() {
    struct Tenant(&'static str);
    let tenant =
        ClosureTool::new_with_context("double", "Doubles.", |number: Number, context: ToolContext| {
            let tenant = context.extension::<Tenant>().map_or("none", |tenant| tenant.0);
            format!("{tenant} {} {:?}", number.n, context.run().and_then(RunContext::invocation_id))
        });
    let tools = ToolRegistry::from_tools([tenant.unwrap()]).unwrap();
    let model = ScriptedModel::new().call("double", r#"{"n": 1}"#).text("done");
    let agent = Agent::builder(model).tools(tools).build().unwrap();
    let output = agent
        .run("go")
        .on(&mut Conversation::default())
        .invocation_id("run 7")
        .context(RunContext::new().with_extension(Tenant("Acme")))
        .await
        .unwrap();
    assert_eq!(results(&output.messages), [r#"Acme 1 Some("run 7")"#]);
}

/// Gemini on Vertex gives calls no ids, and finds them by position.
#[tokio::test]
async fn results_of_calls_without_ids_stand_beside_their_calls() {
    #[derive(Deserialize, JsonSchema)]
    struct Folder {
        dir: Option<String>,
    }
    let event = |call: Value| {
        let content = json!({"role": "model", "parts": [{"functionCall": call}]});
        json!({"candidates": [{"content": content}]})
    };
    let end = json!({"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}]});
    let text = json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "done"}]}, "finishReason": "STOP"}]});
    let folders = [None, Some("src"), None, Some("docs")];
    let calls = folders.map(|dir| match dir {
        None => json!({"name": "list_files", "args": {}}),
        Some(dir) => json!({"name": "list_files", "args": {"dir": dir}}),
    });
    let first: Vec<Value> = calls.into_iter().map(event).chain([end]).collect();
    let script = Script::new([first.into(), json!([text])]);
    let list = ClosureTool::new("list_files", "Lists.", |folder: Folder| {
        format!("files of {}", folder.dir.unwrap_or_else(|| "the root".to_owned()))
    });
    let agent = Agent::builder(WireModel::new(ApiFormat::Gemini, "gemini-3-flash", script.clone()))
        .tools(ToolRegistry::from_tools([list.unwrap()]).unwrap())
        .build()
        .unwrap();
    assert_eq!(agent.run("Go.").await.unwrap().text, "done");
    let asked = script.asked();
    let contents = asked[1]["contents"].as_array().unwrap();
    let of = |content: &Value, field: &str| -> Vec<Value> {
        content["parts"].as_array().unwrap().iter().filter_map(|part| part.get(field).cloned()).collect()
    };
    let answered = &contents[contents.len() - 2..];
    let called = of(&answered[0], "functionCall").into_iter().map(|call| call["args"]["dir"].clone());
    let expected = called.map(|dir| format!("files of {}", dir.as_str().unwrap_or("the root")));
    let results =
        of(&answered[1], "functionResponse").into_iter().map(|result| result["response"]["output"].clone());
    assert_eq!(results.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    assert_eq!(of(&answered[1], "functionResponse").len(), folders.len());
}
