//! Repeats a named case for `callgrind.sh`, or checks the results without arguments.
//!
//! `targets.txt` has the floor and limit of each case.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark that fails should stop, and the script reads what is printed"
)]

mod support;

use std::hint::black_box;
use std::time::Duration;
use support::{A, B, C, Call, D, agents, by_hand, mcp, pages, registry_of, repeat, streams, tools};
use toolkit_ai::{ToolName, prelude::*, serde_json};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [list] if list == "list" => CASES.iter().for_each(|case| println!("{} {}", case.name, case.count)),
        [name, count] => {
            let case = CASES.iter().find(|case| case.name == name);
            let case = case.unwrap_or_else(|| panic!("no case `{name}`"));
            (case.run)(count.parse().unwrap());
        }
        _ => [A, B, C, D].into_iter().for_each(support::check),
    }
}

struct Case {
    name: &'static str,
    run: fn(usize),
    count: usize,
}

const fn case(name: &'static str, run: fn(usize)) -> Case {
    Case { name, run, count: 200 }
}

impl Case {
    /// Sets the repetitions of a long case.
    const fn times(mut self, count: usize) -> Self {
        self.count = count;
        self
    }
}

const CASES: &[Case] = &[
    case("add/match", |count| by_match(count, A)),
    case("add/map_boxed", |count| map_boxed(count, A)),
    case("add/registry", |count| registry(count, A.tool, A.arguments)),
    case("add/registry_async", |count| registry(count, A.async_tool, A.arguments)),
    case("add/planted", planted),
    case("add/registry_of_call", |count| registry_of_call(count, A)),
    case("add/dispatcher", |count| dispatcher(count, A)),
    case("add/dispatcher_heard", |count| dispatcher_heard(count, A)),
    case("search_web/match", |count| by_match(count, B)),
    case("search_web/map_boxed", |count| map_boxed(count, B)),
    case("search_web/registry", |count| registry(count, B.tool, B.arguments)),
    case("search_web/registry_async", |count| registry(count, B.async_tool, B.arguments)),
    case("search_web/dispatcher", |count| dispatcher(count, B)),
    case("create_order/match", |count| by_match(count, C)),
    case("create_order/map_boxed", |count| map_boxed(count, C)),
    case("create_order/registry", |count| registry(count, C.tool, C.arguments)),
    case("create_order/registry_async", |count| registry(count, C.async_tool, C.arguments)),
    case("create_order/dispatcher", |count| dispatcher(count, C)),
    case("struct/registry", |count| registry(count, D.tool, D.arguments)),
    case("struct/registry_async", |count| registry(count, D.async_tool, D.arguments)),
    case("items_1000/map_boxed", items_by_hand).times(4),
    case("items_1000/registry", items).times(4),
    case("foreign/map_boxed", |count| map_boxed(count, Call { tool: "foreign_order", ..C })),
    case("foreign/registry", |count| registry(count, "foreign_order", C.arguments)),
    case("look_up/10", |count| look_up(count, 10)),
    case("look_up/100000", |count| look_up(count, 100_000)),
    case("list/joined_100", |count| list_joined(count, 100)),
    case("list/100", |count| list(count, 100)),
    case("list/100_in_request", |count| list_in_request(count, 100)),
    case("define/schemars_1000", |count| repeat(count, || by_hand::definitions(1_000))).times(2),
    case("define/1000", |count| repeat(count, || define(1_000))).times(2),
    case("start/first_call", |count| {
        repeat(count, || support::call(&support::registry(), C.tool, C.arguments));
    })
    .times(20),
    case("stream/values", streams::values),
    case("stream/chunks", streams::chunks),
    case("pages/ai_sdk_written", pages::ai_sdk_written),
    case("pages/ai_sdk", pages::ai_sdk),
    case("pages/ag_ui_written", pages::ag_ui_written),
    case("pages/ag_ui", pages::ag_ui),
    case("batch/making_calls", |count| repeat(count, || support::waiting_calls(1_000))).times(4),
    case("batch/spawn_and_join", |count| spawn_and_join(count, 1_000, None)).times(4),
    case("batch/calls", |count| batch(count, 1_000, None)).times(4),
    case("batch/spawn_and_join_timeout", |count| spawn_and_join(count, 1_000, Some(MINUTE))).times(4),
    case("batch/calls_timeout", |count| batch(count, 1_000, Some(MINUTE))).times(4),
    case("batch/10000_by_hand", |count| spawn_and_join(count, 10_000, Some(MINUTE))).times(2),
    case("batch/10000_timeout", |count| batch(count, 10_000, Some(MINUTE))).times(2),
    case("agent/by_hand_1", |count| agent_by_hand(count, 1)),
    case("agent/run_1", |count| agent_run(count, 1)),
    case("agent/saved_1", |count| agent_saved(count, 1)),
    case("agent/by_hand_100", |count| agent_by_hand(count, 100)).times(10),
    case("agent/run_100", |count| agent_run(count, 100)).times(10),
    case("agent/saved_100", |count| agent_saved(count, 100)).times(10),
    case("agent/by_hand_1000", |count| agent_by_hand(count, 1_000)).times(2),
    case("agent/run_1000", |count| agent_run(count, 1_000)).times(2),
    case("agent/heard_1", |count| agent_heard(count, 1)),
    case("agent/heard_100", |count| agent_heard(count, 100)).times(10),
    case("agent/history_10", |count| agent_history(count, 10)).times(10),
    case("agent/history_10000", |count| agent_history(count, 10_000)).times(10),
    case("mcp/sdk", mcp::sdk),
    case("mcp/server", mcp::server),
];

