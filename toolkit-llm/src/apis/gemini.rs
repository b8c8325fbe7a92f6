//! The codec of `generateContent`, for the Gemini API and Vertex AI.
//!
//! The JSON follows the API reference and the types of Google's SDK. Like the service, the codec reads two
//! spellings of each field (`functionCall` and `function_call`). It writes the spelling of the reference,
//! except for `function_declarations`, which distinguishes tools of this format from tools of other formats.

mod media;
pub(crate) mod read;
mod references;
#[cfg(feature = "model")]
pub(crate) mod request;
pub(crate) mod spelling;
mod stream;
#[cfg(test)]
mod tests;
mod write;

use crate::facts::{ApiFormat, Facts, RequestFields, Strictness, ToolFacts, UsageFields};
use toolkit_core::name::NameRule;
use toolkit_schema::SchemaDialect;

pub(crate) const FACTS: Facts = Facts {
    name: ApiFormat::Gemini.name(),
    tools: ToolFacts {
        names: ApiFormat::Gemini.name_rule(),
        // "Parameter names must start with a letter or an underscore and must only contain chars a-z, A-Z, 0-9, or underscores
        // with a maximum length of 64", from the reference of `FunctionDeclaration.parameters`.
        parameters: Some(NameRule::IDENTIFIERS),
        most: Some(512),
        strictness: Strictness::AllOrNone(
            "Gemini holds to their schemas either all functions of a request (mode `VALIDATED`) or none",
        ),
        dialects: [SchemaDialect::Gemini, SchemaDialect::Gemini, SchemaDialect::JsonSchema],
        unsupported: &["kind", "input_examples", "defer", "allowed_callers"],
    },
    results: write::RESULTS,
    fields: RequestFields {
        frame: (r#"[{"function_declarations":["#, "]}]"),
        messages: "contents",
        server_state: &["cachedContent", "cached_content"],
        ..RequestFields::PLAIN
    },
    call_fields: [&["functionCall", "id"], &["functionCall", "args"]],
    usage: UsageFields {
        input: "/usageMetadata/promptTokenCount",
        output: "/usageMetadata/candidatesTokenCount",
        cached_input: "/usageMetadata/cachedContentTokenCount",
        reasoning: "/usageMetadata/thoughtsTokenCount",
        tool_tokens: "/usageMetadata/toolUsePromptTokenCount",
        ..UsageFields::PLAIN
    },
    generation,
    media: &[(3, media::MEDIA), (0, media::EARLIER_MEDIA)],
    response_id: "/responseId",
    ..Facts::PLAIN
};

#[derive(Debug)]
pub(crate) struct Gemini;

/// Returns the generation of a model: 3 for `gemini-3-flash`, `None` for `gemini-flash-latest`.
fn generation(model: &str) -> Option<u32> {
    let (_, version) = model.rsplit_once("gemini-")?;
    version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}
