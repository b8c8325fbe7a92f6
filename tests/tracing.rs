//! Spans of calls, as a subscriber sees them.

#![allow(clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;
use tokio::runtime::Builder;
use toolkit_ai::middleware::{AttemptLimit, PermissionRule, Permissions, Retry};
use toolkit_ai::prelude::*;
use toolkit_ai::{AdaptedTool, ArgumentTransform, ClosureTool, LiveRegistry};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Instrument, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// Adds.
#[tool]
async fn add(a: i64, b: i64) -> i64 {
    tracing::info!("adding");
    tokio::task::yield_now().await;
    a + b
}

/// Works on a thread of its own.
#[tool(blocking)]
fn blocks() {
    tracing::info!("blocking");
}

/// Fails at first.
#[tool(retries = 1, idempotent)]
fn fails() -> Result<(), &'static str> {
    tracing::info!("failing");
    Err("no luck")
}

/// Takes too long.
#[tool(timeout = "5ms")]
async fn oversleeps() {
    tokio::time::sleep(Duration::from_secs(60)).await;
}

/// Asks the user.
#[tool]
fn asks() -> Result<(), ToolError> {
    Err(ToolError::question("Which?"))
}

#[derive(Debug, Default, Clone)]
struct Seen {
    parent: Option<u64>,
    fields: BTreeMap<&'static str, String>,
    events: usize,
    closed: bool,
}

impl Visit for Seen {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }
}

/// Notes every span and warning.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<(u64, Seen)>>>, Arc<Mutex<Vec<String>>>);

impl Spans {
    fn with(&self, id: &Id, change: impl FnOnce(&mut Seen)) {
        let mut spans = self.0.lock().expect("no panic");
        let seen = spans.iter_mut().rev().find(|(other, _)| *other == id.into_u64());
        change(&mut seen.expect("it was made").1);
    }

    fn within(&self, parent: &Id) -> Vec<Seen> {
        let spans = self.0.lock().expect("no panic");
        let seen = spans.iter().map(|(_, seen)| seen.clone());
        seen.filter(|seen| seen.parent == Some(parent.into_u64())).collect()
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let span = context.span(id).expect("it was made");
        let mut seen = Seen { parent: span.parent().map(|parent| parent.id().into_u64()), ..Seen::default() };
        attributes.record(&mut seen);
        self.0.lock().expect("no panic").push((id.into_u64(), seen));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        self.with(id, |seen| values.record(seen));
    }

    fn on_event(&self, event: &tracing::Event<'_>, context: Context<'_, S>) {
        if *event.metadata().level() == tracing::Level::WARN {
            let mut seen = Seen::default();
            event.record(&mut seen);
            let message = seen.fields.remove("message").unwrap_or_default();
            return self.1.lock().expect("no panic").push(message);
        }
        if let Some(span) = context.event_span(event) {
            self.with(&span.id(), |seen| seen.events += 1);
        }
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        self.with(&id, |seen| seen.closed = true);
    }
}

/// The spans of all threads, which tests share, because a global subscriber can be set once.
static SPANS: LazyLock<Spans> = LazyLock::new(|| {
    let spans = Spans::default();
    let subscriber = tracing_subscriber::registry().with(spans.clone());
    tracing::subscriber::set_global_default(subscriber).expect("there is one");
    spans
});

/// The spans of a batch within a span of its own.
fn spans(prepare: impl FnOnce(Dispatcher) -> Dispatcher, calls: Vec<ToolCall>) -> Vec<Seen> {
    let tools =
        ToolRegistry::from_tools(tools![add, asks, blocks, fails, oversleeps]).expect("no collisions");
    spans_of(&prepare(Dispatcher::new(tools).expect("no collisions")), calls)
}

fn spans_of(dispatcher: &Dispatcher, calls: Vec<ToolCall>) -> Vec<Seen> {
    let spans = &*SPANS;
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let chat = tracing::info_span!("chat");
    // Ids of closed spans are used again, so this one stays.
    let id = chat.id().expect("there is a subscriber");
    runtime.block_on(dispatcher.dispatch(calls).instrument(chat.clone()));
    drop(runtime);
    spans.within(&id)
}

fn call(id: &str, tool: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, tool, arguments)
}

