//! Calls that have failed, so that the same one is not run for ever.

use serde_json::Value;
use std::collections::HashMap;
use toolkit_core::{ErrorKind, ToolCall, ToolError, ToolResult};

/// How often in a row each call has failed.
#[derive(Debug)]
pub(super) struct Failures {
    most: u32,
    of_calls: HashMap<(String, String), (u32, String)>,
}

impl Failures {
    pub(super) fn new(most: u32) -> Self {
        Self { most, of_calls: HashMap::new() }
    }

    /// What answers a call that has failed often enough.
    pub(super) fn refusal(&self, call: &ToolCall) -> Option<ToolError> {
        let (times, message) = self.of_calls.get(&key(call)).filter(|(times, _)| *times >= self.most)?;
        let text = format!(
            "This very call has failed {times} times and was not run again. Do something else, or answer with what \
             you have. It failed with: {message}"
        );
        Some(ToolError::new(ErrorKind::Failed, text).with_brief("Call failed too often"))
    }

    pub(super) fn remember(&mut self, call: &ToolCall, result: &ToolResult) {
        match &result.outcome {
            Ok(_) => {
                self.of_calls.remove(&key(call));
            }
            // It is not the call's fault.
            Err(error) if error.kind() == ErrorKind::Cancelled => {}
            Err(error) => {
                let (times, message) = self.of_calls.entry(key(call)).or_default();
                *times += 1;
                error.message().clone_into(message);
            }
        }
    }
}

/// Calls are the same if their arguments mean the same.
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
        failures.remember(&call, &ToolResult::of(&call, Err("no money".into())));
    }

    fn is_refused(failures: &Failures, arguments: &str) -> bool {
        failures.refusal(&ToolCall::new("2", "pay", arguments)).is_some()
    }

    #[test]
    fn the_same_call_is_refused() {
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
    fn success_makes_up_for_failures() {
        let mut failures = Failures::new(1);
        fails(&mut failures, "{}");
        let call = ToolCall::new("1", "pay", "{}");
        failures.remember(&call, &ToolResult::of(&call, Ok("paid".into())));
        assert!(!is_refused(&failures, "{}"));
    }
}
