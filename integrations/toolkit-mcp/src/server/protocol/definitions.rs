//! Tool definitions in the form of the protocol.

use rmcp::model::{ErrorData, Icon, JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use toolkit_core::definition::ToolIcon;
use toolkit_core::format::ToolFormat;
use toolkit_core::name::{NameRule, WireNames};
use toolkit_core::schema::keyword::{booleans_to_objects, each_subschema};
use toolkit_core::{ToolDefinition, ToolMetadata, ToolTag};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct McpFormat {
    pub(crate) name_rule: NameRule,
    /// Whether an output that is no object is published as the property `result` of an object. Versions
    /// before 2026-07-28 know no other outputs.
    pub(crate) wraps_outputs: bool,
}

/// Published tools, sorted by published name. Clones are cheap.
#[derive(Clone)]
pub(crate) struct ToolList(Arc<[Arc<Tool>]>);

/// Precedes the name of the last entry of the preceding page in a cursor.
const AFTER: &str = "after:";

impl ToolList {
    pub(crate) fn get(&self, name: &str) -> Option<&Arc<Tool>> {
        let found = self.0.binary_search_by(|tool| (*tool.name).cmp(name)).ok()?;
        self.0.get(found)
    }

    /// Returns a page of at most `size` visible tools.
    pub(crate) fn page(
        &self,
        cursor: Option<&str>,
        size: usize,
        is_visible: impl Fn(&Tool) -> bool,
    ) -> Result<(Vec<Tool>, Option<String>), ErrorData> {
        let visible = self.0.iter().filter(|tool| is_visible(tool));
        let (tools, next) = page(visible, cursor, size, |tool| &tool.name)?;
        Ok((tools.into_iter().map(|tool| (**tool).clone()).collect(), next))
    }
}

/// Returns a page of at most `size` entries, sorted by name, and the cursor of the next page.
///
/// A cursor names an entry, so none is missed or repeated if the list changes between two pages.
///
/// # Errors
/// This server did not issue the cursor.
pub(crate) fn page<T>(
    entries: impl Iterator<Item = T>,
    cursor: Option<&str>,
    size: usize,
    name: impl for<'a> Fn(&'a T) -> &'a str,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let mut preceding = None;
    if let Some(cursor) = cursor {
        let Some(last) = cursor.strip_prefix(AFTER) else {
            return Err(ErrorData::invalid_params("the cursor is not one of this server", None));
        };
        preceding = Some(last);
    }
    let mut page: Vec<T> = Vec::new();
    for entry in entries {
        if preceding.is_some_and(|last| name(&entry) <= last) {
            continue;
        }
        if page.len() == size {
            let next = page.last().map(|last| format!("{AFTER}{}", name(last)));
            return Ok((page, next));
        }
        page.push(entry);
    }
    Ok((page, None))
}

impl ToolFormat for McpFormat {
    type Rendered = ToolList;
    type Fragment = Tool;

    fn name_rule(&self) -> NameRule {
        self.name_rule
    }

    fn render(
        &self,
        tools: &[&ToolDefinition],
        names: &WireNames,
        earlier: &mut dyn FnMut(usize) -> Option<Arc<Tool>>,
    ) -> (ToolList, Vec<Arc<Tool>>) {
        let mut fragments: Vec<Arc<Tool>> = Vec::with_capacity(tools.len());
        for (index, definition) in tools.iter().enumerate() {
            let name = names.spell(definition.name.as_str());
            fragments.push(match earlier(index) {
                Some(unchanged) if unchanged.name == name => unchanged,
                _ => Arc::new(render(definition, name, self.wraps_outputs)),
            });
        }
        let mut sorted = fragments.clone();
        sorted.sort_by(|a, b| a.name.cmp(&b.name));
        (ToolList(sorted.into()), fragments)
    }
}

fn render(definition: &ToolDefinition, name: &str, wraps_outputs: bool) -> Tool {
    let metadata = &definition.metadata;
    let mut tool = Tool::new(name.to_owned(), definition.description.clone(), input_schema(definition));
    tool.title.clone_from(&metadata.title);
    if let Some(schema) = definition.output_schema()
        && let Some(output) = published(schema)
    {
        let is_wrapped = wraps_outputs && is_wrapped(schema);
        tool.output_schema = Some(if is_wrapped { wrapped(output).into() } else { output.into() });
    }
    tool.annotations = annotations(metadata);
    tool.icons = icons(metadata);
    tool.meta = published_meta(&metadata.meta);
    tool
}

