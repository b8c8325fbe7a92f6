//! Writes what a request contains: definitions, the tool choice, messages and results.

use super::media::{blocks, is_readable, text_block};
use super::{Anthropic, FACTS, unfinished};
use crate::call::arguments::Arguments;
use crate::call::outgoing::OutgoingCall;
use crate::call::pairing::{CallKey, Entry, NO_OUTPUT};
use crate::call::received::ReceivedMessage;
use crate::codec::{HistoryCodec, RepairCodec, ResultCodec};
use crate::definitions::EncodedToolConfig;
use crate::definitions::declaration::{DefinitionCodec, DefinitionEncoder};
use crate::definitions::tool_config::{ChoiceCodec, without_set};
use crate::facts::media::MediaKind;
use crate::facts::result_rule::{Replies, RequiredIds, ResultPlace, ResultRule};
use crate::history::repair::{part_entries, user_message};
use crate::history::results::{error_message, is_blank};
use crate::json::fields::{Fields, set, set_at, text};
use crate::json::texts;
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::definition::ToolDefinition;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Content, Media, ToolOutput};
use toolkit_schema::SchemaLoss;

pub(crate) const CHOICE: &str = "tool_choice";

/// The user message after calls begins with exactly their results.
///
/// Anthropic's models refuse a request in which an id occurs twice.
pub(super) const RESULTS: ResultRule = ResultRule {
    place: ResultPlace::NextMessage(Replies { parts: "content", roles: &["user"], results_first: true }),
    in_call_order: false,
    ids: RequiredIds::Unique,
};

impl DefinitionCodec for Anthropic {
    fn write_definition(&self, encoder: &mut DefinitionEncoder<'_>) -> Value {
        let ToolDefinition { description, metadata, .. } = encoder.definition;
        let mut tool = Fields::new();
        set(&mut tool, "name", encoder.name());
        set(&mut tool, "description", description.as_str());
        set(&mut tool, "input_schema", encoder.parameters());
        if encoder.how.strict {
            set(&mut tool, "strict", true);
        }
        if metadata.defer {
            set(&mut tool, "defer_loading", true);
        }
        let callers = metadata.allowed_callers.iter().map(|caller| caller.as_str().into()).collect();
        put_accepted(&mut tool, "input_examples", encoder.input_examples(), encoder, example_refusal);
        put_accepted(&mut tool, "allowed_callers", callers, encoder, caller_refusal);
        tool.into()
    }

    /// Returns the name of a tool that the provider defines and the program runs.
    ///
    /// Its calls are ordinary calls.
    fn answered_by<'a>(&self, tool: &'a Value) -> Option<&'a str> {
        const CLIENT: [&str; 4] = ["bash_", "text_editor_", "memory_", "computer_2"];
        let kind = text(tool, "type");
        let is_client = CLIENT.iter().any(|start| kind.starts_with(start));
        if is_client { Some(text(tool, "name")) } else { None }
    }
}

/// Returns the reason to leave out an example.
///
/// The service refuses examples that are not objects.
fn example_refusal(example: &Value) -> Option<String> {
    let reason = "the API takes objects only, so the example is left out";
    if example.is_object() { None } else { Some(reason.to_owned()) }
}

/// Returns the reason to leave out a caller.
///
/// The service knows the model itself (`direct`) and the versions of its code execution, and refuses other
/// callers.
fn caller_refusal(caller: &Value) -> Option<String> {
    let name = caller.as_str().unwrap_or_default();
    if name == "direct" || name.starts_with("code_execution_") {
        return None;
    }
    Some(format!("the API knows no caller `{name}`, so it is left out"))
}

/// Sets the field `name` to the values that `refusal` accepts, and reports the others as losses.
fn put_accepted(
    tool: &mut Fields,
    name: &str,
    values: Vec<Value>,
    encoder: &mut DefinitionEncoder<'_>,
    refusal: fn(&Value) -> Option<String>,
) {
    let mut accepted = Vec::with_capacity(values.len());
    for (index, value) in values.into_iter().enumerate() {
        match refusal(&value) {
            Some(reason) => encoder.lose(format!("/{name}/{index}"), name, reason),
            None => accepted.push(value),
        }
    }
    if !accepted.is_empty() {
        set(tool, name, accepted);
    }
}

