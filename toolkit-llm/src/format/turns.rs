//! The turns of a history: encoding, parsing and repair.

use super::writer::HistoryWriter;
use crate::facts::ApiFormat;
use crate::history::repair::repair;
use serde_json::{Map, Value};
use toolkit_core::ToolResult;
use toolkit_core::call::ToolCall;
use toolkit_core::name::WireNames;
use toolkit_core::output::Content;
use toolkit_schema::SchemaLoss;

impl ApiFormat {
    /// Encodes a user message.
    ///
    /// A media item that the API does not accept becomes a line of text that names it.
    ///
    /// ```
    /// use toolkit_ai::llm::ApiFormat;
    /// use toolkit_ai::Content;
    ///
    /// let message = ApiFormat::Gemini.encode_user(&[Content::Text("hi".to_owned())]);
    /// assert_eq!(message, serde_json::json!({"role": "user", "parts": [{"text": "hi"}]}));
    /// ```
    #[must_use]
    pub fn encode_user(self, contents: &[Content]) -> Value {
        self.codec().encode_user(contents)
    }

    /// Encodes assistant messages with text and calls, for a history written by the program.
    #[must_use]
    pub fn encode_assistant(self, text: &str, calls: &[ToolCall], names: &WireNames) -> Vec<Value> {
        self.history(names).encode_assistant(text, calls)
    }

    /// Encodes calls as assistant messages, for the program's own history.
    ///
    /// Names get the provider's spelling. Illegal names and arguments are treated as in
    /// [`assistant_messages`](Self::assistant_messages).
    #[must_use]
    pub fn encode_calls(self, calls: &[ToolCall], names: &WireNames) -> Vec<Value> {
        self.history(names).encode_calls(calls)
    }

    /// Encodes tool results as messages, in the given order.
    ///
    /// A successful result becomes the text of the output, followed by its
    /// [message](toolkit_core::ToolOutput::message) on a separate line. A failed result becomes the message
    /// of the error.
    ///
    /// If a provider does not accept a media item in a tool message, this message only names it, and an
    /// additional message contains it. In Chat Completions, this applies to images, audio and files.
    ///
    /// Pass all results of a turn, in the order of the calls. If two calls have the same id, the second call
    /// and the second result get a replacement id.
    ///
    /// Names keep the spelling of the model's calls. If the program [encoded](Self::encode_calls) the calls
    /// itself, encode their results with a [`history`](Self::history) that has the same names.
    #[must_use]
    pub fn encode_results(self, results: &[ToolResult]) -> Vec<Value> {
        self.history(&WireNames::default()).encode_results(results)
    }

    /// Returns the generation of a model, such as 3 for `gemini-3-flash`.
    ///
    /// Returns `None` if the name has none, or if requests are the same for all generations.
    #[must_use]
    pub fn model_generation(self, model: &str) -> Option<u32> {
        (self.facts().generation)(model)
    }

    /// Returns a writer for a history, with the tool names spelled as in `names`.
    #[must_use]
    pub const fn history(self, names: &WireNames) -> HistoryWriter<'_> {
        HistoryWriter::new(self.codec(), names)
    }

    /// Repairs a history: adds an error result for each call without a result, and removes results without a
    /// call. Everything else stays unchanged, with these exceptions:
    ///
    /// - Anthropic and Bedrock refuse a call id that occurs twice. A later call with such an id and its
    ///   result get a new id.
    /// - Bedrock refuses equal names of documents, also in results. A later document gets a number.
    /// - A call of a tool that Anthropic runs is removed if it has no result, and new input or an unrelated
    ///   message of the model follows. Anthropic finishes such a call only if the history ends with it, or
    ///   with the results of the calls beside it.
    /// - If the history lacks the code that made a call, the field `caller` of the call is removed. It is
    ///   then an ordinary call.
    /// - OpenAI's Responses API and Anthropic refuse reasoning at the end of a turn. Such reasoning is
    ///   removed.
    ///
    /// Providers refuse a history with an unanswered call. Calls stay unanswered after a cancelled turn or a
    /// crash, or if messages were removed.
    #[must_use]
    pub fn repair_history(self, history: Vec<Value>) -> Vec<Value> {
        let codec = self.codec();
        codec.complete_repair(repair(codec, history, false), None, &mut Vec::new())
    }

    /// Repairs the messages of a request body, like [`repair_history`](Self::repair_history), but keeps
    /// results for calls that only the service has.
    ///
    /// Such calls can exist with `previous_response_id` or `conversation` (Responses), with `cachedContent`
    /// (Gemini), or if a `thread` (Anthropic) is continued.
    ///
    /// Returns a loss for each removed call of a tool that the provider runs, and for each removed `caller`.
    /// Its path is that of the message, as in `/messages/3`.
    ///
    /// Anthropic continues code without a result only in its container. If the field `container` has no id,
    /// the calls of such code are removed, too. Set the field before this method is called.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit_ai::llm::ApiFormat;
    ///
    /// let result = json!({"type": "function_call_output", "call_id": "call_1", "output": "42"});
    /// let body = json!({"model": "gpt-5", "previous_response_id": "resp_1", "input": [result]});
    /// let mut repaired = body.as_object().cloned().unwrap_or_default();
    /// ApiFormat::OpenAiResponses.repair_request(&mut repaired);
    /// assert_eq!(repaired["input"], json!([result]));
    /// ```
    pub fn repair_request(self, body: &mut Map<String, Value>) -> Vec<SchemaLoss> {
        let codec = self.codec();
        let facts = codec.facts();
        let is_continued = facts.is_continued(body);
        let mut losses = Vec::new();
        let Some(Value::Array(history)) = body.get_mut(facts.fields.messages) else { return losses };
        let paired = repair(codec, std::mem::take(history), is_continued);
        let repaired = codec.complete_repair(paired, Some(body), &mut losses);
        body.insert(facts.fields.messages.to_owned(), repaired.into());
        for loss in &mut losses {
            loss.path.insert_str(0, &format!("/{}", facts.fields.messages));
        }
        losses
    }
}
