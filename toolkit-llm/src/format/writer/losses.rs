//! The parts of a history that an API cannot express.

use super::HistoryWriter;
use super::common_fields::{FIELDS, is_empty};
use crate::facts::ApiFormat;
use crate::json::fields::{list, text};
use serde_json::Value;
use std::slice;
use toolkit_core::ToolResult;
use toolkit_core::call::ToolCall;
use toolkit_core::output::{Content, ToolOutput};
use toolkit_schema::SchemaLoss;

/// The other types of parts that are not reported as lost. The codec recognises the calls.
const CARRIED: [&str; 9] = [
    "message",
    "model_output",
    "thinking",
    "redacted_thinking",
    "reasoning",
    "reasoning_text",
    "reasoningContent",
    "thought",
    "thought_summary",
];

impl HistoryWriter<'_> {
    /// Returns a loss for each media item that the API does not accept in user messages, where it is only
    /// named. Its path is the index of the item, as in `/0`.
    ///
    /// ```
    /// use toolkit_ai::llm::ApiFormat;
    /// use toolkit_ai::Media;
    /// use toolkit_ai::name::WireNames;
    ///
    /// let names = WireNames::default();
    /// let losses = ApiFormat::Anthropic.history(&names).user_losses(&[Media::new("audio/wav", b"RIFF").into()]);
    /// assert_eq!((losses[0].path.as_str(), losses[0].keyword.as_str()), ("/0", "audio/wav"));
    /// ```
    #[must_use]
    pub fn user_losses(&self, contents: &[Content]) -> Vec<SchemaLoss> {
        self.losses(contents, false, "")
    }

    /// Returns the losses when calls from another provider are encoded.
    ///
    /// A refused id is replaced in the call and in its result. The caller is lost if code run by the other
    /// provider made the call: the API receives a call by the model. The path has the index of the call, as
    /// in `/0/caller`.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit_ai::llm::ApiFormat;
    /// use toolkit_ai::name::WireNames;
    ///
    /// let call = json!({"type": "tool_use", "id": "toolu_1", "name": "now", "input": {},
    ///     "caller": {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}});
    /// let calls = ApiFormat::Anthropic.parse_calls(&call)?;
    /// let names = WireNames::default();
    /// assert!(ApiFormat::Anthropic.history(&names).call_losses(&calls).is_empty());
    /// let losses = ApiFormat::OpenAiChat.history(&names).call_losses(&calls);
    /// assert_eq!(losses[0].path, "/0/caller");
    /// # Ok::<(), toolkit_ai::llm::WireError>(())
    /// ```
    #[must_use]
    pub fn call_losses(&self, calls: &[ToolCall]) -> Vec<SchemaLoss> {
        let own = self.codec.facts().name;
        let ids = self.ids(calls.iter().map(|call| call.id.as_str()));
        let mut losses = Vec::new();
        for (index, (call, id)) in calls.iter().zip(ids).enumerate() {
            let given = call.id.as_str();
            if given != id {
                let reason = "the API refuses this id; the call and its result get another id";
                losses.push(SchemaLoss::new(format!("/{index}/id"), given, reason));
            }
            for format in ApiFormat::ALL {
                let Some(caller) = call.extras.get(format.name(), "caller") else { continue };
                let Some(Value::String(kind)) = caller.get("type") else { continue };
                if format.name() != own && kind != "direct" {
                    let reason = format!("code that the API `{format}` runs made this call");
                    losses.push(SchemaLoss::new(format!("/{index}/caller"), kind.as_str(), reason));
                }
            }
        }
        losses
    }

    /// Returns a loss for each media item that the API does not accept in results, where it is only named.
    ///
    /// Its path has the indices of the result and the item, as in `/1/0`.
    #[must_use]
    pub fn result_losses(&self, results: &[ToolResult]) -> Vec<SchemaLoss> {
        let mut losses = Vec::new();
        for (index, result) in results.iter().enumerate() {
            let contents = result.outcome.as_ref().map_or(&[][..], ToolOutput::content);
            losses.extend(self.losses(contents, true, &format!("/{index}")));
            #[cfg(feature = "translate")]
            losses.extend(super::received::result_losses(self.codec, result, index));
        }
        losses
    }

    fn losses(&self, contents: &[Content], is_result: bool, path: &str) -> Vec<SchemaLoss> {
        let table = match self.mistral() {
            Some(form) => form.media,
            None => match self.codec.facts().media_table(self.generation) {
                Some(table) => table,
                None => return Vec::new(),
            },
        };
        let mut losses = Vec::new();
        for (index, content) in contents.iter().enumerate() {
            let item = format!("{path}/{index}");
            let loss =
                table.loss(content, is_result, item, &|kind, media| self.codec.is_readable(kind, media));
            losses.extend(loss);
        }
        losses
    }

    /// Returns the losses if the messages `native` of the API `format` become text and calls.
    ///
    /// This happens for a history of another API, or for a server that refuses the call ids.
    ///
    /// Losses are the calls of the provider's own tools, generated media items, content of unknown types, and
    /// further fields such as citations, audio or images. Each type is reported once, and is the path of its
    /// loss, as in `/web_search_tool_result`.
    ///
    /// Reasoning is not reported: only the model that wrote it can use it.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit_ai::llm::ApiFormat;
    /// use toolkit_ai::name::WireNames;
    ///
    /// let search = json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}});
    /// let native = [json!({"role": "assistant", "content": [search, {"type": "text", "text": "Hello."}]})];
    /// let names = WireNames::default();
    /// let losses = ApiFormat::Gemini.history(&names).native_losses(ApiFormat::Anthropic, &native);
    /// assert_eq!(losses[0].keyword, "server_tool_use");
    /// ```
    #[must_use]
    pub fn native_losses(&self, format: ApiFormat, native: &[Value]) -> Vec<SchemaLoss> {
        let reason = if format.name() == self.codec.facts().name {
            "the message is replaced by its text and its calls".to_owned()
        } else {
            format!("only the API `{format}` has such content")
        };
        let mut losses = Vec::new();
        for kind in format.special_content(native) {
            losses.push(SchemaLoss::new(format!("/{kind}"), kind, reason.as_str()));
        }
        losses
    }
}

