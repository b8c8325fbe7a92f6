//! Servers as child processes.

use super::event::McpEvent;
use super::mcp_error::{McpError, McpErrorKind};
use super::server_lines::ServerLines;
use super::wire::Wire;
use crate::line_transport::LineReader;
use crate::locks::lock;
use crate::macros::debug;
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;
use toolkit_core::CancellationToken;

/// The environment variables inherited by every server.
const INHERITED: &str = "APPDATA HOME HOMEDRIVE HOMEPATH LANG LC_ALL LOCALAPPDATA LOGNAME PATH PATHEXT \
    PROCESSOR_ARCHITECTURE PROGRAMFILES SHELL SYSTEMDRIVE SYSTEMROOT TEMP TERM TMP TMPDIR TZ USER USERNAME USERPROFILE";

/// The time that a server has to exit after its input ended, and again after the signal to terminate.
const PATIENCE: Duration = Duration::from_secs(2);

/// The time that a server has to exit after it closed its output.
const EXIT: Duration = Duration::from_millis(200);

/// The number of lines of standard error kept for messages. `LINE` is the maximum length of a line in bytes.
const LINES: usize = 10;
const LINE: usize = 4_096;

#[cfg(unix)]
const SIGTERM: i32 = 15;

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
    program: OsString,
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

    /// Starts the process and returns the transport to it.
    pub(super) fn spawn(&self, limit: usize, wire: &Arc<Wire>) -> Result<ChildTransport, McpError> {
        let failed = |error: io::Error| {
            let program = self.program.to_string_lossy();
            let text = format!("`{program}` could not be started: {error}; check the command and `PATH`");
            McpError::new(McpErrorKind::Start, text)
        };
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
        let mut command = CommandWrap::from(command);
        #[cfg(unix)]
        command.wrap(process_wrap::tokio::ProcessGroup::leader());
        let mut child = command.spawn().map_err(failed)?;
        let missing = || failed(io::Error::other("its standard streams are not connected"));
        let output = child.stdout().take().ok_or_else(missing)?;
        let input = child.stdin().take().ok_or_else(missing)?;
        let errors = child.stderr().take().ok_or_else(missing)?;
        let tail = Tail::default();
        tokio::spawn(read_errors(errors, tail.clone(), wire.clone()));
        let lines = ServerLines::new(output, input, limit, wire.clone());
        Ok(ChildTransport { child: Some(child), lines, tail, wire: wire.clone() })
    }
}

// The values of the environment variables are not shown.
debug!(McpCommand, self, "program": self.program, "arguments": self.arguments, "variables": self.variables.keys(), "directory": self.directory);

/// The last lines of standard error.
#[derive(Debug, Clone, Default)]
pub(super) struct Tail {
    lines: Arc<Mutex<VecDeque<String>>>,
    /// Cancelled when standard error is closed.
    ended: CancellationToken,
}

impl Tail {
    fn push(&self, line: String) {
        let mut lines = lock(&self.lines);
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// Returns the last lines of standard error, as text to append to an error message. The text is empty if there are
    /// no lines. First waits a moment for lines that have not arrived yet.
    pub(super) async fn text(&self) -> String {
        let _ = timeout(EXIT, self.ended.cancelled()).await;
        let lines = lock(&self.lines);
        if lines.is_empty() {
            return String::new();
        }
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        format!("; its last output: {}", lines.join(" | "))
    }
}

/// Reads standard error to its end, so that the server never blocks on writing.
async fn read_errors(errors: ChildStderr, tail: Tail, wire: Arc<Wire>) {
    let _ended = tail.ended.clone().drop_guard();
    let mut lines = LineReader::new(errors, LINE);
    while let Ok(true) = lines.advance().await {
        let line = String::from_utf8_lossy(lines.line()).into_owned();
        if !line.is_empty() {
            tail.push(line.clone());
            wire.emit(McpEvent::Stderr { line });
        }
    }
}

/// The transport to a child process.
pub(super) struct ChildTransport {
    /// `None` after the process has exited.
    child: Option<Box<dyn ChildWrapper>>,
    lines: ServerLines<ChildStdout, ChildStdin>,
    pub(super) tail: Tail,
    wire: Arc<Wire>,
}

impl Transport<RoleClient> for ChildTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.lines.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.lines.receive().await;
        if message.is_none()
            && let Some(child) = &mut self.child
        {
            let reason = match timeout(EXIT, child.wait()).await {
                Ok(Ok(status)) => format!("the process ended ({status})"),
                _ => "the process closed its output".to_owned(),
            };
            self.wire.ends_because(reason + &self.tail.text().await);
        }
        message
    }

    async fn close(&mut self) -> io::Result<()> {
        self.lines.close().await?;
        let Some(child) = &mut self.child else { return Ok(()) };
        let mut has_exited = timeout(PATIENCE, child.wait()).await.is_ok();
        #[cfg(unix)]
        if !has_exited && child.signal(SIGTERM).is_ok() {
            has_exited = timeout(PATIENCE, child.wait()).await.is_ok();
        }
        if !has_exited {
            Box::into_pin(child.kill()).await?;
        }
        self.child = None;
        Ok(())
    }
}

/// Kills the process and all processes of its group, if the transport is dropped without being closed.
impl Drop for ChildTransport {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.start_kill();
        }
    }
}
