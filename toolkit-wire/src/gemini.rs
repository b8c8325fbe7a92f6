//! `generateContent` of Google's Gemini, in the Gemini API and in Vertex AI.
//!
//! Shapes: the API reference and its SDK types. The service reads both spellings of a field
//! (`functionCall` and `function_call`), and so does this codec. Writing
//! follows the reference, except `function_declarations`, which is how the tools of this format are known.

mod call;
mod choice;
mod definitions;
mod history;
mod repair;
mod response;
mod results;
mod schema;
mod spelling;
mod stream;
#[cfg(test)]
mod tests;

use toolkit_core::name::NameRule;

/// The format's name, under which fields that only this API has are kept.
pub(crate) const FORMAT: &str = "gemini";
pub(crate) const ALIASES: &[&str] = &["google", "google-genai"];

/// Letters, digits, `_`, `.`, `:` and `-`, at most 128, from the API reference; the first is a letter or `_`.
pub(crate) const NAMES: NameRule = NameRule::DOTS;

#[derive(Debug)]
pub(crate) struct Gemini;
