//! Counting the tokens of a request.

use toolkit_core::{Content, Media, ToolDefinition, ToolResult};
use toolkit_llm::Message;
use toolkit_llm::ModelRequest;

/// The estimated tokens of a message, call or result for its role, id and separators.
const OVERHEAD: u64 = 4;

/// A counter of tokens for [`Compaction`](super::Compaction).
///
/// Implementations need only [`count_text`](Self::count_text). A closure that counts the tokens of a text
/// is a counter, too.
///
/// ```
/// use toolkit_ai::llm::Message;
/// use toolkit_ai::agent::compaction::CountTokens;
///
/// let words = |text: &str| text.split_whitespace().count() as u64;
/// assert_eq!(words.count_text("How are you?"), 3);
/// // Four tokens are for the role and the separators.
/// assert_eq!(words.count_message(&Message::user("How are you?")), 7);
/// ```
pub trait CountTokens: Send + Sync + 'static {
    /// Counts the tokens of a text.
    fn count_text(&self, text: &str) -> u64;

    /// Counts the tokens of an image, an audio clip or a file. Default: 1,500, about the price of a large
    /// image.
    fn count_media(&self, media: &Media) -> u64 {
        let _ = media;
        1_500
    }

    /// Counts the tokens of a message, including reasoning.
    ///
    /// Native messages are not counted, because other fields repeat their text and calls. Only the
    /// provider's usage includes results of the provider's own tools, which other fields lack.
    fn count_message(&self, message: &Message) -> u64 {
        let mut tokens = OVERHEAD;
        match message {
            Message::User(message) => {
                tokens += message.content.iter().map(|content| content_tokens(self, content)).sum::<u64>();
            }
            Message::Assistant(message) => {
                tokens += self.count_text(&message.text) + self.count_text(&message.reasoning);
                for call in &message.calls {
                    tokens += OVERHEAD;
                    tokens += self.count_text(&call.name) + self.count_text(call.arguments.as_str());
                }
            }
            Message::Tool(message) => {
                for result in &message.results {
                    tokens += OVERHEAD + result_tokens(self, result);
                }
            }
        }
        tokens
    }

    /// Counts the tokens of a tool's name, description and parameters.
    fn count_tool(&self, tool: &ToolDefinition) -> u64 {
        let parameters = tool.parameters.to_string();
        let texts = [tool.name.as_str(), tool.description.as_str(), parameters.as_str()];
        OVERHEAD + texts.iter().map(|text| self.count_text(text)).sum::<u64>()
    }

    /// Counts the tokens of the instructions, the tools and the messages.
    fn count_request(&self, request: &ModelRequest) -> u64 {
        let messages: u64 = request.messages.iter().map(|message| self.count_message(message)).sum();
        self.count_fixed(request) + messages
    }

    /// Counts the tokens of the instructions and the tools.
    fn count_fixed(&self, request: &ModelRequest) -> u64 {
        let tools: u64 = request.tools.iter_definitions().map(|tool| self.count_tool(tool)).sum();
        self.count_text(&request.instructions) + tools
    }
}

fn content_tokens(counter: &(impl CountTokens + ?Sized), content: &Content) -> u64 {
    match content {
        Content::Image(media) | Content::Audio(media) | Content::File(media) => counter.count_media(media),
        other => counter.count_text(&other.to_text()),
    }
}

fn result_tokens(counter: &(impl CountTokens + ?Sized), result: &ToolResult) -> u64 {
    match &result.outcome {
        Ok(output) => {
            let contents = output.content().iter().map(|content| content_tokens(counter, content));
            contents.sum::<u64>() + counter.count_text(output.message())
        }
        Err(error) => counter.count_text(error.message()),
    }
}

impl<F: Fn(&str) -> u64 + Send + Sync + 'static> CountTokens for F {
    fn count_text(&self, text: &str) -> u64 {
        self(text)
    }
}

/// An estimate without a tokenizer: two tokens for seven ASCII characters, and one for each other
/// character.
///
/// It is usually a little too high for English text and JSON, about right for Chinese and Japanese, and too
/// high for other scripts. A high estimate means an earlier compaction; after a low one, the provider may
/// refuse a request.
///
/// ```
/// use toolkit_ai::agent::compaction::{CountTokens, TokenEstimate};
///
/// assert_eq!(TokenEstimate.count_text("It is clear in Oslo, 21 C."), 8);
/// assert_eq!(TokenEstimate.count_text("今日は"), 3);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenEstimate;

impl CountTokens for TokenEstimate {
    fn count_text(&self, text: &str) -> u64 {
        let ascii = text.bytes().filter(u8::is_ascii).count();
        let others = if ascii == text.len() { 0 } else { text.chars().count() - ascii };
        ((ascii * 2).div_ceil(7) + others) as u64
    }
}
