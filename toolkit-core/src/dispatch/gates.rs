//! Gates: permits for shared resources, distributed fairly between batches.

use super::sync::{Mutex, MutexGuard};
use foldhash::fast::RandomState;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};
use tokio::sync::oneshot;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum LimitedResource {
    /// All calls of the dispatcher.
    Dispatcher,
    /// The calls of one tool.
    Tool(Box<str>),
    /// The calls with this value of the lane parameter, even of different tools.
    Lane { parameter: Box<str>, value: Box<str> },
}

/// One gate per resource in use.
#[derive(Default)]
pub(super) struct Gates {
    gates: Mutex<HashMap<LimitedResource, Gate, RandomState>>,
    batches: AtomicU64,
}

/// The permits held for one resource, and the queues of waiting calls.
#[derive(Default)]
struct Gate {
    inside: usize,
    /// The batches with waiting calls. The first one is served next, and then moves to the end.
    order: VecDeque<u64>,
    queues: HashMap<u64, Queue, RandomState>,
}

/// The waiting calls of one batch, in the order of arrival.
#[derive(Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// An upper bound for the number of abandoned calls in `waiting`.
    abandoned: usize,
}

struct Waiting {
    limit: usize,
    admitted: oneshot::Sender<Permit>,
}

impl Gates {
    pub(super) fn next_batch(&self) -> u64 {
        self.batches.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns a permit, or the place in the queue while `limit` calls hold the resource.
    ///
    /// Calls of one batch are admitted in the order of arrival. Batches take turns.
    pub(super) fn enter(
        self: &Arc<Self>,
        resource: LimitedResource,
        limit: usize,
        batch: u64,
    ) -> Result<Permit, Place> {
        let mut gates = self.lock();
        let gate = gates.entry(resource.clone()).or_default();
        if gate.order.is_empty() && gate.inside < limit {
            gate.inside += 1;
            drop(gates);
            return Ok(self.permit(resource));
        }
        let (admitted, permit) = oneshot::channel();
        let Gate { order, queues, .. } = gate;
        let queue = match queues.entry(batch) {
            Entry::Occupied(queue) => queue.into_mut(),
            Entry::Vacant(vacant) => {
                order.push_back(batch);
                vacant.insert(Queue::default())
            }
        };
        queue.waiting.push_back(Waiting { limit, admitted });
        drop(gates);
        Err(Place { gates: self.clone(), resource, batch, is_admitted: false, permit })
    }

    fn permit(self: &Arc<Self>, resource: LimitedResource) -> Permit {
        Permit(Some((self.clone(), resource)))
    }

    /// Applies `change` to a gate, then admits waiting calls while permits are free.
    fn change(self: &Arc<Self>, resource: &LimitedResource, change: impl FnOnce(&mut Gate)) {
        let mut gates = self.lock();
        let Some(gate) = gates.get_mut(resource) else { return };
        change(gate);
        loop {
            let Some(gate) = gates.get_mut(resource) else { return };
            let Some(next) = gate.admit() else {
                if gate.inside == 0 && gate.order.is_empty() {
                    gates.remove(resource);
                }
                return;
            };
            // Released first: a waker runs foreign code, and dropping an unwanted permit takes the lock.
            drop(gates);
            let unwanted = next.admitted.send(self.permit(resource.clone())).err();
            gates = self.lock();
            if let Some(mut unwanted) = unwanted {
                unwanted.0 = None;
                if let Some(gate) = gates.get_mut(resource) {
                    gate.inside -= 1;
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<LimitedResource, Gate, RandomState>> {
        self.gates.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    fn in_use(&self) -> usize {
        let mut count = 0;
        for gate in self.lock().values() {
            count += gate.inside;
            for queue in gate.queues.values() {
                count += queue.waiting.len();
            }
        }
        count
    }
}

impl Gate {
    /// Removes the next waiting call from the queues, if a permit is free.
    fn admit(&mut self) -> Option<Waiting> {
        loop {
            let batch = *self.order.front()?;
            let queue = self.queues.entry(batch).or_default();
            while queue.waiting.front().is_some_and(|front| front.admitted.is_closed()) {
                queue.waiting.pop_front();
            }
            if queue.waiting.front().is_some_and(|front| self.inside >= front.limit) {
                return None;
            }
            let next = queue.waiting.pop_front();
            self.order.pop_front();
            if queue.waiting.is_empty() {
                self.queues.remove(&batch);
            } else {
                self.order.push_back(batch);
            }
            if next.is_some() {
                self.inside += 1;
                return next;
            }
        }
    }

    /// Counts one more abandoned call of `batch`.
    ///
    /// When half of the queue is abandoned, these calls are removed together, because one by one takes
    /// quadratic time.
    fn abandon(&mut self, batch: u64) {
        let Some(queue) = self.queues.get_mut(&batch) else { return };
        queue.abandoned += 1;
        if queue.abandoned * 2 >= queue.waiting.len() {
            queue.waiting.retain(|waiting| !waiting.admitted.is_closed());
            queue.abandoned = 0;
        }
    }
}

/// A place in a queue, to wait in. Dropping it leaves the queue.
pub(super) struct Place {
    gates: Arc<Gates>,
    resource: LimitedResource,
    batch: u64,
    is_admitted: bool,
    permit: oneshot::Receiver<Permit>,
}

impl Place {
    pub(super) fn resource(&self) -> &LimitedResource {
        &self.resource
    }
}

impl Future for Place {
    type Output = Permit;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Permit> {
        match Pin::new(&mut self.permit).poll(cx) {
            Poll::Ready(Ok(permit)) => {
                self.is_admitted = true;
                Poll::Ready(permit)
            }
            // The sender stays in the queue until it sends.
            Poll::Ready(Err(_)) | Poll::Pending => Poll::Pending,
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.is_admitted {
            self.permit.close();
            self.gates.change(&self.resource, |gate| gate.abandon(self.batch));
        }
    }
}

/// A permit to use a resource. Dropping it admits the next call.
pub(super) struct Permit(Option<(Arc<Gates>, LimitedResource)>);

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some((gates, resource)) = self.0.take() {
            gates.change(&resource, |gate| gate.inside -= 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::Waker;

    fn ready<F: Future>(future: Pin<&mut F>) -> Option<F::Output> {
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        }
    }

    #[test]
    fn batches_take_turns_and_keep_their_own_order() {
        let gates = Arc::new(Gates::default());
        let mut inside = gates.enter(LimitedResource::Dispatcher, 1, 0).ok();
        assert!(inside.is_some());
        let mut places: Vec<(&str, Place)> =
            [("a1", 1), ("a2", 1), ("a3", 1), ("b1", 2), ("b2", 2), ("c1", 3)]
                .into_iter()
                .filter_map(|(name, batch)| {
                    Some((name, gates.enter(LimitedResource::Dispatcher, 1, batch).err()?))
                })
                .collect();
        let mut order = Vec::new();
        while !places.is_empty() {
            drop(inside.take());
            let at = places.iter_mut().position(|(_, place)| {
                inside = ready(Pin::new(place));
                inside.is_some()
            });
            order.push(places.remove(at.expect("one place is admitted")).0);
        }
        assert_eq!(order, ["a1", "b1", "c1", "a2", "b2", "a3"]);
        drop(inside);
        assert_eq!(gates.in_use(), 0);
        assert!(gates.lock().is_empty(), "an unused gate is removed");
    }

    #[test]
    fn a_permit_sent_to_an_abandoned_place_comes_back() {
        let gates = Arc::new(Gates::default());
        let first = gates.enter(LimitedResource::Dispatcher, 1, 0).ok();
        let abandoned = gates.enter(LimitedResource::Dispatcher, 1, 0).err();
        let mut last = pin!(gates.enter(LimitedResource::Dispatcher, 1, 0).err().expect("it waits"));
        assert!(ready(last.as_mut()).is_none());
        // The permit is in the channel.
        drop(first);
        assert!(ready(last.as_mut()).is_none());
        drop(abandoned);
        let permit = ready(last.as_mut());
        assert!(permit.is_some());
        drop(permit);
        assert_eq!(gates.in_use(), 0);
    }

    #[test]
    fn an_abandoned_place_does_not_block_the_queue() {
        let gates = Arc::new(Gates::default());
        let first = gates.enter(LimitedResource::Dispatcher, 2, 0).ok();
        // The first call waits until no call holds the resource.
        let narrow = gates.enter(LimitedResource::Dispatcher, 1, 0).err();
        let mut wide = pin!(gates.enter(LimitedResource::Dispatcher, 2, 0).err().expect("it waits"));
        assert!(ready(wide.as_mut()).is_none());
        drop(narrow);
        assert!(ready(wide.as_mut()).is_some());
        drop(first);
        assert_eq!(gates.in_use(), 0);
    }
}
