//! Work that grows in proportion to its input.
//!
//! No time limit decides. The CPU time of the thread for four times the input is compared with its CPU time for the
//! input, so neither the speed of the machine nor its load matters.

use std::fs;
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use toolkit_ai::name::WireNames;
use toolkit_ai::prelude::*;

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[allow(dead_code)]
struct Members {
    #[schemars(range(max = 5))]
    bounded: Option<i64>,
    number: i64,
}

/// Takes an object.
#[tool(namespace = "growth")]
fn open(it: Members, #[param(length = ..=3)] text: Option<String>) -> &'static str {
    drop((it, text));
    "taken"
}

/// Takes members.
#[tool(namespace = "growth")]
fn closed(#[param(flatten)] it: Members) -> &'static str {
    let _ = it;
    "taken"
}

/// How much larger the second input is. Linear work takes four times as long, quadratic work sixteen times.
const LARGER: usize = 4;

/// The allowed factor between the two times: double that of linear work.
const ALLOWED: u32 = 8;

/// How often both are measured. The least times count, because caches and interrupts only add time.
const ROUNDS: usize = 6;

/// Returns the CPU time of this thread. Systems that do not tell it use the time of day.
fn cpu_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let start = *START;
    let of_thread =
        || fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok();
    of_thread().map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// The least CPU time that is measured. Systems count it in steps of some milliseconds.
const LEAST: Duration = Duration::from_millis(60);

/// Runs on this thread with `size` and with four times as much, and fails if the work grows much faster. `run` returns
/// a value whose drop is measured, too.
#[track_caller]
pub(crate) fn assert_linear<T>(name: &str, size: usize, mut run: impl FnMut(usize) -> T) {
    let mut measure = |size: usize, times: usize| {
        let before = cpu_time();
        (0..times).for_each(|_| drop(run(size)));
        cpu_time().saturating_sub(before)
    };
    let mut times = 1;
    while measure(size, times) < LEAST {
        times *= 2;
    }
    let mut least = [Duration::MAX; 2];
    for _ in 0..ROUNDS {
        for (least, size) in least.iter_mut().zip([size, LARGER * size]) {
            *least = (*least).min(measure(size, times));
        }
        if least[1] < ALLOWED * least[0] {
            return;
        }
    }
    panic!("{name}: {size} took {:?}, {} took {:?}", least[0], LARGER * size, least[1]);
}

#[test]
fn quadratic_work_is_found() {
    let scans = |size: usize| {
        let names: Vec<String> = (0..size).map(|number| number.to_string()).collect();
        names.iter().filter(|name| names.iter().filter(|other| other == name).count() == 1).count()
    };
    assert!(std::panic::catch_unwind(|| assert_linear("scans", 200, scans)).is_err());
    assert_linear("names", 2_000, |size| (0..size).map(|number| number.to_string()).collect::<Vec<_>>());
}

/// An object of the members `first`, and of many others with names and values made from their number.
fn wide(first: &str, count: usize, member: impl Fn(usize) -> String) -> String {
    let members: Vec<String> = (0..count).map(member).collect();
    format!("{{{first},{}}}", members.join(","))
}

#[test]
fn objects_of_many_members_are_read_in_linear_time() {
    let numbered = |number: usize| format!("\"x{number}\": {number}");
    let nulls = |number: usize| format!("\"x{number}\": null");
    let of = |member: &'static str| move |_: usize| member.to_owned();
    let in_open = |object: String| format!(r#"{{"it": {object}}}"#);
    type Case = (&'static str, Box<dyn Fn(usize) -> String>, bool);
    let mut calls: Vec<Case> = vec![
        ("growth-closed", Box::new(move |size| wide(r#""number": 1"#, size, numbered)), false),
        (
            "growth-closed",
            Box::new(move |size| wide(r#""number": "1""#, size, of(r#""bounded": null"#))),
            false,
        ),
        ("growth-open", Box::new(move |size| in_open(wide(r#""number": 1"#, size, numbered))), false),
        ("growth-open", Box::new(move |size| in_open(wide(r#""number": "x""#, size, numbered))), false),
        (
            "growth-open",
            Box::new(move |size| in_open(wide(r#""number": 1, "bounded": 6"#, size, numbered))),
            false,
        ),
        ("growth-open", Box::new(move |size| in_open(wide(r#""number": "1""#, size, numbered))), false),
        (
            "growth-open",
            Box::new(move |size| format!("[{}]", in_open(wide(r#""number": 1"#, size, numbered)))),
            false,
        ),
        ("growth-open", Box::new(move |size| format!("[{}]", vec!["{}"; size].join(","))), false),
        (
            "growth-open",
            Box::new(move |size| wide(r#""it": {"number": 1}"#, size, of(r#""text": null"#))),
            false,
        ),
    ];
    let mut registry = ToolRegistry::from_tools(tools![open, closed]).expect("two tools");
    #[cfg(feature = "jsonschema")]
    {
        let schema = serde_json::json!({"type": "object", "properties": {
            "number": {"type": "integer"}, "text": {"type": "string"},
        }});
        let dynamic = |name: &str| {
            toolkit_ai::DynamicTool::new(name, "", schema.clone(), |_: serde_json::Value| "taken")
                .expect("a schema")
        };
        registry.register(dynamic("plain")).expect("another name");
        registry.register(dynamic("coercing").with_coerce(true)).expect("another name");
        for tool in ["plain", "coercing"] {
            calls.extend::<[Case; 5]>([
                (tool, Box::new(move |size| wide(r#""number": 1"#, size, numbered)), true),
                (tool, Box::new(move |size| wide(r#""number": "1""#, size, numbered)), tool == "coercing"),
                (tool, Box::new(move |size| wide(r#""number": 1, "number": 1"#, size, numbered)), false),
                (tool, Box::new(move |size| wide(r#""number": 1"#, size, of(r#""text": null"#))), false),
                (tool, Box::new(move |size| wide(r#""number": 1"#, size, nulls)), true),
            ]);
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let dispatcher = Dispatcher::new(registry).expect("complete");
    let dispatcher =
        dispatcher.with_middleware(toolkit_ai::middleware::Deduplicate::new()).with_listener(|_| ());
    for (index, (tool, arguments, fits)) in calls.into_iter().enumerate() {
        let texts = [2_500, 10_000].map(&arguments);
        assert_linear(&format!("{index} {tool}"), 2_500, |size| {
            let text = &texts[usize::from(size > 2_500)];
            let results = runtime.block_on(dispatcher.dispatch([ToolCall::new("1", tool, text.clone())]));
            assert_eq!(!results[0].is_error(), fits, "{index} {tool}: {:?}", results[0].error());
            results
        });
    }
}

/// A conversation with many calls that have no result, and many results without a call.
#[test]
fn repairing_a_history_is_linear() {
    for &format in ApiFormat::ALL {
        let history = |size: usize| {
            let call = |at| ToolCall::new(format!("call_{at}"), "open", "{}");
            let calls: Vec<_> = (0..size).map(call).collect();
            let orphan = |at| ToolResult::new(format!("none_{at}").into(), "other", Ok("done".into()));
            let orphans: Vec<_> = (0..size).map(orphan).collect();
            let mut history = format.encode_calls(&calls, &WireNames::default());
            history.extend(format.encode_results(&orphans));
            history
        };
        assert_linear(format.name(), 1_000, |size| format.repair_history(history(size)));
    }
}
