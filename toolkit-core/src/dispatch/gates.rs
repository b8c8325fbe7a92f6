//! What calls share: each resource has a gate that lets so many in at once, fair between batches.

use super::sync::{Mutex, MutexGuard};
use foldhash::fast::RandomState;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll};
use tokio::sync::oneshot;

/// What calls share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Resource {
    /// The dispatcher as a whole.
    Dispatcher,
    /// The tool of this name.
    Tool(Box<str>),
    /// Whatever the parameter of this name means with this value, for all tools alike.
    Lane { parameter: Box<str>, value: Box<str> },
}

/// The gates of one dispatcher. There is one for each resource that is in use, and none for the others.
#[derive(Default)]
pub(super) struct Gates {
    gates: Mutex<HashMap<Resource, Gate, RandomState>>,
    batches: AtomicU64,
}

/// One gate: how many are inside, and who waits, batch by batch.
#[derive(Default)]
struct Gate {
    inside: usize,
    /// The batch in front is next; then it goes to the end.
    queues: VecDeque<Queue>,
    tickets: u64,
}

struct Queue {
    batch: u64,
    /// In the order of their tickets.
    waiting: VecDeque<Waiting>,
}

struct Waiting {
    ticket: u64,
    /// How many may be inside, this one included.
    limit: usize,
    admitted: oneshot::Sender<Permit>,
}

impl Gates {
    /// A number that no other batch has.
    pub(super) fn next_batch(&self) -> u64 {
        self.batches.fetch_add(1, Ordering::Relaxed)
    }

    /// Waits until fewer than `limit` calls hold the resource. Calls of one batch are let in in the order in
    /// which they came, and batches take turns.
    pub(super) async fn acquire(self: &Arc<Self>, resource: Resource, limit: usize, batch: u64) -> Permit {
        match self.enter(resource, limit, batch) {
            Ok(permit) => permit,
            Err(place) => place.await,
        }
    }

    fn enter(self: &Arc<Self>, resource: Resource, limit: usize, batch: u64) -> Result<Permit, Place> {
        let mut gates = self.lock();
        let gate = gates.entry(resource.clone()).or_default();
        if gate.queues.is_empty() && gate.inside < limit {
            gate.inside += 1;
            drop(gates);
            return Ok(self.permit(resource));
        }
        let (admitted, permit) = oneshot::channel();
        let ticket = gate.tickets;
        gate.tickets += 1;
        let waiting = Waiting { ticket, limit, admitted };
        match gate.queues.iter_mut().find(|queue| queue.batch == batch) {
            Some(queue) => queue.waiting.push_back(waiting),
            None => gate.queues.push_back(Queue { batch, waiting: VecDeque::from([waiting]) }),
        }
        drop(gates);
        Err(Place { gates: self.clone(), resource, batch, ticket, permit })
    }

    fn permit(self: &Arc<Self>, resource: Resource) -> Permit {
        Permit(Some((self.clone(), resource)))
    }

