//! Long arguments, many tools, histories, and waiting calls.

use crate::{Case, block_on, case};
use std::hint::black_box;
use toolkit_ai::middleware::Deduplicate;
use toolkit_ai::name::WireNames;
use toolkit_ai::serde_json::{Value, json};
use toolkit_ai::{ClosureTool, DynamicTool, LiveRegistry, ToolDefinition, ToolFuture, ToolName, prelude::*};

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[allow(dead_code, reason = "only the form of the arguments matters")]
struct Members {
    #[schemars(range(max = 5))]
    bounded: Option<i64>,
    number: i64,
}

/// Takes an object.
#[tool(register = false)]
fn open(it: Members, #[param(length = ..=3)] text: Option<String>) -> &'static str {
    drop((it, text));
    "taken"
}

/// Takes members.
#[tool(register = false)]
fn closed(#[param(flatten)] it: Members) -> &'static str {
    let _ = it;
    "taken"
}

/// Waits in a lane.
#[tool(register = false, lane = "key")]
async fn wait(key: u64) -> u64 {
    std::future::pending::<()>().await;
    key
}

/// Waits for one permit.
#[tool(register = false, max_concurrency = 1)]
async fn narrow() {
    std::future::pending::<()>().await;
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = calls().into_iter().map(call).collect();
    cases.extend(ApiFormat::ALL.iter().copied().map(repaired));
    cases.extend([waiting("wait", r#"{"key": 1}"#), waiting("narrow", "{}")]);
    cases.extend([replaced(), nearest_names(), search_words(), search_tools()]);
    cases
}

/// Returns an object of `first` and `size` other members.
fn wide(first: &str, size: usize, member: impl Fn(usize) -> String) -> String {
    let members: Vec<String> = (0..size).map(member).collect();
    format!("{{{first},{}}}", members.join(","))
}

fn numbered(number: usize) -> String {
    format!("\"x{number}\": {number}")
}

fn in_open(size: usize, first: &str) -> String {
    format!(r#"{{"it": {}}}"#, wide(first, size, numbered))
}

/// A name, the tool, its arguments by size, and whether it takes them.
type Arguments = (&'static str, &'static str, fn(usize) -> String, bool);

fn calls() -> Vec<Arguments> {
    let null_texts = |size| wide(r#""number": 1"#, size, |_| r#""text": null"#.to_owned());
    let nulls = |size| wide(r#""number": 1"#, size, |number| format!("\"x{number}\": null"));
    let twice = |size| wide(r#""number": 1, "number": 1"#, size, numbered);
    let number = |size| wide(r#""number": 1"#, size, numbered);
    let text = |size| wide(r#""number": "1""#, size, numbered);
    vec![
        ("other members", "closed", number, false),
        (
            "one member often",
            "closed",
            |size| wide(r#""number": "1""#, size, |_| r#""bounded": null"#.to_owned()),
            false,
        ),
        ("other members", "open", |size| in_open(size, r#""number": 1"#), false),
        ("wrong member", "open", |size| in_open(size, r#""number": "x""#), false),
        ("bounded member", "open", |size| in_open(size, r#""number": 1, "bounded": 6"#), false),
        ("near miss", "open", |size| in_open(size, r#""number": "1""#), false),
        ("in a list", "open", |size| format!("[{}]", in_open(size, r#""number": 1"#)), false),
        ("list of objects", "open", |size| format!("[{}]", vec!["{}"; size].join(",")), false),
        (
            "one member often",
            "open",
            |size| wide(r#""it": {"number": 1}"#, size, |_| r#""text": null"#.to_owned()),
            false,
        ),
        ("other members", "plain", number, true),
        ("near miss", "plain", text, false),
        ("one member twice", "plain", twice, false),
        ("one member often", "plain", null_texts, false),
        ("nulls", "plain", nulls, true),
        ("other members", "coercing", number, true),
        ("near miss", "coercing", text, true),
        ("one member twice", "coercing", twice, false),
        ("one member often", "coercing", null_texts, false),
        ("nulls", "coercing", nulls, true),
    ]
}

fn dispatcher() -> Dispatcher {
    let schema = json!({"type": "object", "properties": {
        "number": {"type": "integer"}, "text": {"type": "string"},
    }});
    let dynamic = |name: &str| DynamicTool::new(name, "", schema.clone(), |_: Value| "taken").unwrap();
    let mut registry = ToolRegistry::from_tools(tools![open, closed, wait, narrow]).unwrap();
    registry.register(dynamic("plain")).unwrap();
    registry.register(dynamic("coercing").with_coerce(true)).unwrap();
    Dispatcher::new(registry).unwrap().with_middleware(Deduplicate::new()).with_listener(|_| ())
}

fn call((name, tool, arguments, is_taken): Arguments) -> Case {
    case(format!("call/{tool}/{name}"), 250, move |size| {
        let dispatcher = dispatcher();
        let call = ToolCall::new("1", tool, arguments(size));
        move || {
            let results = block_on(dispatcher.dispatch([call]));
            assert_eq!(!results[0].is_error(), is_taken, "{tool}: {name}: {:?}", results[0].error());
        }
    })
}

/// Many calls without results, and results without calls.
fn repaired(format: ApiFormat) -> Case {
    case(format!("repair/{}", format.name()), 100, move |size| {
        let call = |at| ToolCall::new(format!("call_{at}"), "open", "{}");
        let calls: Vec<_> = (0..size).map(call).collect();
        let orphan = |at| ToolResult::new(format!("none_{at}").into(), "other", Ok("done".into()));
        let orphans: Vec<_> = (0..size).map(orphan).collect();
        let mut history = format.encode_calls(&calls, &WireNames::default());
        history.extend(format.encode_results(&orphans));
        move || drop(black_box(format.repair_history(history)))
    })
    // 3.95 to 4.61 were counted in different runs, for an unknown cause.
    .at_most(4.8)
}

/// Waiting calls, which end with their runtime.
fn waiting(tool: &'static str, arguments: &'static str) -> Case {
    case(format!("waiting/{tool}"), 100, move |size| {
        let dispatcher = dispatcher();
        let calls: Vec<_> = (0..size).map(|at| ToolCall::new(at.to_string(), tool, arguments)).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        move || {
            let batch = runtime.block_on(async {
                let batch = dispatcher.batch(calls);
                tokio::task::yield_now().await;
                batch
            });
            drop(runtime);
            assert_eq!(block_on(batch.finish()).len(), size);
        }
    })
}

struct AnyTool(ToolDefinition);

impl Tool for AnyTool {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, _: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(Ok(ToolOutput::text("")))
    }
}

fn replaced() -> Case {
    let tool = |start: usize, size: usize| {
        let values: Vec<String> = (start..start + size).map(|index| format!("n{index}")).collect();
        let parameters = json!({"type": "object", "properties": {"a": {"enum": values}}});
        AnyTool(ToolDefinition::new(ToolName::new("tool").unwrap(), "", parameters))
    };
    case("replaced", 100, move |size| {
        let live = LiveRegistry::new(ToolRegistry::from_tools([tool(0, size)]).unwrap()).unwrap();
        let new = tool(size / 2, size);
        move || drop(black_box(live.change(|registry| registry.replace(new)).unwrap()))
    })
}

fn many_tools(size: usize) -> ToolRegistry {
    let tool = |index| ClosureTool::without_arguments(&format!("tool_number_{index}"), "Does this.", || "");
    ToolRegistry::from_tools((0..size).map(|index| tool(index).unwrap())).unwrap()
}

fn nearest_names() -> Case {
    case("nearest_names", 200, |size| {
        let registry = many_tools(size);
        move || drop(black_box(registry.validate("tol_numer_17", "{}").unwrap_err()))
    })
}

fn words(count: usize) -> String {
    (0..count).map(|index| format!("word{index} this ")).collect()
}

fn search_words() -> Case {
    case("search/words", 100, |size| {
        let registry = many_tools(100);
        let words = words(size);
        move || drop(black_box(registry.search(&words, 5)))
    })
}

fn search_tools() -> Case {
    case("search/words_and_tools", 100, |size| {
        let registry = many_tools(size);
        let words = words(size);
        move || drop(black_box(registry.search(&words, 5)))
    })
}
