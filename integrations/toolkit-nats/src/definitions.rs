//! Definitions of tools as they travel, and the checks of those that arrive.

use crate::frames::read_json;
use crate::subjects::NamespaceVersion;
use bytes::Bytes;
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use toolkit_core::foreign::{
    Note, SchemaLimits, ToolIssue, ToolIssueKind, checked_parameters, checked_schema, clean, description,
    legal_name,
};
use toolkit_core::redaction::Redactor;
use toolkit_core::{ToolDefinition, ToolMetadata, ToolName, ToolRegistry};

const HASH_LENGTH: usize = 16;

const SCHEMA_LIMITS: SchemaLimits = SchemaLimits { bytes: 64 * 1_024, depth: 64 };
const DESCRIPTION_LIMIT: usize = 8_192;
const TITLE_LIMIT: usize = 256;

/// The maximum bytes of one namespace's definitions.
pub(crate) const LISTING_LIMIT: usize = 64 * 1_024 * 1_024;

#[derive(Serialize, Deserialize)]
struct TravelDefinition {
    name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    method: String,
    description: String,
    parameters: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<Value>,
    #[serde(default)]
    settings: TravelSettings,
}

/// Declares the settings of a tool that a caller needs, most of which travel as they are.
macro_rules! travel_settings {
    ($($field:ident: $ty:ty,)*) => {
        #[derive(Default, Serialize, Deserialize)]
        #[serde(default)]
        struct TravelSettings {
            $($field: $ty,)*
            tags: Vec<String>,
            timeout_ms: Option<u64>,
        }

        impl From<&ToolMetadata> for TravelSettings {
            fn from(metadata: &ToolMetadata) -> Self {
                Self {
                    $($field: metadata.$field.clone(),)*
                    tags: metadata.tags.iter().map(ToString::to_string).collect(),
                    timeout_ms: metadata.timeout.and_then(|limit| u64::try_from(limit.as_millis()).ok()),
                }
            }
        }

        impl TravelSettings {
            fn into_metadata(self) -> ToolMetadata {
                let mut metadata = ToolMetadata::default().with_tags(self.tags);
                $(metadata.$field = self.$field;)*
                metadata.title = metadata.title.map(|title| clean(&title).chars().take(TITLE_LIMIT).collect());
                metadata.search_hint = clean(&metadata.search_hint);
                metadata.timeout = self.timeout_ms.map(Duration::from_millis);
                metadata.is_async = true;
                metadata
            }
        }
    };
}

travel_settings! {
    title: Option<String>,
    read_only: Option<bool>,
    destructive: Option<bool>,
    idempotent: Option<bool>,
    open_world: Option<bool>,
    max_result_size: Option<usize>,
    defer: bool,
    search_hint: String,
    input_examples: Vec<Value>,
    meta: Map<String, Value>,
}

/// Returns the version of each namespace of a registry, with the text of its definitions.
pub(crate) fn listings(registry: &ToolRegistry) -> BTreeMap<NamespaceVersion, Bytes> {
    let mut namespaces: BTreeMap<Option<String>, Vec<TravelDefinition>> = BTreeMap::new();
    for definition in registry.iter_definitions() {
        let ToolDefinition { name, description, metadata, .. } = definition;
        let travel = TravelDefinition {
            name: name.to_string(),
            method: name.namespace().map(|_| name.method_name().to_owned()).unwrap_or_default(),
            description: description.clone(),
            parameters: definition.published(false).parameters.as_object().cloned().unwrap_or_default(),
            output: definition.output_schema().cloned(),
            settings: metadata.into(),
        };
        namespaces.entry(name.namespace().map(str::to_owned)).or_default().push(travel);
    }
    let mut listings = BTreeMap::new();
    for (namespace, tools) in namespaces {
        let text = serde_json::to_vec(&tools).unwrap_or_default();
        listings.insert(NamespaceVersion { namespace, hash: hash(&text) }, text.into());
    }
    listings
}

fn hash(text: &[u8]) -> String {
    let mut hash = HEXLOWER.encode(&hmac_sha256::Hash::hash(text));
    hash.truncate(HASH_LENGTH);
    hash
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ForeignTool {
    pub(crate) definition: ToolDefinition,
    pub(crate) remote_name: Arc<str>,
    /// The digest of the name, the description and the parameters that the model sees.
    pub(crate) shown: Arc<str>,
}

/// The checked definitions of a version.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Listing {
    pub(crate) tools: Vec<Arc<ForeignTool>>,
    pub(crate) issues: Vec<ToolIssue>,
}