impl ChoiceCodec for Anthropic {
    fn encode_tool_config(&self, wanted: &ToolConfig, names: &WireNames) -> EncodedToolConfig {
        let (choice, is_set_lost) = without_set(&wanted.choice);
        let mut field = match &choice {
            ToolChoice::None => json!({"type": "none"}),
            ToolChoice::Required => json!({"type": "any"}),
            ToolChoice::Tool(name) => json!({"type": "tool", "name": names.spell(name)}),
            _ => json!({"type": "auto"}),
        };
        // The service refuses `disable_parallel_tool_use` together with the choice `none`.
        if field["type"] != "none"
            && let Some(parallel) = wanted.parallel
        {
            field["disable_parallel_tool_use"] = (!parallel).into();
        }
        let encoded = EncodedToolConfig::new(Fields::from_iter([(CHOICE.to_owned(), field)]));
        let reason = "the API takes no set of tools, so the model may call every tool of the request";
        if is_set_lost { encoded.lose("/choice/allowed/names", "allowed", reason) } else { encoded }
    }
}

impl HistoryCodec for Anthropic {
    fn is_readable(&self, kind: MediaKind, media: &Media) -> bool {
        is_readable(kind, media)
    }

    /// Writes a call without `null` fields, which the service refuses.
    fn write_call(&self, call: OutgoingCall<'_>) -> Value {
        let mut block = call.fields(FACTS.name);
        block.retain(|_, value| !value.is_null());
        set(&mut block, "type", "tool_use");
        set(&mut block, "id", call.id);
        set(&mut block, "name", call.name);
        set(&mut block, "input", call.arguments.into_object());
        block.into()
    }

    /// Copies a received block. Thinking stays unchanged, because it is signed; the service refuses blank texts.
    fn write_part(&self, block: &Value) -> Option<Value> {
        let block = &*texts::settled(block, &["text"]);
        let mut fields = block.as_object()?.clone();
        match text(block, "type") {
            "text" if is_blank(text(block, "text")) => return None,
            // Compatible servers may omit the signature, but requests require it.
            "thinking" => {
                for name in ["thinking", "signature"] {
                    fields.entry(name).or_insert_with(|| "".into());
                }
            }
            kind if kind.ends_with("tool_use") => {
                let input = Arguments::from_value(fields.get("input"), false).into_object();
                fields.insert("input".to_owned(), input);
            }
            _ => {}
        }
        Some(fields.into())
    }

    /// Writes only `role` and `content`.
    ///
    /// The service refuses other fields, even those of its own responses.
    fn write_message(&self, message: &ReceivedMessage<'_>, mut blocks: Vec<Value>) -> Vec<Value> {
        match message.fields.and_then(|fields| fields.get("content")) {
            Some(Value::String(text)) if is_blank(text) => return Vec::new(),
            Some(Value::String(text)) => return vec![json!({"role": "assistant", "content": text})],
            _ => {}
        }
        // The service refuses a message that ends with thinking, as a response that was cut off may.
        while unfinished::ends_with_thinking(&blocks) {
            blocks.pop();
        }
        assistant(blocks)
    }

    /// Encodes an assistant message without white space at its end, which the service refuses.
    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        let mut blocks = Vec::with_capacity(calls.len() + 1);
        let trimmed = text.trim_end();
        if !trimmed.is_empty() {
            blocks.push(text_block(trimmed));
        }
        blocks.extend(calls);
        assistant(blocks)
    }

    /// Encodes a user message. The service refuses blank texts and empty messages: the former are dropped, the
    /// latter get a placeholder.
    fn encode_user(&self, contents: &[Content]) -> Value {
        let mut blocks: Vec<Value> = contents.iter().flat_map(blocks).collect();
        blocks.retain(|block| !block["text"].as_str().is_some_and(is_blank));
        if blocks.is_empty() {
            blocks.push(text_block("(empty message)"));
        }
        json!({"role": "user", "content": blocks})
    }
}

