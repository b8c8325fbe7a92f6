//! Configuration files.

use crate::config_error::{ConfigError, Place};
use crate::config_syntax::parse;
use crate::dialect::{Dialect, RULES, Rules};
use crate::entry::ServerEntry;
use crate::entry_reader::EntryReader;
use crate::file_rules::{apply, unread};
use crate::node::{Node, members_with_value};
use crate::variables::Variables;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The MCP servers of a configuration file.
///
/// ```
/// use toolkit_mcp_config::ConfigFile;
///
/// let file = ConfigFile::read(r#"{"mcpServers": {"files": {"command": "files-server", "colour": "red"}}}"#)?;
/// assert_eq!(file.servers()[0].name, "files");
/// assert_eq!(file.issues().len(), 1); // the unknown key `colour`
/// # Ok::<(), toolkit_mcp_config::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    dialect: Dialect,
    servers: Vec<ServerEntry>,
    issues: Vec<ConfigError>,
    failures: Vec<ConfigError>,
}

impl ConfigFile {
    /// Reads the text of a file, and recognises its dialect by its content.
    ///
    /// A malformed entry does not affect the others; it is one of the [`failures`](Self::failures).
    ///
    /// # Errors
    /// [`ConfigError`] if the text is neither JSON nor TOML, or has no servers.
    pub fn read(text: &str) -> Result<Self, ConfigError> {
        Self::parse(text, None, None)
    }

    /// Reads a file of one dialect, perhaps without servers.
    ///
    /// # Errors
    /// [`ConfigError`] if the text is neither JSON nor TOML.
    pub fn read_as(text: &str, dialect: Dialect) -> Result<Self, ConfigError> {
        Self::parse(text, None, Some(dialect))
    }

    /// Reads a file, and recognises its dialect by its path or its content.
    ///
    /// Relative paths in it are relative to the folder of the project: for `.vscode/mcp.json`, the folder
    /// with `.vscode`.
    ///
    /// # Errors
    /// [`ConfigError`] if the file cannot be read, is neither JSON nor TOML, or has no servers.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        Self::load(path.as_ref(), None)
    }

    /// Reads a file of one dialect, perhaps without servers, see [`open`](Self::open).
    ///
    /// # Errors
    /// [`ConfigError`] if the file cannot be read, or is neither JSON nor TOML.
    pub fn open_as(path: impl AsRef<Path>, dialect: Dialect) -> Result<Self, ConfigError> {
        Self::load(path.as_ref(), Some(dialect))
    }

    fn load(path: &Path, dialect: Option<Dialect>) -> Result<Self, ConfigError> {
        let parsed = match fs::read_to_string(path) {
            Ok(text) => Self::parse(&text, Some(path), dialect),
            Err(error) => Err(ConfigError::new("", None, error.to_string())),
        };
        let error = match parsed {
            Ok(file) => return Ok(file),
            Err(error) => error,
        };
        let message = format!("the configuration `{}` cannot be read: {}", path.display(), error.message());
        Err(ConfigError::new("", error.place(), message))
    }

    fn parse(text: &str, path: Option<&Path>, dialect: Option<Dialect>) -> Result<Self, ConfigError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let root = parse(text)?;
        let rules = match dialect {
            Some(dialect) => Rules::for_dialect(dialect),
            None if root.is_off() && !text.trim().is_empty() => Rules::for_dialect(Dialect::McpServers),
            None => match Rules::recognise(&root, path) {
                Some(rules) => rules,
                None => {
                    let message = "the file has no servers; add them under `mcpServers`";
                    return Err(ConfigError::new("", None, message));
                }
            },
        };
        let mut file =
            Self { dialect: rules.dialect, servers: Vec::new(), issues: Vec::new(), failures: Vec::new() };
        let Some((container, servers)) = rules.servers(&root) else {
            file.lacks_servers(rules.containers.split(' ').next().unwrap_or_default());
            return Ok(file);
        };
        let Some(members) = servers.members() else {
            let message = format!("`{container}` must be an object, not {}", servers.kind());
            return Err(ConfigError::at(text, servers.offset, "", message));
        };
        if members.is_empty() {
            file.lacks_servers(container);
        }
        let variables = Variables {
            syntax: rules.syntax,
            project: path.and_then(project),
            inputs: inputs(&root),
            ..Variables::default()
        };
        for (is_replaced, member) in members_with_value(members) {
            if is_replaced {
                let message = "a later entry of this name replaces this one";
                file.issues.push(ConfigError::at(text, member.offset, &member.key, message));
                continue;
            }
            if rules.dialect == Dialect::Goose && is_part_of_program(&member.value) {
                let message = "is a part of Goose, and no server";
                file.issues.push(ConfigError::at(text, member.offset, &member.key, message));
                continue;
            }
            let reader = EntryReader::new(text, rules, member, variables.clone());
            match reader.read(&member.value, &mut file.issues) {
                Ok(server) => file.servers.push(server),
                Err(_) if is_switched_off(&member.value) => {}
                Err(failure) => file.failures.push(failure),
            }
        }
        for (path, value) in apply(rules.dialect, &root, &mut file.servers) {
            file.fail(path, Place::at(text, value.offset));
        }
        for (path, member) in unread(rules.dialect, &root, container) {
            let message =
                format!("`{path}` may restrict the servers, and has no effect; leave out what it forbids");
            file.issues.push(ConfigError::at(text, member.offset, "", message));
        }
        for other in other_containers(&root, container) {
            let message = format!("`{other}` is not read, because `{container}` is");
            file.issues.push(ConfigError::new("", None, message));
        }
        Ok(file)
    }

    /// Reports a file without servers, whose user may have written them elsewhere.
    fn lacks_servers(&mut self, container: &str) {
        let message = if container == "." {
            "the file has no servers".to_owned()
        } else {
            format!("the file has no servers; add them under `{container}`")
        };
        self.issues.push(ConfigError::new("", None, message));
    }

    fn fail(&mut self, rule: &str, place: Place) {
        let text = format!("`{rule}` restricts the servers, and is not supported in this form; remove it");
        for server in self.servers.drain(..) {
            self.failures.push(ConfigError::new(&server.name, Some(place), text.as_str()));
        }
    }

    /// Returns the dialect.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the servers, also the disabled ones.
    #[must_use]
    pub fn servers(&self) -> &[ServerEntry] {
        &self.servers
    }

    /// Returns what has no effect: unknown and unsupported keys, values that are not replaced, and keys
    /// beside the servers that may restrict them.
    ///
    /// A file without servers is an issue, too.
    #[must_use]
    pub fn issues(&self) -> &[ConfigError] {
        &self.issues
    }

    /// Returns a fault for each server that cannot be used.
    ///
    /// Its entry is malformed, or it has a restriction of its own or of the whole file that is not supported.
    #[must_use]
    pub fn failures(&self) -> &[ConfigError] {
        &self.failures
    }
}

