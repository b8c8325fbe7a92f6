//! Detection of calls that are repeated with the same arguments.

use crate::limits::Limits;
use serde_json::Value;
use std::collections::HashMap;
use toolkit_core::{ErrorKind, ToolCall, ToolError, ToolResult};

/// The tool and the normalized arguments of a call. Calls with equal keys count as the same.
type Key = (String, String);

/// Counts failures of each call since its last success, and consecutive equal outputs of the latest call.
#[derive(Debug)]
pub(super) struct Repetitions {
    max_failures: u32,
    max_calls: u32,
    /// The failures of each call since its last success, and the last error.
    failures: HashMap<Key, (u32, String)>,
    /// The latest call, unless it failed.
    latest: Option<Latest>,
}

#[derive(Debug)]
struct Latest {
    tool: String,
    arguments: String,
    output: String,
    /// The number of consecutive equal calls.
    times: u32,
}

impl Repetitions {
    pub(super) fn new(limits: &Limits) -> Self {
        let max_failures = limits.max_repeated_failures;
        let max_calls = limits.max_repeated_calls;
        Self { max_failures, max_calls, failures: HashMap::new(), latest: None }
    }

    /// Returns an error if the same call has failed too often or has had the same output too often.
    pub(super) fn refusal(&self, call: &ToolCall) -> Option<ToolError> {
        let latest = self.latest.as_ref().filter(|latest| latest.times >= self.max_calls);
        if self.failures.is_empty() && latest.is_none() {
            return None;
        }
        let key = key(call);
        if let Some((times, message)) =
            self.failures.get(&key).filter(|(times, _)| *times >= self.max_failures)
        {
            let text = format!(
                "This very call has failed {times} times and was not run again. Do something else, or answer with \
                 what you have. It failed with: {message}"
            );
            return Some(ToolError::new(ErrorKind::Failed, text).with_brief("Call failed too often"));
        }
        let Latest { times, .. } = latest.filter(|latest| latest.is_of(call))?;
        let text = format!(
            "This very call has had the same output {times} times in a row and was not run again. Use the output, do \
             something else, or answer with what you have"
        );
        Some(ToolError::new(ErrorKind::Failed, text).with_brief("Call repeated too often"))
    }

    /// Counts the failure or the output of a call. A success resets the failures of the same call, and a
    /// failure the count of equal outputs.
    pub(super) fn record(&mut self, call: &ToolCall, result: &ToolResult) {
        match &result.outcome {
            Ok(_) => {
                if !self.failures.is_empty() {
                    self.failures.remove(&key(call));
                }
                let output = result.to_text();
                match &mut self.latest {
                    Some(latest) if latest.output == output && latest.is_of(call) => latest.times += 1,
                    latest => {
                        *latest = Some(Latest {
                            tool: call.name.clone(),
                            arguments: call.arguments.as_str().to_owned(),
                            output: output.into_owned(),
                            times: 1,
                        });
                    }
                }
            }
            // A cancelled call was stopped from outside, and a pending call has not ended.
            Err(error) if matches!(error.kind(), ErrorKind::Cancelled | ErrorKind::Pending) => {}
            Err(error) => {
                self.latest = None;
                let (times, message) = self.failures.entry(key(call)).or_default();
                *times += 1;
                error.message().clone_into(message);
            }
        }
    }
}

impl Latest {
    fn is_of(&self, call: &ToolCall) -> bool {
        let arguments = call.arguments.as_str();
        self.tool == call.name
            && (self.arguments == arguments || comparable(&self.arguments) == comparable(arguments))
    }
}

fn key(call: &ToolCall) -> Key {
    (call.name.clone(), comparable(call.arguments.as_str()))
}

/// Sorts the members of JSON objects by name, for comparison.
fn comparable(arguments: &str) -> String {
    match serde_json::from_str::<Value>(arguments) {
        Ok(mut value) => {
            value.sort_all_objects();
            value.to_string()
        }
        Err(_) => arguments.trim().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(max_failures: u32) -> Repetitions {
        Repetitions::new(&Limits::default().with_max_repeated_failures(max_failures))
    }

    fn fails(failures: &mut Repetitions, arguments: &str) {
        let call = ToolCall::new("1", "pay", arguments);
        failures.record(&call, &ToolResult::of(&call, Err("no money".into())));
    }

    fn is_refused(failures: &Repetitions, arguments: &str) -> bool {
        failures.refusal(&ToolCall::new("2", "pay", arguments)).is_some()
    }

    #[test]
    fn a_call_is_refused_after_repeated_failures() {
        let mut failures = new(2);
        fails(&mut failures, r#"{"a": 1, "b": 2}"#);
        assert!(!is_refused(&failures, r#"{"a": 1, "b": 2}"#));
        fails(&mut failures, r#"{"b":2,"a":1}"#);
        assert!(is_refused(&failures, r#"{"a": 1, "b": 2}"#));
        assert!(!is_refused(&failures, r#"{"a": 1, "b": 3}"#));
        fails(&mut failures, "oops");
        fails(&mut failures, " oops\n");
        assert!(is_refused(&failures, "oops"));
    }

    #[test]
    fn a_success_resets_the_count() {
        let mut failures = new(1);
        fails(&mut failures, "{}");
        let call = ToolCall::new("1", "pay", "{}");
        failures.record(&call, &ToolResult::of(&call, Ok("paid".into())));
        assert!(!is_refused(&failures, "{}"));
    }

    #[test]
    fn a_call_with_the_same_output_is_refused_after_repetitions() {
        let mut repetitions = Repetitions::new(&Limits::default().with_max_repeated_calls(2));
        let mut ends = |arguments: &str, output: &str| {
            let call = ToolCall::new("1", "look", arguments);
            let refused = repetitions.refusal(&call).is_some();
            if !refused {
                repetitions.record(&call, &ToolResult::of(&call, Ok(output.into())));
            }
            refused
        };
        // Another output or another call restarts the count.
        assert!(!ends("{}", "1"));
        assert!(!ends("{}", "2"));
        assert!(!ends("{}", "2"));
        assert!(ends("{}", "2") && ends("{ }", "2"));
        assert!(!ends(r#"{"a": 1}"#, "2"));
        assert!(!ends("{}", "2"));
        assert!(!ends("{}", "2"));
        assert!(ends("{}", "2"));
    }
}
