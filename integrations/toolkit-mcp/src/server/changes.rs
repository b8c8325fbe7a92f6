//! Notifications about changes of a live registry.

use rmcp::RoleServer;
use rmcp::service::{Peer, SubscriptionContext};
use tokio_util::sync::CancellationToken;
use toolkit_core::LiveRegistry;
use toolkit_core::registry::RegistryEvents;

/// The changes of a live registry since the client was last notified of changes.
pub(super) struct Changes {
    live: LiveRegistry,
    events: RegistryEvents,
    /// The version of the registry at the last announcement.
    announced: u64,
}

impl Changes {
    pub(super) fn new(live: &LiveRegistry) -> Self {
        Self { events: live.subscribe(), announced: live.version(), live: live.clone() }
    }

    /// Waits for the next change. Changes published together count once. Returns `false` if no change can
    /// follow.
    async fn next(&mut self) -> bool {
        loop {
            match self.events.next().await {
                None => return false,
                Some(Ok(event)) if event.version <= self.announced => {}
                Some(_) => {
                    self.announced = self.live.version();
                    return true;
                }
            }
        }
    }
}

/// Notifies a client of the changes, until its session ends.
pub(super) async fn notify_session(
    mut changes: Changes,
    peer: Peer<RoleServer>,
    session_end: CancellationToken,
) {
    loop {
        tokio::select! {
            () = session_end.cancelled() => return,
            is_changed = changes.next() => {
                if !is_changed || peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Notifies a subscribed client of the changes, until the subscription ends.
pub(super) async fn notify_subscription(changes: Option<Changes>, subscription: &SubscriptionContext) {
    let Some(mut changes) = changes else { return subscription.cancelled().await };
    loop {
        tokio::select! {
            () = subscription.cancelled() => return,
            is_changed = changes.next() => {
                if !is_changed || subscription.sink().notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        }
    }
}
