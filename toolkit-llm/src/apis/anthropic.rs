//! The codec of Anthropic's Messages API, for Anthropic's own service and compatible servers.
//!
//! The JSON follows the API reference and the types of Anthropic's SDK. The codec reads the JSON of all these
//! servers, and writes what the strictest accepts.

mod media;
pub(crate) mod read;
#[cfg(feature = "model")]
pub(crate) mod request;
mod stream;
#[cfg(test)]
mod tests;
mod unfinished;
pub(crate) mod write;

use crate::facts::{ApiFormat, Facts, IdRule, RequestFields, Strictness, ToolFacts, UsageFields};
use toolkit_core::name::NameRule;
use toolkit_schema::SchemaDialect;

pub(crate) const FACTS: Facts = Facts {
    name: ApiFormat::Anthropic.name(),
    tools: ToolFacts {
        names: ApiFormat::Anthropic.name_rule(),
        // `^[a-zA-Z0-9_.-]{1,64}$`, from the service's error text about the keys of
        // `input_schema.properties`. Compatible servers may also check inner names.
        parameters: Some(NameRule::SHORT_DOTS),
        strictness: Strictness::PerRequest,
        dialects: [SchemaDialect::Anthropic, SchemaDialect::AnthropicStrict, SchemaDialect::Anthropic],
        unsupported: &["output_schema", "kind"],
        ..ToolFacts::PLAIN
    },
    // `^[a-zA-Z0-9_-]+$`, from the service's error text. Compatible servers accept at most 64 characters.
    ids: Some(IdRule::new(64, true)),
    results: write::RESULTS,
    call_fields: [&["id"], &["input"]],
    usage: UsageFields {
        input: "/usage/input_tokens",
        output: "/usage/output_tokens",
        cached_input: "/usage/cache_read_input_tokens",
        reasoning: "/usage/output_tokens_details/reasoning_tokens",
        cache_writes: "/usage/cache_creation_input_tokens",
        ..UsageFields::PLAIN
    },
    media: &[(0, media::MEDIA)],
    fields: RequestFields { server_state: &["thread"], ..RequestFields::PLAIN },
    response_id: "/id",
    container: ["/container/id", "/container/expires_at"],
    ..Facts::PLAIN
};

#[derive(Debug)]
pub(crate) struct Anthropic;
