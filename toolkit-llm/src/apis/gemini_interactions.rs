//! The codec of Gemini's Interactions API (`/v1beta/interactions`).
//!
//! The JSON follows the types of Google's SDK. A history is a list of steps: inputs, thoughts, outputs, calls
//! and results.

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
    name: ApiFormat::GeminiInteractions.name(),
    tools: ToolFacts {
        names: ApiFormat::GeminiInteractions.name_rule(),
        // The same rule as for `generateContent`.
        parameters: Some(NameRule::IDENTIFIERS),
        most: Some(512),
        strictness: Strictness::AllOrNone(
            "Gemini holds to their schemas either all functions of a request (mode `validated`) or none",
        ),
        // JSON Schema. Some keywords, such as `maxLength`, are ignored but not refused.
        dialects: [SchemaDialect::OpenAi; 3],
        unsupported: &["kind", "output_schema", "input_examples", "allowed_callers"],
    },
    ids: Some(IdRule::new(64, false)),
    results: repair::RESULTS,
    fields: RequestFields { messages: "input", ..RequestFields::PLAIN },
    media: &[(0, media::MEDIA)],
    call_fields: [&["id"], &["arguments"]],
    usage: UsageFields {
        input: "/usage/total_input_tokens",
        output: "/usage/total_output_tokens",
        cached_input: "/usage/total_cached_tokens",
        reasoning: "/usage/total_thought_tokens",
        tool_tokens: "/usage/total_tool_use_tokens",
        ..UsageFields::PLAIN
    },
    ..Facts::PLAIN
};

#[derive(Debug)]
pub(crate) struct GeminiInteractions;
