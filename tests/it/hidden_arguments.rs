//! Hidden arguments: no text about a call has their values, and the model cannot set them.

use super::calling::{dispatched, dispatcher_of};
use proptest::prelude::*;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Builder;
use toolkit_ai::definition::UnknownArguments;
use toolkit_ai::events::{ExecutionLog, LogFilter};
use toolkit_ai::middleware::Retry;
use toolkit_ai::prelude::*;
use toolkit_ai::schema::{Violation, ViolationKind};
use toolkit_ai::schemars::JsonSchema;
use toolkit_ai::{
    AdaptedTool, ArgumentTransform, ClosureTool, ErrorKind, RegistryView, ToolDefinition, ToolFuture,
};

/// A value that the tool refuses in the call, with a message that quotes it.
#[derive(Debug, JsonSchema)]
#[schemars(transparent)]
struct Quoted(#[allow(dead_code, reason = "it is always refused")] Value);

impl<'de> Deserialize<'de> for Quoted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Err(serde::de::Error::custom(format!("{value} and {value:?} are refused")))
    }
}

#[derive(Deserialize, JsonSchema)]
struct Refused {
    #[allow(dead_code, reason = "the call is refused")]
    q: Option<String>,
    #[serde(alias = "key")]
    #[allow(dead_code, reason = "the call is refused")]
    secret: Quoted,
}

/// A tool with the arguments `q` and `secret`, whose function gets their text.
struct Raw(ToolDefinition, fn(&str) -> Result<ToolOutput, ToolError>);

impl Tool for Raw {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, arguments: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready((self.1)(arguments))
    }
}

fn raw(schema: &Value, run: fn(&str) -> Result<ToolOutput, ToolError>) -> Arc<dyn Tool> {
    let name = toolkit_ai::ToolName::new("tool").expect("legal");
    Arc::new(Raw(ToolDefinition::new(name, "Works.", schema.clone()), run))
}

/// Fails with the arguments in every text.
fn fails(arguments: &str) -> Result<ToolOutput, ToolError> {
    let violation = |path: &str| Violation::new(path, ViolationKind::Constraint, format!("got {arguments}"));
    let paths = ["", "q", "secret", "secret.key", "other"];
    let cause = ToolError::invalid_arguments(paths.map(violation).into());
    Err(ToolError::failed(arguments)
        .with_brief(arguments)
        .with_details(format!("{arguments:?}"))
        .with_earlier_attempts(vec![cause.with_retryable(true)])
        .with_retryable(true))
}

fn tools() -> Vec<Arc<dyn Tool>> {
    let open = json!({"type": "object", "properties": {"q": {"type": "string"}, "secret": {}}});
    let mut closed = open.clone();
    closed["additionalProperties"] = false.into();
    let mut tools = vec![
        raw(&open, fails),
        raw(&closed, fails),
        raw(&closed, |arguments| panic!("cannot go on with {arguments}")),
        raw(&open, |arguments| Err(serde_json::from_str::<u8>(arguments).unwrap_err().to_string().into())),
        Arc::new(ClosureTool::new("tool", "Works.", |_: Refused| "never").expect("an object")),
    ];
    #[cfg(feature = "jsonschema")]
    for schema in [
        json!({"properties": {"q": {"type": "string"}, "secret": {}}, "maxProperties": 0}),
        json!({"properties": {"q": {}, "secret": {}}, "anyOf": [{"required": ["x"]}, {"maxProperties": 0}]}),
    ] {
        let tool = toolkit_ai::DynamicTool::new("tool", "Works.", schema, |_: Value| "accepted");
        tools.push(Arc::new(tool.expect("a schema")));
    }
    tools
}

/// Collects the strings that no message may have.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(members) => members.values().for_each(|value| texts(value, found)),
        Value::String(text) => found.push(text.clone()),
        _ => {}
    }
}

/// Strings without escapes, unlike ordinary messages.
fn secrets() -> impl Strategy<Value = Value> {
    let leaf = "[A-Z]{6}[ !#-\\[\\]-~é]{0,60}[A-Z]{6}".prop_map(Value::from);
    prop_oneof![
        leaf.clone(),
        proptest::collection::vec(leaf.clone(), 1..3).prop_map(Value::from),
        leaf.prop_map(|value| json!({"key": value, "on": true})),
    ]
}

