//! Arguments that a model wraps: in a list, in a string, in a Markdown fence, and in combinations of them.

use super::argument_promises::reported_coercions;
use std::sync::{Arc, Mutex};
use toolkit::middleware::{Next, ToolRequest};
use toolkit::prelude::*;
use toolkit::serde_json::{self, Value, json};
use toolkit::wire::StreamEvent;
use toolkit::{AdaptedTool, ArgumentTransform, ClosureTool, DynamicTool, ToolMetadata};

#[derive(Debug, ToolParams)]
struct Route {
    from: String,
    legs: Option<Vec<u8>>,
}

/// Plans a route.
#[tool(register = false)]
fn plan(from: String, legs: Option<Vec<u8>>) -> String {
    format!("{from} {legs:?}")
}

/// Plans a route later.
#[tool(register = false)]
async fn plan_later(from: String, legs: Option<Vec<u8>>) -> String {
    plan(from, legs)
}

/// Plans a route from one struct.
#[tool(register = false)]
fn plan_flat(#[param(flatten)] route: Route) -> String {
    plan(route.from, route.legs)
}

/// Plans a route for a user.
#[tool(register = false)]
fn plan_for(from: String, legs: Option<Vec<u8>>, user: String) -> String {
    assert_eq!(user, "hidden");
    plan(from, legs)
}

/// A tool of every kind, with or without coercion.
fn tools(coerce: bool) -> Vec<Arc<dyn Tool>> {
    let change = |metadata: ToolMetadata| metadata.with_coerce(coerce);
    let closure = ClosureTool::new("closure", "", |it: Route| plan(it.from, it.legs)).expect("a tool");
    let schema = json!({"type": "object", "additionalProperties": false, "required": ["from"], "properties": {
        "from": {"type": "string"}, "legs": {"type": "array", "items": {"type": "integer"}},
    }});
    let legs = |args: &Value| serde_json::from_value(args["legs"].clone()).expect("legs");
    let dynamic = move |args: Value| plan(args["from"].as_str().unwrap_or_default().to_owned(), legs(&args));
    let dynamic = DynamicTool::new("dynamic", "", schema, dynamic).expect("a schema");
    let adapted = AdaptedTool::new(plan_for::tool().with_metadata(change))
        .with_arguments([ArgumentTransform::of("user").fixed("hidden")])
        .expect("a legal change");
    vec![
        Arc::new(plan::tool().with_metadata(change)),
        Arc::new(plan_later::tool().with_metadata(change)),
        Arc::new(plan_flat::tool().with_metadata(change)),
        Arc::new(closure.with_metadata(change)),
        Arc::new(dynamic.with_metadata(change)),
        Arc::new(adapted),
    ]
}

const PLAIN: &str = r#"{"from": "Oslo", "legs": [1, 2]}"#;

/// The plain arguments, wrapped in every known way.
fn wrapped(plain: &str) -> Vec<String> {
    let list = format!("[{plain}]");
    let in_string = |text: &str| Value::from(text).to_string();
    let in_fence = |text: &str| format!("```json\n{text}\n```");
    vec![
        in_string(plain),
        in_fence(plain),
        list.clone(),
        format!(" [\n{plain} ]\n"),
        in_string(&list),
        in_fence(&list),
        in_fence(&in_string(&list)),
        in_string(&in_fence(&list)),
    ]
}

/// What middleware reads from a request: the canonical form, the arguments as text, and as a value.
type Read = (Option<String>, Option<String>, Option<Value>);

/// Runs a call. Returns its result, and what middleware has read.
async fn run(tool: &Arc<dyn Tool>, text: &str, with_reason: bool) -> (ToolResult, Read) {
    let name = tool.definition().name.to_string();
    let registry = ToolRegistry::from_tools([tool.clone()]).expect("one tool").with_call_reason(with_reason);
    let seen: Arc<Mutex<Read>> = Arc::default();
    let reading = seen.clone();
    let middleware = move |request: ToolRequest, next: Next| {
        *reading.lock().expect("no panic") = (
            request.canonical_arguments().map(str::to_owned),
            request.arguments_json().ok(),
            request.arguments_value().ok().cloned(),
        );
        next.run(request)
    };
    let dispatcher = Dispatcher::new(registry).expect("one tool").with_middleware(middleware);
    let result = dispatcher.dispatch([ToolCall::new("1", name, text)]).await.remove(0);
    let read = std::mem::take(&mut *seen.lock().expect("no panic"));
    (result, read)
}

