//! What every contestant has in common: the calls, their results, and the ways to measure them.

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

/// What a call returns, so that no contestant copies a text only to be measured.
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

    /// Registers the tools. A runtime is entered.
    fn new() -> Self;

    /// Calls a tool by name: JSON text in, JSON text out.
    fn call(&self, tool: &str, arguments: &str) -> impl Future<Output = Result<Self::Output, String>> + Send;

    /// The definitions of all tools, as the list that the Chat API takes.
    fn definitions(&self) -> String;

    /// Makes these calls of `wait` at once. By default each is a task.
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

/// The program of a contestant. What it measures is told by its arguments:
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
