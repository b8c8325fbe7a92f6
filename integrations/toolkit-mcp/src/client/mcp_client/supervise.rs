//! The background task of a client: lists changed tools again and restores lost connections.

use super::ClientState;
use crate::client::connection::{ListingPace, Session};
use crate::client::event::McpEvent;
use crate::mcp_error::{McpError, McpErrorKind};
use rmcp::model::ServerNotification;
use rmcp::service::Subscription;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::time::{sleep, sleep_until};

/// The state of the connection.
#[derive(Clone)]
pub(crate) enum Link {
    Starting,
    Up(Arc<Session>),
    /// There is no connection, and another attempt follows.
    Down(McpError),
    /// There is no connection, and no further attempt follows.
    Closed(McpError),
}

impl Link {
    /// Ends the attempts, with the last one's reason.
    fn give_up(&mut self) {
        if let Self::Down(error) = self {
            *self = Self::Closed(error.clone());
        }
    }
}

/// Follows the connection until the client is closed or dropped. Without a `session`, connects first.
pub(super) async fn supervise(inner: Weak<ClientState>, session: Option<Arc<Session>>) {
    let mut failures = 0;
    let mut next = match session {
        Some(session) => Some(session),
        None => reconnect(&inner, &mut failures, Duration::ZERO).await,
    };
    while let Some(session) = next {
        let Some(reason) = watch(&inner, &session).await else { return session.close().await };
        let Some(client) = inner.upgrade().filter(|client| !client.closing.is_cancelled()) else {
            return session.close().await;
        };
        client.set_link(Link::Down(McpError::new(McpErrorKind::Connection, reason.clone())));
        client.handler.emit(McpEvent::Disconnected { reason });
        // Otherwise, a server that dies soon after each start would be restarted without pauses.
        if session.opened.elapsed() > client.handler.settings.backoff.longest {
            failures = 0;
        }
        let pause = client.next_pause(0, &mut failures);
        drop((client, session));
        next = match pause {
            Some(pause) => reconnect(&inner, &mut failures, pause).await,
            None => None,
        };
    }
    let Some(client) = inner.upgrade() else { return };
    client.link.send_modify(Link::give_up);
}

/// Returns the reason for the end of a connection; `None` after the client was closed or dropped.
async fn watch(inner: &Weak<ClientState>, session: &Session) -> Option<String> {
    let (closing, changed) = {
        let client = inner.upgrade()?;
        (client.closing.clone(), client.handler.tools_changed.clone())
    };
    let mut subscription = session.subscribe().await;
    let mut pace = ListingPace::new();
    let mut is_stale = false;
    loop {
        tokio::select! {
            () = closing.cancelled() => return None,
            () = session.wire.ended.cancelled() => return Some(session.wire.reason()),
            () = session.stale.cancelled() => return Some(session.wire.reason()),
            // A change that is announced meanwhile is remembered.
            () = changed.notified(), if !is_stale => is_stale = true,
            () = announced(&mut subscription, session) => is_stale = true,
            () = session.stale_list(), if !is_stale => is_stale = true,
            () = sleep_until(pace.earliest()), if is_stale => {
                is_stale = false;
                pace.lists();
                if let Some(client) = inner.upgrade()
                    && let Err(error) = client.list(session).await
                {
                    session.postpone();
                    client.handler.emit(McpEvent::ListFailed { error: error.to_string() });
                }
            }
        }
    }
}

/// Waits until the server announces changed tools. If the subscription ends, announcements may be lost:
/// subscribes again and returns as if the tools had changed.
async fn announced(subscription: &mut Option<Subscription>, session: &Session) {
    if session.announced_lists().is_none() {
        return std::future::pending().await;
    }
    while let Some(stream) = subscription
        && let Ok(Some(change)) = stream.next().await
    {
        match change {
            ServerNotification::ResourceListChangedNotification(_) => {
                session.wire.emit(McpEvent::ResourcesChanged);
            }
            ServerNotification::PromptListChangedNotification(_) => {
                session.wire.emit(McpEvent::PromptsChanged);
            }
            _ => return,
        }
    }
    *subscription = None;
    let mut attempt: u32 = 0;
    while subscription.is_none() {
        attempt = attempt.saturating_add(1);
        sleep(session.handler.settings.backoff.pause(attempt)).await;
        *subscription = session.subscribe().await;
    }
}

/// Connects after growing pauses. Returns `None` after the last attempt, or after the client was closed or
/// dropped.
async fn reconnect(
    inner: &Weak<ClientState>,
    failures: &mut u32,
    mut pause: Duration,
) -> Option<Arc<Session>> {
    let mut attempts: u32 = 0;
    loop {
        attempts += 1;
        let (closing, endpoint, handler) = {
            let client = inner.upgrade()?;
            (client.closing.clone(), client.endpoint.clone(), client.handler.clone())
        };
        let opening = async {
            sleep(pause).await;
            // The client may be dropped meanwhile.
            let session = Arc::new(Session::open(&endpoint, &handler).await?);
            match inner.upgrade() {
                Some(client) => client.adopt(&session).await?,
                None => session.close().await,
            }
            Ok(session)
        };
        let opened: Result<_, McpError> = tokio::select! {
            () = closing.cancelled() => return None,
            opened = opening => opened,
        };
        let client = inner.upgrade()?;
        match opened {
            Ok(session) => {
                if !client.set_link(Link::Up(session.clone())) {
                    session.close().await;
                    return None;
                }
                client.handler.emit(McpEvent::Reconnected { attempts });
                return Some(session);
            }
            Err(error) => {
                let pause_before_next = client.next_pause(attempts, failures);
                // A configuration that is wrong stays wrong.
                let is_final = error.kind() == McpErrorKind::Config;
                let retry_in = if is_final { None } else { pause_before_next };
                client.set_link(Link::Down(error.clone()));
                let error = error.to_string();
                client.handler.emit(McpEvent::ReconnectFailed { attempt: attempts, error, retry_in });
                pause = retry_in?;
            }
        }
    }
}

impl ClientState {
    /// Returns the pause after `attempts` attempts in a row; `None` if no attempt follows.
    fn next_pause(&self, attempts: u32, failures: &mut u32) -> Option<Duration> {
        let backoff = &self.handler.settings.backoff;
        let is_last = backoff.attempts.is_some_and(|most| attempts >= most) || !self.endpoint.is_reusable;
        *failures = failures.saturating_add(1);
        if is_last { None } else { Some(backoff.pause(*failures)) }
    }
}
