//! The transport to a server that runs as a child process.

use super::mcp_command::McpCommand;
use super::server_lines::ServerLines;
use super::wire::Wire;
use crate::client::event::McpEvent;
use crate::line_transport::LineReader;
use crate::mcp_error::{McpError, McpErrorKind};
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
#[cfg(unix)]
use tokio::time::sleep;
use tokio::time::timeout;
use toolkit_core::redaction::Unread;

/// The time to exit after the end of input, and again after the signal to terminate.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);

/// The time for the other processes of the group after the signal to terminate.
#[cfg(unix)]
const GROUP_TIMEOUT: Duration = Duration::from_millis(500);

/// The wait for the exit status of a server that has closed its output.
const STATUS_TIMEOUT: Duration = Duration::from_millis(200);

#[cfg(unix)]
const SIGTERM: i32 = 15;

/// The maximum length of a line, in bytes.
const MAX_LINE_BYTES: usize = 4_096;

pub(crate) struct ChildTransport {
    /// `None` after the process has exited.
    child: Option<Box<dyn ChildWrapper>>,
    lines: ServerLines<ChildStdout, ChildStdin>,
    wire: Arc<Wire>,
}

impl ChildTransport {
    pub(crate) fn spawn(command: &McpCommand, limit: usize, wire: &Arc<Wire>) -> Result<Self, McpError> {
        wire.secrets.add(&command.secrets());
        let mut process = CommandWrap::from(command.to_process());
        #[cfg(unix)]
        process.wrap(process_wrap::tokio::ProcessGroup::leader());
        let mut child = process.spawn().map_err(|error| start_error(command, &error))?;
        let missing = || start_error(command, &io::Error::other("its standard streams are not connected"));
        let output = child.stdout().take().ok_or_else(missing)?;
        let input = child.stdin().take().ok_or_else(missing)?;
        let errors = child.stderr().take().ok_or_else(missing)?;
        tokio::spawn(read_errors(errors, wire.clone()));
        let lines = ServerLines::new(output, input, limit, wire.clone());
        Ok(Self { child: Some(child), lines, wire: wire.clone() })
    }
}

fn start_error(command: &McpCommand, error: &io::Error) -> McpError {
    if let Some(directory) = command.missing_directory() {
        let text = format!("the working directory `{}` does not exist", directory.display());
        return McpError::new(McpErrorKind::Start, text);
    }
    let program = command.program.to_string_lossy();
    let cure = if program.contains(char::is_whitespace) {
        "the command is the program alone, and its arguments go into `args`"
    } else {
        "check the command and `PATH`"
    };
    McpError::new(McpErrorKind::Start, format!("`{program}` could not be started: {error}; {cure}"))
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
            let reason = match timeout(STATUS_TIMEOUT, child.wait()).await {
                Ok(Ok(status)) => format!("the process ended ({status})"),
                _ => "the process closed its output".to_owned(),
            };
            self.wire.ends_because(reason + &self.wire.tail.text().await);
        }
        message
    }

    async fn close(&mut self) -> io::Result<()> {
        self.lines.close().await?;
        let Some(child) = &mut self.child else { return Ok(()) };
        let mut has_exited = has_exited_within(EXIT_TIMEOUT, child).await;
        // The group may have other processes, such as a browser, which outlive the server.
        #[cfg(unix)]
        if child.signal(SIGTERM).is_ok() {
            if has_exited {
                sleep(GROUP_TIMEOUT).await;
                let _ = child.start_kill();
            } else {
                has_exited = has_exited_within(EXIT_TIMEOUT, child).await;
            }
        }
        if !has_exited {
            Box::into_pin(child.kill()).await?;
        }
        self.child = None;
        Ok(())
    }
}

/// Reads standard error to its end, so that the server never blocks on writing.
async fn read_errors(errors: ChildStderr, wire: Arc<Wire>) {
    let _ended = wire.tail.ended.clone().drop_guard();
    let mut lines = LineReader::new(errors, MAX_LINE_BYTES);
    while let Ok(true) = lines.advance().await {
        let line = Unread::cut(lines.line()).text(&wire.secrets.redactor()).to_string();
        if !line.is_empty() {
            wire.tail.push(line.clone());
            wire.emit(McpEvent::Stderr { line });
        }
    }
}

async fn has_exited_within(limit: Duration, child: &mut Box<dyn ChildWrapper>) -> bool {
    matches!(timeout(limit, child.wait()).await, Ok(Ok(_)))
}

/// Kills the process group of a transport that was not closed.
impl Drop for ChildTransport {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.start_kill();
        }
    }
}
