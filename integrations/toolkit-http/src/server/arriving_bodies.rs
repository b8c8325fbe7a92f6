//! The bodies of requests that are still arriving.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// The arriving bodies, in the order in which they began. Clones share them.
#[derive(Clone, Default)]
pub(super) struct ArrivingBodies(Arc<Mutex<ArrivedBytes>>);

#[derive(Default)]
struct ArrivedBytes {
    all: usize,
    /// The bytes of each body, and its signal of displacement.
    bodies: BTreeMap<u64, (usize, Arc<Notify>)>,
    next: u64,
}

/// A body that is arriving, until it is dropped.
pub(super) struct ArrivingBody {
    bodies: ArrivingBodies,
    number: u64,
    displaced: Arc<Notify>,
}

impl ArrivingBodies {
    pub(super) fn begin(&self) -> ArrivingBody {
        let mut arrived = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = arrived.next;
        arrived.next += 1;
        ArrivingBody { bodies: self.clone(), number, displaced: Arc::default() }
    }
}

impl ArrivingBody {
    /// Adds bytes to the body. While all bodies have more than `limit` bytes, the first one is displaced: a
    /// client that sends slowly makes room for others.
    pub(super) fn add(&self, bytes: usize, limit: usize) {
        let mut arrived = self.bodies.0.lock().unwrap_or_else(PoisonError::into_inner);
        arrived.all += bytes;
        arrived.bodies.entry(self.number).or_insert_with(|| (0, self.displaced.clone())).0 += bytes;
        while arrived.all > limit
            && let Some((_, (bytes, displaced))) = arrived.bodies.pop_first()
        {
            arrived.all -= bytes;
            displaced.notify_one();
        }
    }

    pub(super) async fn displaced(&self) {
        self.displaced.notified().await;
    }
}

impl Drop for ArrivingBody {
    fn drop(&mut self) {
        let mut arrived = self.bodies.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((bytes, _)) = arrived.bodies.remove(&self.number) {
            arrived.all -= bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_displaced(body: &ArrivingBody) -> bool {
        let mut displaced = std::pin::pin!(body.displaced());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        displaced.as_mut().poll(&mut context).is_ready()
    }

    #[test]
    fn the_first_body_makes_room_for_the_others() {
        let bodies = ArrivingBodies::default();
        let [silent, first, second, third] = [(); 4].map(|()| bodies.begin());
        first.add(60, 100);
        second.add(30, 100);
        third.add(10, 100);
        assert!(![&silent, &first, &second, &third].into_iter().any(is_displaced));
        third.add(1, 100);
        assert!(is_displaced(&first) && !is_displaced(&second));
        drop(first);
        third.add(60, 100);
        assert!(is_displaced(&second) && !is_displaced(&third));
        third.add(30, 100);
        assert!(is_displaced(&third) && !is_displaced(&silent));
        drop((second, third));
        assert_eq!(bodies.0.lock().expect("no panic").all, 0);
    }
}
