//! OpenAI Chat Completions, as the service and the many servers that imitate it really speak it.
//!
//! Shapes: the API reference and its SDK types. What is read is read tolerantly; what is written is
//! what the strictest of those servers accepts.

mod call;
mod calls;
mod choice;
mod definitions;
mod history;
mod response;
mod results;

pub(super) use calls::{assistant_messages, encode_calls, parse_calls};
pub(super) use choice::{encode_choice, parse_choice};
pub(super) use definitions::{encode_definition, parse_definitions};
pub(super) use results::encode_results;

use crate::name::NameRule;

/// `^[a-zA-Z0-9_-]{1,64}$`, from the API reference.
pub(super) const NAMES: NameRule = NameRule { max_length: 64, punctuation: "_-" };

#[cfg(test)]
mod tests;