#[test]
fn a_call_is_a_span_with_the_names_of_open_telemetry() {
    let seen = spans(|dispatcher| dispatcher, vec![call("call_1", "add", r#"{"a": 1, "b": 2}"#)]);
    let [only] = seen.as_slice() else { panic!("{seen:?}") };
    let expected = [
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.call.id", "call_1"),
        ("gen_ai.tool.description", "Adds."),
        ("gen_ai.tool.name", "add"),
        ("gen_ai.tool.type", "function"),
        ("otel.kind", "internal"),
        ("otel.name", "execute_tool add"),
    ];
    assert_eq!(only.fields, expected.map(|(name, value)| (name, value.to_owned())).into());
    assert_eq!((only.events, only.closed), (1, true));
}

#[test]
fn every_call_of_a_batch_has_a_span() {
    let calls = ["add", "blocks", "fails", "oversleeps", "nope", "asks"].map(|tool| call(tool, tool, "{}"));
    let pauses = Retry::new().with_pauses(Duration::ZERO, Duration::ZERO);
    let seen = spans(|dispatcher| dispatcher.with_middleware(pauses), calls.to_vec());
    let rows: Vec<(&str, Option<&str>, Option<&str>, usize)> = seen
        .iter()
        .map(|seen| {
            let field = |name| seen.fields.get(name).map(String::as_str);
            (
                field("otel.name").unwrap_or_default(),
                field("error.type"),
                field("otel.status_code"),
                seen.events,
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("execute_tool add", Some("invalid_arguments"), Some("ERROR"), 0),
            ("execute_tool blocks", None, None, 1),
            ("execute_tool fails", Some("failed"), Some("ERROR"), 2),
            ("execute_tool oversleeps", Some("timed_out"), Some("ERROR"), 0),
            ("execute_tool nope", Some("not_found"), Some("ERROR"), 0),
            ("execute_tool asks", None, None, 0),
        ]
    );
    assert!(seen.iter().all(|seen| seen.closed));
}

/// Called by one test only.
#[tool(namespace = "far")]
fn alone() {}

#[test]
fn middleware_for_no_tool_is_warned_of_once_for_a_dispatcher() {
    let warnings = || {
        let all = SPANS.1.lock().expect("no panic").clone();
        all.into_iter().filter(|message| message.contains("`far-alone`")).collect::<Vec<_>>()
    };
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let new = |name: &str| {
        let dispatcher = Dispatcher::new(ToolRegistry::from_tools(tools![alone]).expect("one")).expect("one");
        dispatcher.with_middleware(AttemptLimit::new(1).for_tool(name, 1).expect("a name"))
    };
    let run = |dispatcher: &Dispatcher, count: usize| {
        let calls = (0..count).map(|_| call("1", "far-alone", "{}"));
        assert_eq!(runtime.block_on(dispatcher.dispatch(calls)).len(), count);
    };
    run(&new("far-alone"), 1);
    assert_eq!(warnings(), Vec::<String>::new());
    let dispatcher = new("far-alonee");
    for count in [1, 2, 1] {
        run(&dispatcher, count);
        run(&dispatcher.clone().with_timeout(Duration::from_secs(1)), count);
        assert_eq!(warnings(), [dispatcher.warnings()[0].to_string()]);
    }
}

#[test]
fn a_rule_without_tools_of_a_live_registry_is_warned_of_after_each_change() {
    let warnings = || {
        let all = SPANS.1.lock().expect("no panic").clone();
        all.into_iter().filter(|message| message.contains("`biling`")).count()
    };
    let tagged = |name: &str, tag: &str| {
        let tool = ClosureTool::without_arguments(name, "", || "").expect("a name");
        tool.map_metadata(|metadata| metadata.with_tags([tag]))
    };
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let live =
        LiveRegistry::new(ToolRegistry::from_tools([tagged("pay", "billing")]).expect("one")).expect("one");
    let rule = PermissionRule::deny("it costs money").for_tag("biling");
    let rules = Permissions::new().rule(rule).rule(PermissionRule::allow());
    let dispatcher = Dispatcher::new(&live).expect("one").with_middleware(rules);
    assert_eq!((dispatcher.check(), warnings()), (Ok(()), 0));
    let run = || {
        let results = runtime.block_on(dispatcher.dispatch([call("1", "pay", "{}"), call("2", "pay", "{}")]));
        assert!(results.iter().all(|result| !result.is_error()));
    };
    for (name, tag, expected) in
        [("send", "", 1), ("refund", "billing", 2), ("charge", "biling", 3), ("bill", "", 3)]
    {
        for _ in 0..2 {
            run();
            assert_eq!(warnings(), expected, "before {name}");
        }
        live.change(|registry| registry.register(tagged(name, tag))).expect("a new name");
    }
    assert!(dispatcher.warnings().is_empty());
}

/// Quotes its arguments.
#[tool]
fn quotes(secret: String, q: u8) -> Result<String, String> {
    tracing::info!("quoting");
    Err(format!("{secret} is of no use for {q}"))
}

#[test]
fn hidden_values_are_in_no_span_also_not_in_contents() {
    let hide = ArgumentTransform::new("secret").fixed("HUSH-HUSH");
    let adapted = AdaptedTool::new(quotes::tool()).with_arguments([hide]).expect("possible");
    let registry = ToolRegistry::from_tools([adapted]).expect("one tool");
    for contents in [false, true] {
        let dispatcher = Dispatcher::new(registry.clone()).expect("one tool").with_event_contents(contents);
        let arguments = [r#"{"q": 1}"#, r#"{"q": "x"}"#, r#"{"secret": "given", "q": 1}"#];
        let calls = arguments.map(|arguments| call("1", "quotes", arguments)).to_vec();
        let seen = spans_of(&dispatcher, calls);
        assert_eq!(seen.len(), 3, "{seen:?}");
        assert!(!format!("{seen:?}").contains("HUSH"), "{seen:?}");
    }
    assert!(SPANS.1.lock().expect("no panic").iter().all(|message| !message.contains("HUSH")));
}

#[test]
fn contents_are_in_the_span_on_demand_only() {
    let arguments = r#"{"a": 1, "b": 2}"#;
    let calls = || vec![call("1", "add", arguments), call("2", "add", "{")];
    let content = |seen: &Seen, name| seen.fields.get(name).cloned();
    for (contents, expected) in
        [(false, (None, None)), (true, (Some(arguments.to_owned()), Some("3".to_owned())))]
    {
        let seen = spans(|dispatcher| dispatcher.with_event_contents(contents), calls());
        let recorded =
            (content(&seen[0], "gen_ai.tool.call.arguments"), content(&seen[0], "gen_ai.tool.call.result"));
        assert_eq!(recorded, expected);
        assert_eq!(content(&seen[1], "gen_ai.tool.call.result"), None);
    }
}