    /// Changes a gate and lets in whoever can go in then.
    fn change(self: &Arc<Self>, resource: &Resource, change: impl FnOnce(&mut Gate)) {
        let mut gates = self.lock();
        let Some(gate) = gates.get_mut(resource) else { return };
        change(gate);
        loop {
            let Some(gate) = gates.get_mut(resource) else { return };
            let Some(next) = gate.admit() else {
                if gate.inside == 0 && gate.queues.is_empty() {
                    gates.remove(resource);
                }
                return;
            };
            // A waker runs foreign code, and a permit that nobody wants any more locks when it is dropped.
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

    fn lock(&self) -> MutexGuard<'_, HashMap<Resource, Gate, RandomState>> {
        self.gates.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many permits are held or waited for.
    #[cfg(test)]
    fn in_use(&self) -> usize {
        let waiting = |gate: &Gate| gate.queues.iter().map(|queue| queue.waiting.len()).sum::<usize>();
        self.lock().values().map(|gate| gate.inside + waiting(gate)).sum()
    }
}

impl Gate {
    /// Takes the next one off its queue if there is room for it.
    fn admit(&mut self) -> Option<Waiting> {
        let front = self.queues.front()?.waiting.front()?;
        if self.inside >= front.limit {
            return None;
        }
        let mut queue = self.queues.pop_front()?;
        let next = queue.waiting.pop_front();
        if !queue.waiting.is_empty() {
            self.queues.push_back(queue);
        }
        self.inside += 1;
        next
    }

    fn remove(&mut self, batch: u64, ticket: u64) {
        let Some(at) = self.queues.iter().position(|queue| queue.batch == batch) else { return };
        let waiting = &mut self.queues[at].waiting;
        if let Ok(place) = waiting.binary_search_by_key(&ticket, |waiting| waiting.ticket) {
            waiting.remove(place);
        }
        if waiting.is_empty() {
            self.queues.remove(at);
        }
    }
}

/// A place in the queue before a gate. Dropping it gives the place up.
struct Place {
    gates: Arc<Gates>,
    resource: Resource,
    batch: u64,
    ticket: u64,
    permit: oneshot::Receiver<Permit>,
}

impl Future for Place {
    type Output = Permit;

    fn poll(mut self: Pin<&mut Self>, waker: &mut Context<'_>) -> Poll<Permit> {
        match Pin::new(&mut self.permit).poll(waker) {
            Poll::Ready(Ok(permit)) => Poll::Ready(permit),
            // The sender is in the queue until it has sent, so the error does not come.
            Poll::Ready(Err(_)) | Poll::Pending => Poll::Pending,
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Self { gates, resource, batch, ticket, .. } = self;
        gates.change(resource, |gate| gate.remove(*batch, *ticket));
    }
}

/// The right to be inside. Dropping it lets the next one in.
pub(super) struct Permit(Option<(Arc<Gates>, Resource)>);

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some((gates, resource)) = self.0.take() {
            gates.change(&resource, |gate| gate.inside -= 1);
        }
    }
}

impl fmt::Debug for Gates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gates").field("in_use", &self.lock().len()).finish()
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
        let mut inside = gates.enter(Resource::Dispatcher, 1, 0).ok();
        assert!(inside.is_some());
        let mut places: Vec<(&str, Place)> =
            [("a1", 1), ("a2", 1), ("a3", 1), ("b1", 2), ("b2", 2), ("c1", 3)]
                .into_iter()
                .filter_map(|(name, batch)| Some((name, gates.enter(Resource::Dispatcher, 1, batch).err()?)))
                .collect();
        let mut order = Vec::new();
        while !places.is_empty() {
            drop(inside.take());
            let at = places.iter_mut().position(|(_, place)| {
                inside = ready(Pin::new(place));
                inside.is_some()
            });
            order.push(places.remove(at.expect("one goes in")).0);
        }
        assert_eq!(order, ["a1", "b1", "c1", "a2", "b2", "a3"]);
        drop(inside);
        assert_eq!(gates.in_use(), 0);
        assert!(gates.lock().is_empty(), "a gate that nobody uses is forgotten");
    }

    #[test]
    fn a_permit_that_was_sent_to_nobody_comes_back() {
        let gates = Arc::new(Gates::default());
        let first = gates.enter(Resource::Dispatcher, 1, 0).ok();
        let given_up = gates.enter(Resource::Dispatcher, 1, 0).err();
        let mut last = pin!(gates.acquire(Resource::Dispatcher, 1, 0));
        assert!(ready(last.as_mut()).is_none());
        // The permit is in the channel when the place is given up.
        drop(first);
        assert!(ready(last.as_mut()).is_none());
        drop(given_up);
        let permit = ready(last.as_mut());
        assert!(permit.is_some());
        drop(permit);
        assert_eq!(gates.in_use(), 0);
    }

    #[test]
    fn who_gives_up_waiting_holds_nobody_up() {
        let gates = Arc::new(Gates::default());
        let first = gates.enter(Resource::Dispatcher, 2, 0).ok();
        // The one in front waits for the gate to be empty.
        let narrow = gates.enter(Resource::Dispatcher, 1, 0).err();
        let mut wide = pin!(gates.acquire(Resource::Dispatcher, 2, 0));
        assert!(ready(wide.as_mut()).is_none());
        drop(narrow);
        assert!(ready(wide.as_mut()).is_some());
        drop(first);
        assert_eq!(gates.in_use(), 0);
    }
}