#[tokio::test]
async fn wrapped_arguments_are_the_object_inside_for_the_tool_and_for_middleware() {
    for tool in tools(true) {
        let name = &tool.definition().name;
        let (_, read) = run(&tool, PLAIN, false).await;
        assert_eq!(read.2, Some(json!({"from": "Oslo", "legs": [1, 2]})), "{name}");
        for text in wrapped(PLAIN) {
            let (result, same) = run(&tool, &text, false).await;
            assert_eq!(result.to_text(), "Oslo Some([1, 2])", "{name} {text}");
            assert_eq!(same, read, "{name} {text}");
            assert_eq!(reported_coercions(tool.clone(), &text).await, json!(["arguments"]), "{name} {text}");
        }
        for text in wrapped(r#"{"from": "Oslo", "legs": "[1, 2]"}"#) {
            assert_eq!(run(&tool, &text, false).await.1, read, "{name} {text}");
            let coerced = reported_coercions(tool.clone(), &text).await;
            assert_eq!(coerced, json!(["arguments", "legs"]), "{name} {text}");
        }
    }
}

#[tokio::test]
async fn a_call_reason_inside_of_wrapped_arguments_is_found_and_the_coercion_reported() {
    for tool in tools(true) {
        for text in wrapped(r#"{"call_reason": "why", "from": "Oslo"}"#) {
            let (result, read) = run(&tool, &text, true).await;
            assert_eq!(result.to_text(), "Oslo None", "{text}");
            assert_eq!(result.call_reason.as_deref(), Some("why"), "{text}");
            assert_eq!(read.2, Some(json!({"from": "Oslo"})), "{text}");
        }
    }
}

#[tokio::test]
async fn wrapped_arguments_are_refused_without_coercion() {
    for tool in tools(false) {
        let context = ToolContext::new(tool.definition().name.clone());
        for (with_reason, plain) in [(false, PLAIN), (true, r#"{"call_reason": "why", "from": "Oslo"}"#)] {
            assert!(run(&tool, plain, with_reason).await.0.error().is_none());
            for text in wrapped(plain) {
                let (result, _) = run(&tool, &text, with_reason).await;
                let message =
                    result.error().unwrap_or_else(|| panic!("{text}: {result:?}")).message().to_owned();
                assert!(message.contains("JSON object"), "{message}");
                assert_eq!(tool.validate(&text, &context).unwrap_err().message(), message, "{text}");
            }
        }
        let error = tool.validate(&format!("[{PLAIN}]"), &context).unwrap_err();
        assert!(error.message().contains("the arguments must be a JSON object, got array [{"), "{error}");
    }
}

#[tokio::test]
async fn a_list_of_anything_but_one_object_is_refused() {
    for tool in tools(true) {
        for text in
            ["[]", "[1]", "[null]", r#"["{}"]"#, &format!("[[{PLAIN}]]"), &format!("[{PLAIN}, {PLAIN}]")]
        {
            let (result, read) = run(&tool, text, false).await;
            assert_eq!(result.error().map(ToolError::kind), Some(toolkit::ErrorKind::InvalidArguments));
            assert_eq!(read, (None, None, None), "{text}");
        }
    }
}

/// A list or string that the schema allows is the argument itself.
#[tokio::test]
async fn a_dynamic_tool_that_accepts_lists_gets_the_list() {
    let echo = |args: Value| args.to_string();
    for (schema, text) in [
        (json!({"type": "array"}), r#"[{"a":1}]"#),
        (json!({"type": ["object", "array"]}), r#"[{"a":1}]"#),
        (json!({"properties": {"a": {"type": "integer"}}}), r#"[{"a":1}]"#),
        (json!({"properties": {"a": {"type": "integer"}}}), r#""{\"a\":1}""#),
    ] {
        let tool = DynamicTool::new("echo", "", schema, echo).expect("a schema").with_coerce(true);
        let tool: Arc<dyn Tool> = Arc::new(tool);
        let (result, read) = run(&tool, text, false).await;
        assert_eq!(result.to_text(), text);
        let value = serde_json::from_str(text).ok();
        assert_eq!(read, (Some(text.to_owned()), Some(text.to_owned()), value), "{text}");
        assert_eq!(reported_coercions(tool, text).await, Value::Null);
    }
}

#[tokio::test]
async fn a_streamed_list_is_read_wherever_the_stream_is_cut() {
    let text = format!("[{PLAIN}]");
    let dispatcher =
        Dispatcher::new(ToolRegistry::from_tools(tools![plan]).expect("a tool")).expect("a tool");
    for at in 1..text.len() {
        let mut stream = ApiFormat::OpenAiChat.accumulator();
        let mut events = Vec::new();
        for piece in [&text[..at], &text[at..]] {
            let function = json!({"name": "plan", "arguments": piece});
            let chunk = json!({"choices": [{"delta": {"tool_calls": [
                {"index": 0, "id": "1", "type": "function", "function": function},
            ]}}]});
            events.extend(stream.push(&chunk).expect("a chunk"));
        }
        events.extend(stream.finish().events);
        let calls = events.into_iter().filter_map(|event| match event {
            StreamEvent::Call(call) => Some(call),
            _ => None,
        });
        let results = dispatcher.dispatch(calls).await;
        assert_eq!(
            results.iter().map(ToolResult::to_text).collect::<Vec<_>>(),
            ["Oslo Some([1, 2])"],
            "{at}"
        );
    }
}
