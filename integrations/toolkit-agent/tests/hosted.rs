//! Tools that the provider defines, in the requests and events of an agent.

use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use toolkit_agent::wire::{EventStream, Transport, WireModel};
use toolkit_agent::{Agent, ModelError, ModelErrorKind, ModelOptions, RunEvent};
use toolkit_core::schemars::{self, JsonSchema};
use toolkit_core::{ClosureTool, Tool, ToolRegistry};
use toolkit_wire::ApiFormat;
use toolkit_wire::hosted::anthropic;

#[derive(Deserialize, JsonSchema)]
struct Run {
    command: String,
}

/// A transport with the body of each response. It records the bodies of the requests.
#[derive(Clone)]
struct Bodies {
    responses: Arc<Mutex<VecDeque<Value>>>,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl Transport for Bodies {
    async fn send(&self, body: Value) -> Result<Value, ModelError> {
        self.requests.lock().unwrap().push(body);
        let next = self.responses.lock().unwrap().pop_front();
        next.ok_or_else(|| ModelError::new(ModelErrorKind::Other, "no more responses"))
    }

    async fn stream(&self, _: Value) -> Result<EventStream, ModelError> {
        Err(ModelError::new(ModelErrorKind::Other, "no streams"))
    }
}

#[tokio::test]
async fn hosted_calls_are_events_and_a_paused_turn_goes_on() {
    let search =
        json!({"type": "server_tool_use", "id": "s_1", "name": "web_search", "input": {"query": "x"}});
    let message = |content: Value, reason: &str| json!({"type": "message", "role": "assistant", "content": content, "stop_reason": reason});
    let responses = [
        message(json!([search]), "pause_turn"),
        message(
            json!([{"type": "tool_use", "id": "t_1", "name": "bash", "input": {"command": "ls"}}]),
            "tool_use",
        ),
        message(json!([{"type": "text", "text": "Done."}]), "end_turn"),
    ];
    let transport = Bodies { responses: Arc::new(Mutex::new(responses.into())), requests: Arc::default() };
    let bash = ClosureTool::new("bash", "Runs.", |Run { command }: Run| format!("ran {command}")).unwrap();
    let agent = Agent::builder(WireModel::new(ApiFormat::Anthropic, "m", transport.clone()))
        .tools(ToolRegistry::from_tools(vec![Arc::new(bash) as Arc<dyn Tool>]).unwrap())
        .options(ModelOptions::new().with_hosted(anthropic::web_search()).with_hosted(anthropic::bash()))
        .streaming(false)
        .build()
        .unwrap();
    let mut stream = agent.run_stream("go");
    let mut hosted = Vec::new();
    let mut answer = String::new();
    while let Some(event) = stream.next().await {
        match event.unwrap() {
            RunEvent::HostedCall { call, .. } => hosted.push(call.name.clone()),
            RunEvent::Finished { output, .. } => answer = output.text.clone(),
            _ => {}
        }
    }
    assert_eq!((hosted.as_slice(), answer.as_str()), (&["web_search".to_owned()][..], "Done."));
    let requests = transport.requests.lock().unwrap();
    let [first, second, third] = requests.as_slice() else { panic!("three requests") };
    let types: Vec<&Value> = first["tools"].as_array().unwrap().iter().map(|tool| &tool["type"]).collect();
    assert_eq!(types, ["web_search_20250305", "bash_20250124"]);
    // The paused message goes back as it came, with nothing after it.
    assert_eq!(second["messages"][1], json!({"role": "assistant", "content": [search]}));
    assert_eq!(second["messages"].as_array().unwrap().len(), 2);
    let result = &third["messages"].as_array().unwrap().last().unwrap()["content"][0];
    assert_eq!((&result["type"], &result["content"]), (&json!("tool_result"), &json!("ran ls")));
}
