//! The messages that the other side has not read.

use tokio::sync::watch;

/// The number of unsent messages at which this side stops reading.
const MAX_UNSENT: usize = 256;

/// The number of messages of a connection that the other side has not read. Clones share the number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unsent(watch::Sender<usize>);

/// A message that is counted until it is dropped.
pub(crate) struct UnsentMessage(watch::Sender<usize>);

impl Unsent {
    /// Counts a message.
    pub(crate) fn count(&self) -> UnsentMessage {
        self.0.send_modify(|count| *count += 1);
        UnsentMessage(self.0.clone())
    }

    /// Waits while the other side leaves too many messages unread. This method is cancel safe.
    pub(crate) async fn has_room(&self) {
        if *self.0.borrow() >= MAX_UNSENT {
            // Does not fail, because this value keeps the sender.
            let _ = self.0.subscribe().wait_for(|count| *count < MAX_UNSENT).await;
        }
    }
}

impl Drop for UnsentMessage {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
