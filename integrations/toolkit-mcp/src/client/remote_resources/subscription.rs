//! Subscriptions to changes of resources.

// Versions before 2026-07-28 subscribe with a request, and not with a stream.
#![expect(deprecated)]

use crate::client::connection::Session;
use crate::client::event::McpEvent;
use crate::client::mcp_client::{ClientState, Link, McpClient};
use crate::mcp_error::{McpError, McpErrorKind};
use crate::request_span::RequestTarget;
use rmcp::model::{SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams};
use rmcp::service::Subscription;
use std::sync::{Arc, Weak};
use tokio::time::sleep;
use tokio_util::sync::DropGuard;
use toolkit_core::CancellationToken;

/// A subscription to changes of a resource, until it is dropped.
#[derive(Debug)]
#[must_use = "the subscription ends once this value is dropped"]
pub struct McpSubscription {
    _guard: DropGuard,
}

impl McpClient {
    /// Subscribes to changes of a resource.
    ///
    /// The client emits [`McpEvent::ResourceUpdated`] for each change, and subscribes again after a lost
    /// connection.
    ///
    /// # Errors
    /// [`McpError`] if the client is not connected, or if the server refuses the subscription.
    pub async fn subscribe(&self, uri: &str) -> Result<McpSubscription, McpError> {
        let subscribing = async {
            let session = self.session()?;
            let updates = session.subscribe_to(uri).await?;
            Ok((session, updates))
        };
        let (session, updates) = self.named(subscribing).await?;
        let subscribed = CancellationToken::new();
        let client = Arc::downgrade(&self.0);
        let ended = subscribed.clone();
        let uri = uri.to_owned();
        tokio::spawn(async move {
            let mut session = session;
            ended.run_until_cancelled(keep(&client, &mut session, updates, &uri)).await;
            if session.has_handshake() {
                let request = session.peer.unsubscribe(UnsubscribeRequestParams::new(&*uri));
                let target = RequestTarget::Resource(&uri);
                let _ = session.answer("resources/unsubscribe", target, request).await;
            }
        });
        Ok(McpSubscription { _guard: subscribed.drop_guard() })
    }
}

impl Session {
    /// Returns the stream of the changes, if the protocol version has one.
    async fn subscribe_to(&self, uri: &str) -> Result<Option<Subscription>, McpError> {
        if self.has_handshake() {
            let request = self.peer.subscribe(SubscribeRequestParams::new(uri));
            return self
                .answer("resources/subscribe", RequestTarget::Resource(uri), request)
                .await
                .map(|()| None);
        }
        let filter = SubscriptionFilter::builder().resource_subscription(uri).build();
        let updates =
            self.answer("subscriptions/listen", RequestTarget::Unnamed, self.peer.listen(filter)).await?;
        let accepted = &updates.acknowledged().resource_subscriptions;
        if !accepted.iter().flatten().any(|accepted| accepted == uri) {
            let text = format!("the server announces no changes of `{uri}`");
            return Err(McpError::new(McpErrorKind::Protocol, text));
        }
        Ok(Some(updates))
    }
}

/// Emits the changes of a resource, and subscribes again after a lost connection or stream. Ends with the
/// client.
async fn keep(
    client: &Weak<ClientState>,
    session: &mut Arc<Session>,
    mut updates: Option<Subscription>,
    uri: &str,
) {
    loop {
        match &mut updates {
            // The handler of the connection emits the changes.
            None => session.wire.ended.cancelled().await,
            Some(updates) => {
                while let Ok(Some(_)) = updates.next().await {
                    session.wire.emit(McpEvent::ResourceUpdated { uri: uri.to_owned() });
                }
            }
        }
        let mut attempt: u32 = 0;
        updates = loop {
            attempt = attempt.saturating_add(1);
            sleep(session.handler.settings.backoff.pause(attempt)).await;
            // Not held while waiting: the client may be dropped.
            let Some(mut link) = client.upgrade().map(|client| client.link.subscribe()) else { return };
            match link.wait_for(|link| matches!(link, Link::Up(_) | Link::Closed(_))).await.as_deref() {
                Ok(Link::Up(current)) => *session = current.clone(),
                _ => return,
            }
            if let Ok(updates) = session.subscribe_to(uri).await {
                break updates;
            }
        };
    }
}
