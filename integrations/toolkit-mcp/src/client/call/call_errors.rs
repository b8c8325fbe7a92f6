//! Failed calls as errors for the model: what happened to the server, and what to do next.

use super::remote_call::RemoteCall;
use crate::client::content::short;
use crate::client::transport::INVALID;
use crate::line_transport::TOO_LARGE;
use rmcp::model::{ErrorCode, ErrorData};
#[cfg(feature = "client-http")]
use std::time::Duration;
use toolkit_core::foreign::clean;
use toolkit_core::{ErrorKind, ToolError};

impl RemoteCall<'_> {
    pub(crate) fn error(&self, what: &str, advice: &str) -> ToolError {
        ToolError::failed(format_args!("MCP server `{}` {what}; {advice}", self.settings().name))
    }

    pub(super) fn lost(&self, reason: &str) -> ToolError {
        self.unknown("was lost during the call", "try again").with_details(reason)
    }

    /// Creates the error for a call that may have been executed. It contains `advice` if the tool may be
    /// called again.
    pub(super) fn unknown(&self, what: &str, advice: &str) -> ToolError {
        let is_repeatable = self.tool.definition.metadata.is_repeatable();
        let advice =
            if is_repeatable { advice } else { "it may have been executed; check before trying again" };
        self.error(what, advice).with_retryable(is_repeatable)
    }

    pub(super) fn broken_off(&self) -> ToolError {
        self.unknown("broke off its answer", "try again")
    }

    #[cfg(feature = "client-http")]
    pub(super) fn of_http(&self, failure: &crate::client::failures::Failure) -> ToolError {
        use crate::client::failures::Failure;
        let later = "try again later, or use another tool";
        match *failure {
            Failure::NoAccess | Failure::Status { status: 401, .. } => self.no_access(),
            Failure::Invalid => self.invalid(),
            Failure::Expired => self.error("has ended the session", later).with_retryable(true),
            Failure::Status { status: 429, pause, .. } => {
                let pause = pause.unwrap_or(Duration::from_secs(1));
                ToolError::rate_limited(self.context.tool_name().as_str(), pause).with_retryable(true)
            }
            // The server would refuse the call again.
            Failure::Status {
                status: status @ (400 | 403..=406 | 411 | 413..=415 | 421 | 422 | 431),
                ..
            } => {
                let what = format!("refused the call (HTTP {status})");
                self.error(&what, "change the arguments, or use another tool")
            }
            // An overloaded server has not executed the call.
            Failure::Status { status: 503, pause: Some(_) } => {
                self.error("is out of order (HTTP 503)", later).with_retryable(true)
            }
            // A proxy may have passed the call on before it failed.
            Failure::Status { status, .. } => {
                self.unknown(&format!("is out of order (HTTP {status})"), later)
            }
        }
    }

    pub(super) fn of_protocol(&self, data: &ErrorData) -> ToolError {
        let message = short(&clean(&data.message));
        let tool = self.context.tool_name();
        match data.code {
            TOO_LARGE => self.too_large(),
            INVALID => self.invalid(),
            // An unknown tool is an invalid parameter, too.
            ErrorCode::INVALID_PARAMS if message.to_lowercase().contains("unknown tool") => {
                let text =
                    format!("Tool `{tool}` is no longer offered by MCP server `{}`", self.settings().name);
                ToolError::new(ErrorKind::NotFound, format!("{text}; use another tool"))
            }
            ErrorCode::INVALID_PARAMS => {
                let text = format!("Tool `{tool}` refused the call: {message}; correct the arguments");
                ToolError::new(ErrorKind::InvalidArguments, text).with_brief("Invalid arguments")
            }
            // The server has not executed the call.
            ErrorCode::PARSE_ERROR | ErrorCode::INVALID_REQUEST | ErrorCode::METHOD_NOT_FOUND => {
                self.error(&format!("failed: {message}"), "try again later, or use another tool")
            }
            _ => self.unknown(&format!("failed: {message}"), "try again later, or use another tool"),
        }
    }

    /// Creates the error for an answer without anything to read. The tool may have run.
    pub(super) fn invalid(&self) -> ToolError {
        self.unknown("sent an answer that cannot be read", "try again")
    }

    pub(super) fn no_access(&self) -> ToolError {
        self.error("refuses access", "the user must renew the credentials; use another tool")
    }

    pub(crate) fn too_large(&self) -> ToolError {
        let limit = self.settings().limits.message_bytes;
        let what = format!("sent a message of more than {limit} bytes, which may be the result of the call");
        self.error(&what, "ask for less, for instance with narrower arguments")
    }
}
