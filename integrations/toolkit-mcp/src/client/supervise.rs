//! The background task of a client: lists changed tools again and restores lost connections.

use super::ClientState;
use super::event::McpEvent;
use super::session::Session;
use rmcp::service::Subscription;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::time::sleep;

/// The minimum time between two listings of the tools.
const BETWEEN_LISTINGS: Duration = Duration::from_millis(100);

/// The longest pause before another attempt to subscribe to changes of the tools.
const LONGEST_SILENCE: Duration = Duration::from_secs(60);

/// The state of the connection.
#[derive(Clone)]
pub(super) enum Link {
    Up(Arc<Session>),
    /// The connection is lost, for this reason.
    Down(String),
    /// The connection is lost, for this reason, and no further attempt is made.
    Lost(String),
    Closed,
}

/// Follows the connection until the client is closed or dropped.
pub(super) async fn supervise(inner: Weak<ClientState>, mut session: Arc<Session>) {
    let mut failures = 0;
    while let Some(reason) = watch(&inner, &session).await {
        let Some(client) = inner.upgrade().filter(|client| !client.closing.is_cancelled()) else { break };
        client.set_link(Link::Down(reason.clone()));
        client.emit(McpEvent::Disconnected { reason });
        // Reset the pauses only after a long connection. Otherwise, a server that dies soon after each start
        // would be restarted without pauses.
        if session.opened.elapsed() > client.handler.settings.backoff.longest {
            failures = 0;
        }
        drop((client, session));
        match reconnect(&inner, &mut failures).await {
            Some(restored) => session = restored,
            None => {
                if let Some(client) = inner.upgrade() {
                    client.give_up();
                }
                return;
            }
        }
    }
    session.close().await;
}

/// Follows one connection until it ends, and returns the reason. Returns `None` after the client was closed or dropped.
async fn watch(inner: &Weak<ClientState>, session: &Session) -> Option<String> {
    let (closing, changed) = {
        let client = inner.upgrade()?;
        (client.closing.clone(), client.handler.tools_changed.clone())
    };
    let mut subscription = if session.needs_subscription() { session.subscribe().await } else { None };
    loop {
        tokio::select! {
            () = closing.cancelled() => return None,
            () = session.lost() => return Some(session.wire.reason()),
            () = changed.notified() => {}
            () = announced(&mut subscription, session) => {}
            () = session.stale_list() => {}
        }
        if let Some(client) = inner.upgrade()
            && let Err(error) = client.list(session).await
        {
            session.postpone();
            client.emit(McpEvent::ListFailed { error: error.to_string() });
        }
        sleep(BETWEEN_LISTINGS).await;
    }
}

/// Waits until the server announces changed tools. Announcements may be lost if the subscription ends. In this case,
/// subscribes again and returns as if the tools had changed.
async fn announced(subscription: &mut Option<Subscription>, session: &Session) {
    if !session.needs_subscription() {
        return std::future::pending().await;
    }
    if let Some(stream) = subscription {
        if let Ok(Some(_)) = stream.next().await {
            return;
        }
        *subscription = None;
    }
    let mut pause = Duration::from_secs(1);
    while subscription.is_none() {
        sleep(pause).await;
        pause = pause.saturating_mul(2).min(LONGEST_SILENCE);
        *subscription = session.subscribe().await;
    }
}

/// Connects again, with pauses between the attempts. Returns `None` after the last attempt, or after the
/// client was closed or dropped.
async fn reconnect(inner: &Weak<ClientState>, failures: &mut u32) -> Option<Arc<Session>> {
    let mut attempts: u32 = 0;
    loop {
        attempts += 1;
        *failures = failures.saturating_add(1);
        let (closing, pause) = {
            let client = inner.upgrade()?;
            let backoff = &client.handler.settings.backoff;
            if backoff.attempts.is_some_and(|most| attempts > most) {
                return None;
            }
            if !client.endpoint.is_reusable {
                let error = "a connection over given streams cannot be opened again".to_owned();
                client.emit(McpEvent::ReconnectFailed { attempt: attempts, error, retry_in: None });
                return None;
            }
            (client.closing.clone(), backoff.pause(*failures))
        };
        tokio::select! {
            () = closing.cancelled() => return None,
            () = sleep(pause) => {}
        }
        let client = inner.upgrade()?;
        let opened = tokio::select! {
            () = closing.cancelled() => return None,
            opened = client.open() => opened,
        };
        match opened {
            Ok(session) => {
                if !client.set_link(Link::Up(session.clone())) {
                    session.close().await;
                    return None;
                }
                client.emit(McpEvent::Reconnected { attempts });
                return Some(session);
            }
            Err(error) => {
                let backoff = &client.handler.settings.backoff;
                let has_next = backoff.attempts.is_none_or(|most| attempts < most);
                let retry_in = has_next.then(|| backoff.pause(failures.saturating_add(1)));
                client.set_link(Link::Down(error.to_string()));
                client.emit(McpEvent::ReconnectFailed {
                    attempt: attempts,
                    error: error.to_string(),
                    retry_in,
                });
            }
        }
    }
}
