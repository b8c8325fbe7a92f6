//! The `tools` of a request.

use super::client;
use super::{FACTS, OpenAiResponses};
use crate::DefinitionOptions;
use crate::apis::openai::Form;
use crate::codec::DefinitionCodec;
use crate::declaration::{Draft, take_named};
use crate::fields::{Fields, kind, list, set, text};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolkit_core::tool::{ToolDefinition, ToolKind};
use toolkit_schema::SchemaLoss;

/// The name of the registry's tool that calls the tools found by the tool search.
const CALL_DEFERRED: &str = "call_deferred";

/// The values of `allowed_callers` that the service accepts.
const CALLERS: [&str; 2] = ["direct", "programmatic"];

/// The type of an entry that groups tools under a common name. Also the key of this name in
/// [`ToolMetadata::meta`](toolkit_core::ToolMetadata::meta).
pub(crate) const NAMESPACE: &str = "namespace";

impl DefinitionCodec for OpenAiResponses {
    fn write_definition(&self, draft: &mut Draft<'_>) -> Value {
        let (kind, mut tool) = Form::Flat.encode_tool(draft);
        if kind == "function" {
            // `strict` is always written. If it is missing, the service decides by the schema whether to
            // enforce it.
            set(&mut tool, "strict", draft.how.strict);
        }
        if draft.definition.metadata.defer {
            set(&mut tool, "defer_loading", true);
        }
        if let Some(schema) = draft.output() {
            match unsaid_output(draft.definition, &schema) {
                Some(reason) => draft.lose("/output_schema", "output_schema", reason),
                None => set(&mut tool, "output_schema", schema),
            }
        }
        let callers = draft.definition.metadata.allowed_callers.iter().map(String::as_str);
        let (known, unknown): (Vec<&str>, Vec<&str>) = callers.partition(|caller| CALLERS.contains(caller));
        if !known.is_empty() {
            set(&mut tool, "allowed_callers", known);
        }
        draft.losses.extend(unknown.into_iter().map(|caller| {
            let reason = format!("the API knows no caller `{caller}`");
            SchemaLoss::new("/allowed_callers", "allowed_callers", reason)
        }));
        tool.into()
    }

    fn answered_by<'a>(&self, tool: &'a Value) -> Option<&'a str> {
        client::answered_by(tool)
    }

    /// Removes the definition of the program's tool that `tool` replaces. If `tool` is a tool search that the program
    /// runs, the description and the parameters of the removed definition are copied into `tool`. If `tool` is a
    /// namespace, its tools are added to the existing entry of the same name.
    fn hosted_entry(&self, tool: &Value, entries: &mut Vec<Box<RawValue>>) -> Option<Value> {
        if text(tool, "type") == NAMESPACE && join_namespace(tool, entries) {
            return None;
        }
        let mut tool = tool.clone();
        let own = self.answered_by(&tool).and_then(|name| take_named(entries, name));
        let Some(fields) = tool.as_object_mut() else { return Some(tool) };
        if kind(fields) == Some("tool_search") && fields.get("execution").is_some_and(|by| by == "client") {
            take_named(entries, CALL_DEFERRED);
            for name in ["description", "parameters"] {
                if let Some(value) = own.as_ref().and_then(|own| own.get(name)) {
                    fields.entry(name).or_insert_with(|| value.clone());
                }
            }
        }
        Some(tool)
    }

    /// Returns the namespace from which the definition was parsed. If there is none, returns the namespace in the
    /// tool's name, provided that the options describe this namespace.
    fn namespace<'a>(&self, definition: &'a ToolDefinition, options: &DefinitionOptions) -> Option<&'a str> {
        let read = definition.metadata.meta.get(NAMESPACE).and_then(Value::as_str);
        let own = || definition.name.namespace().filter(|name| options.namespaces.contains_key(*name));
        read.or_else(own)
    }

    fn write_namespace(&self, first: &ToolDefinition, options: &DefinitionOptions, tools: &str) -> String {
        let name = self.namespace(first, options).unwrap_or_default();
        let mut fields =
            Fields::from_iter([("type".to_owned(), NAMESPACE.into()), ("name".to_owned(), name.into())]);
        let about = options.namespaces.get(name).cloned();
        // The service requires a description.
        set(&mut fields, "description", about.unwrap_or_else(|| format!("The tools of `{name}`.")));
        if let Some(Value::Object(kept)) =
            first.metadata.meta.get(FACTS.name).and_then(|own| own.get(NAMESPACE))
        {
            fields.extend(kept.clone());
        }
        let json = Value::Object(fields).to_string();
        let open = json.strip_suffix('}').unwrap_or(&json);
        format!("{open},\"tools\":[{tools}]}}")
    }
}

/// Returns the reason to leave out an output schema, or `None` if the schema can be sent.
fn unsaid_output(definition: &ToolDefinition, schema: &Value) -> Option<&'static str> {
    if matches!(definition.kind, ToolKind::Custom(_)) {
        Some("the API describes the output of functions only")
    } else if *schema == json!({}) {
        Some("the schema allows any value")
    } else if is_plain_text(schema) {
        // The schema describes JSON in the text of a result, so it is useless for a tool that returns a plain
        // string.
        Some("the API describes JSON, and text goes back as it is")
    } else {
        None
    }
}

fn is_plain_text(schema: &Value) -> bool {
    let is_annotation = |name: &str| ["type", "title", "description", "$schema"].contains(&name);
    schema.get("type").is_some_and(|kind| kind == "string")
        && schema.as_object().is_some_and(|fields| fields.keys().all(|name| is_annotation(name)))
}

/// Adds the tools of a namespace to the existing entry with the same name. Returns `false` if there is no
/// such entry.
fn join_namespace(namespace: &Value, entries: &mut [Box<RawValue>]) -> bool {
    for entry in entries {
        let Ok(mut known) = serde_json::from_str::<Value>(entry.get()) else { continue };
        if ["type", "name"].into_iter().all(|field| text(&known, field) == text(namespace, field))
            && let Some(Value::Array(tools)) = known.get_mut("tools")
        {
            tools.extend(list(namespace, "tools").iter().cloned());
            if let Ok(joined) = RawValue::from_string(known.to_string()) {
                *entry = joined;
                return true;
            }
        }
    }
    false
}
