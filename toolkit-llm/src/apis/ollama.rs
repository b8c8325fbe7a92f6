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
use crate::facts::{ApiFormat, Facts, IdRule};
use toolkit_schema::SchemaDialect;

pub(crate) const FACTS: Facts = Facts {
    name: ApiFormat::Ollama.name(),
    names: ApiFormat::Ollama.name_rule(),
    // Ids are optional. A program may use ids of its own.
    ids: Some(IdRule::new(64, false)),
    results: repair::RESULTS,
    // The server's schema types have no field for `$ref`, so the model would not see the target of a
    // reference.
    dialects: [SchemaDialect::Inlined; 3],
    unsupported: Facts::FUNCTIONS_ONLY,
    media: &[(0, write::MEDIA)],
    usage: ["/prompt_eval_count", "/eval_count", "/prompt_eval_cached_count", "/none"],
    ..Facts::PLAIN
};

#[derive(Debug)]
pub(crate) struct Ollama;

impl PlainFunctions for Ollama {}
