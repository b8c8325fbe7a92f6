//! The codec of Amazon Bedrock's Converse API.
//!
//! The JSON follows the service model of the AWS SDKs. Each content block, tool and event is an object with
//! its kind as the only field, as in `{toolUse: {toolUseId, name, input}}`. Bytes are Base64 strings.

mod media;
mod read;
mod repair;
#[cfg(feature = "model")]
pub(crate) mod request;
mod stream;
mod write;

use crate::facts::{ApiFormat, Facts, IdRule, RequestFields, Strictness, ToolFacts, UsageFields};
use toolkit_core::name::NameRule;
use toolkit_schema::SchemaDialect;

pub(crate) const FACTS: Facts = Facts {
    name: ApiFormat::Bedrock.name(),
    tools: ToolFacts {
        names: ApiFormat::Bedrock.name_rule(),
        // Anthropic's models refuse other names, with the error text of their own API.
        parameters: Some(NameRule::SHORT_DOTS),
        // The model behind the API enforces schemas. The guide to structured outputs describes Anthropic's
        // subset.
        strictness: Strictness::PerRequest,
        dialects: [SchemaDialect::Anthropic, SchemaDialect::AnthropicStrict, SchemaDialect::Anthropic],
        unsupported: ToolFacts::FUNCTIONS_ONLY,
        ..ToolFacts::PLAIN
    },
    ids: Some(IdRule::new(64, true)),
    results: repair::RESULTS,
    fields: RequestFields { tools: &["toolConfig", "tools"], ..RequestFields::PLAIN },
    media: &[(0, media::MEDIA)],
    call_fields: [&["toolUse", "toolUseId"], &["toolUse", "input"]],
    usage: UsageFields {
        input: "/usage/inputTokens",
        output: "/usage/outputTokens",
        cached_input: "/usage/cacheReadInputTokens",
        cache_writes: "/usage/cacheWriteInputTokens",
        ..UsageFields::PLAIN
    },
    ..Facts::PLAIN
};

#[derive(Debug)]
pub(crate) struct Bedrock;
