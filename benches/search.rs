//! Search among deferred tools: the first, after a change, and the cost of registering.

#![allow(clippy::unwrap_used, reason = "a benchmark that fails should stop")]

use divan::{AllocProfiler, Bencher, black_box};
use toolkit_ai::serde_json::json;
use toolkit_ai::{
    Tool, ToolContext, ToolDefinition, ToolFuture, ToolMetadata, ToolName, ToolOutput, ToolRegistry,
};

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

const COUNTS: [usize; 3] = [100, 1_000, 10_000];

const WORDS: [&str; 16] = [
    "weather", "city", "file", "search", "mail", "invoice", "customer", "stock", "price", "flight", "hotel",
    "recipe", "music", "route", "currency", "calendar",
];

fn main() {
    divan::main();
}

struct Listed(ToolDefinition);

impl Tool for Listed {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    fn call<'a>(&'a self, _: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(Ok(ToolOutput::text("")))
    }
}

/// A tool with its number's words.
fn tool(number: usize) -> Listed {
    let word = |place: u32| WORDS[number / 16_usize.pow(place) % 16];
    let [a, b, c] = [0, 1, 2].map(word);
    let parameters = json!({"type": "object", "properties": {
        a: {"type": "string", "description": format!("The {a} of the {b} that is wanted")},
        "limit": {"type": "integer", "description": "How many results to return at most"},
    }});
    let description = format!("Finds each {a} by its {b}. Use it for {c} number {number} only.");
    let name = ToolName::new(&format!("{a}_{b}_{number}")).unwrap();
    let metadata = ToolMetadata::default().with_defer(true).with_search_hint(c);
    Listed(ToolDefinition::new(name, description, parameters).with_metadata(metadata))
}

fn registry(count: usize) -> ToolRegistry {
    ToolRegistry::from_tools((0..count).map(tool)).unwrap().with_tool_search()
}

#[divan::bench(args = COUNTS, sample_count = 10, sample_size = 1)]
fn register(bencher: Bencher<'_, '_>, count: usize) {
    bencher.with_inputs(|| (0..count).map(tool).collect()).bench_local_values(|tools: Vec<Listed>| {
        let mut registry = ToolRegistry::new().with_tool_search();
        tools.into_iter().for_each(|tool| registry.register(tool).unwrap());
        registry
    });
}

#[divan::bench(args = COUNTS, sample_count = 10, sample_size = 1)]
fn first_search(bencher: Bencher<'_, '_>, count: usize) {
    bencher
        .with_inputs(|| registry(count))
        .bench_local_refs(|registry| registry.search(black_box("price of a flight to this city"), 5).len());
}

#[divan::bench(args = COUNTS, sample_count = 10, sample_size = 1)]
fn search_after_a_change(bencher: Bencher<'_, '_>, count: usize) {
    let before = registry(count);
    assert_eq!(before.search("weather", 5).len(), 5);
    let changed = || {
        let mut registry = before.clone();
        registry.register(tool(count)).unwrap();
        registry
    };
    bencher
        .with_inputs(changed)
        .bench_local_refs(|registry| registry.search(black_box("price of a flight to this city"), 5).len());
}

#[divan::bench(args = COUNTS)]
fn search(bencher: Bencher<'_, '_>, count: usize) {
    let registry = registry(count);
    bencher.bench_local(|| registry.search(black_box("price of a flight to this city"), 5).len());
}

/// The two tools, which list others.
#[divan::bench(args = COUNTS, sample_count = 10, sample_size = 1)]
fn descriptions(bencher: Bencher<'_, '_>, count: usize) {
    bencher
        .with_inputs(|| registry(count))
        .bench_local_refs(|registry| registry.get("discover_tools").is_some());
}
