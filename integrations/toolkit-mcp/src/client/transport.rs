//! The state of a connection, and the transport over lines and to child processes.

mod child_transport;
mod known_secrets;
mod mcp_command;
mod server_lines;
mod stderr_tail;
mod wire;

pub(super) use child_transport::ChildTransport;
#[cfg(feature = "client-http")]
pub(super) use known_secrets::KnownSecrets;
pub use mcp_command::McpCommand;
pub(super) use server_lines::ServerLines;
#[cfg(feature = "client-http")]
pub(super) use wire::SESSION_LOST;
pub(crate) use wire::Wire;
pub(super) use wire::{INVALID, ProgressSink, Watched};
