//! The codec of Ollama's API `/api/chat`.
//!
//! The JSON follows the API reference and the types of the server. Arguments are objects, ids are optional,
//! and a result names its tool. A stream has one JSON object per line, and calls arrive complete.

mod read;
mod repair;
#[cfg(feature = "model")]
pub(crate) mod request;
mod stream;
mod write;

use crate::apis::openai::PlainFunctions;
use crate::facts::{ApiFormat, Facts, IdRule, ToolFacts, UsageFields};
use toolkit_schema::SchemaDialect;

pub(crate) const FACTS: Facts = Facts {
    name: ApiFormat::Ollama.name(),
    tools: ToolFacts {
        names: ApiFormat::Ollama.name_rule(),
        // The server's schema types have no `$ref`, so the model would not see its target.
        dialects: [SchemaDialect::Inlined; 3],
        unsupported: ToolFacts::FUNCTIONS_ONLY,
        ..ToolFacts::PLAIN
    },
    // Ids are optional. A program may use ids of its own.
    ids: Some(IdRule::new(64, false)),
    results: repair::RESULTS,
    media: &[(0, write::MEDIA)],
    usage: UsageFields {
        input: "/prompt_eval_count",
        output: "/eval_count",
        cached_input: "/prompt_eval_cached_count",
        ..UsageFields::PLAIN
    },
    ..Facts::PLAIN
};

#[derive(Debug)]
pub(crate) struct Ollama;

impl PlainFunctions for Ollama {}
