//! The codec of Ollama's API `/api/chat`.
//!
//! The JSON follows the API reference and the types of the server. Arguments are objects, ids are optional,
//! and a result names its tool. A stream has one JSON object per line, and calls arrive complete.

mod call;
mod history;
mod response;
mod results;
mod stream;
#[cfg(test)]
mod tests;

use crate::apis::openai::PlainFunctions;
use crate::facts::{Facts, IdRule};
use crate::fields::Fields;
use crate::tool_config::{ChoiceCodec, EncodedToolConfig};
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;
use toolkit_schema::SchemaDialect;

pub(crate) const FACTS: Facts = Facts {
    name: "ollama",
    // Ids are optional. A program may use ids of its own.
    ids: Some(IdRule::new(64, false)),
    results: history::RESULTS,
    // The server's schema types have no field for `$ref`, so the model would not see the target of a
    // reference.
    dialects: [SchemaDialect::Inlined; 3],
    unsaid: Facts::FUNCTIONS_ONLY,
    media: &[(0, history::MEDIA)],
    usage: ["/prompt_eval_count", "/eval_count", "/prompt_eval_cached_count", "/none"],
    ..Facts::PLAIN
};

#[derive(Debug)]
pub(crate) struct Ollama;

impl PlainFunctions for Ollama {}

/// The API has no field for tool choice: the model decides.
impl ChoiceCodec for Ollama {
    fn encode_tool_config(&self, wanted: &ToolConfig, _names: &WireNames) -> EncodedToolConfig {
        let mut encoded = EncodedToolConfig::new(Fields::new());
        let unsaid = match &wanted.choice {
            ToolChoice::Auto => None,
            ToolChoice::None => Some("none"),
            ToolChoice::Required => Some("required"),
            ToolChoice::Tool(_) => Some("tool"),
            ToolChoice::Allowed { .. } => Some("allowed"),
        };
        if let Some(choice) = unsaid {
            encoded = encoded.lose("/choice", choice, "the API has no tool choice: the model decides");
        }
        encoded.without_limit(wanted)
    }
}
