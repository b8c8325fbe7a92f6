//! The requests of a connection within their spans.

use super::session::{Session, too_slow};
use crate::mcp_error::{McpError, McpErrorKind};
use crate::request_span::{RequestFacts, RequestSpan, RequestTarget};
use rmcp::service::ServiceError;
use std::time::Duration;
use tokio::time::{Instant, timeout};

#[derive(Clone, Copy)]
pub(super) struct Deadline {
    pub(super) limit: Duration,
    start: Instant,
}

impl Deadline {
    pub(super) fn after(limit: Duration) -> Self {
        Self { limit, start: Instant::now() }
    }

    pub(super) fn remaining(self) -> Duration {
        self.limit.saturating_sub(self.start.elapsed())
    }
}

impl Session {
    pub(crate) fn open_span(&self, method: &str, target: RequestTarget<'_>) -> RequestSpan {
        RequestSpan::open(|| RequestFacts {
            is_client: true,
            method,
            target,
            protocol: self.protocol(),
            session: None,
            path: &self.path,
            parent: None,
        })
    }

    fn protocol(&self) -> Option<String> {
        self.peer.peer_info().map(|peer| peer.protocol_version.to_string())
    }

    /// Waits for the answer within a call's time limit.
    pub(crate) async fn answer<T>(
        &self,
        method: &str,
        target: RequestTarget<'_>,
        request: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<T, McpError> {
        let deadline = Deadline::after(self.handler.settings.call_timeout);
        self.answer_until(deadline, method, target, request).await
    }

    pub(super) async fn answer_until<T>(
        &self,
        deadline: Deadline,
        method: &str,
        target: RequestTarget<'_>,
        request: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<T, McpError> {
        let span = self.open_span(method, target);
        let answer = tokio::select! {
            answer = timeout(deadline.remaining(), span.around(request)) => match answer {
                Ok(Ok(answer)) => Ok(answer),
                Ok(Err(error)) => {
                    span.set_refusal(&error);
                    Err(self.failed(method, &error))
                }
                Err(_) => Err(too_slow(&format!("answer `{method}`"), deadline.limit)),
            },
            () = self.wire.ended.cancelled() => {
                Err(McpError::new(McpErrorKind::Connection, self.wire.reason()))
            }
        };
        span.end_with(&answer);
        answer
    }
}

impl RequestSpan {
    pub(crate) fn set_refusal(&self, error: &ServiceError) {
        if let ServiceError::McpError(error) = error {
            self.set_code(error.code.0);
        }
    }

    pub(super) fn end_with<T>(&self, outcome: &Result<T, McpError>) {
        let Err(error) = outcome else { return self.end(None) };
        self.end(Some(match error.kind() {
            McpErrorKind::Config => "config",
            McpErrorKind::Build => "build",
            McpErrorKind::Bind => "bind",
            McpErrorKind::Start => "start",
            McpErrorKind::Connection => "connection",
            McpErrorKind::Unauthorized => "unauthorized",
            McpErrorKind::TimedOut => "timed_out",
            McpErrorKind::Protocol => "protocol",
        }));
    }
}
