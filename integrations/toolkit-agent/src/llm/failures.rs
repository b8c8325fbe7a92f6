//! Repeated failures of the same call.

use serde_json::Value;
use std::collections::HashMap;
use toolkit_core::{ErrorKind, ToolCall, ToolError, ToolResult};

/// The number of consecutive failures of each distinct call.
#[derive(Debug)]
pub(super) struct Failures {
    max: u32,
    /// The number of failures and the last error message, by tool name and arguments.
    by_call: HashMap<(String, String), (u32, String)>,
}

impl Failures {
    pub(super) fn new(max: u32) -> Self {
        Self { max, by_call: HashMap::new() }
    }

    /// Returns the error for `call` if the same call has already failed `max` times in a row.
    pub(super) fn refusal(&self, call: &ToolCall) -> Option<ToolError> {
        let (times, message) = self.by_call.get(&key(call)).filter(|(times, _)| *times >= self.max)?;
        let text = format!(
            "This very call has failed {times} times and was not run again. Do something else, or answer with what \
             you have. It failed with: {message}"
        );
        Some(ToolError::new(ErrorKind::Failed, text).with_brief("Call failed too often"))
    }

    /// Counts a failure, or resets the count after a success.
    pub(super) fn record(&mut self, call: &ToolCall, result: &ToolResult) {
        match &result.outcome {
            Ok(_) => {
                self.by_call.remove(&key(call));
            }
            // A cancelled call did not fail by itself, and a pending call has not failed.
            Err(error) if matches!(error.kind(), ErrorKind::Cancelled | ErrorKind::Pending) => {}
            Err(error) => {
                let (times, message) = self.by_call.entry(key(call)).or_default();
                *times += 1;
                error.message().clone_into(message);
            }
        }
    }
}

/// Returns the tool name and the arguments of a call, for comparison. The members of JSON objects are sorted
/// by name.
fn key(call: &ToolCall) -> (String, String) {
    let arguments = match serde_json::from_str::<Value>(call.arguments.as_str()) {
        Ok(mut value) => {
            value.sort_all_objects();
            value.to_string()
        }
        Err(_) => call.arguments.as_str().trim().to_owned(),
    };
    (call.name.clone(), arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails(failures: &mut Failures, arguments: &str) {
        let call = ToolCall::new("1", "pay", arguments);
        failures.record(&call, &ToolResult::of(&call, Err("no money".into())));
    }

    fn is_refused(failures: &Failures, arguments: &str) -> bool {
        failures.refusal(&ToolCall::new("2", "pay", arguments)).is_some()
    }

    #[test]
    fn a_call_is_refused_after_repeated_failures() {
        let mut failures = Failures::new(2);
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
        let mut failures = Failures::new(1);
        fails(&mut failures, "{}");
        let call = ToolCall::new("1", "pay", "{}");
        failures.record(&call, &ToolResult::of(&call, Ok("paid".into())));
        assert!(!is_refused(&failures, "{}"));
    }
}
