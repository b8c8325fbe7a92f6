//! Repeats one named case, for `callgrind.sh` to count its cost. Without arguments, checks the results.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark that fails should stop, and the script reads what is printed"
)]

mod support;

use std::hint::black_box;
use std::time::Duration;
use support::{A, B, C, Call, agents, by_hand, registry_of};
use toolkit::{prelude::*, serde_json};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [list] if list == "list" => CASES.iter().for_each(|case| println!("{}", case.row())),
        [name, count] => {
            let case = CASES.iter().find(|case| case.name == name);
            case.unwrap_or_else(|| panic!("no case `{name}`")).run(count.parse().unwrap());
        }
        _ => [A, B, C].into_iter().for_each(support::check),
    }
}

struct Case {
    name: &'static str,
    /// The case that it is compared with.
    floor: Option<&'static str>,
    target: Target,
    work: Work,
    /// The number of repetitions.
    count: usize,
}

/// The highest cost of a case.
enum Target {
    None,
    /// A multiple of the floor's instructions, and allocations more than the floor has.
    OfFloor(f64, i64),
    /// Instructions and allocations more than the floor has.
    AboveFloor(u64, i64),
    /// Instructions and allocations.
    Fixed(u64, i64),
}

enum Work {
    Match(Call),
    MapBoxed(Call),
    Registry(Call),
    RegistryAsync(Call),
    /// From a [`ToolCall`], as a dispatcher gets it; making the call is counted in both.
    RegistryOfCall(Call),
    Dispatcher(Call),
    /// With a listener that does nothing.
    DispatcherHeard(Call),
    /// A tool among this many.
    LookUp(usize),
    /// The definitions of this many tools as text.
    List(usize),
    /// The same, as part of a request that `serde_json` writes.
    ListInRequest(usize),
    /// Making this many calls of [`Work::Batch`], without running them.
    MakeCalls(u32),
    /// This many tasks that wait for ten milliseconds, spawned and joined by hand, with this timeout. The calls of
    /// [`Work::Batch`] are made too.
    SpawnAndJoin(u32, Option<Duration>),
    /// A batch of this many calls of a tool that waits for ten milliseconds, with this timeout.
    Batch(u32, Option<Duration>),
    /// Runs of an agent, or their floor.
    Agent(AgentWork),
}

#[derive(Clone, Copy)]
enum AgentWork {
    /// The loop of an agent by hand: two turns, and this many calls in the first.
    LoopByHand(usize),
    /// A run of an agent: two turns, and this many calls in the first.
    Run(usize),
    /// The same, streamed, with a listener for the events.
    RunHeard(usize),
    /// A run of two turns and one call in a conversation with this many messages.
    History(usize),
}

impl Case {
    const fn new(name: &'static str, work: Work, floor: Option<&'static str>, target: Target) -> Self {
        Self { name, floor, target, work, count: 1_000 }
    }

    /// Sets the number of repetitions, for a case that takes long.
    const fn count(mut self, count: usize) -> Self {
        self.count = count;
        self
    }

    /// Name, number of repetitions, floor, instructions as a multiple of the floor's, above the floor's, and in all,
    /// allocations above the floor's and in all; `-` where there is none.
    fn row(&self) -> String {
        let floor = self.floor.unwrap_or("-");
        let target = match self.target {
            Target::None => "- - - - -".to_owned(),
            Target::OfFloor(ratio, more) => format!("{ratio} - - {more} -"),
            Target::AboveFloor(above, more) => format!("- {above} - {more} -"),
            Target::Fixed(instructions, allocations) => format!("- - {instructions} - {allocations}"),
        };
        format!("{} {} {floor} {target}", self.name, self.count)
    }

