//! Schemas: digests and changes.

use serde_json::{Map, Value, json};
use toolkit_core::schema::{Compatibility, SchemaChangeKind, SchemaDiff, schema_hash};

use crate::report::{Answers, Report};
use crate::vectors::{entry, text};

/// `schemas_toolregistry.json`
pub(crate) fn schemas(file: &Value, report: &mut Report<'_>) -> Result<(), String> {
    let outputs = ["flatten_schema", "schema_hash", "get_schema", "tool_error"];
    report.section(file, "schemas", &outputs, |row| {
        // The original could not make a tool of schemas without a digest.
        let Some(parameters) = row.get("tool_parameters") else {
            return Ok(Answers::values(json!({}), json!({})));
        };
        Ok(Answers::values(
            json!({"schema_hash": text(row, "schema_hash")?}),
            json!({"schema_hash": schema_hash(parameters)}),
        ))
    })
}

/// `schema_diff_toolregistry.json`
pub(crate) fn schema_diff(file: &Value, report: &mut Report<'_>) -> Result<(), String> {
    // Rules see the original's answer, which has a class for undecided changes.
    report.section(file, "cases", &[], |row| {
        let [class, changes] = entry(row, "result")?.as_array().map_or(&[][..], Vec::as_slice) else {
            return Err("`result` is not a pair".to_owned());
        };
        let diff = SchemaDiff::of_arguments(entry(row, "old")?, entry(row, "new")?);
        let ours = json!({"class": class_of(&diff), "changes": changes_of(&diff)});
        Ok(Answers::values(json!({"class": class, "changes": names(changes)}), ours))
    })
}

/// The original has no class for equal schemas.
fn class_of(diff: &SchemaDiff) -> &'static str {
    if diff.compatibility() == Compatibility::Breaking { "breaking" } else { "compatible" }
}

/// The changed properties by the kind of change, in the original's names where it has one.
fn changes_of(diff: &SchemaDiff) -> Value {
    let mut changes = Map::new();
    for change in diff.changes() {
        let Some(property) = change.path.strip_prefix("#/properties/").filter(|rest| !rest.contains('/'))
        else {
            continue;
        };
        let kind = match change.kind {
            SchemaChangeKind::AddedOptional => "added_optional",
            SchemaChangeKind::AddedRequired => "added_required",
            SchemaChangeKind::Removed => "removed",
            SchemaChangeKind::NewlyRequired => "newly_required",
            SchemaChangeKind::NoLongerRequired => "no_longer_required",
            SchemaChangeKind::TypeChanged => "type_changed",
            _ => continue,
        };
        if let Value::Array(names) = changes.entry(kind).or_insert_with(|| json!([])) {
            names.push(property.into());
        }
    }
    Value::Object(changes)
}

/// The original's changes with only the names of properties.
fn names(changes: &Value) -> Value {
    let changes = changes.as_object().into_iter().flatten().map(|(kind, what)| {
        let names = what.as_object().map(|what| what.keys().map(|name| json!(name)).collect());
        (kind.clone(), names.map_or_else(|| what.clone(), Value::Array))
    });
    Value::Object(changes.collect())
}
