//! Random batches under limits and middleware: one result for each call, in order, and every permit free.

use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{Instant, sleep, timeout};
use toolkit_ai::ToolTag;
use toolkit_ai::middleware::{
    Approval, AttemptLimit, Deduplicate, PermissionRule, Permissions, RateLimit, Retry,
};
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::json;

/// The running calls per resource, their maximum, and the order of starts.
#[derive(Default)]
struct Watch(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    inside: HashMap<String, usize>,
    most: HashMap<String, usize>,
    began: HashMap<String, Vec<usize>>,
    flaky: usize,
}

impl Watch {
    fn enter(self: &Arc<Self>, what: &[&str]) -> Inside {
        let mut seen = self.0.lock().unwrap();
        for what in what {
            let now = seen.inside.entry((*what).to_owned()).or_default();
            *now += 1;
            let now = *now;
            let most = seen.most.entry((*what).to_owned()).or_default();
            *most = now.max(*most);
        }
        Inside(self.clone(), what.iter().map(|what| (*what).to_owned()).collect())
    }

    fn began(&self, row: String, n: usize) {
        self.0.lock().unwrap().began.entry(row).or_default().push(n);
    }

    fn most(&self, what: &str) -> usize {
        self.0.lock().unwrap().most.get(what).copied().unwrap_or_default()
    }

    fn is_empty(&self) -> bool {
        self.0.lock().unwrap().inside.values().all(|inside| *inside == 0)
    }
}

struct Inside(Arc<Watch>, Vec<String>);

impl Drop for Inside {
    fn drop(&mut self) {
        let mut seen = self.0.0.lock().unwrap();
        for what in &self.1 {
            *seen.inside.get_mut(what).unwrap() -= 1;
        }
    }
}

/// Returns at once.
#[tool(namespace = "rnd", read_only)]
fn echo(#[state] watch: Arc<Watch>, n: usize) -> usize {
    let _inside = watch.enter(&["all"]);
    n
}

/// Waits.
#[tool(namespace = "rnd", read_only)]
async fn wait(#[state] watch: Arc<Watch>, ms: u64) -> u64 {
    let _inside = watch.enter(&["all"]);
    sleep(Duration::from_millis(ms)).await;
    ms
}

/// Runs with one other.
#[tool(namespace = "rnd", max_concurrency = 2)]
async fn pair(#[state] watch: Arc<Watch>, ms: u64) -> u64 {
    let _inside = watch.enter(&["all", "pair"]);
    sleep(Duration::from_millis(ms)).await;
    ms
}

/// Runs alone.
#[tool(namespace = "rnd", exclusive)]
async fn alone(#[state] watch: Arc<Watch>, batch: String, n: usize, ms: u64) -> usize {
    let _inside = watch.enter(&["all", "alone"]);
    watch.began(format!("{batch} alone"), n);
    sleep(Duration::from_millis(ms)).await;
    n
}

/// Keeps the order within a lane, and now and then fails.
#[tool(namespace = "rnd", lane = "key", retries = 2, idempotent)]
async fn write(
    #[state] watch: Arc<Watch>,
    batch: String,
    key: String,
    n: usize,
    ms: u64,
) -> Result<usize, ToolError> {
    let _inside = watch.enter(&["all", &format!("lane {key}")]);
    watch.began(format!("{batch} {key}"), n);
    sleep(Duration::from_millis(ms)).await;
    let turn = {
        let mut seen = watch.0.lock().unwrap();
        seen.flaky += 1;
        seen.flaky % 3
    };
    if turn == 0 { Err(ToolError::failed("now and then")) } else { Ok(n) }
}

/// Blocks its thread, alone, and ignores cancellation.
#[tool(namespace = "rnd", blocking, exclusive)]
fn block(#[state] watch: Arc<Watch>, ms: u64) -> u64 {
    let _inside = watch.enter(&["all", "block"]);
    std::thread::sleep(Duration::from_millis(ms));
    ms
}

/// Panics, sooner or later.
#[tool(namespace = "rnd", exclusive)]
async fn panics(#[state] watch: Arc<Watch>, ms: u64) {
    let _inside = watch.enter(&["all"]);
    sleep(Duration::from_millis(ms)).await;
    panic!("on purpose");
}

/// Wants another try.
#[tool(namespace = "rnd")]
fn picky(#[state] watch: Arc<Watch>) -> Result<(), ToolError> {
    let _inside = watch.enter(&["all"]);
    Err(ToolError::retry("otherwise"))
}

/// Needs an approval.
#[tool(namespace = "rnd", destructive, max_concurrency = 1)]
async fn delete(#[state] watch: Arc<Watch>, n: usize) -> usize {
    let _inside = watch.enter(&["all", "delete"]);
    n
}

/// Is never allowed.
#[tool(namespace = "rnd", tags("privileged"))]
fn forbidden() {}