/// Returns the defaults of the program's questions to its user.
fn inputs(root: &Node) -> Arc<BTreeMap<String, String>> {
    let listed = root.at("inputs").or_else(|| root.at("mcp/inputs")).and_then(Node::items);
    let mut defaults = BTreeMap::new();
    for input in listed.unwrap_or_default() {
        if let Some(id) = input.get("id").and_then(Node::text)
            && let Some(default) = input.get("default").and_then(Node::text)
        {
            defaults.insert(id, default);
        }
    }
    Arc::new(defaults)
}

/// Returns the folder of a file's project. The files of programs are in hidden folders.
fn project(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let folder = path.parent()?;
    if folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
        return folder.parent().map(Path::to_owned);
    }
    let in_project = [".mcp.json", "mcp.json", "opencode.json", "opencode.jsonc"].map(std::ffi::OsStr::new);
    if in_project.contains(&path.file_name()?) { Some(folder.to_owned()) } else { None }
}

fn is_part_of_program(entry: &Node) -> bool {
    let kind = entry.get("type").and_then(Node::text);
    kind.is_some_and(|kind| ["builtin", "platform"].contains(&kind.as_str()))
}

fn is_switched_off(entry: &Node) -> bool {
    let flag = |key| entry.get(key).and_then(Node::flag);
    flag("disabled") == Some(true) || flag("enabled") == Some(false)
}

fn other_containers(root: &Node, container: &str) -> Vec<&'static str> {
    let mut paths: Vec<&str> = Vec::new();
    for rules in RULES {
        paths.extend(rules.containers.split(' '));
    }
    paths.sort_unstable();
    paths.dedup();
    let mut others = Vec::new();
    for path in paths {
        if path == "." || path.split('/').next() == container.split('/').next() {
            continue;
        }
        let members = root.at(path).and_then(Node::members).unwrap_or_default();
        if !members.is_empty() && members.iter().all(|member| member.value.members().is_some()) {
            others.push(path);
        }
    }
    others
}
