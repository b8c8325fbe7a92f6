//! OpenAI Chat Completions, as the service and the many servers that imitate it really speak it.
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

pub(crate) const FORMAT: &str = "openai_chat";
pub(crate) const ALIASES: &[&str] = &["openai-chat"];

/// `^[a-zA-Z0-9_-]{1,64}$`, from the API reference.
pub(crate) const NAMES: NameRule = NameRule::DASHES;

/// The ids that OpenAI itself accepts, on demand; it refuses more than 40 characters.
///
/// Otherwise the endpoint that made an id gets it back to the character, because some keep state in it
/// (`functions.add:0` of Kimi, the thought signature that LiteLLM appends).
const IDS: NameRule = NameRule { max_length: 40, punctuation: "_-", letter_first: false };

#[derive(Debug)]
pub(crate) struct OpenAiChat;
