//! Writes an entry into a file.

use crate::config_error::ConfigError;
use crate::config_syntax::{options, parse};
use crate::dialect::{Dialect, Rules};
use crate::entry::ServerEntry;
use crate::node::Node;
use crate::written_entry::{Written, WrittenEntry};
use crate::yaml_lines::write_members;
use crate::yaml_node::parse_yaml;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use std::collections::BTreeMap;
use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike};

/// Returns the text of a file with the entry of a server added.
///
/// The rest of the file stays as it is, with its comments.
///
/// The texts of the entry are written as they are, so variables are those of the dialect. If the file already
/// has an entry of this name, its command or URL is replaced, and its other keys stay. Its variables and its
/// folder also stay if the command is the same, and so do its headers if the host is. Writing the same entry
/// again changes nothing. An empty text is a new file.
///
/// ```
/// use toolkit_mcp_config::{Dialect, ServerEntry, ServerTransport, write_entry};
///
/// let entry = ServerEntry::new("weather", ServerTransport::command("weather-server", ["--fast"]));
/// let text = write_entry("{\n  // Mine.\n  \"servers\": {}\n}\n", Dialect::VsCode, &entry)?;
/// assert!(text.contains("// Mine.") && text.contains("\"command\": \"weather-server\""));
/// # Ok::<(), toolkit_mcp_config::ConfigError>(())
/// ```
///
/// # Errors
/// [`ConfigError`] if the text is no file of the dialect.
pub fn write_entry(text: &str, dialect: Dialect, entry: &ServerEntry) -> Result<String, ConfigError> {
    let rules = Rules::for_dialect(dialect);
    let (mark, text) = text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest));
    let is_json = !matches!(dialect, Dialect::Codex | Dialect::Goose);
    let text = if text.trim().is_empty() && is_json { "{}\n" } else { text };
    let root = parse(text);
    let mut path = rules.containers.split(' ').next().unwrap_or_default();
    let mut old = None;
    if let Ok(root) = &root
        && let Some((read, servers)) = rules.servers(root)
    {
        path = read;
        old = servers.get(&entry.name);
    }
    let written = WrittenEntry::new(dialect, entry, old);
    let file = match dialect {
        Dialect::Codex => toml(text, path, entry, &written, old)?,
        Dialect::Goose => yaml(text, path, entry, &written, old)?,
        _ => json(text, path, entry, &written, old)?,
    };
    Ok(format!("{mark}{file}"))
}

fn refused(entry: &ServerEntry, message: impl Into<String>) -> ConfigError {
    ConfigError::new(&entry.name, None, message)
}

fn json(
    text: &str,
    path: &str,
    entry: &ServerEntry,
    written: &WrittenEntry,
    old: Option<&Node>,
) -> Result<String, ConfigError> {
    let root = CstRootNode::parse(text, &options())
        .map_err(|error| refused(entry, format!("the file is not valid JSON: {}", error.kind())))?;
    let mut container = root.object_value_or_create();
    for key in path.split('/').filter(|key| *key != ".") {
        container = container.and_then(|object| object.object_value_or_create(key));
    }
    let Some(servers) = container else {
        return Err(refused(entry, format!("`{path}` is not an object in the file")));
    };
    let Some(object) = servers.object_value_or_create(&entry.name) else {
        return Err(refused(entry, "the entry in the file is not an object"));
    };
    for property in object.properties() {
        if let Some(name) = property.decoded_name()
            && written.removed.contains(&name)
        {
            property.remove();
        }
    }
    for (key, value) in &written.members {
        let of_before = old.and_then(|old| old.get(key));
        if of_before.is_some_and(|node| value.is(node)) {
            continue;
        }
        match (object.get(key), value) {
            (Some(property), Written::Table(table)) if property.object_value().is_some() => {
                set_json_table(&property, table, of_before);
            }
            (Some(property), value) => property.set_value(value.json()),
            (None, value) => drop(object.append(key, value.json())),
        }
    }
    Ok(root.to_string())
}

fn text_in(table: Option<&Node>, name: &str) -> Option<String> {
    table?.get(name)?.text()
}

/// Equal members stay as they are.
fn set_json_table(property: &CstObjectProp, table: &BTreeMap<String, String>, of_before: Option<&Node>) {
    let object: CstObject = property.object_value_or_set();
    for member in object.properties() {
        if !member.decoded_name().is_some_and(|name| table.contains_key(&name)) {
            member.remove();
        }
    }
    for (name, text) in table {
        let value = || CstInputValue::String(text.clone());
        let is_same = text_in(of_before, name).as_ref() == Some(text);
        match object.get(name) {
            Some(_) if is_same => {}
            Some(member) => member.set_value(value()),
            None => drop(object.append(name, value())),
        }
    }
}

fn yaml(
    text: &str,
    path: &str,
    entry: &ServerEntry,
    written: &WrittenEntry,
    old: Option<&Node>,
) -> Result<String, ConfigError> {
    parse_yaml(text)?;
    let edited = write_members(text, [path, &entry.name], &written.members, &written.removed, old);
    edited.ok_or_else(|| refused(entry, "the file is not in the form of its program"))
}

fn toml(
    text: &str,
    path: &str,
    entry: &ServerEntry,
    written: &WrittenEntry,
    old: Option<&Node>,
) -> Result<String, ConfigError> {
    let mut document = match text.parse::<DocumentMut>() {
        Ok(document) => document,
        Err(error) => {
            return Err(refused(entry, format!("the file is not valid TOML: {}", error.message())));
        }
    };
    // Only the servers in it have a header.
    let mut implicit = Table::new();
    implicit.set_implicit(true);
    let container = document.as_table_mut().entry(path).or_insert(Item::Table(implicit));
    let has_inline_tables = container.is_inline_table();
    let Some(servers) = container.as_table_like_mut() else {
        return Err(refused(entry, format!("`{path}` is not a table in the file")));
    };
    let new =
        if has_inline_tables { toml_edit::value(InlineTable::new()) } else { Item::Table(Table::new()) };
    let Some(table) = servers.entry(&entry.name).or_insert(new).as_table_like_mut() else {
        return Err(refused(entry, "the entry in the file is not a table"));
    };
    for key in &written.removed {
        table.remove(key);
    }
    for (key, value) in &written.members {
        let of_before = old.and_then(|old| old.get(key));
        if of_before.is_some_and(|node| value.is(node)) {
            continue;
        }
        match (table.get_mut(key).and_then(Item::as_table_like_mut), value) {
            (Some(inner), Written::Table(members)) => set_toml_table(inner, members, of_before),
            (_, value) => set_toml(table, key, value.toml()),
        }
    }
    Ok(document.to_string())
}

/// Equal members stay as they are.
fn set_toml_table(table: &mut dyn TableLike, members: &BTreeMap<String, String>, of_before: Option<&Node>) {
    let mut surplus = Vec::new();
    for (name, _) in table.iter() {
        if !members.contains_key(name) {
            surplus.push(name.to_owned());
        }
    }
    for name in surplus {
        table.remove(&name);
    }
    for (name, text) in members {
        if text_in(of_before, name).as_ref() != Some(text) {
            set_toml(table, name, text.as_str().into());
        }
    }
}

/// The comments and blanks around the old value stay.
fn set_toml(table: &mut dyn TableLike, key: &str, mut value: toml_edit::Value) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(of_before) => {
            value.decor_mut().clone_from(of_before.decor());
            *of_before = value;
        }
        None => drop(table.insert(key, Item::Value(value))),
    }
}
