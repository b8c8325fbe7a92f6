//! Updates of resources.

use std::sync::Arc;
use tokio::sync::broadcast;

/// Tells subscribed clients about changes of resources. Clones are cheap.
#[derive(Debug, Clone)]
pub struct ResourceUpdates(pub(crate) broadcast::Sender<Arc<str>>);

impl ResourceUpdates {
    /// Tells the subscribed clients that a resource has changed.
    pub fn send(&self, uri: &str) {
        // Without clients, nobody receives the update.
        let _ = self.0.send(uri.into());
    }
}
