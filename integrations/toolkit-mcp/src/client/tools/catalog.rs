//! The tools of a server, checked and converted to definitions.

use super::deep_lists::MAX_TOOL_DEPTH;
use crate::client::settings::ClientSettings;
use rmcp::model::{Icon, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use toolkit_core::definition::{ToolIcon, ToolSource};
use toolkit_core::foreign::{
    Note, SchemaLimits, ToolIssue, ToolIssueKind, checked_parameters, checked_schema, clean, description,
    hides_text, legal_name,
};
use toolkit_core::schema::__private::nests_deeper;
use toolkit_core::schema::schema_hash;
use toolkit_core::{ToolDefinition, ToolMetadata, ToolTag};

/// The tools that the client accepts from a list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Catalog {
    /// The tools by their qualified names.
    pub(crate) tools: Tools,
    pub(crate) issues: Vec<ToolIssue>,
    /// The tools that wait for approval, by their qualified names.
    pub(crate) pending: Tools,
    /// Whether a tool has changed or was removed since the first list.
    pub(crate) has_changed: bool,
    /// The number of entries so far.
    listed: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RemoteTool {
    pub(crate) definition: ToolDefinition,
    /// Its name on the server.
    pub(crate) name: String,
    /// The hash of its entry in the tool list.
    pub(crate) fingerprint: String,
    /// The entry as sent, also with members that no definition has.
    pub(crate) entry: Value,
}

impl Catalog {
    /// Checks and converts one page of a tool list. Returns `false` if the list has more tools than allowed.
    pub(crate) fn extend(&mut self, page: Vec<Value>, settings: &ClientSettings) -> bool {
        let limit = settings.limits.tools;
        for entry in page {
            self.listed += 1;
            if self.listed > limit {
                self.cut(&format!("The server lists more than {limit} tools"));
                return false;
            }
            self.add(entry, settings);
        }
        true
    }

    /// Reports that the list was cut.
    pub(crate) fn cut(&mut self, reason: &str) {
        let message = format!("{reason}; the rest was left out");
        self.issues.insert(0, ToolIssue::new("", ToolIssueKind::TooMany, message));
    }

    fn add(&mut self, entry: Value, settings: &ClientSettings) {
        let name = entry.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        if settings.permits.as_ref().is_some_and(|permits| !permits(&name)) {
            return;
        }
        let mut notes = Vec::new();
        match import(entry, settings, &mut notes) {
            Ok(tool) if self.tools.contains_key(tool.definition.name.as_str()) => {
                let message = "has the name of an earlier tool, and was left out";
                notes.push((ToolIssueKind::Duplicate, message.to_owned()));
            }
            Ok(tool) => drop(self.tools.insert(tool.definition.name.to_string(), Arc::new(tool))),
            Err(fault) => notes.push(fault),
        }
        self.issues.extend(notes.into_iter().map(|(kind, message)| ToolIssue::new(&name, kind, message)));
    }
}

type Tools = BTreeMap<String, Arc<RemoteTool>>;

/// Converts one entry of a tool list. Adds a note for each change of the entry.
fn import(entry: Value, settings: &ClientSettings, notes: &mut Vec<Note>) -> Result<RemoteTool, Note> {
    let malformed =
        |error: String| (ToolIssueKind::Malformed, format!("is malformed and was left out: {error}"));
    let size = entry.to_string().len();
    let limit = settings.limits.schema_bytes.saturating_mul(4);
    if size > limit {
        return Err(malformed(format!("its entry has {size} bytes, more than {limit}")));
    }
    if entry.pointer("/execution/taskSupport").is_some_and(|support| support == "required") {
        let message = "runs only as a task, which the client does not support, and was left out";
        return Err((ToolIssueKind::Task, message.to_owned()));
    }
    let visibility = entry.pointer("/_meta/ui/visibility").and_then(Value::as_array);
    if let Some(places) = visibility
        && !places.iter().any(|place| place == "model")
    {
        let message = "is only for the server's own page, and was left out";
        return Err((ToolIssueKind::App, message.to_owned()));
    }
    let fingerprint = schema_hash(&entry);
    let tool = parse(entry.clone()).map_err(|error| malformed(error.to_string()))?;
    // The text of a deeper entry was cut, or is too deep for other parsers. Members without a place in it do
    // not count.
    if serde_json::to_value(&tool).is_ok_and(|tool| nests_deeper(&tool, MAX_TOOL_DEPTH)) {
        return Err(malformed(format!("its entry is nested deeper than {MAX_TOOL_DEPTH} levels")));
    }
    let limits = &settings.limits;
    let schema_limits = SchemaLimits { bytes: limits.schema_bytes, depth: limits.schema_depth };
    let name = legal_name(&tool.name, settings.namespace.as_deref(), notes)?;
    let parameters = checked_parameters(Arc::unwrap_or_clone(tool.input_schema), schema_limits, notes)?;
    let description = description(tool.description.as_deref().unwrap_or_default(), limits.description, notes);
    let mut title = tool.title;
    if let Some(annotations) = &tool.annotations
        && title.is_none()
    {
        title.clone_from(&annotations.title);
    }
    if title.as_deref().is_some_and(hides_text) {
        let message = "has invisible characters in its title, which were removed";
        notes.push((ToolIssueKind::Description, message.to_owned()));
    }
    let metadata = metadata(title, tool.annotations, settings);
    let mut definition = ToolDefinition::new(name, description, parameters).with_metadata(metadata);
    definition.metadata.meta = tool.meta.map(|meta| meta.0).unwrap_or_default();
    definition.metadata.icons = tool.icons.unwrap_or_default().into_iter().map(icon).collect();
    if let Some(schema) = tool.output_schema {
        match checked_schema(Value::Object(Arc::unwrap_or_clone(schema)), schema_limits, notes) {
            Ok(schema) => definition = definition.with_output_schema(schema),
            Err((kind, reason)) => {
                let reason = reason.replace("was left out", "was registered without output schema");
                notes.push((kind, format!("(its output) {reason}")));
            }
        }
    }
    Ok(RemoteTool { definition, name: tool.name.into_owned(), fingerprint, entry })
}

/// Parses an entry. PHP writes `[]` for an empty object, which is corrected if the entry is not a tool
/// otherwise.
fn parse(mut entry: Value) -> serde_json::Result<Tool> {
    let error = match Tool::deserialize(&entry) {
        Ok(tool) => return Ok(tool),
        Err(error) => error,
    };
    let mut is_corrected = false;
    for member in ["inputSchema", "outputSchema", "annotations", "_meta"] {
        if entry.get(member) == Some(&json!([])) {
            entry[member] = json!({});
            is_corrected = true;
        }
    }
    if is_corrected { Tool::deserialize(entry) } else { Err(error) }
}

fn icon(published: Icon) -> ToolIcon {
    let mut icon = ToolIcon::new(published.src);
    icon.media_type = published.mime_type;
    icon.sizes = published.sizes.unwrap_or_default();
    icon
}

/// Returns a hint of a server. Without trust, only hints that make a tool look more dangerous count.
fn hint(value: Option<bool>, dangerous: bool, is_trusted: bool) -> Option<bool> {
    if is_trusted || value == Some(dangerous) { value } else { None }
}

fn metadata(
    title: Option<String>,
    annotations: Option<ToolAnnotations>,
    settings: &ClientSettings,
) -> ToolMetadata {
    let annotations = annotations.unwrap_or_default();
    let is_trusted = settings.trust_annotations;
    let mut metadata = ToolMetadata::default();
    metadata.title = title.map(|title| clean(&title).chars().take(256).collect());
    metadata.read_only = hint(annotations.read_only_hint, false, is_trusted);
    metadata.destructive = hint(annotations.destructive_hint, true, is_trusted);
    metadata.idempotent = hint(annotations.idempotent_hint, false, is_trusted);
    metadata.open_world = hint(annotations.open_world_hint, true, is_trusted);
    // According to the protocol, a read-only tool destroys nothing, whatever its other hints say. The
    // idempotent hint has a meaning only for tools that are not read-only.
    if metadata.read_only == Some(true) {
        metadata.destructive = Some(false);
        metadata.idempotent = metadata.idempotent.filter(|idempotent| *idempotent);
        metadata.tags.insert(ToolTag::ReadOnly);
    }
    if metadata.destructive == Some(true) {
        metadata.tags.insert(ToolTag::Destructive);
    }
    metadata.is_async = true;
    metadata.retries = settings.retries;
    metadata.source = ToolSource::Mcp;
    metadata.source_detail.clone_from(&settings.name);
    metadata
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::settings::McpLimits;

    fn entry(name: &str, extra: Value) -> Value {
        let mut entry = json!({"name": name, "inputSchema": {"type": "object"}});
        for (field, value) in extra.as_object().into_iter().flatten() {
            entry[field] = value.clone();
        }
        entry
    }

    fn settings() -> ClientSettings {
        ClientSettings { namespace: Some("Shop API".to_owned()), ..ClientSettings::default() }
    }

    fn catalog_of(listed: Vec<Value>, settings: &ClientSettings) -> Catalog {
        let mut catalog = Catalog::default();
        catalog.extend(listed, settings);
        catalog
    }

    fn kinds(catalog: &Catalog) -> Vec<(&str, ToolIssueKind)> {
        catalog.issues.iter().map(|issue| (issue.tool.as_str(), issue.kind)).collect()
    }

    #[test]
    fn a_listed_tool_keeps_everything_that_the_server_says() {
        let extra = json!({
            "title": "Buy", "description": "Buys.", "_meta": {"team": "a"}, "icons": [{"src": "data:,"}],
            "outputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": false, "destructiveHint": true, "openWorldHint": true},
        });
        let catalog = catalog_of(vec![entry("buy.now", extra)], &settings());
        let tool = &catalog.tools["shop_api-buy.now"];
        let ToolDefinition { name, description, metadata, .. } = &tool.definition;
        assert_eq!((name.namespace(), name.method_name()), (Some("shop_api"), "buy.now"));
        assert_eq!((description.as_str(), tool.name.as_str()), ("Buys.", "buy.now"));
        assert_eq!((metadata.title.as_deref(), metadata.source), (Some("Buy"), ToolSource::Mcp));
        assert_eq!((metadata.read_only, metadata.destructive), (Some(false), Some(true)));
        assert_eq!((metadata.idempotent, metadata.open_world), (None, Some(true)));
        assert!(metadata.tags.contains(&ToolTag::Destructive));
        assert_eq!((&metadata.meta["team"], metadata.icons[0].src.as_str()), (&json!("a"), "data:,"));
        assert_eq!(tool.definition.output_schema(), Some(&json!({"type": "object"})));
        assert_eq!(catalog.issues, []);
    }

    #[test]
    fn hints_of_untrusted_servers_count_only_if_they_warn() {
        let calming =
            json!({"annotations": {"readOnlyHint": true, "destructiveHint": false, "openWorldHint": false}});
        let warning =
            json!({"annotations": {"readOnlyHint": false, "destructiveHint": true, "openWorldHint": true}});
        let settings = ClientSettings { trust_annotations: false, ..ClientSettings::default() };
        let catalog = catalog_of(vec![entry("calm", calming), entry("warn", warning)], &settings);
        let hints = |name: &str| {
            let metadata = &catalog.tools[name].definition.metadata;
            [metadata.read_only, metadata.destructive, metadata.open_world]
        };
        assert_eq!(hints("calm"), [None, None, None]);
        assert_eq!(hints("warn"), [Some(false), Some(true), Some(true)]);
    }

    #[test]
    fn every_renamed_and_every_left_out_tool_is_an_issue() {
        use ToolIssueKind::{App, Duplicate, IllegalName, Malformed, RemoteReference, Renamed, Task};
        let remote = json!({"inputSchema": {"properties": {"a": {"$ref": "https://example.com"}}}});
        let long = "x".repeat(200);
        let listed = vec![
            entry("add", json!({})),
            entry("add", json!({"description": "Another."})),
            entry("weather/get", json!({})),
            entry("weather get", json!({})),
            entry("卖", json!({})),
            entry("卖", json!({})),
            entry(&long, json!({})),
            json!({"name": "no_schema"}),
            json!(5),
            entry("remote", remote),
            entry("fat", json!({"_meta": {"a": "x".repeat(300_000)}})),
            entry("long", json!({"execution": {"taskSupport": "required"}})),
            entry("short", json!({"execution": {"taskSupport": "optional"}})),
            entry("page", json!({"_meta": {"ui": {"visibility": ["app"]}}})),
            entry("shown", json!({"_meta": {"ui": {"visibility": ["model", "app"]}}})),
        ];
        let catalog = catalog_of(listed, &ClientSettings::default());
        let names: Vec<(&str, &str)> =
            catalog.tools.iter().map(|(name, tool)| (name.as_str(), tool.name.as_str())).collect();
        let expected = [
            ("add", "add"),
            ("short", "short"),
            ("shown", "shown"),
            ("tool_59fda6", "卖"),
            ("weather_get_0ad38f", "weather get"),
            ("weather_get_b81e07", "weather/get"),
        ];
        assert_eq!(names, expected);
        assert_eq!(catalog.tools["add"].definition.description, "");
        let issues = [
            ("add", Duplicate),
            ("weather/get", Renamed),
            ("weather get", Renamed),
            ("卖", Renamed),
            ("卖", Renamed),
            ("卖", Duplicate),
            (&long[..128], IllegalName),
            ("no_schema", Malformed),
            ("", Malformed),
            ("remote", RemoteReference),
            ("fat", Malformed),
            ("long", Task),
            ("page", App),
        ];
        assert_eq!(kinds(&catalog), issues);
    }

    #[test]
    fn every_changed_definition_is_an_issue() {
        use ToolIssueKind::{Description, Schema};
        let dangling = json!({"outputSchema": {"properties": {"a": {"$ref": "#/nowhere"}}}});
        let listed = vec![
            entry("output", dangling),
            entry("hidden", json!({"description": "Adds.\u{202e}"})),
            entry("titled", json!({"title": "Add\u{e0041}"})),
            entry(
                "parameter",
                json!({"inputSchema": {"properties": {"a": {"description": "\u{fe01}Any."}}}}),
            ),
            entry("long", json!({"description": "x".repeat(9_000)})),
        ];
        let catalog = catalog_of(listed, &ClientSettings::default());
        let output = json!({"properties": {"a": {}}});
        assert_eq!(catalog.tools["output"].definition.output_schema(), Some(&output));
        assert_eq!(catalog.tools["hidden"].definition.description, "Adds.");
        assert_eq!(catalog.tools["long"].definition.description.chars().count(), 8_193);
        let changed = [("output", Schema)].into_iter();
        let changed =
            changed.chain(["hidden", "titled", "parameter", "long"].map(|name| (name, Description)));
        assert_eq!(kinds(&catalog), changed.collect::<Vec<_>>());
    }

    #[test]
    fn lists_in_place_of_empty_objects_are_corrected() {
        let empty = json!({"inputSchema": [], "outputSchema": [], "annotations": [], "_meta": []});
        let catalog = catalog_of(vec![entry("php", empty)], &ClientSettings::default());
        assert_eq!(catalog.issues, []);
        assert_eq!(catalog.tools["php"].definition.parameters, json!({"type": "object"}));
    }

    #[test]
    fn a_server_with_too_many_tools_is_cut_and_reported() {
        let settings =
            ClientSettings { limits: McpLimits::default().with_tools(2), ..ClientSettings::default() };
        let listed = (0..10_000).map(|number| entry(&format!("t{number}"), json!({}))).collect();
        let catalog = catalog_of(listed, &settings);
        assert_eq!((catalog.tools.len(), kinds(&catalog)), (2, vec![("", ToolIssueKind::TooMany)]));
        assert_eq!(
            catalog.issues[0].to_string(),
            "The server lists more than 2 tools; the rest was left out"
        );
    }
}
