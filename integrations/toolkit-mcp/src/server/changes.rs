//! Notifications about changes of a live registry.

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

    /// Notifies a client of each change, until no change can follow or the connection is lost.
    pub(super) async fn announce<E, N>(mut self, notify: impl Fn() -> N)
    where
        N: Future<Output = Result<(), E>>,
    {
        while self.next().await && notify().await.is_ok() {}
    }
}
