//! OpenAI Responses, as the service and the servers that imitate it really speak it.
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
    name: "openai_responses",
    aliases: &["openai-responses", "open_responses", "open-responses"],
    // `^[a-zA-Z0-9_-]{1,64}$`, from the API reference.
    names: NameRule::DASHES,
    properties: None,
    // The service takes a `call_id` of at most 64 characters, and in ids letters, digits, `_` and `-` only.
    ids: Some(IdRule {
        rule: NameRule { max_length: 64, punctuation: "_-", letter_first: false },
        is_strict: true,
    }),
    most_tools: Some(128),
    strictness: Strictness::PerFunction,
    dialects: [SchemaDialect::OpenAi, SchemaDialect::OpenAiStrict, SchemaDialect::OpenAi],
    frame: ("[", "]"),
    messages: "input",
    keeps_fields: false,
    unsaid: &[("input_examples", "input_examples", "the API has no field for it")],
    usage: [
        "/usage/input_tokens",
        "/usage/output_tokens",
        "/usage/input_tokens_details/cached_tokens",
        "/usage/output_tokens_details/reasoning_tokens",
    ],
};

#[derive(Debug)]
pub(crate) struct OpenAiResponses;

impl OpenAi for OpenAiResponses {
    const FORM: Form = Form::Flat;
}
