//! Encodes calls and results with matching names and ids.

mod common_fields;
mod losses;
#[cfg(feature = "translate")]
mod received;

use crate::call::outgoing::OutgoingCall;
use crate::codec::Codec;
use crate::facts::{HistoryForm, MistralForm};
use crate::history::results::json_content;
use crate::json::WireError;
use crate::reading;
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::call::ToolCall;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, ToolOutput};

/// Encodes the text, the calls and the results of a history, with matching names and ids.
///
/// Ids are distinct within a turn: if the model used one id for two calls, the second call and the second
/// result get a new id. Therefore, pass all calls of a turn to a method at once, and all their results in the
/// same order.
///
/// ```
/// use toolkit_ai::llm::ApiFormat;
/// use toolkit_ai::{ToolCall, ToolResult};
/// use toolkit_ai::name::WireNames;
///
/// let format = ApiFormat::Gemini;
/// let names = WireNames::new(format.name_rule(), ["2fa", "_2fa"]);
/// let call = ToolCall::new("a", "2fa", "{}");
/// let result = ToolResult::of(&call, Ok("123456".into()));
///
/// let history = format.history(&names);
/// let asked = &history.encode_calls(&[call])[0]["parts"][0]["functionCall"];
/// let answered = &history.encode_results(&[result])[0]["parts"][0]["functionResponse"];
/// assert_eq!(asked["name"], names.spell("2fa"));
/// assert_eq!(asked["name"], answered["name"]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct HistoryWriter<'a> {
    codec: &'static dyn Codec,
    names: &'a WireNames,
    form: HistoryForm,
    /// `None` stands for the latest generation.
    generation: Option<u32>,
    has_model: bool,
    tool_references: bool,
}

impl<'a> HistoryWriter<'a> {
    pub(crate) const fn new(codec: &'static dyn Codec, names: &'a WireNames) -> Self {
        Self {
            codec,
            names,
            form: HistoryForm::Usual,
            generation: None,
            has_model: false,
            tool_references: false,
        }
    }

    /// Sets whether call ids in Chat Completions have OpenAI's form: at most 40 letters, digits, `_` and `-`.
    ///
    /// Enable this for calls from another server. Other ids are replaced by ids with a digest of the
    /// original.
    ///
    /// By default, ids in Chat Completions stay unchanged, because some servers store data in them. Gateways,
    /// for example, put thought signatures of several kilobytes into ids. The other formats always replace
    /// illegal ids, by their own rules.
    #[must_use]
    pub const fn with_strict_ids(mut self, strict_ids: bool) -> Self {
        self.form = if strict_ids { HistoryForm::StrictIds } else { HistoryForm::Usual };
        self
    }

    /// Sets whether Chat Completions is written in the form of Mistral's API. Other formats are not affected.
    ///
    /// Mistral requires call ids of exactly nine letters and digits. Other ids are replaced by a digest, the
    /// same in a call and its result. Audio and documents have Mistral's own form.
    ///
    /// ```
    /// use toolkit_ai::llm::ApiFormat;
    /// use toolkit_ai::{Media, ToolCall};
    /// use toolkit_ai::name::WireNames;
    ///
    /// let names = WireNames::default();
    /// let history = ApiFormat::OpenAiChat.history(&names).with_mistral(true);
    /// let calls = history.encode_calls(&[ToolCall::new("call_a1", "now", "{}")]);
    /// assert_eq!(calls[0]["tool_calls"][0]["id"].as_str().map(str::len), Some(9));
    /// let user = history.encode_user(&[Media::new("application/pdf", b"%PDF").into()]);
    /// assert_eq!(user["content"][0]["type"], "document_url");
    /// ```
    #[must_use]
    pub fn with_mistral(mut self, mistral: bool) -> Self {
        self.form = match self.codec.mistral() {
            Some(form) if mistral => HistoryForm::Mistral(form),
            _ => HistoryForm::Usual,
        };
        self
    }

