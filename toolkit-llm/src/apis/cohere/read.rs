//! Reads the message of a response.

use super::{Cohere, FACTS};
use crate::apis::chat_messages::ChatResponse;
use crate::json::fields::{Fields, element, field, optional, text};
use crate::json::{WireError, texts};
use serde_json::Value;

impl ChatResponse for Cohere {
    const NAME: &'static str = FACTS.name;
    const FINISH: &'static str = "finish_reason";
    // The plan that the model writes before its calls counts as reasoning, like content parts of the type `thinking`.
    const TEXTS: [(&'static str, bool); 2] = [("tool_plan", true), ("content", false)];
    const CUTS_CALLS: bool = true;

    fn check_content(message: &Fields, path: &str) -> Result<(), WireError> {
        let expected = "the text or the content parts of a message";
        let parts = optional(message, path, "content", expected, |content| {
            let is_text = texts::is_text(content, path);
            content.as_array().map(Vec::as_slice).or_else(|| is_text.then_some(&[][..]))
        })?;
        let is_part = |part: &Value| matches!(text(part, "type"), "text" | "thinking");
        // A message of another API may have calls among its parts. These calls would be lost.
        if parts.is_some_and(|parts| !parts.is_empty() && !parts.iter().any(is_part)) {
            let path = element(&field(path, "content"), 0);
            return Err(WireError::new(path, "a content part of the type `text` or `thinking`"));
        }
        Ok(())
    }
}
