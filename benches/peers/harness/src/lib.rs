//! What contestants share: the calls, their results, and the ways to measure.

mod calls;
mod chat;
mod measure;
mod tools;

pub use calls::{CALLS, Call};
pub use chat::chat_definitions;
pub use tools::{Address, Item, Priority, Summary, lines, search, summary};

use std::borrow::Cow;
use std::process::ExitCode;
use std::sync::Arc;

/// A call's result, which no contestant has to copy to be measured.
pub trait Output: Send + 'static {
    /// The text for the model.
    fn text(&self) -> Cow<'_, str>;
}

impl Output for String {
    fn text(&self) -> Cow<'_, str> {
        Cow::Borrowed(self)
    }
}

/// A framework with the tools `add`, `search_web`, `create_order` and `wait`.
pub trait Contestant: Send + Sync + Sized + 'static {
    type Output: Output;

    /// Registers the tools, inside a runtime.
    fn new() -> Self;

    /// Calls a tool by name, from JSON to JSON.
    fn call(&self, tool: &str, arguments: &str) -> impl Future<Output = Result<Self::Output, String>> + Send;

    /// The definitions of all tools, as the Chat API takes them.
    fn definitions(&self) -> String;

    /// Makes these calls of `wait` at once, by default as tasks.
    fn at_once(
        self: &Arc<Self>,
        arguments: Vec<String>,
    ) -> impl Future<Output = Vec<Result<Self::Output, String>>> + Send {
        let contestant = Arc::clone(self);
        async move {
            let spawn = |text: String| {
                let contestant = Arc::clone(&contestant);
                tokio::spawn(async move { contestant.call("wait", &text).await })
            };
            let tasks: Vec<_> = arguments.into_iter().map(spawn).collect();
            let mut results = Vec::with_capacity(tasks.len());
            for task in tasks {
                results.push(task.await.unwrap_or_else(|error| Err(error.to_string())));
            }
            results
        }
    }
}

/// Runs a contestant, which measures what its arguments say:
///
/// | | |
/// | --- | --- |
/// | `check` | compares the result of each call with the expected one |
/// | `call TOOL COUNT` | makes the call this often, for valgrind to count |
/// | `list COUNT` | writes the definitions this often |
/// | `time TOOL` | prints the nanoseconds of a call |
/// | `at-once` | prints the milliseconds of 10,000 calls at once that wait for ten milliseconds |
/// | `definitions` | prints the definitions |
pub fn run<C: Contestant>() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match measure::run::<C>(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
