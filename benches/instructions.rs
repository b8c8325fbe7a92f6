//! Repeats one named case, for `callgrind.sh` to count its cost. Without arguments, checks the results.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark that fails should stop, and the script reads what is printed"
)]

mod support;

use std::hint::black_box;
use support::{A, B, C, Call, by_hand, registry_of};
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
}

impl Case {
    const fn new(name: &'static str, work: Work, floor: Option<&'static str>, target: Target) -> Self {
        Self { name, floor, target, work }
    }

    /// Name, floor, instructions as a multiple of the floor's, above the floor's, and in all, allocations above the
    /// floor's and in all; `-` where there is none.
    fn row(&self) -> String {
        let floor = self.floor.unwrap_or("-");
        let target = match self.target {
            Target::None => "- - - - -".to_owned(),
            Target::OfFloor(ratio, more) => format!("{ratio} - - {more} -"),
            Target::AboveFloor(above, more) => format!("- {above} - {more} -"),
            Target::Fixed(instructions, allocations) => format!("- - {instructions} - {allocations}"),
        };
        format!("{} {floor} {target}", self.name)
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
            Work::Registry(Call { tool, arguments, .. }) => {
                let registry = support::registry();
                repeat(count, || support::call(&registry, tool, arguments));
            }
            Work::RegistryAsync(Call { async_tool, arguments, .. }) => {
                let registry = support::registry();
                repeat(count, || support::call(&registry, async_tool, arguments));
            }
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
        }
    }
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
        Target::AboveFloor(1_000, 2),
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
    Case::new(
        "create_order/registry",
        Work::Registry(C),
        Some("create_order/map_boxed"),
        Target::OfFloor(1.0, -1),
    ),
    Case::new(
        "create_order/registry_async",
        Work::RegistryAsync(C),
        Some("create_order/map_boxed"),
        Target::OfFloor(1.15, 0),
    ),
    Case::new("create_order/dispatcher", Work::Dispatcher(C), Some("create_order/map_boxed"), Target::None),
    Case::new("look_up/10", Work::LookUp(10), None, Target::None),
    Case::new("look_up/100000", Work::LookUp(100_000), Some("look_up/10"), Target::OfFloor(1.05, 0)),
    Case::new("list/100", Work::List(100), None, Target::Fixed(30_000, 1)),
    Case::new("list/100_in_request", Work::ListInRequest(100), Some("list/100"), Target::None),
];
