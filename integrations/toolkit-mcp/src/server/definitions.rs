//! Tool definitions in the form of the protocol.

use rmcp::model::{Icon, JsonObject, MetaObject, Tool, ToolAnnotations};
use serde_json::Value;
use std::sync::Arc;
use toolkit_core::format::ToolFormat;
use toolkit_core::name::{NameRule, WireNames};
use toolkit_core::schema::booleans_to_objects;
use toolkit_core::tool::ToolIcon;
use toolkit_core::{ToolDefinition, ToolMetadata, ToolTag};

/// The format for tool definitions of the Model Context Protocol.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct McpFormat {
    pub(super) name_rule: NameRule,
}

/// Published tools, sorted by published name. Clones are cheap.
#[derive(Clone)]
pub(super) struct ToolList(Arc<[Arc<Tool>]>);

/// The prefix of a cursor. The rest of the cursor is the name of the last tool on the preceding page.
const AFTER: &str = "after:";

impl ToolList {
    /// Returns the tool with this published name.
    pub(super) fn get(&self, name: &str) -> Option<&Arc<Tool>> {
        let found = self.0.binary_search_by(|tool| (*tool.name).cmp(name)).ok()?;
        self.0.get(found)
    }

    /// Returns a page of at most `size` tools and the cursor of the next page. Returns `None` for a cursor
    /// that this server did not issue.
    ///
    /// A cursor names a tool. Therefore, no tool is missed or repeated if other tools are added or removed
    /// between the requests for two pages.
    pub(super) fn page(&self, cursor: Option<&str>, size: usize) -> Option<(Vec<Tool>, Option<String>)> {
        let start = match cursor {
            None => 0,
            Some(cursor) => {
                let last = cursor.strip_prefix(AFTER)?;
                self.0.partition_point(|tool| *tool.name <= *last)
            }
        };
        let rest = self.0.get(start..).unwrap_or_default();
        let page: Vec<Tool> = rest.iter().take(size).map(|tool| (**tool).clone()).collect();
        let next = page.last().filter(|_| rest.len() > size).map(|last| format!("{AFTER}{}", last.name));
        Some((page, next))
    }
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
        let fragments: Vec<Arc<Tool>> = tools
            .iter()
            .enumerate()
            .map(|(index, definition)| {
                let name = names.spell(definition.name.as_str());
                let unchanged = earlier(index).filter(|tool| tool.name == name);
                unchanged.unwrap_or_else(|| Arc::new(render(definition, name)))
            })
            .collect();
        let mut sorted = fragments.clone();
        sorted.sort_by(|a, b| a.name.cmp(&b.name));
        (ToolList(sorted.into()), fragments)
    }
}

fn render(definition: &ToolDefinition, name: &str) -> Tool {
    let metadata = &definition.metadata;
    let mut tool = Tool::new(name.to_owned(), definition.description.clone(), input_schema(definition));
    tool.title.clone_from(&metadata.title);
    tool.output_schema = definition.output_schema().and_then(published).map(Arc::new);
    tool.annotations = annotations(metadata);
    tool.icons =
        Some(metadata.icons.iter().map(icon).collect()).filter(|icons: &Vec<Icon>| !icons.is_empty());
    tool.meta = Some(MetaObject(metadata.meta.clone())).filter(|meta| !meta.0.is_empty());
    tool
}

/// Returns the schema of the arguments. The protocol demands `"type": "object"` at the root.
fn input_schema(definition: &ToolDefinition) -> JsonObject {
    let mut schema = published(&definition.parameters).unwrap_or_default();
    schema.entry("type").or_insert_with(|| "object".into());
    schema
}

/// Returns an object schema without boolean schemas inside. Some clients drop all tools of a server for one of them.
fn published(schema: &Value) -> Option<JsonObject> {
    let mut schema = Value::Object(schema.as_object()?.clone());
    booleans_to_objects(&mut schema);
    if let Value::Object(schema) = schema { Some(schema) } else { None }
}

fn annotations(metadata: &ToolMetadata) -> Option<ToolAnnotations> {
    let tagged = |hint: Option<bool>, tag| hint.or_else(|| metadata.tags.contains(&tag).then_some(true));
    let hints = [
        tagged(metadata.read_only, ToolTag::ReadOnly),
        tagged(metadata.destructive, ToolTag::Destructive),
        metadata.idempotent,
        tagged(metadata.open_world, ToolTag::Network),
    ];
    if metadata.title.is_none() && hints.iter().all(Option::is_none) {
        return None;
    }
    let [read_only, destructive, idempotent, open_world] = hints;
    // Clients of the first versions read the title from the annotations.
    Some(ToolAnnotations::from_raw(metadata.title.clone(), read_only, destructive, idempotent, open_world))
}

fn icon(icon: &ToolIcon) -> Icon {
    let mut published = Icon::new(icon.src.clone());
    published.mime_type.clone_from(&icon.media_type);
    published.sizes = Some(icon.sizes.clone()).filter(|sizes| !sizes.is_empty());
    published
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolkit_core::name::ToolName;

    #[test]
    fn published_schemas_have_no_boolean_schemas() {
        let schema = |any: Value| json!({"type": "object", "properties": {"a": any, "l": {"items": any}}});
        let name = ToolName::new("f").unwrap();
        let definition =
            ToolDefinition::new(name, "", schema(json!(true))).with_output_schema(schema(json!(true)));
        let tool = render(&definition, "f");
        assert_eq!(Value::Object((*tool.input_schema).clone()), schema(json!({})));
        assert_eq!(
            tool.output_schema.map(|output| Value::Object((*output).clone())),
            Some(schema(json!({})))
        );
    }
}
