//! Calls by name, many at once, look-up and listing, and the same by hand.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a benchmark that fails should stop")]

mod support;

use divan::{AllocProfiler, Bencher, black_box};
use support::{A, B, C, Call, by_hand, registry_of};
use toolkit_ai::{prelude::*, serde_json};

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

fn main() {
    [A, B, C].into_iter().for_each(support::check);
    divan::main();
}

macro_rules! one_call {
    ($group:ident, $call:ident) => {
        #[divan::bench_group]
        mod $group {
            use super::*;

            const CALL: Call = $call;

            #[divan::bench]
            fn floor_match(bencher: Bencher<'_, '_>) {
                bencher.bench_local(|| by_hand::by_match(black_box(CALL.tool), black_box(CALL.arguments)));
            }

            #[divan::bench]
            fn floor_map_boxed(bencher: Bencher<'_, '_>) {
                let map = by_hand::map();
                bencher.bench_local(|| {
                    support::finish(by_hand::by_map(&map, black_box(CALL.tool), black_box(CALL.arguments)))
                });
            }

            #[divan::bench]
            fn registry_sync(bencher: Bencher<'_, '_>) {
                let registry = support::registry();
                bencher.bench_local(|| support::call(&registry, CALL.tool, CALL.arguments));
            }

            #[divan::bench]
            fn registry_async(bencher: Bencher<'_, '_>) {
                let registry = support::registry();
                bencher.bench_local(|| support::call(&registry, CALL.async_tool, CALL.arguments));
            }

            #[divan::bench]
            fn dispatcher_sync(bencher: Bencher<'_, '_>) {
                dispatch_one(bencher, CALL.tool);
            }

            #[divan::bench]
            fn dispatcher_async(bencher: Bencher<'_, '_>) {
                dispatch_one(bencher, CALL.async_tool);
            }

            fn dispatch_one(bencher: Bencher<'_, '_>, tool: &str) {
                let dispatcher = Dispatcher::new(support::registry()).unwrap();
                bencher
                    .with_inputs(|| CALL.to_call(tool))
                    .bench_local_values(|call| support::dispatch(&dispatcher, call));
            }
        }
    };
}

one_call!(a_add, A);
one_call!(b_search_web, B);
one_call!(c_create_order, C);

/// The cost of idle middleware, and of scheduling.
#[divan::bench_group]
mod on_the_way {
    use super::*;
    use std::time::Duration;
    use toolkit_ai::middleware::{
        AttemptLimit, Callbacks, Deduplicate, Next, PermissionRule, Permissions, RateLimit, Retry,
        ToolRequest,
    };

    fn one(bencher: Bencher<'_, '_>, prepare: impl Fn(Dispatcher) -> Dispatcher) {
        let dispatcher = prepare(Dispatcher::new(support::registry()).unwrap());
        bencher
            .with_inputs(|| A.to_call(A.tool))
            .bench_local_values(|call| support::dispatch(&dispatcher, call));
    }

    #[divan::bench]
    fn nothing(bencher: Bencher<'_, '_>) {
        one(bencher, |dispatcher| dispatcher);
    }

    #[divan::bench]
    fn limit_of_all(bencher: Bencher<'_, '_>) {
        one(bencher, |dispatcher| dispatcher.with_max_concurrency(8));
    }

    #[divan::bench]
    fn closure(bencher: Bencher<'_, '_>) {
        one(bencher, |dispatcher| {
            dispatcher.with_middleware(|request: ToolRequest, next: Next| next.run(request))
        });
    }

    #[divan::bench]
    fn callbacks(bencher: Bencher<'_, '_>) {
        one(bencher, |dispatcher| {
            dispatcher.with_middleware(Callbacks::new().before(|_| None).after(|_, output| Ok(output)))
        });
    }

    #[divan::bench]
    fn retry(bencher: Bencher<'_, '_>) {
        one(bencher, |dispatcher| dispatcher.with_middleware(Retry::new()));
    }

    #[divan::bench]
    fn deduplicate(bencher: Bencher<'_, '_>) {
        one(bencher, |dispatcher| dispatcher.with_middleware(Deduplicate::new()));
    }

    #[divan::bench]
    fn attempt_limit(bencher: Bencher<'_, '_>) {
        one(bencher, |dispatcher| dispatcher.with_middleware(AttemptLimit::new(3)));
    }

    #[divan::bench]
    fn rate_limit(bencher: Bencher<'_, '_>) {
        let nanosecond = Duration::from_nanos(1);
        one(bencher, |dispatcher| {
            dispatcher.with_middleware(
                RateLimit::new().for_all(9, nanosecond).for_tool("*", 9, nanosecond).unwrap(),
            )
        });
    }

    #[cfg(feature = "cache")]
    #[divan::bench]
    fn cache_of_others(bencher: Bencher<'_, '_>) {
        one(bencher, |dispatcher| {
            dispatcher.with_middleware(toolkit_ai::middleware::Cache::new(9).for_tool("other-*").unwrap())
        });
    }

    #[cfg(feature = "cache")]
    #[divan::bench]
    fn cache_hit(bencher: Bencher<'_, '_>) {
        one(bencher, |dispatcher| {
            dispatcher.with_middleware(toolkit_ai::middleware::Cache::new(9).for_tool("*").unwrap())
        });
    }

    /// A layer of tower that does nothing.
    #[cfg(feature = "tower")]
    #[divan::bench]
    fn tower_layer(bencher: Bencher<'_, '_>) {
        one(bencher, |dispatcher| {
            dispatcher
                .with_middleware(toolkit_ai::tower::TowerMiddleware::new(tower::layer::util::Identity::new()))
        });
    }

