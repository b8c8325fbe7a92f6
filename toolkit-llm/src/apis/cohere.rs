//! The codec of Cohere's Chat API, version 2 (`/v2/chat`).
//!
//! The JSON follows the API reference and the types of Cohere's SDK. Calls have the form of Chat Completions.
//! The model also writes a plan (`tool_plan`), results may be documents to cite, and streams have their own
//! events.

mod read;
mod repair;
#[cfg(feature = "model")]
pub(crate) mod request;
mod stream;
mod write;

use crate::apis::openai::PlainFunctions;
use crate::facts::{ApiFormat, Facts, IdRule, Strictness, ToolFacts, UsageFields};
use toolkit_schema::SchemaDialect;

pub(crate) const FACTS: Facts = Facts {
    name: ApiFormat::Cohere.name(),
    tools: ToolFacts {
        names: ApiFormat::Cohere.name_rule(),
        strictness: Strictness::AllOrNone(
            "in this API, the field `strict_tools` of the request enforces the schemas of all tools",
        ),
        dialects: [SchemaDialect::OpenAi; 3],
        unsupported: ToolFacts::FUNCTIONS_ONLY,
        ..ToolFacts::PLAIN
    },
    // Any id is accepted. The service's own ids end as in `get_weather_8hvy1w4rz2w4`.
    ids: Some(IdRule::new(64, false)),
    results: repair::RESULTS,
    media: &[(0, write::MEDIA)],
    usage: UsageFields {
        input: "/usage/tokens/input_tokens",
        output: "/usage/tokens/output_tokens",
        cached_input: "/usage/cached_tokens",
        ..UsageFields::PLAIN
    },
    ..Facts::PLAIN
};

#[derive(Debug)]
pub(crate) struct Cohere;

impl PlainFunctions for Cohere {}
