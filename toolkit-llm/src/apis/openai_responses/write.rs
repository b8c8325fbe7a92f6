//! Writes the parts of a request: definitions, messages, calls and results.

use super::client::{self, APPROVAL, CallKind, SEARCH};
use super::outputs::{content_part, text_part};
use super::{CUSTOM, FACTS, NAMESPACE, OpenAiResponses};
use crate::apis::openai::Form;
use crate::call::outgoing::{Origin, OutgoingCall};
use crate::call::received::ReceivedMessage;
use crate::codec::{HistoryCodec, ResultCodec};
use crate::definitions::DefinitionOptions;
use crate::definitions::declaration::{DefinitionCodec, DefinitionEncoder, take_named};
use crate::json::fields::{Fields, copy, kind, list, set, text};
use crate::json::texts;
use serde_json::{Value, json};
use toolkit_core::ToolResult;
use toolkit_core::definition::{ToolDefinition, ToolKind};
use toolkit_core::name::WireNames;
use toolkit_core::output::Content;

/// The registry's tool that calls the tools found by the tool search.
const CALL_DEFERRED: &str = "call_deferred";

/// The values of `allowed_callers` that the service accepts.
const CALLERS: [&str; 2] = ["direct", "programmatic"];

impl DefinitionCodec for OpenAiResponses {
    fn write_definition(&self, encoder: &mut DefinitionEncoder<'_>) -> Value {
        let (kind, mut tool) = Form::Flat.encode_tool(encoder);
        let metadata = &encoder.definition.metadata;
        if kind == "function" {
            // `strict` is always written: without it, the service decides by the schema.
            set(&mut tool, "strict", encoder.how.strict);
        }
        if metadata.defer {
            set(&mut tool, "defer_loading", true);
        }
        if let Some(schema) = encoder.output() {
            match unsupported_output(encoder.definition, &schema) {
                Some(reason) => encoder.lose("/output_schema", "output_schema", reason),
                None => set(&mut tool, "output_schema", schema),
            }
        }
        let mut known = Vec::new();
        for caller in &metadata.allowed_callers {
            if CALLERS.contains(&caller.as_str()) {
                known.push(caller.as_str());
                continue;
            }
            let reason = format!("the API knows no caller `{caller}`");
            encoder.lose("/allowed_callers", "allowed_callers", reason);
        }
        if !known.is_empty() {
            set(&mut tool, "allowed_callers", known);
        }
        Form::Flat.write(kind, tool)
    }

    fn answered_by<'a>(&self, tool: &'a Value) -> Option<&'a str> {
        client::answered_by(tool)
    }

    /// Removes the definition of the program's tool that `tool` replaces.
    ///
    /// A tool search that the program runs gets the removed description and parameters. The tools of a
    /// namespace join an existing entry of the same name.
    fn hosted_entry(&self, tool: &Value, entries: &mut Vec<Value>) -> Option<Value> {
        if text(tool, "type") == NAMESPACE && join_namespace(tool, entries) {
            return None;
        }
        let name = client::answered_by(tool);
        let own = name.and_then(|name| take_named(entries, name));
        let mut tool = tool.clone();
        if name == Some(SEARCH)
            && let Some(fields) = tool.as_object_mut()
        {
            take_named(entries, CALL_DEFERRED);
            for name in ["description", "parameters"] {
                if let Some(value) = own.as_ref().and_then(|own| own.get(name)) {
                    fields.entry(name).or_insert_with(|| value.clone());
                }
            }
        }
        Some(tool)
    }

    /// Returns the namespace that was received, or else one in the name that the options describe.
    fn namespace<'a>(&self, definition: &'a ToolDefinition, options: &DefinitionOptions) -> Option<&'a str> {
        let read = definition.metadata.meta.get(NAMESPACE).and_then(Value::as_str);
        if read.is_some() {
            return read;
        }
        definition.name.namespace().filter(|name| options.namespaces.contains_key(*name))
    }

    fn write_namespace(&self, first: &ToolDefinition, options: &DefinitionOptions, tools: &str) -> String {
        let name = self.namespace(first, options).unwrap_or_default();
        let about = match options.namespaces.get(name) {
            Some(about) => about.clone(),
            // The service requires a description.
            None => format!("The tools of `{name}`."),
        };
        let mut namespace = json!({"type": NAMESPACE, "name": name, "description": about});
        let kept = first.metadata.meta.get(FACTS.name).and_then(|own| own.get(NAMESPACE));
        if let (Some(Value::Object(kept)), Some(fields)) = (kept, namespace.as_object_mut()) {
            fields.extend(kept.clone());
        }
        let json = namespace.to_string();
        let open = json.strip_suffix('}').unwrap_or(&json);
        format!("{open},\"tools\":[{tools}]}}")
    }
}

/// Returns the reason to leave out an output schema.
fn unsupported_output(definition: &ToolDefinition, schema: &Value) -> Option<&'static str> {
    match definition.kind {
        ToolKind::Custom(_) => Some("the API describes the output of functions only"),
        _ if *schema == json!({}) => Some("the schema allows any value"),
        // The schema describes JSON in the text of a result, which a plain string is not.
        _ if is_text(schema) => Some("the API describes JSON, and text goes back as it is"),
        _ => None,
    }
}

/// Returns whether a schema allows every string and nothing else.
fn is_text(schema: &Value) -> bool {
    const KEYWORDS: [&str; 4] = ["type", "title", "description", "$schema"];
    let Some(fields) = schema.as_object() else { return false };
    text(schema, "type") == "string" && fields.keys().all(|name| KEYWORDS.contains(&name.as_str()))
}

