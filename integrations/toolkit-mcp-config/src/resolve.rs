//! Entries with their variables replaced.

use crate::config_error::ConfigError;
use crate::entry::{ServerEntry, ServerTransport};
use crate::variables::Lookup;
use std::collections::BTreeMap;

/// Returns the part of a URL up to its path, which decides where a client sends its headers. Where parsers of
/// URLs disagree about it, this is the whole URL.
pub(crate) fn origin(url: &str) -> &str {
    let Some(start) = url.find("://").map(|at| at + 3) else { return url };
    let end = url[start..].find(['/', '\\', '?', '#']).map_or(url.len(), |at| start + at);
    if end == start || url.contains(|c: char| c.is_ascii_control()) { url } else { &url[..end] }
}

/// Stands for a variable; no URL contains it.
const VALUE: &str = "\u{f8ff}";

impl ServerEntry {
    /// Returns the transport with the values that `lookup` returns for variables.
    ///
    /// `lookup` gets the names of environment variables, and of other references: `input:id`,
    /// `workspaceFolder`, `file:path`. Where it returns nothing, these are the default of the input, the
    /// folder of the project, the text of the file. A default in the file, as in `${NAME:-default}`, is used
    /// if the variable is missing or empty. A variable that the entry itself sets in `env` has this value in
    /// all its other texts.
    ///
    /// A variable cannot change the host of a URL, because the headers may contain secrets.
    ///
    /// ```
    /// use toolkit_mcp_config::{ConfigFile, ServerTransport};
    ///
    /// let file = ConfigFile::read(r#"{"mcpServers": {"a": {"command": "${HOME}/server"}}}"#)?;
    /// let home = |name: &str| (name == "HOME").then(|| "/home/ada".to_owned());
    /// let ServerTransport::Command { program, .. } = file.servers()[0].resolve(home)? else { panic!() };
    /// assert_eq!(program, "/home/ada/server");
    /// # Ok::<(), toolkit_mcp_config::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// [`ConfigError`] if a variable has no value, a file with variables cannot be read, or a variable
    /// changes the host.
    pub fn resolve(&self, lookup: impl Fn(&str) -> Option<String>) -> Result<ServerTransport, ConfigError> {
        let resolved = self.resolved(&lookup);
        resolved.map_err(|message| ConfigError::new(&self.name, self.place, message))
    }

    fn resolved(&self, lookup: &Lookup<'_>) -> Result<ServerTransport, String> {
        let variables = &self.variables;
        let text = |text: &String| variables.expand(text, lookup);
        match &self.transport {
            ServerTransport::Command { program, args, env, cwd } => {
                let mut set = BTreeMap::new();
                for name in &variables.passed {
                    if let Some(value) = lookup(name) {
                        set.insert(name.clone(), value);
                    }
                }
                if let Some(path) = &variables.env_file {
                    set.extend(variables.env_file(&text(path)?, lookup)?);
                }
                for (name, value) in env {
                    set.insert(name.clone(), text(value)?);
                }
                let expanded = |text: &String| variables.expand_with(text, &set, lookup);
                let program = expanded(program)?;
                let is_name = !program.contains(['/', '\\']);
                Ok(ServerTransport::Command {
                    program: if is_name { program } else { variables.path(&program, lookup) },
                    args: args.iter().map(expanded).collect::<Result<_, _>>()?,
                    cwd: cwd.as_ref().map(expanded).transpose()?.map(|path| variables.path(&path, lookup)),
                    env: set,
                })
            }
            ServerTransport::Http { url, headers } => {
                // A variable that no text needs may be without a value.
                let mut own = BTreeMap::new();
                for (name, value) in &variables.own {
                    if let Ok(value) = text(value) {
                        own.insert(name.clone(), value);
                    }
                }
                let sent_to = variables.expand_with(url, &own, lookup)?;
                if origin(&variables.with_defaults(url, VALUE)?) != origin(&sent_to) {
                    return Err(
                        "a variable changes the host of the URL; write the host into the file".to_owned()
                    );
                }
                let mut sent = BTreeMap::new();
                for (name, before, variable) in &variables.headers {
                    match lookup(variable) {
                        Some(value) => drop(sent.insert(name.clone(), format!("{before}{value}"))),
                        None if before.is_empty() => {}
                        None => return Err(variables.missing(variable)),
                    }
                }
                for (name, value) in headers {
                    sent.insert(name.clone(), variables.expand_with(value, &own, lookup)?);
                }
                Ok(ServerTransport::Http { url: sent_to, headers: sent })
            }
        }
    }
}