impl ApiFormat {
    /// Returns the types of content that other APIs cannot express: all except text, reasoning and calls.
    /// Each type is returned once.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit_ai::llm::ApiFormat;
    ///
    /// let image = json!({"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}});
    /// let native = [json!({"role": "model", "parts": [{"text": "Look."}, image]})];
    /// assert_eq!(ApiFormat::Gemini.special_content(&native), ["inlineData"]);
    /// ```
    #[must_use]
    pub fn special_content(self, native: &[Value]) -> Vec<&str> {
        let codec = self.codec();
        let mut kinds: Vec<&str> = Vec::new();
        for message in native {
            if is_message(message) {
                add_other_fields(&mut kinds, message);
            }
            for part in parts(message) {
                let kind = kind(part);
                if codec.part_call(part).is_some_and(|call| !call.name.is_empty()) {
                    continue;
                }
                if TEXTS.contains(&kind) {
                    add_other_fields(&mut kinds, part.get("citationsContent").unwrap_or(part));
                } else if !CARRIED.contains(&kind) {
                    add(&mut kinds, kind);
                }
            }
        }
        kinds
    }
}

const TEXTS: [&str; 5] = ["text", "output_text", "refusal", "", "citationsContent"];

/// Adds the names of all other fields with a value.
fn add_other_fields<'a>(kinds: &mut Vec<&'a str>, json: &'a Value) {
    let Value::Object(fields) = json else { return };
    for (name, value) in fields {
        if !FIELDS.contains(&name.as_str()) && !name.starts_with("thought") && !is_empty(value) {
            add(kinds, name);
        }
    }
}

fn add<'a>(kinds: &mut Vec<&'a str>, kind: &'a str) {
    if !kinds.contains(&kind) {
        kinds.push(kind);
    }
}

fn is_message(message: &Value) -> bool {
    message.get("role").is_some() || text(message, "type") == "model_output"
}

/// Returns the parts of a message. In APIs without messages around items, the item is the only part.
fn parts(message: &Value) -> &[Value] {
    match (is_message(message), list(message, "parts")) {
        (true, []) => list(message, "content"),
        (true, parts) => parts,
        (false, _) => slice::from_ref(message),
    }
}

/// Returns the type of a part, or in APIs without types, the field with the content.
fn kind(part: &Value) -> &str {
    let kind = text(part, "type");
    let Value::Object(fields) = part else { return kind };
    if !kind.is_empty() {
        return kind;
    }
    let mut names = fields.keys();
    let content = names.find(|name| !name.starts_with("thought") && !name.ends_with("etadata"));
    content.map_or("", String::as_str)
}
