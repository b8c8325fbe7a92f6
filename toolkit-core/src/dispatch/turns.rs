//! Turns: the order of calls within a batch.

use super::gates::LimitedResource;
use foldhash::fast::RandomState;
use std::collections::HashMap;
use tokio::sync::oneshot::{self, Receiver, Sender};

/// The last call of a batch to use each resource, such as a lane.
#[derive(Default)]
pub(super) struct Turns {
    last: HashMap<LimitedResource, EarlierCall, RandomState>,
    /// The size of the map at which resources without a running call are removed.
    many: usize,
}

/// Receives a message when the previous call for the same resource ends.
///
/// An abandoned call sends its own `EarlierCall`: the receiver then waits for the call before it.
struct EarlierCall(Receiver<Option<Self>>);

/// A call's turn to use a resource, until it is dropped.
pub(super) struct Turn {
    before: Option<EarlierCall>,
    ended: Option<Sender<Option<EarlierCall>>>,
}

impl Turns {
    pub(super) fn len(&self) -> usize {
        self.last.len()
    }

    pub(super) fn next(&mut self, resource: LimitedResource) -> Turn {
        if self.last.len() >= self.many {
            self.last.retain(|_, before| !before.has_come());
            self.many = 64.max(self.last.len() * 2);
        }
        let (ended, end) = oneshot::channel();
        Turn { before: self.last.insert(resource, EarlierCall(end)), ended: Some(ended) }
    }
}

impl Turn {
    /// Returns whether an earlier call for the resource has not ended.
    pub(super) fn must_wait(&mut self) -> bool {
        if self.before.as_mut().is_some_and(EarlierCall::has_come) {
            self.before = None;
        }
        self.before.is_some()
    }

    pub(super) async fn comes(&mut self) {
        while let Some(EarlierCall(end)) = &mut self.before {
            self.before = end.await.ok().flatten();
        }
    }
}

impl EarlierCall {
    /// Returns whether all earlier calls for the resource have ended.
    ///
    /// An abandoned call is replaced by the call before it, so that no long chain forms.
    fn has_come(&mut self) -> bool {
        loop {
            match self.0.try_recv() {
                Ok(Some(earlier)) => *self = earlier,
                Ok(None) | Err(oneshot::error::TryRecvError::Closed) => return true,
                Err(oneshot::error::TryRecvError::Empty) => return false,
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let before = if self.must_wait() { self.before.take() } else { None };
        if let Some(ended) = self.ended.take() {
            // Fails if no later call uses the resource.
            drop(ended.send(before));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn has_come(turn: &mut Turn) -> bool {
        matches!(pin!(turn.comes()).poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(()))
    }

    #[test]
    fn abandoned_turns_do_not_let_later_calls_overtake() {
        let mut turns = Turns::default();
        let [mut first, second, mut third] = std::array::from_fn(|_| turns.next(LimitedResource::Dispatcher));
        assert!(has_come(&mut first));
        assert!(!has_come(&mut third));
        drop(second);
        assert!(!has_come(&mut third), "the first has not ended");
        drop(first);
        assert!(has_come(&mut third));
    }

    #[test]
    fn many_calls_may_be_abandoned_in_any_order() {
        for backwards in [false, true] {
            let mut turns = Turns::default();
            let mut row: Vec<Turn> = (0..100_000).map(|_| turns.next(LimitedResource::Dispatcher)).collect();
            if backwards {
                row.reverse();
            }
            drop(row);
            assert!(has_come(&mut turns.next(LimitedResource::Dispatcher)));
        }
    }
}