const ARGUMENTS: [&str; 10] = [
    "{}",
    r#"{"q": "crabs"}"#,
    r#"{"q": 5}"#,
    r#"{"query": ["crabs"]}"#,
    r#"{"secret": "GIVEN"}"#,
    r#"{"key": "GIVEN"}"#,
    r#"{"q": "a", "\u0073ecret": "GIVEN", "secret_": "GIVEN"}"#,
    r#"{"secret": "GIVEN", "secret": null}"#,
    "not json",
    r#""{\"secret\": \"GIVEN\"}""#,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_hidden_value_is_in_no_text_whatever_refuses_the_call(
        secret in secrets(),
        way in 0_u8..3,
        is_view in any::<bool>(),
        is_renamed in any::<bool>(),
    ) {
        let mut hidden = Vec::new();
        texts(&secret, &mut hidden);
        let check = |text: &str| {
            let beginning = |hidden: &String| hidden.chars().take(6).collect::<String>();
            let shown = hidden.iter().find(|hidden| text.contains(&beginning(hidden)));
            shown.map(|hidden| format!("{hidden} in {text}"))
        };
        for tool in tools() {
            let value = secret.clone();
            let hide = ArgumentTransform::new("secret");
            let hide = match way {
                0 => hide.fixed(value),
                1 => hide.computed(move |_| Ok(value.clone())),
                _ => hide.with_computed_default(move |_| Ok(value.clone())),
            };
            let rename = is_renamed.then(|| ArgumentTransform::new("q").with_name("query"));
            let changes: Vec<ArgumentTransform> = rename.into_iter().chain([hide]).collect();
            let registry = if is_view {
                let view = RegistryView::new().adapt("tool", move |tool| tool.with_arguments(changes.clone()));
                ToolRegistry::from_tools([tool]).expect("one tool").viewed(&view)
            } else {
                let adapted = AdaptedTool::from_arc(tool).with_arguments(changes);
                let adapted = adapted.map(|tool| tool.map_metadata(|metadata| metadata.with_retries(1)));
                adapted.and_then(|tool| ToolRegistry::from_tools([tool]))
            };
            let registry = match registry {
                Ok(registry) => registry,
                // The fixed value may be refused at the build.
                Err(error) => {
                    prop_assert_eq!(check(&format!("{error:#} {error:?}")), None);
                    continue;
                }
            };
            let definitions = registry.iter_definitions().map(|tool| format!("{tool:?}")).collect::<String>();
            prop_assert_eq!(check(&definitions), None);
            let log = ExecutionLog::new(1_000);
            let emitted = Arc::new(Mutex::new(String::new()));
            let listened = emitted.clone();
            let dispatcher = Dispatcher::new(registry)
                .expect("complete")
                .with_event_contents(true)
                .with_log(&log)
                .with_listener(move |event| listened.lock().unwrap().push_str(&format!("{event:?}\n")))
                .with_middleware(Retry::new().with_pauses(Duration::ZERO, Duration::ZERO));
            let calls = ARGUMENTS.iter().enumerate();
            let calls = calls.map(|(at, arguments)| ToolCall::new(at.to_string(), "tool", *arguments));
            let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
            let results = runtime.block_on(dispatcher.dispatch(calls));
            for result in &results {
                let saved = serde_json::to_string(result).expect("it can be saved");
                let error = result.error().map_or_else(String::new, |error| format!("{error:#}"));
                prop_assert_eq!(check(&format!("{result:?} {} {saved} {error}", result.to_text())), None);
            }
            prop_assert_eq!(check(&emitted.lock().unwrap()), None);
            prop_assert_eq!(check(&format!("{log:?} {:?}", log.entries(&LogFilter::new()))), None);
        }
    }
}

