//! Writes the parts of a request: definitions, messages, calls and results.

use super::read::{TEXTS, content_is_empty};
use super::{FACTS, OpenAiChat, mistral};
use crate::apis::openai::contents::Contents;
use crate::apis::openai::{Form, nested_call};
use crate::call::outgoing::OutgoingCall;
use crate::call::received::ReceivedMessage;
use crate::codec::{HistoryCodec, ResultCodec};
use crate::definitions::declaration::{DefinitionCodec, DefinitionEncoder};
use crate::facts::MistralForm;
use crate::facts::media::{IMAGES, MediaKind, MediaRule, MediaTable, Urls};
use crate::json::fields::{Fields, set, text};
use crate::json::texts;
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::definition::ToolKind;
use toolkit_core::name::WireNames;
use toolkit_core::output::Content;

/// The accepted media items, from OpenAI's guides to images, audio and files.
///
/// Other servers accept at most the same types. Tool messages contain only text.
pub(super) const MEDIA: MediaTable = MediaTable { messages: &messages(Urls::None), results: &[] };

/// Returns the rules for media items in user messages.
///
/// `urls` are the URLs accepted for audio and files.
pub(super) const fn messages(urls: Urls) -> [MediaRule; 3] {
    [
        MediaRule { kind: MediaKind::Image, types: IMAGES, urls: Urls::Any },
        MediaRule { kind: MediaKind::Audio, types: &["wav", "mpeg"], urls },
        MediaRule { kind: MediaKind::File, types: &["application/pdf"], urls },
    ]
}

impl DefinitionCodec for OpenAiChat {
    fn write_definition(&self, encoder: &mut DefinitionEncoder<'_>) -> Value {
        let (kind, mut fields) = Form::Nested.encode_tool(encoder);
        // A missing `strict` means `false`. Some servers do not know the field.
        let is_set = encoder.how.strict || encoder.definition.metadata.strict == Some(false);
        if is_set && encoder.definition.kind == ToolKind::Function {
            set(&mut fields, "strict", encoder.how.strict);
        }
        Form::Nested.write(kind, fields)
    }
}

impl HistoryCodec for OpenAiChat {
    fn mistral(&self) -> Option<&'static MistralForm> {
        Some(&mistral::FORM)
    }

    fn write_call(&self, call: OutgoingCall<'_>) -> Value {
        let mut fields = call.fields(FACTS.name);
        let (is_custom, key, text) = call.origin.text(&call.arguments, FACTS.name, "custom");
        let kind = if is_custom { "custom" } else { "function" };
        if is_custom {
            fields.shift_remove("status");
        }
        if !fields.get(kind).is_some_and(Value::is_object) {
            // In the older form, the call itself has the fields of the function, which move into `function`.
            fields.shift_remove("name");
            fields.shift_remove("arguments");
        }
        set(&mut fields, "id", call.id);
        set(&mut fields, "type", kind);
        nested_call(fields, kind, [("name", call.name.into()), (key, text.into())])
    }

    fn write_part(&self, _part: &Value) -> Option<Value> {
        None
    }

    fn write_message(&self, message: &ReceivedMessage<'_>, calls: Vec<Value>) -> Vec<Value> {
        let mut fields = message.fields.cloned().unwrap_or_default();
        set(&mut fields, "role", "assistant");
        texts::settle(&mut fields, &TEXTS);
        // The call has moved to `tool_calls`. Services refuse the `null` that some servers write here.
        fields.shift_remove("function_call");
        write_audio(&mut fields);
        if calls.is_empty() {
            // Services refuse an empty list, `null`, and a message without any content.
            fields.shift_remove("tool_calls");
            let contents = ["content", "refusal", "audio"];
            if contents.iter().all(|name| fields.get(*name).is_none_or(Value::is_null)) {
                set(&mut fields, "content", "");
            }
        } else {
            fields.entry("content").or_insert(Value::Null);
            set(&mut fields, "tool_calls", calls);
        }
        vec![Value::Object(fields)]
    }

    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        let mut fields = Fields::new();
        if !text.is_empty() {
            set(&mut fields, "content", text);
        }
        self.write_message(
            &ReceivedMessage { fields: Some(&fields), parts: Vec::new(), is_whole: true },
            calls,
        )
    }

    fn encode_user(&self, contents: &[Content]) -> Value {
        OPENAI.encode_user(contents)
    }
}

/// Reduces the audio of an earlier answer to its id, as the service requires.
///
/// Without an id, the transcript becomes the content of a message that has no text.
fn write_audio(fields: &mut Fields) {
    let Some(audio) = fields.get_mut("audio").filter(|audio| !audio.is_null()) else { return };
    let id = text(audio, "id").to_owned();
    if !id.is_empty() {
        *audio = json!({"id": id});
        return;
    }
    let transcript = text(audio, "transcript").to_owned();
    fields.shift_remove("audio");
    if content_is_empty(fields) && !transcript.is_empty() {
        set(fields, "content", transcript);
    }
}

const OPENAI: Contents = Contents::new(&MEDIA);

impl ResultCodec for OpenAiChat {
    fn encode_results(&self, results: &[ToolResult], ids: &[String], names: &WireNames) -> Vec<Value> {
        OPENAI.encode_results(results, ids, names)
    }
}