const MINUTE: Duration = Duration::from_secs(60);

fn by_match(count: usize, Call { tool, arguments, .. }: Call) {
    repeat(count, || by_hand::by_match(black_box(tool), black_box(arguments)));
}

fn map_boxed(count: usize, Call { tool, arguments, .. }: Call) {
    let map = by_hand::map();
    repeat(count, || support::finish(by_hand::by_map(&map, black_box(tool), black_box(arguments))));
}

fn registry(count: usize, tool: &str, arguments: &str) {
    let registry = support::registry();
    repeat(count, || support::call(&registry, tool, arguments));
}

fn items_by_hand(count: usize) {
    let (map, arguments) = (by_hand::map(), support::items(1_000));
    repeat(count, || support::finish(by_hand::by_map(&map, black_box("count_items"), black_box(&arguments))));
}

fn items(count: usize) {
    registry(count, "count_items", &support::items(1_000));
}

/// The case `add/registry` with a twentieth more instructions, which a check has to find.
fn planted(count: usize) {
    let registry = support::registry();
    repeat(count, || {
        support::call(&registry, A.tool, A.arguments);
        for turn in 0..black_box(PLANTED_TURNS) {
            black_box(turn);
        }
    });
}

/// A turn takes about four instructions, and a call of `add` 1,547.
const PLANTED_TURNS: u32 = 19;

/// From a [`ToolCall`], whose making is counted too.
fn registry_of_call(count: usize, call: Call) {
    let registry = support::registry();
    repeat(count, || {
        let call = call.to_call(call.tool);
        support::call(&registry, &call.name, call.arguments.as_str());
    });
}

fn dispatcher(count: usize, call: Call) {
    let dispatcher = Dispatcher::new(support::registry()).unwrap();
    repeat(count, || support::dispatch(&dispatcher, call.to_call(call.tool)));
}

fn dispatcher_heard(count: usize, call: Call) {
    let dispatcher = Dispatcher::new(support::registry()).unwrap().with_listener(|_| ());
    repeat(count, || support::dispatch(&dispatcher, call.to_call(call.tool)));
}

fn look_up(count: usize, tools: usize) {
    let registry = registry_of(tools);
    let name = format!("add_{}", tools / 2);
    repeat(count, || registry.get(black_box(&name)).is_some());
}

