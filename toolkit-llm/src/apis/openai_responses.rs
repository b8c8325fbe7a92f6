//! The codec of OpenAI's Responses API, for OpenAI's own service and compatible servers.
//!
//! The JSON follows the API reference and the types of OpenAI's SDK. The codec reads the JSON of all these
//! servers, and writes what the strictest accepts.

pub(crate) mod client;
mod outputs;
mod read;
mod repair;
#[cfg(feature = "model")]
pub(crate) mod request;
mod stream;
#[cfg(test)]
mod tests;
mod write;

use crate::apis::openai::{Form, OpenAi};
use crate::facts::{ApiFormat, Facts, IdRule, RequestFields, Strictness, ToolFacts, UsageFields};

const FUNCTION: &str = "function_call";
pub(crate) const CUSTOM: &str = "custom_tool_call";
const FUNCTION_OUTPUT: &str = "function_call_output";
pub(crate) const CUSTOM_OUTPUT: &str = "custom_tool_call_output";

/// The type of an entry that groups tools, and the key of its name in
/// [`ToolMetadata::meta`](toolkit_core::ToolMetadata::meta).
pub(crate) const NAMESPACE: &str = "namespace";

pub(crate) const FACTS: Facts = Facts {
    name: ApiFormat::OpenAiResponses.name(),
    tools: ToolFacts {
        names: ApiFormat::OpenAiResponses.name_rule(),
        most: Some(128),
        strictness: Strictness::PerFunction,
        unsupported: &["input_examples"],
        ..ToolFacts::PLAIN
    },
    // The service accepts a `call_id` of at most 64 letters, digits, `_` and `-`.
    ids: Some(IdRule::new(64, true)),
    results: repair::RESULTS,
    fields: RequestFields {
        messages: "input",
        server_state: &["previous_response_id", "conversation"],
        ..RequestFields::PLAIN
    },
    call_fields: [&["call_id"], &["arguments"]],
    usage: UsageFields {
        input: "/usage/input_tokens",
        output: "/usage/output_tokens",
        cached_input: "/usage/input_tokens_details/cached_tokens",
        reasoning: "/usage/output_tokens_details/reasoning_tokens",
        total: "/usage/total_tokens",
        cache_writes: "/usage/input_tokens_details/cache_write_tokens",
        ..UsageFields::PLAIN
    },
    media: &[(0, outputs::MEDIA)],
    response_id: "/id",
    ..Facts::PLAIN
};

#[derive(Debug)]
pub(crate) struct OpenAiResponses;

impl OpenAi for OpenAiResponses {
    const FORM: Form = Form::Flat;
}