#[tokio::test]
async fn a_request_for_approval_has_no_hidden_value() {
    use toolkit_ai::middleware::{Approval, ApprovalRequest, Permission, Permissions};

    /// Take a secret.
    #[tool(register = false)]
    fn take(secret: String, q: u8) -> String {
        format!("{} {q}", secret.len())
    }

    let ways = [
        ArgumentTransform::new("secret").fixed("HUSH-HUSH"),
        ArgumentTransform::new("secret").computed(|_| Ok("HUSH-HUSH".into())),
    ];
    for hide in ways {
        let adapted = AdaptedTool::new(take::tool()).with_arguments([hide]).expect("possible");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let texts = asked.clone();
        let permissions = Permissions::new()
            .otherwise(Permission::Ask("it is dear".to_owned()))
            .with_handler(move |request: ApprovalRequest| {
                let json = request.request.arguments_json();
                texts.lock().expect("no panic").push(format!("{request:?} {json:?} {}", request.arguments));
                std::future::ready(Approval::Approve)
            });
        let registry = ToolRegistry::from_tools([adapted]).expect("one tool");
        let dispatcher = Dispatcher::new(registry).expect("one tool").with_middleware(permissions);
        let results = dispatcher.dispatch([ToolCall::new("1", "take", r#"{"q": "7"}"#)]).await;
        assert_eq!(results[0].to_text(), "9 7");
        let asked = asked.lock().expect("no panic").clone();
        assert_eq!(asked.len(), 1);
        assert!(asked[0].contains('7') && !asked[0].contains("HUSH"), "{asked:?}");
    }
}

#[derive(ToolParams)]
struct Plain {
    #[serde(alias = "s")]
    secret: Option<String>,
    q: Option<String>,
}

#[derive(ToolParams)]
struct Outer {
    #[serde(flatten)]
    inner: Plain,
}

#[derive(Deserialize, JsonSchema)]
struct Open {
    #[allow(dead_code, reason = "the argument cannot be hidden")]
    #[serde(alias = "s")]
    secret: Option<String>,
    #[allow(dead_code, reason = "the argument cannot be hidden")]
    #[serde(flatten)]
    rest: std::collections::BTreeMap<String, Value>,
}

fn closure<T: ToolParams + 'static>(secret: fn(T) -> Option<String>) -> ClosureTool {
    ClosureTool::new("tool", "Works.", move |args: T| format!("{:?}", secret(args))).expect("an object")
}

/// The ways in which a model may try it.
#[tokio::test]
async fn a_hidden_argument_cannot_be_given_under_any_name() {
    #[tool(register = false)]
    fn by_function(#[param(alias = "s")] secret: Option<String>, q: Option<String>) -> String {
        drop(q);
        format!("{secret:?}")
    }

    let plain = closure(|Plain { secret, q }| secret.or(q.filter(|_| false)));
    let ignoring = plain.clone().map_metadata(|it| it.with_unknown(UnknownArguments::Ignore));
    let tools: [Arc<dyn Tool>; 4] = [
        Arc::new(plain),
        Arc::new(ignoring),
        Arc::new(by_function::tool()),
        Arc::new(closure(|outer: Outer| outer.inner.secret)),
    ];
    for tool in tools {
        for fixed in [None, Some("fixed")] {
            let hide = ArgumentTransform::new("secret");
            let hide = fixed.map_or_else(|| hide.clone().hidden(), |value| hide.clone().fixed(value));
            let adapted = AdaptedTool::from_arc(tool.clone()).with_arguments([hide]).expect("possible");
            let dispatcher = dispatcher_of(Arc::new(adapted));
            for name in ["secret", "s", "\\u0073", "secret_", "Secret"] {
                let arguments = format!(r#"{{"q": "Write", "{name}": "GIVEN"}}"#);
                let result = dispatched(&dispatcher, &arguments).await;
                let is_hidden = result.to_text() == format!("{fixed:?}");
                let is_refused =
                    result.error().is_some_and(|error| error.kind() == ErrorKind::InvalidArguments);
                assert!(
                    is_hidden || is_refused && !result.to_text().contains("fixed"),
                    "{arguments}: {result:?}"
                );
            }
            let usual = dispatched(&dispatcher, r#"{"q": "Write"}"#).await;
            assert_eq!(usual.to_text(), format!("{fixed:?}"));
        }
    }
}

#[test]
fn an_argument_whose_aliases_cannot_be_known_cannot_be_hidden() {
    let open = || AdaptedTool::new(closure(|open: Open| open.secret));
    let hide = ArgumentTransform::new("secret").fixed("FIXED");
    let error = open().with_arguments([hide]).expect_err("it may have aliases");
    assert!(error.to_string().contains("it may know this argument by an alias"), "{error}");
    open().with_arguments([ArgumentTransform::new("secret").with_default("x")]).expect("it is shown");
}

/// A panic's payload that panics at the drop.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[tokio::test]
async fn a_panic_whose_payload_panics_is_one_error() {
    let schema = json!({"properties": {"secret": {}}});
    let tool = raw(&schema, |_| std::panic::panic_any(Bomb));
    let tool = AdaptedTool::from_arc(tool).with_arguments([ArgumentTransform::new("secret").fixed("x")]);
    let registry = ToolRegistry::from_tools([tool.expect("possible")]).expect("one tool");
    let error = registry.call("tool", "{}").await.expect_err("it panics");
    assert_eq!(error.kind(), ErrorKind::Panicked);
}
