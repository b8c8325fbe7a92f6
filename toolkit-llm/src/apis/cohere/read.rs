//! Reads the message of a response.

use super::{Cohere, FACTS};
use crate::apis::chat_messages::ChatResponse;
use crate::json::fields::{Fields, element, field, text};
use crate::json::{WireError, texts};
use serde_json::Value;

impl ChatResponse for Cohere {
    const NAME: &'static str = FACTS.name;
    const FINISH: &'static str = "finish_reason";
    // The plan before the calls counts as reasoning, like content parts of the type `thinking`.
    const TEXTS: [(&'static str, bool); 2] = [("tool_plan", true), ("content", false)];
    const CUTS_CALLS: bool = true;

    fn check_content(message: &Fields, path: &str) -> Result<(), WireError> {
        match message.get("content") {
            // A message of another API may have calls among its parts, which would be lost.
            Some(Value::Array(parts)) if !parts.is_empty() && !parts.iter().any(is_part) => {
                let expected = "a content part of the type `text` or `thinking`";
                Err(WireError::new(element(&field(path, "content"), 0), expected))
            }
            None | Some(Value::Null | Value::Array(_)) => Ok(()),
            Some(content) if texts::is_text(content, path) => Ok(()),
            Some(_) => {
                let expected = "the text or the content parts of a message";
                Err(WireError::new(field(path, "content"), expected))
            }
        }
    }
}

fn is_part(part: &Value) -> bool {
    matches!(text(part, "type"), "text" | "thinking")
}
