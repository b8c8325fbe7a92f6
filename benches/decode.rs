//! Decoding: slots against a derived struct, directly and through `serde_json::Value`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a benchmark that fails should stop")]

mod support;

use divan::{AllocProfiler, Bencher, black_box};
use support::by_hand::{Add, CreateOrder, SearchWeb};
use support::tools::{take_order, take_query, take_two};
use support::{A, B, C, Call};
use toolkit_ai::serde::de::DeserializeOwned;
use toolkit_ai::serde_json::{self, Value};
use toolkit_ai::{FunctionTool, prelude::*};

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// The work of a `#[tool]` function before its body, with unused arguments.
fn slots(bencher: Bencher<'_, '_>, tool: &FunctionTool, call: Call) {
    let context = ToolContext::new(tool.definition().name.clone());
    assert!(matches!(tool.call(call.arguments, &context).try_ready(), Ok(Ok(_))));
    bencher.bench_local(|| tool.call(black_box(call.arguments), &context));
}

/// The struct that a programmer writes.
fn derived<T: DeserializeOwned>(bencher: Bencher<'_, '_>, call: Call) {
    assert!(serde_json::from_str::<T>(call.arguments).is_ok());
    bencher.bench_local(|| drop(black_box(serde_json::from_str::<T>(black_box(call.arguments)))));
}

/// The same struct, from a `Value`.
fn through_value<T: DeserializeOwned>(bencher: Bencher<'_, '_>, call: Call) {
    let decode = |text| serde_json::from_str::<Value>(text).and_then(serde_json::from_value::<T>);
    assert!(decode(call.arguments).is_ok());
    bencher.bench_local(|| drop(black_box(decode(black_box(call.arguments)))));
}

macro_rules! group {
    ($group:ident, $call:ident, $tool:ident, $by_hand:ty) => {
        #[divan::bench_group]
        mod $group {
            use super::*;

            #[divan::bench]
            fn slots(bencher: Bencher<'_, '_>) {
                super::slots(bencher, &$tool::tool(), $call);
            }

            #[divan::bench]
            fn derived(bencher: Bencher<'_, '_>) {
                super::derived::<$by_hand>(bencher, $call);
            }

            #[divan::bench]
            fn through_value(bencher: Bencher<'_, '_>) {
                super::through_value::<$by_hand>(bencher, $call);
            }
        }
    };
}

group!(a_add, A, take_two, Add);
group!(b_search_web, B, take_query, SearchWeb);
group!(c_create_order, C, take_order, CreateOrder);
