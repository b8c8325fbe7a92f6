//! The codec of `generateContent`, for the Gemini API and Vertex AI.
//!
//! The JSON follows the API reference and the types of Google's SDK. The service accepts two spellings of
//! each field (`functionCall` and `function_call`), and so does this codec.
//!
//! Writing uses the spelling of the reference, except for `function_declarations`. The spelling `function_declarations`
//! distinguishes tools of this format from tools of other formats.

pub(crate) mod call;
mod choice;
pub(crate) mod definitions;
mod history;
pub(crate) mod repair;
mod response;
mod results;
pub(crate) mod spelling;
mod stream;
#[cfg(test)]
mod tests;

use crate::facts::{Facts, Strictness};
use toolkit_core::name::NameRule;
use toolkit_schema::SchemaDialect;

pub(crate) const FACTS: Facts = Facts {
    name: "gemini",
    aliases: &["google", "google-genai"],
    // Letters, digits, `_`, `.`, `:` and `-`, at most 128, from the API reference; the first is a letter or
    // `_`.
    names: NameRule::DOTS,
    // `[a-zA-Z_][a-zA-Z0-9_]*`, at most 64, from the API reference.
    parameters: Some(NameRule::IDENTIFIERS),
    most_tools: Some(512),
    results: repair::RESULTS,
    strictness: Strictness::AllOrNone(
        "Gemini holds to their schemas either all functions of a request (mode `VALIDATED`) or none",
    ),
    dialects: [SchemaDialect::Gemini, SchemaDialect::Gemini, SchemaDialect::JsonSchema],
    frame: (r#"[{"function_declarations":["#, "]}]"),
    messages: "contents",
    server_state: &["cachedContent", "cached_content"],
    unsaid: &[
        ("kind", "kind", "there are only functions: it is offered as one with the text `input`"),
        ("input_examples", "input_examples", "the API has no field for examples of calls"),
        ("defer", "defer", "the API has no search for tools: the model sees it from the start"),
        ("allowed_callers", "allowed_callers", "only the model itself calls functions"),
    ],
    call_fields: [&["functionCall", "id"], &["functionCall", "args"]],
    usage: [
        "/usageMetadata/promptTokenCount",
        "/usageMetadata/candidatesTokenCount",
        "/usageMetadata/cachedContentTokenCount",
        "/usageMetadata/thoughtsTokenCount",
    ],
    tool_tokens: "/usageMetadata/toolUsePromptTokenCount",
    generation: results::generation,
    media: &[(3, results::MEDIA), (0, results::EARLIER_MEDIA)],
    response_id: "/responseId",
    ..Facts::PLAIN
};

#[derive(Debug)]
pub(crate) struct Gemini;
