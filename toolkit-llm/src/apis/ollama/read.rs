//! Reads the message of a response.

use super::{FACTS, Ollama};
use crate::apis::chat_messages::ChatResponse;
use crate::json::fields::{Fields, field};
use crate::json::{WireError, texts};

impl ChatResponse for Ollama {
    const NAME: &'static str = FACTS.name;
    const FINISH: &'static str = "done_reason";
    const TEXTS: [(&'static str, bool); 2] = [("thinking", true), ("content", false)];
    const CUTS_CALLS: bool = false;

    /// The content must be a string.
    ///
    /// It may be missing beside calls.
    fn check_content(message: &Fields, path: &str) -> Result<(), WireError> {
        let expected = "the text of a message";
        let is_valid = match message.get("content") {
            Some(content) => content.is_null() || texts::is_text(content, path),
            None => message.get("tool_calls").is_some_and(|calls| !calls.is_null()),
        };
        if is_valid { Ok(()) } else { Err(WireError::new(field(path, "content"), expected)) }
    }
}
