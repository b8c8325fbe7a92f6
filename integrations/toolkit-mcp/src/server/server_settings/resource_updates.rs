//! Updates of resources.

use std::sync::Arc;
use tokio::sync::broadcast;

/// Tells the clients that have subscribed to a resource about its changes. Clones are cheap.
#[derive(Debug, Clone)]
pub struct ResourceUpdates(pub(crate) broadcast::Sender<Arc<str>>);

impl ResourceUpdates {
    /// Tells the clients that the resource with this URI has changed.
    pub fn send(&self, uri: &str) {
        // Without clients, nobody receives the update.
        let _ = self.0.send(uri.into());
    }
}