fn assistant(blocks: Vec<Value>) -> Vec<Value> {
    if blocks.is_empty() { Vec::new() } else { vec![json!({"role": "assistant", "content": blocks})] }
}

impl ResultCodec for Anthropic {
    /// Encodes all results in one user message, which must follow the calls.
    ///
    /// The message contains nothing else, because the service requires this for calls made by its code execution.
    fn encode_results(&self, results: &[ToolResult], ids: &[String], _names: &WireNames) -> Vec<Value> {
        let blocks = results.iter().zip(ids).map(|(result, id)| encode_result(result, id));
        user_message("content", blocks.collect())
    }
}

fn encode_result(result: &ToolResult, id: &str) -> Value {
    let mut block = Fields::new();
    set(&mut block, "type", "tool_result");
    set(&mut block, "tool_use_id", id);
    match &result.outcome {
        Ok(output) => set(&mut block, "content", content(output)),
        Err(error) => {
            set(&mut block, "content", error_message(error));
            set(&mut block, "is_error", true);
        }
    }
    // The result of a call with `toolset_name` needs the field as well.
    if let Some(toolset) = result.extras.get(FACTS.name, "toolset_name") {
        set(&mut block, "toolset_name", toolset.clone());
    }
    block.into()
}

/// Encodes a single text as a string, and any other output as a list without blank texts.
fn content(output: &ToolOutput) -> Value {
    let mut sent: Vec<Value> = output.content().iter().flat_map(blocks).collect();
    if !output.message().is_empty() {
        sent.push(text_block(output.message()));
    }
    sent.retain(|block| !text_of(block).is_some_and(is_blank));
    match sent.as_slice() {
        [] => "".into(),
        [only] if text_of(only).is_some() => text_of(only).into(),
        _ => sent.into(),
    }
}

fn text_of(block: &Value) -> Option<&str> {
    block.get("text")?.as_str()
}

impl RepairCodec for Anthropic {
    /// Lists the calls and results of a message, except calls without an id.
    fn entries<'a>(&self, message: &'a Value) -> Vec<(usize, Entry<'a>)> {
        let role = text(message, "role");
        part_entries(message, "content", |block| entry(block, role))
    }

    fn placeholder(&self, call: &Value, _key: &CallKey<'_>) -> Value {
        json!({"type": "tool_result", "tool_use_id": call.get("id"), "content": NO_OUTPUT})
    }

    fn set_id(&self, block: &mut Value, id: &str) {
        let field = if text(block, "type") == "tool_use" { "id" } else { "tool_use_id" };
        set_at(block, &[field], id);
    }

    fn complete_repair(
        &self,
        history: Vec<Value>,
        request: Option<&Fields>,
        losses: &mut Vec<SchemaLoss>,
    ) -> Vec<Value> {
        if request.is_some_and(|request| FACTS.is_continued(request)) {
            return history;
        }
        unfinished::remove(history, request.is_none_or(has_container), losses)
    }
}

fn entry<'a>(block: &'a Value, role: &str) -> Option<Entry<'a>> {
    match (text(block, "type"), role) {
        ("tool_use", "assistant") => {
            let id = block.get("id")?.as_str()?;
            Some(Entry::Call(CallKey::of_id(Some(id.into())), block))
        }
        ("tool_result", "user") => {
            let id = text(block, "tool_use_id");
            Some(Entry::Result(CallKey::of_id(Some(id.into())), block))
        }
        _ => None,
    }
}

/// Returns whether a request names a container. The field is the id, or an object with the id beside skills.
fn has_container(request: &Fields) -> bool {
    let Some(container) = request.get("container") else { return false };
    let id = container.get("id").unwrap_or(container).as_str();
    id.is_some_and(|id| !id.is_empty())
}