/// The protocol demands `"type": "object"` at the root.
fn input_schema(definition: &ToolDefinition) -> JsonObject {
    let mut schema = published(&definition.parameters).unwrap_or_default();
    schema.entry("type").or_insert_with(|| "object".into());
    schema
}

/// Returns an object schema without boolean schemas inside. Some clients drop all tools of a server for one
/// of them.
fn published(schema: &Value) -> Option<JsonObject> {
    let mut schema = Value::Object(schema.as_object()?.clone());
    booleans_to_objects(&mut schema);
    if let Value::Object(schema) = schema { Some(schema) } else { None }
}

/// Returns whether an output is wrapped for versions that know only objects as outputs.
pub(crate) fn is_wrapped(schema: &Value) -> bool {
    schema.get("type").is_none_or(|kind| kind != "object")
}

fn wrapped(schema: JsonObject) -> JsonObject {
    let mut schema = Value::Object(schema);
    each_subschema(&mut schema, &mut move_reference_to_root);
    let definitions = schema.as_object_mut().and_then(|schema| schema.shift_remove("$defs"));
    let mut wrapped = JsonObject::new();
    wrapped.insert("type".to_owned(), "object".into());
    wrapped.insert("properties".to_owned(), json!({ "result": schema }));
    wrapped.insert("required".to_owned(), json!(["result"]));
    // References begin at the root.
    wrapped.extend(definitions.map(|definitions| ("$defs".to_owned(), definitions)));
    wrapped
}

/// Lets references to the root lead to the property `result`.
fn move_reference_to_root(keywords: &mut Map<String, Value>) {
    if let Some(target) = keywords.get_mut("$ref")
        && *target == "#"
    {
        *target = "#/properties/result".into();
    }
}

fn tagged(metadata: &ToolMetadata, hint: Option<bool>, tag: ToolTag) -> Option<bool> {
    if hint.is_none() && metadata.tags.contains(&tag) { Some(true) } else { hint }
}

fn annotations(metadata: &ToolMetadata) -> Option<ToolAnnotations> {
    let hints = [
        tagged(metadata, metadata.read_only, ToolTag::ReadOnly),
        tagged(metadata, metadata.destructive, ToolTag::Destructive),
        metadata.idempotent,
        tagged(metadata, metadata.open_world, ToolTag::Network),
    ];
    if metadata.title.is_none() && hints.iter().all(Option::is_none) {
        return None;
    }
    let [read_only, destructive, idempotent, open_world] = hints;
    // Clients of the first versions read the title from the annotations.
    Some(ToolAnnotations::from_raw(metadata.title.clone(), read_only, destructive, idempotent, open_world))
}

pub(crate) fn icons(metadata: &ToolMetadata) -> Option<Vec<Icon>> {
    if metadata.icons.is_empty() { None } else { Some(metadata.icons.iter().map(icon).collect()) }
}

fn icon(icon: &ToolIcon) -> Icon {
    let mut published = Icon::new(icon.src.clone());
    published.mime_type.clone_from(&icon.media_type);
    published.sizes = Some(icon.sizes.clone()).filter(|sizes| !sizes.is_empty());
    published
}

pub(crate) fn published_meta(meta: &Map<String, Value>) -> Option<MetaObject> {
    if meta.is_empty() { None } else { Some(MetaObject(meta.clone())) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit_core::name::ToolName;

    #[test]
    fn published_schemas_have_no_boolean_schemas() {
        let schema = |any: Value| json!({"type": "object", "properties": {"a": any, "l": {"items": any}}});
        let name = ToolName::new("f").unwrap();
        let definition =
            ToolDefinition::new(name, "", schema(json!(true))).with_output_schema(schema(json!(true)));
        let tool = render(&definition, "f", true);
        assert_eq!(Value::Object((*tool.input_schema).clone()), schema(json!({})));
        assert_eq!(
            tool.output_schema.map(|output| Value::Object((*output).clone())),
            Some(schema(json!({})))
        );
    }
}
