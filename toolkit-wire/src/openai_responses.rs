//! OpenAI Responses, as the service and the servers that imitate it really speak it.
//!
//! Shapes: the API reference and its SDK types. Reading is tolerant; writing is what the strictest of
//! those servers accepts.

mod call;
mod choice;
mod definitions;
mod history;
mod repair;
mod response;
mod results;
mod stream;
#[cfg(test)]
mod tests;

use toolkit_core::name::NameRule;

pub(crate) const FORMAT: &str = "openai_responses";
pub(crate) const ALIASES: &[&str] = &["openai-responses", "open_responses", "open-responses"];

/// `^[a-zA-Z0-9_-]{1,64}$`, from the API reference.
pub(crate) const NAMES: NameRule = NameRule::DASHES;

/// The service takes a `call_id` of at most 64 characters, and in ids letters, digits, `_` and `-` only.
const IDS: NameRule = NameRule { max_length: 64, punctuation: "_-", letter_first: false };

#[derive(Debug)]
pub(crate) struct OpenAiResponses;