    #[divan::bench]
    fn permissions(bencher: Bencher<'_, '_>) {
        one(bencher, |dispatcher| {
            let rule = PermissionRule::allow().for_tool("*").unwrap();
            dispatcher.with_middleware(Permissions::new().rule(rule))
        });
    }
}

/// A hundred thousand trivial calls, on two worker threads.
#[divan::bench_group(sample_count = 10, sample_size = 1)]
mod hundred_thousand_in_batches {
    use super::*;
    use divan::counter::ItemsCount;
    use tokio::runtime::Builder;

    const COUNT: usize = 100_000;

    fn dispatch_all(bencher: Bencher<'_, '_>, batch: usize, prepare: impl Fn(Dispatcher) -> Dispatcher) {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let dispatcher = prepare(Dispatcher::new(support::registry()).unwrap());
        let batches = || -> Vec<Vec<ToolCall>> {
            (0..COUNT / batch).map(|_| (0..batch).map(|_| A.to_call(A.tool)).collect()).collect()
        };
        bencher.counter(ItemsCount::new(COUNT)).with_inputs(batches).bench_local_values(|batches| {
            runtime.block_on(async {
                for calls in batches {
                    assert_eq!(dispatcher.dispatch(calls).await.len(), batch);
                }
            });
        });
    }

    #[divan::bench(args = [1, 10, 1_000])]
    fn dispatcher(bencher: Bencher<'_, '_>, batch: usize) {
        dispatch_all(bencher, batch, |dispatcher| dispatcher);
    }

    #[divan::bench(args = [1, 10, 1_000])]
    fn with_listener(bencher: Bencher<'_, '_>, batch: usize) {
        dispatch_all(bencher, batch, |dispatcher| dispatcher.with_listener(|_| ()));
    }
}

/// Ten thousand tools waiting ten milliseconds, on two worker threads.
#[divan::bench_group(sample_count = 30, sample_size = 1)]
mod ten_thousand_at_once {
    use super::*;
    use std::time::Duration;
    use tokio::runtime::{Builder, Runtime};

    const COUNT: u32 = 10_000;
    const MINUTE: Duration = Duration::from_secs(60);

    fn runtime() -> Runtime {
        Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
    }

    #[divan::bench]
    fn floor_spawn_and_join(bencher: Bencher<'_, '_>) {
        let runtime = runtime();
        bencher.bench_local(|| runtime.block_on(by_hand::spawn_and_join(COUNT)));
    }

    /// With a timeout for each task.
    #[divan::bench]
    fn floor_timeout(bencher: Bencher<'_, '_>) {
        let runtime = runtime();
        bencher.bench_local(|| runtime.block_on(by_hand::spawn_and_join_timeout(COUNT, MINUTE)));
    }

    #[divan::bench]
    fn dispatcher(bencher: Bencher<'_, '_>) {
        let runtime = runtime();
        let dispatcher = Dispatcher::new(support::registry()).unwrap();
        bench(bencher, &runtime, &dispatcher);
    }

    /// With a timeout for each call.
    #[divan::bench]
    fn dispatcher_timeout(bencher: Bencher<'_, '_>) {
        let runtime = runtime();
        let dispatcher = Dispatcher::new(support::registry()).unwrap().with_timeout(MINUTE);
        bench(bencher, &runtime, &dispatcher);
    }

    fn bench(bencher: Bencher<'_, '_>, runtime: &Runtime, dispatcher: &Dispatcher) {
        bencher.with_inputs(|| support::waiting_calls(COUNT)).bench_local_values(|calls| {
            let results = runtime.block_on(dispatcher.dispatch(calls));
            assert!(results.last().is_some_and(|last| support::text(std::slice::from_ref(last)) == "9999"));
        });
    }
}

#[divan::bench(args = [10, 100_000])]
fn look_up(bencher: Bencher<'_, '_>, count: usize) {
    let registry = registry_of(count);
    let names: Vec<String> = (0..10).map(|index| format!("add_{}", index * count / 10)).collect();
    assert!(names.iter().all(|name| registry.get(name).is_some()));
    let mut next = names.iter().cycle();
    bencher.bench_local(|| next.next().is_some_and(|name| registry.get(black_box(name)).is_some()));
}

#[divan::bench_group]
mod definitions {
    use super::*;

    const COUNTS: [usize; 2] = [100, 1_000];

    #[divan::bench(args = COUNTS, sample_count = 20, sample_size = 1)]
    fn first(bencher: Bencher<'_, '_>, count: usize) {
        bencher
            .with_inputs(|| registry_of(count))
            .bench_local_refs(|registry| registry.definitions(ApiFormat::OpenAiChat));
    }

    #[divan::bench(args = COUNTS)]
    fn cached(bencher: Bencher<'_, '_>, count: usize) {
        let registry = registry_of(count);
        bencher.bench_local(|| registry.definitions(ApiFormat::OpenAiChat));
    }

    #[divan::bench(args = COUNTS)]
    fn cached_to_bytes(bencher: Bencher<'_, '_>, count: usize) {
        let registry = registry_of(count);
        bencher.bench_local(|| registry.definitions(ApiFormat::OpenAiChat).as_json().to_owned());
    }

    /// In a request that `serde_json` writes.
    #[divan::bench(args = COUNTS)]
    fn cached_to_request(bencher: Bencher<'_, '_>, count: usize) {
        let registry = registry_of(count);
        bencher.bench_local(|| serde_json::to_vec(&registry.definitions(ApiFormat::OpenAiChat)));
    }
}
