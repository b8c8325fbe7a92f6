//! Reads the message of a response.

use super::{FACTS, Ollama};
use crate::apis::chat_messages::ChatResponse;
use crate::json::fields::{Fields, field, optional};
use crate::json::{WireError, texts};

impl ChatResponse for Ollama {
    const NAME: &'static str = FACTS.name;
    const FINISH: &'static str = "done_reason";
    const TEXTS: [(&'static str, bool); 2] = [("thinking", true), ("content", false)];
    const CUTS_CALLS: bool = false;

    /// The content must be a string, and may be missing only if there are calls.
    fn check_content(message: &Fields, path: &str) -> Result<(), WireError> {
        let expected = "the text of a message";
        optional(message, path, "content", expected, |content| texts::is_text(content, path).then_some(()))?;
        let has_calls = message.get("tool_calls").is_some_and(|calls| !calls.is_null());
        if !has_calls && !message.contains_key("content") {
            return Err(WireError::new(field(path, "content"), expected));
        }
        Ok(())
    }
}
