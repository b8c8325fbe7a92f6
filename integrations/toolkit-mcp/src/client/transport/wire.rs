//! An observer around a transport, for progress reports, answers that the server does not read, and the end of the
//! connection.

use super::known_secrets::KnownSecrets;
use super::stderr_tail::StderrTail;
use crate::client::event::McpEvent;
#[cfg(feature = "client-http")]
use crate::client::tools::RawLists;
use crate::line_transport::read;
use crate::reports::Reports;
use crate::unsent::{Unsent, UnsentMessage};
use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, ErrorCode, ErrorData, GetMeta, JsonRpcMessage, ProgressToken, RequestId,
    ServerNotification,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use tokio::sync::broadcast;
use toolkit_core::__private::lock;
use toolkit_core::CancellationToken;

/// The code of the error that replaces a malformed answer.
pub(crate) const INVALID: ErrorCode = ErrorCode(-39_002);

/// The code of the error that replaces an answer about an unknown session.
#[cfg(feature = "client-http")]
pub(crate) const SESSION_LOST: ErrorCode = ErrorCode(-39_003);

/// The state of one connection, shared with its transport.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) ended: CancellationToken,
    pub(crate) events: broadcast::Sender<McpEvent>,
    /// Empty without a child process.
    pub(crate) tail: StderrTail,
    pub(crate) secrets: KnownSecrets,
    /// The server's requests whose answers it has not read.
    pub(crate) unsent: Unsent,
    /// The tool list that is arriving.
    #[cfg(feature = "client-http")]
    pub(crate) lists: RawLists,
    progress: Mutex<HashMap<ProgressToken, ProgressSink>>,
    reason: Mutex<Option<String>>,
}

/// The queue for the progress reports of one call, which lives only as long as the call. It is an extension
/// of the request.
#[derive(Debug, Clone)]
pub(crate) struct ProgressSink(pub(crate) Weak<Reports>);

impl Wire {
    pub(crate) fn new(events: broadcast::Sender<McpEvent>) -> Self {
        let ended = CancellationToken::new();
        let tail = StderrTail::default();
        Self {
            ended,
            events,
            tail,
            secrets: KnownSecrets::default(),
            unsent: Unsent::default(),
            #[cfg(feature = "client-http")]
            lists: RawLists::default(),
            progress: Mutex::default(),
            reason: Mutex::default(),
        }
    }

    pub(crate) fn emit(&self, event: McpEvent) {
        let _ = self.events.send(event);
    }

    /// Sets the reason for the end of the connection, unless one is set already.
    pub(crate) fn ends_because(&self, reason: impl Into<String>) {
        let mut known = lock(&self.reason);
        known.get_or_insert_with(|| reason.into());
    }

    pub(crate) fn reason(&self) -> String {
        let known = lock(&self.reason);
        known.clone().unwrap_or_else(|| "the server closed the connection".to_owned())
    }

    fn sending(&self, message: &TxJsonRpcMessage<RoleClient>) {
        let JsonRpcMessage::Request(request) = message else { return };
        let ClientRequest::CallToolRequest(call) = &request.request else { return };
        let token = request.request.get_meta().get_progress_token();
        if let (Some(ProgressSink(sink)), Some(token)) = (call.extensions.get(), token) {
            let mut sinks = lock(&self.progress);
            // An ended call would never remove its sink.
            if sink.strong_count() > 0 {
                sinks.insert(token, ProgressSink(sink.clone()));
            }
        }
    }

    pub(crate) fn forget(&self, token: &ProgressToken) {
        lock(&self.progress).remove(token);
    }

    /// Returns a message without secrets. An answer that is no message without them becomes an error, and
    /// other messages are left out.
    fn redacted(&self, message: RxJsonRpcMessage<RoleClient>) -> Option<RxJsonRpcMessage<RoleClient>> {
        let redactor = self.secrets.redactor();
        if redactor.is_empty() {
            return Some(message);
        }
        let mut value = serde_json::to_value(&message).unwrap_or_default();
        if !redactor.redact_value(&mut value) {
            return Some(message);
        }
        if let Ok(redacted) = read::<RoleClient>(value.to_string().as_bytes()) {
            return Some(redacted);
        }
        let id = match message {
            JsonRpcMessage::Response(response) => Some(response.id),
            JsonRpcMessage::Error(error) => error.id,
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => return None,
        };
        Some(JsonRpcMessage::error(
            ErrorData::new(INVALID, "the answer has a secret in the wrong place", None),
            id,
        ))
    }

    /// Passes a progress report on to its call, in the order of arrival; `false` for other messages.
    fn took_progress(&self, message: &RxJsonRpcMessage<RoleClient>) -> bool {
        let JsonRpcMessage::Notification(notification) = message else { return false };
        let ServerNotification::ProgressNotification(report) = &notification.notification else {
            return false;
        };
        let sink = lock(&self.progress).get(&report.params.progress_token).cloned();
        if let Some(reports) = sink.and_then(|ProgressSink(reports)| reports.upgrade()) {
            reports.add(report.params.clone());
        }
        true
    }
}

/// A transport that removes secrets from messages, passes progress reports to calls, counts the server's requests, and
/// reports the end of the connection.
pub(crate) struct Watched<T> {
    transport: T,
    wire: Arc<Wire>,
    asked: HashMap<RequestId, UnsentMessage>,
}

impl<T> Watched<T> {
    pub(crate) fn new(transport: T, wire: Arc<Wire>) -> Self {
        Self { transport, wire, asked: HashMap::new() }
    }

    /// Counts a request until its answer is sent. A request that the server withdraws may stay without
    /// answer.
    fn count(&mut self, message: &RxJsonRpcMessage<RoleClient>) {
        match message {
            JsonRpcMessage::Request(request) => {
                self.asked.insert(request.id.clone(), self.wire.unsent.count());
            }
            JsonRpcMessage::Notification(notification) => {
                if let ServerNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.asked.remove(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
    }

    fn answering(&mut self, message: &TxJsonRpcMessage<RoleClient>) -> Option<UnsentMessage> {
        let id = match message {
            JsonRpcMessage::Response(response) => &response.id,
            JsonRpcMessage::Error(error) => error.id.as_ref()?,
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => return None,
        };
        Some(self.asked.remove(id).unwrap_or_else(|| self.wire.unsent.count()))
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Watched<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.wire.sending(&message);
        let counted = self.answering(&message);
        let sending = self.transport.send(message);
        async move {
            let sent = sending.await;
            drop(counted);
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let Some(message) = self.transport.receive().await else {
                self.wire.ended.cancel();
                return None;
            };
            #[cfg(feature = "client-http")]
            let message = self.wire.lists.restore(message);
            let Some(message) = self.wire.redacted(message) else { continue };
            if !self.wire.took_progress(&message) {
                self.count(&message);
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.wire.ended.cancel();
        self.transport.close().await
    }
}

impl<T> Drop for Watched<T> {
    fn drop(&mut self) {
        self.wire.ended.cancel();
    }
}
