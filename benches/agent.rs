//! The cost of a turn beside its model and tools, against the loop by hand.
//!
//! In a run, the model calls all tools at once, and then answers. Model and tool answer at once, so the loop
//! is measured.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a benchmark that fails should stop")]

mod support;

use divan::{AllocProfiler, Bencher, black_box};
use support::agents::{Script, agent, by_hand, conversation, runtime};
use toolkit_ai::prelude::*;

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

const CALLS: [usize; 3] = [1, 10, 100];

fn main() {
    divan::main();
}

#[divan::bench(args = CALLS)]
fn floor_by_hand(bencher: Bencher<'_, '_>, calls: usize) {
    let model = Script::new(calls);
    let runtime = runtime();
    let tools = ToolRegistry::from_tools(support::tools::all()).unwrap().into();
    bencher.bench_local(|| {
        assert_eq!(black_box(runtime.block_on(by_hand(&model, &tools))), "Done.");
    });
}

#[divan::bench(args = CALLS)]
fn run(bencher: Bencher<'_, '_>, calls: usize) {
    let agent = agent(calls, false);
    let runtime = runtime();
    bencher
        .bench_local(|| assert_eq!(runtime.block_on(agent.run("Add.").into_future()).unwrap().text, "Done."));
}

#[divan::bench(args = CALLS)]
fn run_streaming(bencher: Bencher<'_, '_>, calls: usize) {
    let agent = agent(calls, true);
    let runtime = runtime();
    bencher
        .bench_local(|| assert_eq!(runtime.block_on(agent.run("Add.").into_future()).unwrap().text, "Done."));
}

#[divan::bench(args = CALLS)]
fn run_watched(bencher: Bencher<'_, '_>, calls: usize) {
    let agent = agent(calls, true);
    let runtime = runtime();
    bencher.bench_local(|| {
        let output = runtime.block_on(agent.run("Add.").stream().finish());
        assert_eq!(output.unwrap().text, "Done.");
    });
}

/// Two turns in a conversation of this length.
#[divan::bench(args = [10, 10_000])]
fn run_with_history(bencher: Bencher<'_, '_>, messages: usize) {
    let agent = agent(1, false);
    let runtime = runtime();
    let mut conversation = conversation(messages);
    bencher.bench_local(|| {
        conversation.keep_latest(messages);
        runtime.block_on(agent.run("Add.").on(&mut conversation).into_future()).unwrap()
    });
}
