//! Removes an entry from a file.

use crate::config_error::ConfigError;
use crate::config_syntax::{options, parse};
use crate::dialect::{Dialect, Rules};
use crate::yaml_lines::remove_entry_lines;
use jsonc_parser::cst::CstRootNode;
use toml_edit::{DocumentMut, Item};

/// Returns the text of a file without the entry of a server.
///
/// The rest of the file stays as it is, with its comments. A text without the entry is returned unchanged.
///
/// ```
/// use toolkit_mcp_config::{Dialect, remove_entry};
///
/// let text = r#"{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}} /* Mine. */}"#;
/// let rest = remove_entry(text, Dialect::Cursor, "a")?;
/// assert_eq!(rest, r#"{"mcpServers": { "b": {"command": "y"}} /* Mine. */}"#);
/// assert_eq!(remove_entry(&rest, Dialect::Cursor, "a")?, rest);
/// # Ok::<(), toolkit_mcp_config::ConfigError>(())
/// ```
///
/// # Errors
/// [`ConfigError`] if the text is no file of the dialect.
pub fn remove_entry(text: &str, dialect: Dialect, name: &str) -> Result<String, ConfigError> {
    let (mark, body) = text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest));
    if body.trim().is_empty() {
        return Ok(text.to_owned());
    }
    let root = parse(body)?;
    let Some((path, servers)) = Rules::for_dialect(dialect).servers(&root) else {
        return Ok(text.to_owned());
    };
    if servers.get(name).is_none() {
        return Ok(text.to_owned());
    }
    let rest = match dialect {
        Dialect::Codex => of_toml(body, path, name),
        Dialect::Goose => remove_entry_lines(body, [path, name]),
        _ => of_json(body, path, name),
    };
    match rest {
        Some(rest) => Ok(format!("{mark}{rest}")),
        None => Err(ConfigError::new(name, None, "the file is not in the form of its program")),
    }
}

fn of_json(text: &str, path: &str, name: &str) -> Option<String> {
    let root = CstRootNode::parse(text, &options()).ok()?;
    let mut servers = root.object_value()?;
    for key in path.split('/').filter(|key| *key != ".") {
        servers = servers.object_value(key)?;
    }
    servers.get(name)?.remove();
    Some(root.to_string())
}

fn of_toml(text: &str, path: &str, name: &str) -> Option<String> {
    let mut document = text.parse::<DocumentMut>().ok()?;
    document.get_mut(path).and_then(Item::as_table_like_mut)?.remove(name)?;
    Some(document.to_string())
}