    fn run(&self, count: usize) {
        match self.work {
            Work::Match(Call { tool, arguments, .. }) => {
                repeat(count, || by_hand::by_match(black_box(tool), black_box(arguments)));
            }
            Work::MapBoxed(Call { tool, arguments, .. }) => {
                let map = by_hand::map();
                repeat(count, || {
                    support::finish(by_hand::by_map(&map, black_box(tool), black_box(arguments)))
                });
            }
            Work::Registry(call) => call_registry(count, call.tool, call.arguments),
            Work::RegistryAsync(call) => call_registry(count, call.async_tool, call.arguments),
            Work::RegistryOfCall(call) => {
                let registry = support::registry();
                repeat(count, || {
                    let call = call.to_call(call.tool);
                    support::call(&registry, &call.name, call.arguments.as_str());
                });
            }
            Work::Dispatcher(call) => {
                let dispatcher = Dispatcher::new(support::registry()).unwrap();
                repeat(count, || support::dispatch(&dispatcher, call.to_call(call.tool)));
            }
            Work::DispatcherHeard(call) => {
                let dispatcher = Dispatcher::new(support::registry()).unwrap().with_listener(|_| ());
                repeat(count, || support::dispatch(&dispatcher, call.to_call(call.tool)));
            }
            Work::LookUp(tools) => {
                let registry = registry_of(tools);
                let name = format!("add_{}", tools / 2);
                repeat(count, || registry.get(black_box(&name)).is_some());
            }
            Work::List(tools) => {
                let registry = registry_of(tools);
                repeat(count, || registry.definitions(ApiFormat::OpenAiChat).as_json().to_owned());
            }
            Work::ListInRequest(tools) => {
                let registry = registry_of(tools);
                repeat(count, || serde_json::to_vec(&registry.definitions(ApiFormat::OpenAiChat)));
            }
            Work::MakeCalls(calls) => repeat(count, || support::waiting_calls(calls)),
            Work::SpawnAndJoin(calls, timeout) => {
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
            Work::Batch(calls, timeout) => {
                let runtime = agents::runtime();
                let dispatcher = Dispatcher::new(support::registry()).unwrap();
                let dispatcher = match timeout {
                    Some(timeout) => dispatcher.with_timeout(timeout),
                    None => dispatcher,
                };
                repeat(count, || runtime.block_on(dispatcher.dispatch(support::waiting_calls(calls))));
            }
            Work::Agent(work) => work.run(count),
        }
    }
}

impl AgentWork {
    fn run(self, count: usize) {
        match self {
            Self::LoopByHand(calls) => {
                let model = agents::Script::new(calls);
                let tools = support::registry().into();
                agents::runtime().block_on(async {
                    for _ in 0..count {
                        assert_eq!(black_box(agents::by_hand(&model, &tools).await), "Done.");
                    }
                });
            }
            Self::Run(calls) => {
                let agent = agents::agent(calls, false);
                agents::runtime().block_on(async {
                    for _ in 0..count {
                        assert_eq!(black_box(agent.run("Add.").await).unwrap().text, "Done.");
                    }
                });
            }
            Self::RunHeard(calls) => {
                let agent = agents::agent(calls, true);
                agents::runtime().block_on(async {
                    for _ in 0..count {
                        assert_eq!(black_box(agent.run_stream("Add.").finish().await).unwrap().text, "Done.");
                    }
                });
            }
            Self::History(messages) => {
                let agent = agents::agent(1, false);
                let mut conversation = agents::conversation(messages);
                agents::runtime().block_on(async {
                    for _ in 0..count {
                        let output = black_box(agent.run_in(&mut conversation, "Add.").await);
                        assert_eq!(output.unwrap().text, "Done.");
                    }
                });
                // The end of the whole history is no part of a run.
                std::mem::forget(conversation);
            }
        }
    }
}

const MINUTE: Duration = Duration::from_secs(60);

/// More allocations than any case has, for a target of instructions only.
const ANY: i64 = 1_000_000_000;

fn call_registry(count: usize, tool: &str, arguments: &str) {
    let registry = support::registry();
    repeat(count, || support::call(&registry, tool, arguments));
}

fn repeat<T>(count: usize, mut work: impl FnMut() -> T) {
    for _ in 0..count {
        drop(black_box(work()));
    }
}

const CASES: &[Case] = &[
    Case::new("add/match", Work::Match(A), None, Target::None),
    Case::new("add/map_boxed", Work::MapBoxed(A), None, Target::None),
    Case::new("add/registry", Work::Registry(A), Some("add/map_boxed"), Target::OfFloor(1.0, -1)),
    Case::new("add/registry_async", Work::RegistryAsync(A), Some("add/map_boxed"), Target::OfFloor(1.15, 0)),
    Case::new("add/registry_of_call", Work::RegistryOfCall(A), None, Target::None),
    Case::new(
        "add/dispatcher",
        Work::Dispatcher(A),
        Some("add/registry_of_call"),
        Target::AboveFloor(1_050, 2),
    ),
    Case::new("add/dispatcher_heard", Work::DispatcherHeard(A), Some("add/dispatcher"), Target::None),
    Case::new("search_web/match", Work::Match(B), None, Target::None),
    Case::new("search_web/map_boxed", Work::MapBoxed(B), None, Target::None),
    Case::new(
        "search_web/registry",
        Work::Registry(B),
        Some("search_web/map_boxed"),
        Target::OfFloor(1.0, -1),
    ),
    Case::new(
        "search_web/registry_async",
        Work::RegistryAsync(B),
        Some("search_web/map_boxed"),
        Target::OfFloor(1.15, 0),
    ),
    Case::new("search_web/dispatcher", Work::Dispatcher(B), Some("search_web/map_boxed"), Target::None),
    Case::new("create_order/match", Work::Match(C), None, Target::None),
    Case::new("create_order/map_boxed", Work::MapBoxed(C), None, Target::None),
    // The structs are checked against their schema in a pass of its own.
    Case::new(
        "create_order/registry",
        Work::Registry(C),
        Some("create_order/map_boxed"),
        Target::OfFloor(1.14, -1),
    ),
    Case::new(
        "create_order/registry_async",
        Work::RegistryAsync(C),
        Some("create_order/map_boxed"),
        Target::OfFloor(1.18, 0),
    ),
    Case::new("create_order/dispatcher", Work::Dispatcher(C), Some("create_order/map_boxed"), Target::None),
    Case::new("look_up/10", Work::LookUp(10), None, Target::None),
    Case::new("look_up/100000", Work::LookUp(100_000), Some("look_up/10"), Target::OfFloor(1.05, 0)),
    Case::new("list/100", Work::List(100), None, Target::Fixed(30_000, 1)),
    Case::new("list/100_in_request", Work::ListInRequest(100), Some("list/100"), Target::None),
    Case::new("batch/making_calls", Work::MakeCalls(1_000), None, Target::None).count(4),
    Case::new("batch/spawn_and_join", Work::SpawnAndJoin(1_000, None), None, Target::None).count(4),
    Case::new("batch/calls", Work::Batch(1_000, None), Some("batch/spawn_and_join"), Target::None).count(4),
    Case::new("batch/spawn_and_join_timeout", Work::SpawnAndJoin(1_000, Some(MINUTE)), None, Target::None)
        .count(4),
    Case::new(
        "batch/calls_timeout",
        Work::Batch(1_000, Some(MINUTE)),
        Some("batch/spawn_and_join_timeout"),
        Target::OfFloor(1.3, 2_010),
    )
    .count(4),
    Case::new("batch/10000_by_hand", Work::SpawnAndJoin(10_000, Some(MINUTE)), None, Target::None).count(2),
    Case::new(
        "batch/10000_timeout",
        Work::Batch(10_000, Some(MINUTE)),
        Some("batch/10000_by_hand"),
        Target::OfFloor(1.3, 20_010),
    )
    .count(2),
    Case::new("agent/by_hand_1", Work::Agent(AgentWork::LoopByHand(1)), None, Target::None),
    Case::new(
        "agent/run_1",
        Work::Agent(AgentWork::Run(1)),
        Some("agent/by_hand_1"),
        Target::OfFloor(2.0, ANY),
    ),
    Case::new("agent/by_hand_100", Work::Agent(AgentWork::LoopByHand(100)), None, Target::None).count(20),
    Case::new(
        "agent/run_100",
        Work::Agent(AgentWork::Run(100)),
        Some("agent/by_hand_100"),
        Target::OfFloor(1.1, ANY),
    )
    .count(20),
    Case::new("agent/by_hand_1000", Work::Agent(AgentWork::LoopByHand(1_000)), None, Target::None).count(4),
    Case::new(
        "agent/run_1000",
        Work::Agent(AgentWork::Run(1_000)),
        Some("agent/by_hand_1000"),
        Target::OfFloor(1.1, ANY),
    )
    .count(4),
    Case::new("agent/heard_1", Work::Agent(AgentWork::RunHeard(1)), Some("agent/run_1"), Target::None),
    Case::new("agent/heard_100", Work::Agent(AgentWork::RunHeard(100)), Some("agent/run_100"), Target::None)
        .count(20),
    Case::new("agent/history_10", Work::Agent(AgentWork::History(10)), None, Target::None).count(20),
    Case::new(
        "agent/history_10000",
        Work::Agent(AgentWork::History(10_000)),
        Some("agent/history_10"),
        Target::OfFloor(1.2, ANY),
    )
    .count(20),
];