/// Adds the tools of a namespace to the entry with the same name.
///
/// Returns whether there is one.
fn join_namespace(namespace: &Value, entries: &mut [Value]) -> bool {
    for entry in entries {
        let is_same = ["type", "name"].into_iter().all(|field| text(entry, field) == text(namespace, field));
        if is_same && let Some(Value::Array(tools)) = entry.get_mut("tools") {
            tools.extend(list(namespace, "tools").iter().cloned());
            return true;
        }
    }
    false
}

impl HistoryCodec for OpenAiResponses {
    /// Writes a call for the next request.
    ///
    /// Some compatible servers require the field `status` (Volcengine) or do not recognise calls without it
    /// (older vLLM). Calls of custom tools have none.
    fn write_call(&self, call: OutgoingCall<'_>) -> Value {
        let mut item = call.fields(FACTS.name);
        let (kind, is_made) = match call.origin {
            Origin::Received { .. } => (CallKind::of_item(&item).unwrap_or(&client::FUNCTION_CALL), false),
            Origin::Made(extras) => (CallKind::of_extras(extras), true),
        };
        set(&mut item, "type", kind.call);
        set(&mut item, kind.ids[0], call.id);
        match kind.arguments {
            _ if kind.tool.is_empty() => {
                let (_, field, text) = call.origin.text(&call.arguments, FACTS.name, CUSTOM);
                set(&mut item, "name", call.name);
                set(&mut item, field, text);
            }
            [field] if is_made => set(&mut item, field, call.arguments.into_object()),
            // The field may be missing if generation stopped early.
            [field] => drop(item.entry(*field).or_insert_with(|| json!({}))),
            fields if is_made => {
                let arguments = call.arguments.into_object();
                copy(arguments.as_object().unwrap_or(&Fields::new()), &mut item, fields);
            }
            _ => {}
        }
        if is_made {
            set(&mut item, "status", "completed");
            // Only the result contains it.
            item.shift_remove("max_output_length");
        }
        match kind.call {
            CUSTOM | APPROVAL => drop(item.shift_remove("status")),
            "apply_patch_call" if item.get("status").is_none_or(|status| status != "in_progress") => {
                set(&mut item, "status", "completed");
            }
            _ => {}
        }
        strip_refused(&mut item);
        item.into()
    }

    /// Drops an item with neither type nor role, which no server accepts.
    fn write_part(&self, item: &Value) -> Option<Value> {
        let fields = item.as_object()?;
        if kind(fields).is_none() && !fields.contains_key("role") {
            return None;
        }
        let mut sent = fields.clone();
        strip_refused(&mut sent);
        Some(sent.into())
    }

    fn write_message(&self, message: &ReceivedMessage<'_>, mut items: Vec<Value>) -> Vec<Value> {
        // The service refuses a turn that was cut off during reasoning ("without its required following
        // item").
        while message.is_whole && items.last().is_some_and(|item| text(item, "type") == "reasoning") {
            items.pop();
        }
        items
    }

    /// Encodes the text as a message item, followed by the calls.
    ///
    /// The long form of the item would require an id.
    fn encode_assistant(&self, text: &str, calls: Vec<Value>) -> Vec<Value> {
        let mut items = Vec::with_capacity(calls.len() + 1);
        if !text.is_empty() {
            items.push(json!({"type": "message", "role": "assistant", "content": text}));
        }
        items.extend(calls);
        items
    }

    fn encode_user(&self, contents: &[Content]) -> Value {
        let parts: Vec<Value> = contents.iter().map(content_part).collect();
        json!({"type": "message", "role": "user", "content": parts})
    }
}

/// Removes fields of the service or an SDK that requests must not contain.
///
/// The service refuses them: "Unknown parameter", "Invalid type".
fn strip_refused(item: &mut Fields) {
    let is_reasoning = kind(item) == Some("reasoning");
    item.retain(|name, value| !is_refused(name, value, is_reasoning));
    if is_reasoning && item.get("summary").is_none_or(Value::is_null) {
        set(item, "summary", Value::Array(Vec::new()));
    }
    let blocks = item.get_mut("content").and_then(Value::as_array_mut);
    for block in blocks.into_iter().flatten().filter_map(Value::as_object_mut) {
        texts::settle(block, &["text"]);
        block.retain(|name, value| name != "parsed" && !(name == "logprobs" && value.is_null()));
    }
}

fn is_refused(name: &str, value: &Value, is_reasoning: bool) -> bool {
    match name {
        "created_by" | "parsed_arguments" => true,
        // vLLM writes unknown fields as `null`.
        "id" | "status" | "namespace" | "async" if value.is_null() => true,
        "status" => is_reasoning,
        "content" => is_reasoning && value.is_null(),
        _ => false,
    }
}

impl ResultCodec for OpenAiResponses {
    fn encode_results(&self, results: &[ToolResult], ids: &[String], _names: &WireNames) -> Vec<Value> {
        let mut items = Vec::with_capacity(results.len());
        for (result, id) in results.iter().zip(ids) {
            items.append(&mut CallKind::of_extras(&result.extras).write_result(result, id));
        }
        items
    }
}

impl CallKind {
    /// Writes a result, and a message with the text that it cannot express.
    pub(super) fn write_result(&self, result: &ToolResult, id: &str) -> Vec<Value> {
        let mut item = Fields::new();
        set(&mut item, "type", self.output);
        set(&mut item, self.ids[1], id);
        let rest = self.form.write(&mut item, result).unwrap_or_default();
        if let Some(extras) = result.extras.for_api(FACTS.name) {
            copy(extras, &mut item, self.repeated);
        }
        let mut items = vec![item.into()];
        if !rest.is_empty() {
            items.push(json!({"type": "message", "role": "user", "content": [text_part(&rest)]}));
        }
        items
    }
}
