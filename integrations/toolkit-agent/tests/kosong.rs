//! Recorded streams of a reference implementation, assembled by this crate.

use crate::support::{Nothing, Script};
use serde_json::{Value, json};
use toolkit_agent::{Agent, AgentError, RunEvent};
use toolkit_core::{
    ClosureTool, Tool, ToolCall, ToolContext, ToolDefinition, ToolFuture, ToolName, ToolRegistry,
};
use toolkit_llm::ApiFormat;
use toolkit_llm::transport::WireModel;
use toolkit_llm::{Message, Messages, ModelErrorKind, ModelRetry};

/// A tool with any parameters.
struct Anything(ToolDefinition);

impl Tool for Anything {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, _: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(Ok("fine".into()))
    }
}

/// Converts parts to chunks of Chat Completions, with arguments for the call before.
fn chunks(parts: &[Value]) -> Vec<Value> {
    let mut index = -1;
    let delta = |part: &Value| match (part["type"].as_str(), part.get("arguments_part")) {
        (_, Some(text)) if index < 0 => json!({"tool_calls": [{"function": {"arguments": text}}]}),
        (_, Some(text)) => json!({"tool_calls": [{"index": index, "function": {"arguments": text}}]}),
        (Some("function"), _) => {
            index += 1;
            json!({"tool_calls": [{"index": index, "id": part["id"], "function": part["function"]}]})
        }
        (Some("text"), _) => json!({"content": part["text"]}),
        (Some("think"), _) => json!({"reasoning_content": part["think"]}),
        _ => json!({"content": [part]}),
    };
    let chunks = parts.iter().map(delta).map(|delta| json!({"choices": [{"delta": delta}]}));
    chunks.chain([json!({"choices": [{"delta": {}, "finish_reason": "stop"}]})]).collect()
}

/// Returns text, reasoning, calls and announced calls of the reference.
fn theirs(result: &Value) -> Value {
    let content = &result["message"]["content"];
    let parts = content.as_array().cloned().unwrap_or_else(|| vec![json!({"text": content})]);
    let joined = |name: &str| parts.iter().filter_map(|part| part[name].as_str()).collect::<String>();
    let calls = |calls: &Value| {
        let calls = calls.as_array().into_iter().flatten();
        calls
            .map(|call| json!([call["id"], call["function"]["name"], call["function"]["arguments"]]))
            .collect::<Value>()
    };
    json!({
        "text": joined("text"),
        // Our reasoning is one text, with signatures in the native message.
        "reasoning": joined("think"),
        "calls": calls(&result["message"]["tool_calls"]),
        "announced": calls(&result["on_tool_call"]),
    })
}

/// The reference drops arguments without a call. Ours become a call without a name, whose result tells the
/// model of the loss.
fn is_named(call: &ToolCall) -> bool {
    !call.name.is_empty()
}

async fn ours(parts: &[Value]) -> Result<Value, AgentError> {
    let last = json!([{"choices": [{"delta": {"content": "done"}, "finish_reason": "stop"}]}]);
    let transport = Script::new([chunks(parts).into(), last]);
    let mut tools = ToolRegistry::new();
    for part in parts.iter().filter(|part| part["type"] == "function") {
        let name = ToolName::new(part["function"]["name"].as_str().unwrap()).unwrap();
        if !tools.contains(name.as_str()) {
            tools.register(Anything(ToolDefinition::new(name, "", json!({"type": "object"})))).unwrap();
        }
    }
    let spare = ClosureTool::new("spare", "Is never called.", |_: Nothing| ()).unwrap();
    tools.register(spare).unwrap();
    let model = WireModel::new(ApiFormat::OpenAiChat, "m", transport);
    let agent = Agent::builder(model).tools(tools).retry(ModelRetry::never()).build().unwrap();
    let mut stream = agent.run("go").stream();
    let mut announced = Vec::new();
    let mut messages = Messages::default();
    while let Some(event) = stream.next().await {
        match event? {
            RunEvent::Tool { event, .. } if format!("{:?}", event.kind) == "Called" => {
                announced.push(event.call.call_id.to_string());
            }
            RunEvent::Finished { output, .. } => messages = output.messages,
            _ => {}
        }
    }
    let Some(Message::Assistant(said)) = messages.get(1) else { panic!("{messages:?}") };
    let said_calls: Vec<&ToolCall> = said.calls.iter().filter(|call| is_named(call)).collect();
    let in_their_form = |call: &&ToolCall| json!([call.id, call.name, call.arguments]);
    let calls: Value = said_calls.iter().map(in_their_form).collect();
    let of_id = |id: &String| said_calls.iter().find(|call| call.id.as_str() == id).map(in_their_form);
    let announced: Value = announced.iter().filter_map(of_id).collect();
    Ok(json!({"text": said.text, "reasoning": said.reasoning, "calls": calls, "announced": announced}))
}

#[tokio::test]
async fn assembled_streams_agree_with_the_reference() {
    let file: Value = serde_json::from_str(include_str!("data/kosong.json")).unwrap();
    let rows = file["generate_merging"].as_array().unwrap();
    for row in rows {
        let ours = ours(row["stream"].as_array().unwrap()).await;
        match (&row["result"]["ok"], ours) {
            (Value::Null, Err(AgentError::Model(error))) => {
                assert_eq!(row["result"]["error"]["type"], "APIEmptyResponseError", "{row}");
                assert_eq!(error.kind(), ModelErrorKind::Empty, "{row}");
            }
            (expected, Ok(ours)) if !expected.is_null() => assert_eq!(ours, theirs(expected), "{row}"),
            (_, ours) => panic!("{row}\n{ours:?}"),
        }
    }
    println!("{} streams", rows.len());
}