    fn mistral(&self) -> Option<&'static MistralForm> {
        match self.form {
            HistoryForm::Mistral(form) => Some(form),
            HistoryForm::Usual | HistoryForm::StrictIds => None,
        }
    }

    /// Sets the name of the model.
    ///
    /// Gemini models before the third generation accept no media items in tool results. For them, a separate
    /// message after the results contains the items. Later models require a signature in calls, so the calls
    /// of other models get Google's placeholder.
    #[must_use]
    pub fn with_model(mut self, model: &str) -> Self {
        self.generation = (self.codec.facts().generation)(model);
        self.has_model = true;
        self
    }

    /// Encodes a user message, like [`ApiFormat::encode_user`](crate::ApiFormat::encode_user).
    #[must_use]
    pub fn encode_user(&self, contents: &[Content]) -> Value {
        match self.mistral() {
            Some(form) => (form.encode_user)(contents),
            None => self.codec.encode_user(contents),
        }
    }

    /// Sets whether the results of `discover_tools` refer to the found tools instead of describing them.
    ///
    /// Anthropic then loads these deferred tools of the request. See
    /// [`DefinitionOptions::client_search`](crate::DefinitionOptions::client_search).
    #[must_use]
    pub const fn with_tool_references(mut self, tool_references: bool) -> Self {
        self.tool_references = tool_references;
        self
    }

    /// Returns the result of a tool search with references to the found tools, and any other result
    /// unchanged.
    fn referring(&self, result: &ToolResult) -> ToolResult {
        let mut referring = result.clone();
        let Some([Content::Json(found)]) = result.output().map(ToolOutput::content) else { return referring };
        if result.name != "discover_tools" {
            return referring;
        }
        let Ok(found) = found.to_value() else { return referring };
        let mut references = Vec::new();
        for tool in found.as_array().into_iter().flatten() {
            let Some(Value::String(name)) = tool.get("name") else { continue };
            let reference = json!({"type": "tool_reference", "tool_name": self.names.spell(name)});
            references.push(json_content(&reference));
        }
        referring.outcome = Ok(ToolOutput::new(references));
        referring
    }

    /// Returns the model's messages, like
    /// [`ApiFormat::assistant_messages`](crate::ApiFormat::assistant_messages), with this writer's tool
    /// names.
    ///
    /// # Errors
    /// [`WireError`] if the payload is not a response of this format.
    pub fn assistant_messages(&self, payload: &Value) -> Result<Vec<Value>, WireError> {
        reading::assistant_messages(self.codec, payload, self.names, self.form)
    }

    /// Encodes text and calls, like [`ApiFormat::encode_assistant`](crate::ApiFormat::encode_assistant).
    #[must_use]
    pub fn encode_assistant(&self, text: &str, calls: &[ToolCall]) -> Vec<Value> {
        let ids = self.ids(calls.iter().map(|call| call.id.as_str()));
        let rule = self.codec.facts().tools.names;
        let mut written = Vec::with_capacity(calls.len());
        for (call, id) in calls.iter().zip(ids) {
            written.push(self.codec.write_call(OutgoingCall::made(call, id, rule, self.names)));
        }
        if self.has_model {
            self.codec.complete_calls(self.generation, &mut written);
        }
        self.codec.encode_assistant(text, written)
    }

    /// Encodes calls, like [`ApiFormat::encode_calls`](crate::ApiFormat::encode_calls).
    #[must_use]
    pub fn encode_calls(&self, calls: &[ToolCall]) -> Vec<Value> {
        self.encode_assistant("", calls)
    }

    /// Encodes tool results, like [`ApiFormat::encode_results`](crate::ApiFormat::encode_results), with this
    /// writer's tool names.
    #[must_use]
    pub fn encode_results(&self, results: &[ToolResult]) -> Vec<Value> {
        let ids = self.ids(results.iter().map(|result| result.call_id.as_str()));
        if self.tool_references {
            let referring: Vec<ToolResult> = results.iter().map(|result| self.referring(result)).collect();
            return self.encode_results_with(&referring, &ids);
        }
        self.encode_results_with(results, &ids)
    }

    #[cfg(feature = "translate")]
    fn encode_results_with(&self, results: &[ToolResult], ids: &[String]) -> Vec<Value> {
        let encode = |plain: &[ToolResult]| self.encode_made_results(plain, ids);
        crate::translate::encode_received_results(self.codec, self.generation, results, encode)
    }

    #[cfg(not(feature = "translate"))]
    fn encode_results_with(&self, results: &[ToolResult], ids: &[String]) -> Vec<Value> {
        self.encode_made_results(results, ids)
    }

    fn encode_made_results(&self, results: &[ToolResult], ids: &[String]) -> Vec<Value> {
        match self.mistral() {
            Some(form) => (form.separate_results)((form.encode_results)(results, ids, self.names)),
            None => self.codec.encode_results_for(self.generation, results, ids, self.names),
        }
    }

    /// Inserts a short message of the model between results and the next user message, as Mistral requires.
    ///
    /// Other histories stay unchanged. Call this after a repair of the complete history.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit_ai::llm::ApiFormat;
    /// use toolkit_ai::name::WireNames;
    ///
    /// let names = WireNames::default();
    /// let history = ApiFormat::OpenAiChat.history(&names).with_mistral(true);
    /// let messages = vec![json!({"role": "tool", "tool_call_id": "D681PevKs", "content": "42"}), json!({"role":
    /// "user", "content": "Thanks."})]; assert_eq!(history.separate_results(messages)[1]["role"], "assistant");
    /// ```
    #[must_use]
    pub fn separate_results(&self, history: Vec<Value>) -> Vec<Value> {
        match self.mistral() {
            Some(form) => (form.separate_results)(history),
            None => history,
        }
    }

    /// Returns distinct ids in the form accepted by the API. Calls and results have the same order, so they
    /// get the same ids.
    fn ids<'i>(&self, ids: impl IntoIterator<Item = &'i str>) -> Vec<String> {
        reading::request_ids(self.codec, self.form, ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::ApiFormat;
    use serde_json::json;
    use toolkit_core::output::{Media, MediaData};

    fn texts(value: &Value, keys: &[&str], found: &mut Vec<String>) {
        match value {
            Value::Array(list) => list.iter().for_each(|item| texts(item, keys, found)),
            Value::Object(fields) => fields.iter().for_each(|(key, value)| match value.as_str() {
                Some(text) if keys.contains(&key.as_str()) => found.push(text.to_owned()),
                _ => texts(value, keys, found),
            }),
            _ => {}
        }
    }

    fn under(messages: &[Value], keys: &[&str]) -> Vec<String> {
        let mut found = Vec::new();
        texts(&json!(messages), keys, &mut found);
        found
    }

    const CALL_IDS: [&str; 3] = ["id", "call_id", "toolUseId"];
    const RESULT_IDS: [&str; 5] = ["id", "call_id", "tool_call_id", "tool_use_id", "toolUseId"];

    fn answers(calls: &[ToolCall]) -> Vec<ToolResult> {
        calls.iter().map(|call| ToolResult::of(call, Ok("done".into()))).collect()
    }

    #[test]
    fn ids_of_calls_and_results_agree_and_differ_within_a_turn() {
        let long = format!("call_{}", "x".repeat(300));
        let ids = ["same", "a/b", "same", &long, "same", &long];
        let calls: Vec<ToolCall> = ids.iter().map(|id| ToolCall::new(*id, "now", "{}")).collect();
        for format in ApiFormat::ALL.iter().copied().filter(|format| *format != ApiFormat::Gemini) {
            for strict in [false, true] {
                let names = WireNames::default();
                let history = format.history(&names).with_strict_ids(strict);
                let messages = history.encode_calls(&calls);
                let asked = under(&messages, &CALL_IDS);
                assert_eq!(under(&history.encode_results(&answers(&calls)), &RESULT_IDS), asked, "{format}");
                let different: std::collections::HashSet<&String> = asked.iter().collect();
                assert_eq!((different.len(), asked[0].as_str()), (ids.len(), "same"), "{format}");
                if format == ApiFormat::OpenAiChat {
                    assert_eq!(asked.iter().all(|id| id.len() <= 40), strict);
                    assert_eq!(asked[3] == long, !strict);
                }
                // Received and made messages have the same ids.
                let body = received(format, &messages);
                let read = format.parse_calls(&body).unwrap();
                let back = history.assistant_messages(&body).unwrap();
                assert_eq!(under(&back, &CALL_IDS), asked, "{format}");
                assert_eq!(under(&history.encode_results(&answers(&read)), &RESULT_IDS), asked, "{format}");
            }
        }
    }

    fn received(format: ApiFormat, messages: &[Value]) -> Value {
        match format {
            ApiFormat::OpenAiResponses | ApiFormat::GeminiInteractions => json!(messages),
            _ => messages[0].clone(),
        }
    }

    #[test]
    fn repeated_ids_of_a_response_become_distinct() {
        let call = |name: &str| json!({"id": "same", "type": "function", "function": {"name": name, "arguments": "{}"}});
        let message =
            json!({"role": "assistant", "content": null, "tool_calls": [call("now"), call("then")]});
        let format = ApiFormat::OpenAiChat;
        let calls = format.parse_calls(&message).unwrap();
        assert_eq!((calls[0].id.as_str(), calls[1].id.as_str()), ("same", "same"));
        let asked = under(&format.assistant_messages(&message).unwrap(), &CALL_IDS);
        assert_eq!(asked[0], "same");
        assert_ne!(asked[1], "same");
        assert_eq!(under(&format.encode_results(&answers(&calls)), &RESULT_IDS), asked);
    }

    #[test]
    fn names_of_calls_and_results_agree() {
        let names = WireNames::new(ApiFormat::Gemini.name_rule(), ["2fa", "_2fa"]);
        let calls = [ToolCall::new("a", "2fa", "{}"), ToolCall::new("b", "_2fa", "{}")];
        let history = ApiFormat::Gemini.history(&names);
        let messages = history.encode_calls(&calls);
        let asked = under(&messages, &["name"]);
        assert_eq!(asked, [names.spell("2fa"), "_2fa"]);
        assert_ne!(asked[0], asked[1]);
        assert_eq!(under(&history.encode_results(&answers(&calls)), &["name"]), asked);
        // The model calls the tool by its own name, although this name was not published.
        let said = json!({"role": "model", "parts": [{"functionCall": {"name": "2fa", "args": {}}}]});
        let calls = ApiFormat::Gemini.parse_calls(&said).unwrap();
        let asked = under(&history.assistant_messages(&said).unwrap(), &["name"]);
        assert_eq!(asked, [names.spell("2fa")]);
        assert_eq!(under(&history.encode_results(&answers(&calls)), &["name"]), asked);
    }

    #[test]
    fn the_label_of_an_image_names_the_call_by_its_sent_id() {
        let names = WireNames::new(ApiFormat::OpenAiChat.name_rule(), ["fs.read"]);
        let media = Media {
            media_type: "image/png".to_owned(),
            data: MediaData::Base64("aGk=".to_owned()),
            name: None,
        };
        let picture = ToolOutput::from(Content::Image(Box::new(media)));
        let call = ToolCall::new("a b", "fs.read", "{}");
        let history = ApiFormat::OpenAiChat.history(&names).with_strict_ids(true);
        let messages = history.encode_results(&[ToolResult::of(&call, Ok(picture))]);
        let id = messages[0]["tool_call_id"].as_str().unwrap();
        assert_eq!(history.encode_calls(&[call])[0]["tool_calls"][0]["id"], id);
        let label = format!("[image image/png] from tool call {id} (fs_read):");
        assert_eq!(messages[1]["content"][0]["text"], label);
    }
}
