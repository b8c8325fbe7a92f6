//! Does each kind of work at two sizes, for `callgrind.sh --growth`: four times the input may cost at most
//! 4.5 times the instructions.
//!
//! Documents, agents and streams are those of the crates' tests. Arguments select cases by the starts of
//! names.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark that fails should stop, and the script reads what is printed"
)]

#[path = "growth/agents.rs"]
mod agents;
#[path = "growth/calls.rs"]
mod calls;
#[path = "growth/documents.rs"]
mod documents;
#[path = "../integrations/toolkit-agent/tests/growth/messages.rs"]
mod messages;
#[path = "../integrations/toolkit-agent/tests/growth/runs.rs"]
mod runs;
#[path = "growth/schemas.rs"]
mod schemas;
#[path = "../integrations/toolkit-openapi/tests/growth/shapes.rs"]
mod shapes;
#[allow(dead_code, reason = "some answers are for other tests")]
#[path = "../integrations/toolkit-agent/tests/speech.rs"]
mod speech;
#[allow(dead_code, reason = "some tools and models are for other tests")]
#[path = "../integrations/toolkit-agent/tests/support.rs"]
mod support;

use std::fmt::Display;
use std::hint::black_box;
use std::sync::LazyLock;
use tokio::runtime::Runtime;

fn main() {
    let prefixes: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let planted = case("planted", 200, |size| {
        let names: Vec<String> = (0..size).map(|number| number.to_string()).collect();
        move || {
            black_box(names.iter().filter(|name| names.iter().filter(|it| it == name).count() == 1).count());
        }
    });
    let mut cases = documents::cases();
    cases.extend(schemas::cases());
    cases.extend(calls::cases());
    cases.extend(agents::cases());
    cases.push(planted);
    for case in cases {
        if prefixes.is_empty() || prefixes.iter().any(|prefix| case.name.starts_with(prefix)) {
            case.run();
        }
    }
}

/// The maximum factor of instructions for four times the input.
const MOST: f64 = 4.5;

struct Case {
    name: String,
    /// The smaller size.
    size: usize,
    /// The maximum factor of instructions for four times the size.
    most: f64,
    prepare: Box<dyn Fn(usize) -> Work>,
}

/// The counted work on prepared input.
type Work = Box<dyn FnOnce()>;

/// Makes a case, with `prepare` for the input.
fn case<W: FnOnce() + 'static>(
    name: impl Display,
    size: usize,
    prepare: impl Fn(usize) -> W + 'static,
) -> Case {
    let prepare = Box::new(move |size| Box::new(prepare(size)) as Work);
    Case { name: name.to_string().replace(' ', "_"), size, most: MOST, prepare }
}

impl Case {
    /// Sets another limit, for a reason.
    fn at_most(mut self, most: f64) -> Self {
        self.most = most;
        self
    }

    /// Works once, to make what the first use needs, and then counted at both sizes.
    fn run(&self) {
        (self.prepare)(self.size)();
        for size in [self.size, 4 * self.size] {
            counted_work((self.prepare)(size));
            println!("{} {size} {}", self.name, self.most);
            end_of_count();
        }
    }
}

/// `callgrind.sh` counts what runs inside.
#[inline(never)]
fn counted_work(work: Work) {
    work();
    // Else the call above is a jump, which does not return here.
    black_box(());
}

/// A call ends `callgrind.sh`'s count.
#[inline(never)]
fn end_of_count() {
    black_box(());
}

/// Runs a future on a prepared runtime.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    static RUNTIME: LazyLock<Runtime> =
        LazyLock::new(|| tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap());
    RUNTIME.block_on(future)
}
