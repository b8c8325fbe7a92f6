//! Unfinished turns: paused, or with code that calls the program's tools.

use super::{Run, Script, message, search, searching_agent};
use crate::support::reloaded;
use serde_json::{Value, json};
use std::time::Duration;
use toolkit_agent::{Agent, Conversation, Limits};
use toolkit_core::{ClosureTool, ToolRegistry, ToolResult};
use toolkit_llm::ApiFormat;
use toolkit_llm::hosted::anthropic;
use toolkit_llm::transport::{WireModel, encode_request};
use toolkit_llm::{
    AssistantMessage, Message, ModelOptions, ModelRequest, ModelRetry, NativeMessages, ToolMessage,
};

#[tokio::test]
async fn new_input_after_a_paused_turn_gives_a_legal_request() {
    for streamed in [false, true] {
        let done = message(&json!({"type": "text", "text": "Done."}), "end_turn", streamed);
        let transport = Script::new([message(&search(1), "pause_turn", streamed), done]);
        let agent = searching_agent(&transport, streamed);
        let mut conversation = Conversation::new("c");
        agent
            .run("Search.")
            .on(&mut conversation)
            .limits(Limits::default().with_max_model_calls(1))
            .await
            .unwrap_err();
        let output = agent.run("Stop.").on(&mut conversation).await.unwrap();
        assert_eq!(output.text, "Done.");
        // Neither the call without a result nor the then empty message is sent.
        let text = |text: &str| json!({"role": "user", "content": [{"type": "text", "text": text}]});
        assert_eq!(transport.asked()[1]["messages"], json!([text("Search."), text("Stop.")]));
        let request = ModelRequest::new(conversation.messages().iter().cloned());
        let losses = encode_request(ApiFormat::Anthropic, "m", &request, streamed).losses;
        assert_eq!((losses[0].path.as_str(), losses[0].keyword.as_str()), ("/messages/1", "server_tool_use"));
    }
}

/// Returns Anthropic's message with a container, or its events.
fn response(content: &[Value], reason: &str, container: Option<&str>, streamed: bool) -> Value {
    let container = container.map(|id| json!({"id": id, "expires_at": "2026-11-23T00:00:00Z"}));
    if !streamed {
        return json!({"type": "message", "role": "assistant", "content": content, "stop_reason": reason,
            "container": container});
    }
    let start =
        json!({"type": "message_start", "message": {"type": "message", "role": "assistant", "content": []}});
    let blocks = content.iter().enumerate().flat_map(|(index, block)| {
        let begin = json!({"type": "content_block_start", "index": index, "content_block": block});
        [begin, json!({"type": "content_block_stop", "index": index})]
    });
    let delta = json!({"type": "message_delta", "delta": {"stop_reason": reason, "container": container}});
    [start].into_iter().chain(blocks).chain([delta, json!({"type": "message_stop"})]).collect()
}

fn code() -> Value {
    json!({"type": "server_tool_use", "id": "c_1", "name": "code_execution", "input": {"code": "bash()"}})
}

fn call() -> Value {
    json!({"type": "tool_use", "id": "t_1", "name": "bash", "input": {"command": "ls"},
        "caller": {"type": "code_execution_20260120", "tool_id": "c_1"}})
}

#[tokio::test]
async fn code_that_waits_for_results_goes_on_in_its_container() {
    let ran =
        json!({"type": "code_execution_tool_result", "tool_use_id": "c_1", "content": {"stdout": "ran ls"}});
    let text = json!({"type": "text", "text": "Done."});
    let skills = json!({"skills": [{"type": "anthropic", "skill_id": "xlsx"}]});
    for (streamed, has_skills) in [(false, false), (true, false), (false, true), (true, true)] {
        let transport = Script::new([
            response(&[code(), call()], "tool_use", Some("container_1"), streamed),
            response(&[ran.clone(), text.clone()], "end_turn", None, streamed),
            response(std::slice::from_ref(&text), "end_turn", None, streamed),
        ]);
        let bash =
            ClosureTool::new("bash", "Runs.", |Run { command }: Run| format!("ran {command}")).unwrap();
        let mut options = ModelOptions::new().with_hosted(anthropic::code_execution());
        if has_skills {
            options = options.with_extra("container", skills.clone());
        }
        let agent = Agent::builder(WireModel::new(ApiFormat::Anthropic, "m", transport.clone()))
            .tools(ToolRegistry::from_tools([bash]).unwrap())
            .options(options)
            .streaming(streamed)
            .build()
            .unwrap();
        let mut conversation = Conversation::new("c");
        for input in ["Go.", "Thanks."] {
            let output = agent.run(input).on(&mut conversation).await.unwrap();
            assert_eq!(output.text, "Done.");
            conversation = reloaded(&conversation);
        }
        let requests = transport.asked();
        let mut running = skills.clone();
        running["id"] = json!("container_1");
        let expected = match has_skills {
            true => [skills.clone(), running, skills.clone()],
            // After new input, the container may have expired.
            false => [Value::Null, json!("container_1"), Value::Null],
        };
        for (request, expected) in requests.iter().zip(expected) {
            assert_eq!(request["container"], expected, "{streamed}");
        }
        // The call keeps its caller, and the result stands alone in its message.
        let result = json!({"type": "tool_result", "tool_use_id": "t_1", "content": "ran ls"});
        assert_eq!(requests[1]["messages"][1]["content"], json!([code(), call()]));
        assert_eq!(requests[1]["messages"][2]["content"], json!([result]));
        assert_eq!(requests[2]["messages"][1]["content"], json!([code(), call()]));
        assert_eq!(requests[2]["messages"][3]["content"], json!([ran, text]));
        let native = conversation.messages().iter().find_map(|message| match message {
            Message::Assistant(message) => message.native.as_ref(),
            _ => None,
        });
        let expiry = native.and_then(|native| native.container_expires_at.as_deref());
        assert_eq!(expiry, Some("2026-11-23T00:00:00Z"));
    }
}