/// The settings around tools, and the time of cancellation.
#[derive(Debug, Clone)]
struct World {
    threads: bool,
    max_concurrency: Option<usize>,
    timeout_ms: Option<u64>,
    retry: bool,
    deduplicate: bool,
    cache: bool,
    rate: Option<u32>,
    cancel_all_after_ms: Option<u64>,
    cancel_one: Option<(usize, u64)>,
}

fn worlds() -> impl Strategy<Value = World> {
    let limits = (any::<bool>(), prop::option::of(1_usize..4), prop::option::of(1_u64..6));
    let around = (any::<bool>(), any::<bool>(), any::<bool>(), prop::option::of(1_u32..20));
    let ends = (prop::option::weighted(0.3, 0_u64..8), prop::option::weighted(0.3, (0_usize..20, 0_u64..8)));
    (limits, around, ends).prop_map(|(limits, around, ends)| World {
        threads: limits.0,
        max_concurrency: limits.1,
        timeout_ms: limits.2,
        retry: around.0,
        deduplicate: around.1,
        cache: around.2,
        rate: around.3,
        cancel_all_after_ms: ends.0,
        cancel_one: ends.1,
    })
}

/// The tool, a number, a time, whether the JSON is cut, and whether its id repeats.
type Asked = (&'static str, u64, bool, bool);

fn batches() -> impl Strategy<Value = Vec<Asked>> {
    let names = vec![
        "echo",
        "wait",
        "pair",
        "alone",
        "write-a",
        "write-b",
        "block",
        "panics",
        "picky",
        "delete",
        "forbidden",
        "nope",
    ];
    let call = (prop::sample::select(names), 0_u64..5, prop::bool::weighted(0.1), prop::bool::weighted(0.2));
    prop::collection::vec(call, 0..20)
}

fn calls(batch: &str, asked: &[Asked]) -> Vec<ToolCall> {
    let call = |(n, (name, ms, cut_off, same_id)): (usize, &Asked)| {
        let (tool, key) = name.split_once('-').unwrap_or((name, ""));
        let arguments = match tool {
            "echo" => json!({"n": ms}),
            "delete" => json!({"n": n}),
            "alone" => json!({"batch": batch, "n": n, "ms": ms}),
            "write" => json!({"batch": batch, "key": key, "n": n, "ms": ms}),
            "picky" | "forbidden" | "nope" => json!({}),
            _ => json!({"ms": ms}),
        };
        let mut arguments = arguments.to_string();
        if *cut_off {
            arguments.pop();
        }
        let id = if *same_id { "same".to_owned() } else { format!("call {n}") };
        ToolCall::new(id, format!("rnd-{tool}"), arguments)
    };
    asked.iter().enumerate().map(call).collect()
}

fn surround(mut dispatcher: Dispatcher, world: &World) -> Dispatcher {
    dispatcher = dispatcher.with_middleware(AttemptLimit::new(2));
    if world.retry {
        dispatcher =
            dispatcher.with_middleware(Retry::new().with_pauses(Duration::from_millis(2), Duration::MAX));
    }
    if world.deduplicate {
        dispatcher = dispatcher.with_middleware(Deduplicate::new());
    }
    let permissions = Permissions::new()
        .rule(PermissionRule::deny("privileged tools are not allowed").for_tag(ToolTag::Privileged))
        .rule(PermissionRule::ask("it destroys").for_tag(ToolTag::Destructive))
        .rule(PermissionRule::allow())
        .with_patience(Duration::from_millis(4), Approval::Deny("too late".to_owned()))
        .with_handler(|question| async move {
            let n = question.arguments["n"].as_u64().unwrap_or_default();
            sleep(Duration::from_millis(n % 6)).await;
            if n % 2 == 0 { Approval::Approve } else { Approval::Deny("odd".to_owned()) }
        });
    dispatcher = dispatcher.with_middleware(permissions);
    if let Some(calls) = world.rate {
        let millisecond = Duration::from_millis(1);
        let limit =
            RateLimit::new().for_all(calls, millisecond).for_tool("rnd-wait", 1, millisecond).unwrap();
        dispatcher = dispatcher.with_middleware(limit.with_patience(5 * millisecond));
    }
    #[cfg(feature = "cache")]
    if world.cache {
        let cache = toolkit_ai::middleware::Cache::new(2)
            .for_tool("rnd-w*")
            .unwrap()
            .with_time_to_live(Duration::from_millis(3));
        dispatcher = dispatcher.with_middleware(cache);
    }
    dispatcher
}

async fn run(dispatcher: &Dispatcher, world: &World, calls: Vec<ToolCall>) -> Vec<ToolResult> {
    let mut batch = dispatcher.batch(calls);
    let whole = batch.cancellation_token();
    let single = world.cancel_one.map(|(n, _)| batch.call_token(format!("call {n}")));
    let cancels = async {
        let all = async {
            if let Some(ms) = world.cancel_all_after_ms {
                sleep(Duration::from_millis(ms)).await;
                whole.cancel();
            }
        };
        let one = async {
            if let (Some((_, ms)), Some(single)) = (world.cancel_one, single) {
                sleep(Duration::from_millis(ms)).await;
                single.cancel();
            }
        };
        tokio::join!(all, one)
    };
    let (results, _) = tokio::join!(batch.finish(), cancels);
    results
}

fn runtime(world: &World) -> Runtime {
    let mut builder = if world.threads { Builder::new_multi_thread() } else { Builder::new_current_thread() };
    builder.worker_threads(2).enable_time().start_paused(!world.threads).build().unwrap()
}

/// Checks that the maximum number of calls can run.
async fn everything_is_free(plain: &Dispatcher, world: &World) {
    let at_once = world.max_concurrency.unwrap_or(8);
    // `rnd-write` fails now and then, and its next attempt waits for no permit.
    let plain = plain.clone().with_middleware(Retry::new().with_pauses(Duration::ZERO, Duration::ZERO));
    let mut row = vec![vec![ToolCall::new("1", "rnd-wait", r#"{"ms": 40}"#); at_once]];
    row.push(vec![ToolCall::new("1", "rnd-pair", r#"{"ms": 40}"#); at_once.min(2)]);
    for (tool, arguments) in [
        ("alone", json!({"batch": "after", "n": 0, "ms": 40})),
        ("write", json!({"batch": "after", "n": 0, "ms": 20, "key": "a"})),
        ("write", json!({"batch": "after", "n": 0, "ms": 20, "key": "b"})),
        ("delete", json!({"n": 0})),
        ("block", json!({"ms": 1})),
        ("panics", json!({"ms": 1})),
    ] {
        row.push(vec![ToolCall::new("1", format!("rnd-{tool}"), arguments.to_string())]);
    }
    for calls in row {
        let name = calls[0].name.clone();
        let count = calls.len();
        let started = Instant::now();
        let results = timeout(Duration::from_secs(60), plain.dispatch(calls)).await;
        let results = results.unwrap_or_else(|_| panic!("a permit of `{name}` is not free"));
        assert_eq!(results.len(), count);
        if !world.threads {
            assert!(started.elapsed() < Duration::from_millis(80), "`{name}` had to wait");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_call_has_its_result_and_nothing_is_left(
        world in worlds(),
        one in batches(),
        other in batches(),
    ) {
        let watch = Arc::new(Watch::default());
        let tools = tools![echo, wait, pair, alone, write, block, panics, picky, delete, forbidden];
        let registry = ToolRegistry::from_tools(tools).unwrap().with_shared_state(watch.clone());
        let mut plain = Dispatcher::new(registry).unwrap();
        if let Some(calls) = world.max_concurrency {
            plain = plain.with_max_concurrency(calls);
        }
        let mut dispatcher = surround(plain.clone(), &world);
        if let Some(ms) = world.timeout_ms {
            dispatcher = dispatcher.with_timeout(Duration::from_millis(ms));
        }
        let asked = [calls("one", &one), calls("other", &other)];
        let runtime = runtime(&world);
        let results: [Vec<ToolResult>; 2] = runtime.block_on(async {
            let both = async {
                tokio::join!(
                    run(&dispatcher, &world, asked[0].clone()),
                    run(&dispatcher, &world, asked[1].clone()),
                )
            };
            let (one, other) = timeout(Duration::from_secs(60), both).await.expect("no call waits for ever");
            [one, other]
        });
        for (results, asked) in results.iter().zip(&asked) {
            prop_assert_eq!(results.len(), asked.len());
            for (position, (result, asked)) in results.iter().zip(asked).enumerate() {
                prop_assert_eq!(result.position, position);
                prop_assert_eq!((&result.call_id, &result.name), (&asked.id, &asked.name));
            }
        }
        for (what, most) in [("alone", 1), ("block", 1), ("delete", 1), ("lane a", 1), ("lane b", 1), ("pair", 2)] {
            prop_assert!(watch.most(what) <= most, "{} of `{what}` ran at once", watch.most(what));
        }
        if let Some(limit) = world.max_concurrency {
            prop_assert!(watch.most("all") <= limit, "{} ran at once", watch.most("all"));
        }
        for (row, began) in &watch.0.lock().unwrap().began {
            prop_assert!(began.is_sorted(), "{row}: {began:?}");
        }
        // Only an abandoned thread may still have to end.
        for _ in 0..1_000 {
            if watch.is_empty() && runtime.metrics().num_alive_tasks() == 0 {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        prop_assert!(watch.is_empty(), "a tool still runs");
        prop_assert_eq!(runtime.metrics().num_alive_tasks(), 0, "a task is left");
        runtime.block_on(everything_is_free(&plain, &world));
    }
}
