//! Notifications about changes of live registries and of resources.

use crate::server::server_settings::{ServerSettings, live};
use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, ServiceError, SubscriptionSendError, SubscriptionSink};
use std::collections::HashSet;
use std::future::pending;
use std::sync::{Arc, Mutex};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use toolkit_core::__private::lock;
use toolkit_core::registry::RegistryEvents;
use toolkit_core::{Dispatcher, LiveRegistry};

pub(super) enum Change {
    Tools,
    Prompts,
    Resources,
    /// The resource with this URI has new contents.
    Updated(Arc<str>),
}

/// All changes since a client was last notified.
pub(super) struct ServerChanges {
    tools: Option<Changes>,
    prompts: Option<Changes>,
    resources: Option<Changes>,
    updates: Option<Receiver<Arc<str>>>,
}

impl ServerChanges {
    pub(super) fn new(settings: &ServerSettings) -> Self {
        let of = |dispatcher: &Dispatcher| live(dispatcher).map(Changes::new);
        Self {
            tools: of(&settings.dispatcher),
            prompts: settings.prompts.as_ref().and_then(of),
            resources: settings.resources.as_ref().and_then(of),
            updates: settings.resources.as_ref().map(|_| settings.updates.0.subscribe()),
        }
    }

    pub(super) fn are_possible(&self) -> bool {
        self.tools.is_some() || self.prompts.is_some() || self.resources.is_some() || self.updates.is_some()
    }

    /// Waits for the next change; `None` if a registry was dropped.
    pub(super) async fn next(&mut self) -> Option<Change> {
        tokio::select! {
            change = Changes::next(&mut self.tools, Change::Tools) => change,
            change = Changes::next(&mut self.prompts, Change::Prompts) => change,
            change = Changes::next(&mut self.resources, Change::Resources) => change,
            change = updated(&mut self.updates) => change,
        }
    }
}

async fn updated(updates: &mut Option<Receiver<Arc<str>>>) -> Option<Change> {
    let Some(updates) = updates else { return pending().await };
    loop {
        match updates.recv().await {
            Ok(uri) => return Some(Change::Updated(uri)),
            // A slow client misses updates in the middle of a burst.
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return None,
        }
    }
}

pub(super) async fn notify(
    peer: &Peer<RoleServer>,
    subscribed: &Mutex<HashSet<String>>,
    change: Change,
) -> Result<(), ServiceError> {
    match change {
        Change::Tools => peer.notify_tool_list_changed().await,
        Change::Prompts => peer.notify_prompt_list_changed().await,
        Change::Resources => peer.notify_resource_list_changed().await,
        Change::Updated(uri) if lock(subscribed).contains(&*uri) => {
            peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(&*uri)).await
        }
        Change::Updated(_) => Ok(()),
    }
}

/// Notifies the client of a subscription, if it has asked for changes of this kind.
pub(super) async fn notify_subscription(
    sink: &SubscriptionSink,
    change: Change,
) -> Result<(), SubscriptionSendError> {
    let sent = match change {
        Change::Tools => sink.notify_tool_list_changed().await,
        Change::Prompts => sink.notify_prompt_list_changed().await,
        Change::Resources => sink.notify_resource_list_changed().await,
        Change::Updated(uri) => sink.notify_resource_updated(&*uri).await,
    };
    match sent {
        Err(SubscriptionSendError::NotificationNotAccepted(_)) => Ok(()),
        sent => sent,
    }
}

/// The changes of a live registry.
struct Changes {
    live: LiveRegistry,
    events: RegistryEvents,
    /// The version at the last announcement.
    announced: u64,
}

impl Changes {
    fn new(live: &LiveRegistry) -> Self {
        Self { events: live.subscribe(), announced: live.version(), live: live.clone() }
    }

    /// Waits for the next change, if there can be one. Changes published together count once.
    async fn next(changes: &mut Option<Self>, change: Change) -> Option<Change> {
        let Some(Self { live, events, announced }) = changes else { return pending().await };
        loop {
            match events.next().await? {
                Ok(event) if event.version <= *announced => {}
                _ => {
                    *announced = live.version();
                    return Some(change);
                }
            }
        }
    }
}
