//! Reads the steps of a response: calls, text and thoughts.

use super::GeminiInteractions;
use super::call::{self, is_call, is_step};
use crate::WireError;
use crate::call::{Message, Reading};
use crate::codec::ResponseCodec;
use crate::error::{failed, reported_error};
use crate::fields::{Fields, text};
use crate::response::{FinishReason, Response};
use crate::texts;
use serde_json::Value;

impl ResponseCodec for GeminiInteractions {
    /// Finds the steps in `payload`. The payload is an interaction, a list of steps, or a single step.
    fn read<'a>(&self, payload: &'a Value) -> Result<Reading<'a>, WireError> {
        let message = match payload {
            // If at least one value is a step, unknown steps beside it are accepted, too.
            Value::Array(steps) if steps.is_empty() || steps.iter().any(is_step) => message(steps, false),
            Value::Array(_) => return Err(WireError::new("[0]", "a step such as `function_call`")),
            Value::Object(_) if is_step(payload) => message(std::slice::from_ref(payload), false),
            Value::Object(fields) => Message { is_whole: true, ..body(fields)? },
            _ => return Err(WireError::new("", "an interaction, a step or a list of steps")),
        };
        Ok(Reading { payload, messages: vec![message] })
    }

    fn describe(&self, reading: &Reading<'_>, response: &mut Response) {
        for step in reading.other_parts() {
            let (target, name) = match text(step, "type") {
                "model_output" => (&mut response.text, "content"),
                "thought" => (&mut response.reasoning, "summary"),
                _ => continue,
            };
            target.push_str(&texts::of(step, name));
        }
        response.finish = FinishReason::parse(text(reading.payload, "status"));
        // The service does not count the tokens of thoughts as output tokens, and does not count the results of
        // its own tools as input tokens.
        let usage = &mut response.usage;
        usage.input_tokens = usage.input_tokens.saturating_add(usage.tool_tokens);
        usage.output_tokens = usage.output_tokens.saturating_add(usage.reasoning_tokens);
    }
}

/// Reads a list of steps as one message. If generation stopped early (`is_cut`), the last step is incomplete.
fn message(steps: &[Value], is_cut: bool) -> Message<'_> {
    let last = steps.len().checked_sub(1).filter(|_| is_cut);
    let read = |step, is_cut| is_call(step).then(|| call::read(step, is_cut));
    Message { is_whole: false, ..Message::of_parts(steps, last, read) }
}

fn body(fields: &Fields) -> Result<Message<'_>, WireError> {
    let status = fields.get("status").and_then(Value::as_str);
    match (fields.get("steps"), reported_error(fields)) {
        (Some(Value::Array(steps)), None) => {
            Ok(message(steps, FinishReason::parse(status.unwrap_or_default()).is_cut()))
        }
        // The interaction has no steps yet.
        (None | Some(Value::Null), None) if status.is_some() && fields.contains_key("id") => {
            Ok(message(&[], false))
        }
        (_, error) => Err(failed("steps", "the steps of an interaction", error)),
    }
}