fn list_joined(count: usize, tools: usize) {
    let registry = registry_of(tools);
    let definitions = registry.definitions(ApiFormat::OpenAiChat);
    let definitions: Vec<serde_json::Value> = serde_json::from_str(definitions.as_json()).unwrap();
    let texts: Vec<String> = definitions.iter().map(serde_json::Value::to_string).collect();
    repeat(count, || {
        let mut list = String::with_capacity(texts.iter().map(|text| text.len() + 1).sum::<usize>() + 1);
        for text in &texts {
            list.push(if list.is_empty() { '[' } else { ',' });
            list.push_str(text);
        }
        list.push(']');
        list
    });
}

fn list(count: usize, tools: usize) {
    let registry = registry_of(tools);
    repeat(count, || registry.definitions(ApiFormat::OpenAiChat).as_json().to_owned());
}

/// The same, in a request that `serde_json` writes.
fn list_in_request(count: usize, tools: usize) {
    let registry = registry_of(tools);
    repeat(count, || serde_json::to_vec(&registry.definitions(ApiFormat::OpenAiChat)));
}

/// New tools, A, B and C in turn, from generated functions to the text for one API.
fn define(tools: usize) -> usize {
    let functions = [tools::add::tool, tools::search_web::tool, tools::create_order::tool];
    let tools = functions.into_iter().cycle().take(tools).enumerate();
    let tools = tools.map(|(index, tool)| tool().with_name(ToolName::new(&format!("tool_{index}")).unwrap()));
    ToolRegistry::from_tools(tools).unwrap().definitions(ApiFormat::OpenAiChat).as_json().len()
}

/// Tasks of ten milliseconds, joined by hand, with the calls of [`batch`].
fn spawn_and_join(count: usize, calls: u32, timeout: Option<Duration>) {
    let runtime = agents::runtime();
    repeat(count, || {
        black_box(support::waiting_calls(calls));
        runtime.block_on(async {
            match timeout {
                Some(timeout) => by_hand::spawn_and_join_timeout(calls, timeout).await,
                None => by_hand::spawn_and_join(calls).await,
            }
        })
    });
}

/// A batch of calls of ten milliseconds.
fn batch(count: usize, calls: u32, timeout: Option<Duration>) {
    let runtime = agents::runtime();
    let mut dispatcher = Dispatcher::new(support::registry()).unwrap();
    if let Some(timeout) = timeout {
        dispatcher = dispatcher.with_timeout(timeout);
    }
    repeat(count, || runtime.block_on(dispatcher.dispatch(support::waiting_calls(calls))));
}

/// An agent's loop by hand, with two turns and the calls in the first.
fn agent_by_hand(count: usize, calls: usize) {
    let runtime = agents::runtime();
    let model = agents::Script::new(calls);
    let tools = support::registry().into();
    repeat(count, || assert_eq!(runtime.block_on(agents::by_hand(&model, &tools)), "Done."));
}

/// An agent with two turns and the calls in the first.
fn agent_run(count: usize, calls: usize) {
    let runtime = agents::runtime();
    let agent = agents::agent(calls, false);
    repeat(count, || assert_eq!(runtime.block_on(agent.run("Add.").into_future()).unwrap().text, "Done."));
}

/// The same in a new conversation in memory, saved at each step.
fn agent_saved(count: usize, calls: usize) {
    let runtime = agents::runtime();
    let agent = agents::agent(calls, false);
    repeat(count, || assert_eq!(runtime.block_on(agents::saved(&agent)), "Done."));
}

/// The same as [`agent_run`], streamed to a listener.
fn agent_heard(count: usize, calls: usize) {
    let runtime = agents::runtime();
    let agent = agents::agent(calls, true);
    repeat(count, || {
        assert_eq!(runtime.block_on(agent.run("Add.").stream().finish()).unwrap().text, "Done.");
    });
}

/// Two turns and one call in a conversation of this length.
fn agent_history(count: usize, messages: usize) {
    let runtime = agents::runtime();
    let agent = agents::agent(1, false);
    let mut conversation = agents::conversation(messages);
    repeat(count, || {
        let output = runtime.block_on(agent.run("Add.").on(&mut conversation).into_future());
        assert_eq!(output.unwrap().text, "Done.");
    });
    // Dropping the history is no part of a run.
    std::mem::forget(conversation);
}
