//! OpenAI Chat Completions, as the service and the many servers that imitate it really speak it.
//!
//! Shapes: the API reference and its SDK types. Reading is tolerant; writing is what the strictest of
//! those servers accepts.

mod call;
mod definitions;
mod history;
mod repair;
mod response;
mod results;
mod stream;
#[cfg(test)]
mod tests;

use crate::codec::{Facts, IdRule};
use crate::declaration::Strictness;
use crate::openai::{Form, OpenAi};
use toolkit_core::name::NameRule;
use toolkit_schema::SchemaDialect;

pub(crate) const FACTS: Facts = Facts {
    name: "openai_chat",
    aliases: &["openai-chat"],
    // `^[a-zA-Z0-9_-]{1,64}$`, from the API reference.
    names: NameRule::DASHES,
    properties: None,
    // The ids that OpenAI itself accepts, on demand; it refuses more than 40 characters. Otherwise the endpoint
    // that made an id gets it back to the character, because some keep state in it (`functions.add:0` of Kimi,
    // the thought signature that LiteLLM appends).
    ids: Some(IdRule {
        rule: NameRule { max_length: 40, punctuation: "_-", letter_first: false },
        is_strict: false,
    }),
    most_tools: Some(128),
    strictness: Strictness::PerFunction,
    dialects: [SchemaDialect::OpenAi, SchemaDialect::OpenAiStrict, SchemaDialect::OpenAi],
    frame: ("[", "]"),
    messages: "messages",
    keeps_fields: false,
    unsaid: &[
        ("output_schema", "output_schema", "this API takes no schema of a tool's output"),
        ("input_examples", "input_examples", "this API takes no examples of arguments"),
        ("allowed_callers", "allowed_callers", "in this API only the model calls tools"),
        ("defer", "defer", "this API has no search for tools, so the model sees this one at once"),
    ],
    usage: [
        "/usage/prompt_tokens",
        "/usage/completion_tokens",
        "/usage/prompt_tokens_details/cached_tokens",
        "/usage/completion_tokens_details/reasoning_tokens",
    ],
};

#[derive(Debug)]
pub(crate) struct OpenAiChat;

impl OpenAi for OpenAiChat {
    const FORM: Form = Form::Nested;
}