/// The container's id comes at the end, and without it the provider refuses to continue.
#[tokio::test]
async fn code_in_a_broken_stream_is_not_continued() {
    let text = json!({"type": "text", "text": "Done."});
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    for kept in [vec![], vec![text.clone()], vec![thinking, text.clone()]] {
        let content = [&kept[..], &[code(), call()]].concat();
        let mut broken = response(&content, "tool_use", Some("container_1"), true);
        let events = broken.as_array_mut().unwrap();
        events.retain(|event| event["type"] != "message_delta" && event["type"] != "message_stop");
        let transport = Script::new([broken, response(std::slice::from_ref(&text), "end_turn", None, true)]);
        let bash =
            ClosureTool::new("bash", "Runs.", |Run { command }: Run| format!("ran {command}")).unwrap();
        let agent = Agent::builder(WireModel::new(ApiFormat::Anthropic, "m", transport.clone()))
            .tools(ToolRegistry::from_tools([bash]).unwrap())
            .options(ModelOptions::new().with_hosted(anthropic::code_execution()))
            .retry(ModelRetry::new(2).with_pauses(Duration::ZERO, Duration::ZERO))
            .build()
            .unwrap();
        let mut conversation = Conversation::new("c");
        agent.run("Go.").on(&mut conversation).await.unwrap();
        let request = &transport.asked()[1];
        assert_eq!(request.get("container"), None);
        let mut called = call();
        called.as_object_mut().unwrap().remove("caller");
        assert_eq!(request["messages"][1]["content"], json!([&kept[..], &[called]].concat()), "{request:#}");
        assert_eq!(request["messages"][2]["content"][0]["tool_use_id"], "t_1");
        let request = ModelRequest::new(conversation.messages()[..3].iter().cloned());
        let losses = encode_request(ApiFormat::Anthropic, "m", &request, true).losses;
        assert!(losses.iter().any(|loss| loss.keyword == "caller"), "{losses:?}");
    }
}

/// A program may keep only a message's calls, or change the API.
#[test]
fn calls_of_code_become_calls_of_the_model_where_the_code_is_missing() {
    let native = json!({"role": "assistant", "content": [code(), call()]});
    let calls = ApiFormat::Anthropic.parse_calls(&native).unwrap();
    let result = ToolResult::of(&calls[0], Ok("a.txt".into()));
    let encode = |format: ApiFormat, native: Option<NativeMessages>| {
        let mut message = AssistantMessage::default().with_calls(calls.clone());
        message.native = native;
        let messages = [
            Message::user("Go."),
            Message::Assistant(message),
            Message::Tool(ToolMessage::new(vec![result.clone()])),
        ];
        encode_request(format, "m", &ModelRequest::new(messages), false)
    };
    let encoded = encode(ApiFormat::Anthropic, None);
    assert_eq!(encoded.body["messages"][1]["content"][0].get("caller"), None);
    assert_eq!((encoded.losses.len(), encoded.losses[0].path.as_str()), (1, "/messages/1"));
    let mut native = NativeMessages::new("anthropic", vec![native]);
    native.container = Some("container_1".to_owned());
    assert_eq!(encode(ApiFormat::Anthropic, Some(native.clone())).losses, []);
    for format in ApiFormat::ALL.iter().copied().filter(|format| *format != ApiFormat::Anthropic) {
        let encoded = encode(format, Some(native.clone()));
        let paths: Vec<&str> = encoded.losses.iter().map(|loss| loss.path.as_str()).collect();
        assert_eq!(paths, ["/messages/1/0/caller", "/messages/1/server_tool_use"], "{format}");
        assert!(!json!(encoded.body).to_string().contains("caller"), "{format}");
    }
}
