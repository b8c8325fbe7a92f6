//! Events read from JSON, the calls around an agent, and pieces of arguments.

use crate::support::{Nothing, Script, agent, events, question, says, tools};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, SystemTime};
use toolkit_agent::guardrail::{GuardContext, Guardrail, Verdict};
use toolkit_agent::team::ParallelAgent;
use toolkit_agent::{Agent, AgentOutput, RunEvent, RunScope};
use toolkit_core::middleware::{PermissionRule, Permissions};
use toolkit_core::{ClosureTool, Dispatcher, Media, ToolCall, ToolError, ToolOutput, ToolRegistry};
use toolkit_llm::ApiFormat;
use toolkit_llm::record::{Recorder, Replay};
use toolkit_llm::transport::WireModel;
use toolkit_llm::{
    ChatModel, Message, ModelError, ModelErrorKind, ModelResponse, ScriptedModel, StreamEvent,
};

/// Cuts times to whole milliseconds.
fn in_milliseconds(mut event: RunEvent) -> RunEvent {
    if let RunEvent::Tool { event, .. } = &mut event {
        let since = event.time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
        event.time = SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(since).unwrap());
    }
    event
}

#[tokio::test]
async fn the_events_of_any_run_are_read_as_they_were_written() {
    let mut registry = tools();
    let photo = ClosureTool::new("photo", "Takes a photo.", |_: Nothing| {
        ToolOutput::new(vec!["a".into(), Media::new("image/png", b"\x89PNG").into()])
    });
    let ask = question("ask");
    let job = ClosureTool::new("job", "Starts a job.", |_: Nothing| Err::<(), _>(ToolError::deferred("job")));
    for tool in [photo.unwrap(), ask, job.unwrap()] {
        registry.register(tool).unwrap();
    }
    let permissions =
        Permissions::new().rule(PermissionRule::ask("why not").for_tool("set").unwrap()).decide_later();
    let dispatcher = Dispatcher::new(registry).unwrap().with_middleware(permissions);
    let model = || {
        ScriptedModel::new()
            .call("photo", "{}")
            .call("add", r#"{"a": "1", "b": 2}"#)
            .call("add", r#"{"a": []}"#)
            .call("nope", "{}")
            .call("fail", "{")
            .then()
            .call("ask", "{}")
            .call("job", "{}")
            .call("set", r#"{"key": "a", "value": "b"}"#)
    };
    let interrupted = Agent::builder(model()).dispatcher(dispatcher).build().unwrap();
    let expert = agent(model().error(ModelError::new(ModelErrorKind::Other, "no"))).name("expert");
    let team = ParallelAgent::new("team", [expert.build().unwrap(), says("other", "Hello.")]);
    let with_tool = ToolRegistry::from_tools([Agent::from(team.clone()).to_tool().unwrap()]).unwrap();
    let calling = ScriptedModel::new().call("team", r#"{"request": "?"}"#).text("done");
    let calling = Agent::builder(calling).tools(with_tool).build().unwrap();
    let mut kinds = BTreeMap::new();
    for agent in [interrupted, team.into(), calling] {
        for event in events(&agent).await.into_iter().map(in_milliseconds) {
            let written = serde_json::to_string(&event).unwrap();
            let read: RunEvent = serde_json::from_str(&written).unwrap();
            assert_eq!(read, event, "{written}");
            let kind = serde_json::to_value(&event).unwrap()["type"].as_str().unwrap().to_owned();
            *kinds.entry(kind).or_insert(0) += 1;
        }
    }
    for kind in ["agent_started", "tool", "result", "call_pending", "message", "branch_failed", "finished"] {
        assert!(kinds.contains_key(kind), "{kind}: {kinds:?}");
    }
}

/// Returns the texts by the agent's scopes, as JSON.
fn texts(events: &[RunEvent]) -> Vec<(String, String)> {
    let mut texts = BTreeMap::<String, String>::new();
    for event in events {
        if let RunEvent::Text { text, within, .. } = event {
            let within = within.iter().map(|scope| serde_json::to_string(scope).unwrap());
            texts.entry(within.collect::<Vec<_>>().join("/")).or_default().push_str(text);
        }
    }
    texts.into_iter().collect()
}

fn parrot() -> Agent {
    let model =
        ScriptedModel::new().fallback(|request| Ok(ModelResponse::text(request.messages[0].to_text())));
    Agent::builder(model).name("parrot").build().unwrap()
}

fn calls(tool: &str, calls: &[(&str, &str)]) -> ModelResponse {
    ModelResponse::calls(
        calls.iter().map(|(id, request)| ToolCall::new(*id, tool, json!({"request": request}).to_string())),
    )
}

#[tokio::test]
async fn events_name_the_calls_and_branches_around_their_agent() {
    let with_parrot = || ToolRegistry::from_tools([parrot().to_tool().unwrap()]).unwrap();
    // Two calls of one agent at once, within a called agent, in two branches.
    let expert = || {
        let model =
            ScriptedModel::new().response(calls("parrot", &[("a", "one"), ("b", "two")])).text("three");
        Agent::builder(model).name("expert").tools(with_parrot()).build().unwrap()
    };
    let root = || {
        let tools = ToolRegistry::from_tools([expert().to_tool().unwrap()]).unwrap();
        let model = ScriptedModel::new().response(calls("expert", &[("c", "?")])).text("four");
        Agent::builder(model).name("root").tools(tools).build().unwrap()
    };
    let one = root();
    let owned = |texts: &[(&str, &str)]| {
        texts.iter().map(|(within, text)| ((*within).to_owned(), (*text).to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(
        texts(&events(&one).await),
        owned(&[
            ("", "four"),
            (r#"{"call":"c"}"#, "three"),
            (r#"{"call":"c"}/{"call":"a"}"#, "one"),
            (r#"{"call":"c"}/{"call":"b"}"#, "two"),
        ])
    );
    let twin = parrot();
    let team = Agent::from(ParallelAgent::new("team", [twin.clone(), twin]));
    assert_eq!(texts(&events(&team).await), owned(&[(r#"{"branch":0}"#, "go"), (r#"{"branch":1}"#, "go")]));
    let model = ScriptedModel::new().response(calls("parrot", &[("x", "one"), ("x", "two")])).text("done");
    let twice = Agent::builder(model).tools(with_parrot()).build().unwrap();
    let found = texts(&events(&twice).await);
    let scopes: Vec<&str> = found.iter().map(|(within, _)| within.as_str()).collect();
    assert_eq!(scopes, ["", r#"{"call":"x"}"#, r##"{"call":"x#1"}"##]);
    let mut depth = BTreeMap::<Vec<String>, i32>::new();
    for event in events(&root()).await {
        let scopes = event.within().iter().map(|scope| format!("{scope:?}")).collect();
        match event {
            RunEvent::AgentStarted { .. } => *depth.entry(scopes).or_default() += 1,
            RunEvent::AgentEnded { .. } => *depth.entry(scopes).or_default() -= 1,
            RunEvent::Finished { .. } => assert!(scopes.is_empty()),
            _ => assert_eq!(depth[&scopes], 1, "{event:?}"),
        }
    }
    assert!(depth.len() == 4 && depth.values().all(|depth| *depth == 0), "{depth:?}");
    assert!(depth.contains_key(&vec![format!("{:?}", RunScope::Call("c".into()))]));
}

fn anthropic() -> WireModel<Script> {
    let begin = |index: u32, id: &str| {
        json!({"type": "content_block_start", "index": index,
            "content_block": {"type": "tool_use", "id": id, "name": "add", "input": {}}})
    };
    let piece = |index: u32, piece: &str| {
        json!({"type": "content_block_delta", "index": index,
            "delta": {"type": "input_json_delta", "partial_json": piece}})
    };
    let end = |index: u32| json!({"type": "content_block_stop", "index": index});
    let stop = |reason: &str| json!({"type": "message_delta", "delta": {"stop_reason": reason}});
    let calls = json!([
        begin(0, "a"),
        begin(1, "b"),
        piece(0, "{\"a\":"),
        piece(1, "{ \"b\" "),
        piece(0, " 1, \"b\": 2}"),
        piece(1, ": 5, \"a\": 3}"),
        end(0),
        end(1),
        stop("tool_use"),
    ]);
    let text = json!([
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "3, 8"}},
        stop("end_turn"),
    ]);
    WireModel::new(ApiFormat::Anthropic, "claude", Script::new([calls, text]))
}

/// Returns each call's pieces and arguments.
async fn pieces(model: impl ChatModel) -> Vec<(String, Vec<String>, String)> {
    let found = events(&agent(model).build().unwrap()).await;
    let mut pieces = BTreeMap::<String, Vec<String>>::new();
    let mut keys = HashMap::new();
    for event in &found {
        match event {
            RunEvent::CallStarted { call_id, key, message_id, .. } => {
                assert_eq!((&**message_id, &**key), ("1.1", &*format!("1.1.{}", pieces.len())));
                pieces.insert(call_id.to_string(), Vec::new());
                keys.insert(call_id.clone(), key.clone());
            }
            RunEvent::CallArguments { call_id, key, piece, .. } => {
                assert_eq!(keys.get(call_id), Some(key));
                pieces.get_mut(call_id.as_str()).unwrap().push(piece.clone());
            }
            _ => {}
        }
    }
    let Some(RunEvent::Finished { output, .. }) = found.last() else { panic!("{found:?}") };
    let Message::Assistant(said) = &output.messages[1] else { panic!("{output:?}") };
    let mut of_call = |call: &ToolCall| {
        let pieces = pieces.remove(call.id.as_str()).unwrap_or_default();
        (call.id.to_string(), pieces, call.arguments.to_string())
    };
    said.calls.iter().map(&mut of_call).collect()
}

#[tokio::test]
async fn arguments_are_shown_while_the_model_writes_them() {
    let path = std::env::temp_dir().join(format!("toolkit-pieces-{}.jsonl", std::process::id()));
    let live = pieces(Recorder::new(anthropic(), &path).unwrap()).await;
    let written = [("a", vec!["{\"a\":", " 1, \"b\": 2}"]), ("b", vec!["{ \"b\" ", ": 5, \"a\": 3}"])];
    for ((id, pieces, arguments), (expected_id, expected)) in live.iter().zip(written) {
        assert_eq!(
            (id.as_str(), pieces.iter().map(String::as_str).collect::<Vec<_>>().as_slice()),
            (expected_id, expected.as_slice())
        );
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(read(&pieces.concat()), read(arguments));
    }
    assert_eq!(pieces(Replay::open(&path).unwrap()).await, live);
    std::fs::remove_file(path).unwrap();
    // A script may contain pieces, but a whole response has none.
    let call = ToolCall::new("a", "add", r#"{"a": 1, "b": 2}"#);
    let deltas = [
        StreamEvent::call_started("a", "add"),
        StreamEvent::arguments("a", r#"{"a": 1, "#),
        StreamEvent::arguments("a", r#""b": 2}"#),
        StreamEvent::Call(call.clone()),
        StreamEvent::Done(Box::new(ModelResponse::calls([call.clone()]))),
    ];
    let scripted = ScriptedModel::new().deltas(deltas.map(Ok)).text("3");
    assert_eq!(pieces(scripted).await[0].1.concat(), call.arguments.as_str());
    let whole = ScriptedModel::new().response(ModelResponse::calls([call])).text("3");
    assert_eq!(pieces(whole).await[0].1, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn each_attempt_at_a_message_has_an_id() {
    let broken = [Ok(StreamEvent::Text("Hel".to_owned())), Err(ModelError::from_status(503, "busy"))];
    let call = ToolCall::new("a", "add", r#"{"a": 1, "b": 2}"#);
    let model = ScriptedModel::new().deltas(broken).response(ModelResponse::calls([call])).text("3");
    let agent = Agent::builder(model).tools(tools()).build().unwrap();
    let mut ids = Vec::new();
    for event in events(&agent).await {
        let id = match event {
            RunEvent::Text { message_id, .. } | RunEvent::Message { message_id, .. } => {
                message_id.to_string()
            }
            RunEvent::Result { key, .. } => key.to_string(),
            RunEvent::Tool { key, .. } => key.unwrap(),
            _ => continue,
        };
        if ids.last() != Some(&id) {
            ids.push(id);
        }
    }
    // The call begins before its message ends.
    assert_eq!(ids, ["1.1", "1.2.0", "1.2", "1.2.0", "1.3"]);
}

/// It is one event, which waits for guardrails like streamed text.
#[tokio::test]
async fn the_text_of_a_whole_response_is_an_event() {
    for guarded in [false, true] {
        let mut builder = agent(ScriptedModel::new().text("Hello there.")).streaming(false);
        if guarded {
            let guard =
                Guardrail::new("hide", |_: &AgentOutput, _: &GuardContext| Verdict::Block("No.".into()));
            builder = builder.guardrail(guard);
        }
        let emitted = events(&builder.build().unwrap()).await;
        let texts = emitted.iter().filter_map(|event| match event {
            RunEvent::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        let texts: Vec<&str> = texts.collect();
        assert_eq!(texts, [if guarded { "No." } else { "Hello there." }]);
    }
}
