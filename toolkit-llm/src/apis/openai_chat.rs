//! The codec of OpenAI's Chat Completions API, for OpenAI's own service and compatible servers.
//!
//! The JSON follows the API reference and the types of OpenAI's SDK. The codec reads the JSON of all these
//! servers, and writes what the strictest accepts.

mod mistral;
mod read;
mod repair;
#[cfg(feature = "model")]
pub(crate) mod request;
mod stream;
#[cfg(test)]
mod tests;
mod write;

use crate::apis::openai::{Form, OpenAi};
use crate::facts::{ApiFormat, Facts, IdRule, Strictness, ToolFacts, UsageFields};

pub(crate) const FACTS: Facts = Facts {
    name: ApiFormat::OpenAiChat.name(),
    tools: ToolFacts {
        names: ApiFormat::OpenAiChat.name_rule(),
        most: Some(128),
        strictness: Strictness::PerFunction,
        unsupported: &["output_schema", "input_examples", "allowed_callers", "defer"],
        ..ToolFacts::PLAIN
    },
    // OpenAI refuses ids of more than 40 characters. The rule applies only on request: some servers keep
    // state in ids (`functions.add:0` of Kimi, the thought signature appended by LiteLLM).
    ids: Some(IdRule::new(40, false)),
    usage: UsageFields {
        input: "/usage/prompt_tokens",
        output: "/usage/completion_tokens",
        cached_input: "/usage/prompt_tokens_details/cached_tokens",
        reasoning: "/usage/completion_tokens_details/reasoning_tokens",
        total: "/usage/total_tokens",
        cache_writes: "/usage/prompt_tokens_details/cache_write_tokens",
        ..UsageFields::PLAIN
    },
    media: &[(0, write::MEDIA)],
    response_id: "/id",
    ..Facts::PLAIN
};

#[derive(Debug)]
pub(crate) struct OpenAiChat;

impl OpenAi for OpenAiChat {
    const FORM: Form = Form::Nested;
}