impl Listing {
    pub(crate) fn read(version: &NamespaceVersion, text: &[u8], redactor: &Redactor) -> Self {
        let mut listing = Self::default();
        let entries: Vec<Value> = match read_json(text, redactor) {
            Some(entries) if hash(text) == version.hash => entries,
            _ => {
                let namespace = version.namespace.as_deref().unwrap_or_default();
                let message =
                    format!("The definitions of `{namespace}` are malformed, or not those of their hash");
                listing.issues.push(ToolIssue::new("", ToolIssueKind::Malformed, message));
                return listing;
            }
        };
        for entry in entries {
            let name = entry.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            let mut notes = Vec::new();
            match import(entry, version.namespace.as_deref(), &mut notes) {
                Ok(tool) => listing.tools.push(Arc::new(tool)),
                Err(fault) => notes.push(fault),
            }
            for (kind, message) in notes {
                listing.issues.push(ToolIssue::new(&name, kind, message));
            }
        }
        listing
    }
}

fn import(entry: Value, namespace: Option<&str>, notes: &mut Vec<Note>) -> Result<ForeignTool, Note> {
    let travel: TravelDefinition = match serde_json::from_value(entry) {
        Ok(travel) => travel,
        Err(error) => {
            let message = format!("is malformed and was left out: {error}");
            return Err((ToolIssueKind::Malformed, message));
        }
    };
    let seen =
        serde_json::to_vec(&(&travel.name, &travel.description, &travel.parameters)).unwrap_or_default();
    let shown = hash(&seen).into();
    let mut name = legal_name(&travel.name, None, notes)?;
    if namespace.is_some() {
        name = match ToolName::from_parts(name.as_str(), namespace, &travel.method) {
            Ok(name) => name,
            Err(error) => return Err((ToolIssueKind::IllegalName, format!("was left out: {error}"))),
        };
    }
    let parameters = checked_parameters(travel.parameters, SCHEMA_LIMITS, notes)?;
    let text = description(&travel.description, DESCRIPTION_LIMIT, notes);
    let metadata = travel.settings.into_metadata();
    // The worker checks the arguments, and refuses those that are wrong.
    let mut definition =
        ToolDefinition::new(name, text, parameters).with_metadata(metadata).with_own_reading();
    if let Some(output) = travel.output {
        match checked_schema(output, SCHEMA_LIMITS, notes) {
            Ok(schema) => definition = definition.with_output_schema(schema),
            Err((kind, reason)) => {
                let reason = reason.replace("was left out", "was registered without output schema");
                notes.push((kind, format!("(its output) {reason}")));
            }
        }
    }
    Ok(ForeignTool { definition, remote_name: travel.name.into(), shown })
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit_core::ClosureTool;

    #[test]
    fn definitions_travel_and_are_checked() {
        let name = ToolName::qualified("shop", "buy", toolkit_core::name::Separator::Dash).unwrap();
        let buy = ClosureTool::without_arguments("buy", "Buys.\u{202e}", || 1).unwrap().with_name(name);
        let buy = buy.map_metadata(|metadata| metadata.with_idempotent(true).with_tags(["slow"]));
        let now = ClosureTool::without_arguments("now", "The time.", || 1).unwrap();
        let registry = ToolRegistry::from_tools([buy, now]).unwrap();
        let listings = listings(&registry);
        let namespaces: Vec<_> = listings.keys().map(|version| version.namespace.as_deref()).collect();
        assert_eq!(namespaces, [None, Some("shop")]);
        let (version, text) = listings.last_key_value().unwrap();
        let listing = Listing::read(version, text, &Redactor::new());
        let definition = &listing.tools[0].definition;
        assert_eq!((definition.name.as_str(), definition.name.namespace()), ("shop-buy", Some("shop")));
        assert_eq!((definition.name.method_name(), definition.description.as_str()), ("buy", "Buys."));
        assert!(definition.metadata.is_repeatable());
        assert_eq!(listing.issues[0].kind, ToolIssueKind::Description);
    }

    #[test]
    fn definitions_are_read_without_the_secrets_of_the_caller() {
        let text = br#"[{"name": "a", "description": "Needs to\/ken1.", "parameters": {"type": "object"}}]"#;
        let version = NamespaceVersion { namespace: None, hash: hash(text) };
        let listing = Listing::read(&version, text, &Redactor::from(vec!["to/ken1".to_owned()]));
        assert_eq!(listing.tools[0].definition.description, "Needs ….");
    }

    #[test]
    fn definitions_of_another_hash_are_refused() {
        let version = NamespaceVersion { namespace: None, hash: "00".to_owned() };
        let listing = Listing::read(&version, b"[]", &Redactor::new());
        assert_eq!((listing.tools.len(), listing.issues.len()), (0, 1));
        let text =
            br#"[{"name": "a"}, {"name": "b", "description": "", "parameters": {"$ref": "http://x"}}]"#;
        let version = NamespaceVersion { namespace: None, hash: hash(text) };
        let kinds: Vec<_> =
            Listing::read(&version, text, &Redactor::new()).issues.iter().map(|issue| issue.kind).collect();
        assert_eq!(kinds, [ToolIssueKind::Malformed, ToolIssueKind::RemoteReference]);
    }
}
