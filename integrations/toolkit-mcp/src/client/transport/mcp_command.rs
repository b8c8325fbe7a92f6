//! The command of a server in a child process.

use crate::macros::debug;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::process::Command;
use toolkit_core::redaction::{Redactor, is_secret_name};

/// The environment variables inherited by every server.
const INHERITED: [&str; 3] = [
    "APPDATA HOME HOMEDRIVE HOMEPATH LANG LC_ALL LOCALAPPDATA LOGNAME PATH PATHEXT PROCESSOR_ARCHITECTURE \
     PROGRAMFILES SHELL SYSTEMDRIVE SYSTEMROOT TEMP TERM TMP TMPDIR TZ USER USERNAME USERPROFILE",
    "ALL_PROXY HTTPS_PROXY HTTP_PROXY NO_PROXY all_proxy https_proxy http_proxy no_proxy NODE_EXTRA_CA_CERTS \
     REQUESTS_CA_BUNDLE SSL_CERT_DIR SSL_CERT_FILE",
    "XDG_CACHE_HOME XDG_CONFIG_DIRS XDG_CONFIG_HOME XDG_DATA_DIRS XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME",
];

/// On Windows, `npx` is the script `npx.cmd`. No test runs on Windows.
const ENDINGS: [&str; 3] = ["exe", "cmd", "bat"];

/// The command of a server in a child process.
///
/// Messages are exchanged over standard input and output of the process, which has a process group of its
/// own. When the client closes the connection, the process has two seconds to exit. The client then sends the
/// group a signal to terminate, and after two more seconds kills it.
///
/// The process inherits only variables of the system, such as `PATH`, `HOME`, `HTTPS_PROXY` and
/// `SSL_CERT_FILE`, because the environment of a program often contains secrets. Pass others with
/// [`env`](Self::env).
///
/// ```
/// use toolkit_ai::mcp::client::McpCommand;
///
/// let command = McpCommand::new("npx").args(["-y", "@modelcontextprotocol/server-everything"]);
/// let command = command.env("LOG_LEVEL", "warn").current_dir("/srv");
/// ```
#[derive(Clone, PartialEq, Eq)]
#[must_use]
pub struct McpCommand {
    pub(super) program: OsString,
    arguments: Vec<OsString>,
    variables: BTreeMap<OsString, OsString>,
    directory: Option<PathBuf>,
    inherits_all: bool,
}

impl McpCommand {
    /// Creates the command for a program, which is searched in `PATH`.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        let program = program.as_ref().to_owned();
        let arguments = Vec::new();
        let variables = BTreeMap::new();
        Self { program, arguments, variables, directory: None, inherits_all: false }
    }

    /// Adds an argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args<T: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = T>) -> Self {
        for argument in arguments {
            self.arguments.push(argument.as_ref().to_owned());
        }
        self
    }

    /// Sets an environment variable.
    ///
    /// If its name ends in `key`, `token`, `secret`, `password`, `authorization` or `credentials`, nothing
    /// that the server writes shows the value.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.variables.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    /// Sets the working directory; that of the calling program by default.
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Passes on all environment variables of the calling program, including secrets.
    pub fn inherit_env(mut self) -> Self {
        self.inherits_all = true;
        self
    }

    /// Returns the file name of the program.
    pub(crate) fn label(&self) -> String {
        let path = PathBuf::from(&self.program);
        path.file_stem().unwrap_or(&self.program).to_string_lossy().into_owned()
    }

    /// Returns the environment variables that hold secrets, by their names.
    pub(crate) fn secrets(&self) -> Redactor {
        let inherited = std::env::vars_os().filter(|_| self.inherits_all);
        let own = self.variables.iter().map(|(name, value)| (name.clone(), value.clone()));
        let mut redactor = Redactor::new();
        for (name, value) in inherited.chain(own) {
            if is_secret_name(&name.to_string_lossy()) {
                redactor.add(&value.to_string_lossy());
            }
        }
        redactor
    }

    pub(super) fn missing_directory(&self) -> Option<&Path> {
        self.directory.as_deref().filter(|directory| !directory.is_dir())
    }

    pub(super) fn to_process(&self) -> Command {
        let folders = std::env::var_os("PATH").filter(|_| cfg!(windows));
        let script = folders.and_then(|folders| find(&self.program, std::env::split_paths(&folders)));
        let mut command = Command::new(script.unwrap_or_else(|| PathBuf::from(&self.program)));
        command.args(&self.arguments).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if !self.inherits_all {
            command.env_clear();
            for name in INHERITED.iter().flat_map(|names| names.split(' ')) {
                if let Some(value) = std::env::var_os(name) {
                    command.env(name, value);
                }
            }
        }
        command.envs(&self.variables);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command
    }
}

/// Finds a program without an ending in `folders`, as Windows itself does only for `exe`.
fn find(program: &OsStr, folders: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    let name = Path::new(program);
    if name.extension().is_some() || name.components().count() > 1 {
        return None;
    }
    for folder in folders {
        for ending in ENDINGS {
            let path = folder.join(name).with_extension(ending);
            if path.is_file() {
                return Some(path);
            }
        }
    }
    None
}

/// Returns an option such as `--port=…` or `-y` without its value, and `…` for any other argument: it may be
/// a secret.
fn shown(argument: &OsString) -> String {
    let text = argument.to_string_lossy();
    let (name, value) = text.split_once('=').map_or((&*text, ""), |(name, _)| (name, "=…"));
    let is_option = match name.strip_prefix("--") {
        Some(name) => name.chars().all(|character| character.is_ascii_lowercase() || character == '-'),
        None => name.len() == 2 && name.starts_with('-'),
    };
    if is_option { format!("{name}{value}") } else { "…".to_owned() }
}

// Values may be secrets.
debug!(McpCommand, self, "program": self.program, "arguments": self.arguments.iter().map(shown).collect::<Vec<_>>(), "variables": self.variables.keys(), "directory": self.directory);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_with_the_endings_of_windows_are_found() {
        let folder = std::env::temp_dir().join("toolkit-mcp-endings");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("tool.cmd"), "").expect("a file");
        let found = |program: &str| find(OsStr::new(program), [folder.clone()].into_iter());
        assert_eq!(found("tool"), Some(folder.join("tool.cmd")));
        for program in ["other", "tool.cmd", "./tool"] {
            assert_eq!(found(program), None, "{program}");
        }
    }
}
