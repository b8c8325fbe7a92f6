//! The messages that the other side has not read.

use tokio::sync::watch;

/// The number of messages at which this side stops reading.
const MAX_UNSENT: usize = 256;

/// The number of unread messages of a connection. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unsent(watch::Sender<usize>);

pub(crate) struct UnsentMessage(watch::Sender<usize>);

impl Unsent {
    pub(crate) fn count(&self) -> UnsentMessage {
        self.0.send_modify(|count| *count += 1);
        UnsentMessage(self.0.clone())
    }

    /// Waits while too many messages are unread. Cancel safe.
    pub(crate) async fn has_room(&self) {
        if *self.0.borrow() >= MAX_UNSENT {
            // This value keeps the sender.
            let _ = self.0.subscribe().wait_for(|count| *count < MAX_UNSENT).await;
        }
    }
}

impl Drop for UnsentMessage {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
