//! The command of a server that runs as a child process.

use crate::macros::debug;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::process::Command;

/// The environment variables inherited by every server.
const INHERITED: &str = "APPDATA HOME HOMEDRIVE HOMEPATH LANG LC_ALL LOCALAPPDATA LOGNAME PATH PATHEXT \
    PROCESSOR_ARCHITECTURE PROGRAMFILES SHELL SYSTEMDRIVE SYSTEMROOT TEMP TERM TMP TMPDIR TZ USER USERNAME USERPROFILE";

/// The command of a server, for running the server as a child process.
///
/// Client and server exchange messages over standard input and output of the process.
///
/// The process runs in a process group of its own. When the client closes the connection, the process has two
/// seconds to exit. Then the client sends the group a signal to terminate, and after two more seconds kills
/// the group.
///
/// The process inherits only variables such as `PATH` and `HOME`, because the environment of a program often
/// contains secrets. Pass other variables with [`env`](Self::env).
///
/// ```
/// use toolkit_mcp::client::McpCommand;
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
    /// Creates the command for a program. The program is searched in `PATH`.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        let program = program.as_ref().to_owned();
        let arguments = Vec::new();
        let variables = BTreeMap::new();
        Self { program, arguments, variables, directory: None, inherits_all: false }
    }

    /// Adds an argument for the program.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds arguments for the program.
    pub fn args<T: AsRef<OsStr>>(self, arguments: impl IntoIterator<Item = T>) -> Self {
        arguments.into_iter().fold(self, Self::arg)
    }

    /// Sets an environment variable of the program.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.variables.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    /// Sets the working directory of the server. The default is the working directory of the calling program.
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Passes all environment variables of the calling program on to the server, including secrets.
    pub fn inherit_env(mut self) -> Self {
        self.inherits_all = true;
        self
    }

    /// Returns the file name of the program, as a name for the server.
    pub(super) fn label(&self) -> String {
        let path = PathBuf::from(&self.program);
        path.file_stem().unwrap_or(&self.program).to_string_lossy().into_owned()
    }

    /// Returns the working directory if it does not exist.
    pub(super) fn missing_directory(&self) -> Option<&Path> {
        self.directory.as_deref().filter(|directory| !directory.is_dir())
    }

    /// Returns the command with piped standard streams.
    pub(super) fn to_process(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if !self.inherits_all {
            command.env_clear();
            command.envs(INHERITED.split(' ').filter_map(|name| Some((name, std::env::var_os(name)?))));
        }
        command.envs(&self.variables);
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        command
    }
}

// The values of the environment variables are not shown.
debug!(McpCommand, self, "program": self.program, "arguments": self.arguments, "variables": self.variables.keys(), "directory": self.directory);
