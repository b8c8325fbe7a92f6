//! A model check of the dispatcher's gates and turns, under every order of steps.
//!
//! The files of `toolkit-core` run with a lock that yields to `shuttle` at each release. Small cases are
//! tried in every order, larger ones in thousands. A gate never exceeds its limit, abandoned places neither
//! keep permits nor block, turns keep their order, and finally every permit is free.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a check that fails should stop")]
#![allow(clippy::print_stdout, reason = "there is no harness to report")]

/// A lock at which threads switch only after its use, so it is never contended.
mod sync {
    use std::ops::{Deref, DerefMut};
    use std::sync::{self, LockResult, PoisonError};

    #[derive(Default)]
    pub(super) struct Mutex<T>(sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(super) fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
            Ok(MutexGuard(Some(self.0.lock().unwrap_or_else(PoisonError::into_inner))))
        }
    }

    /// Empty during the drop.
    pub(super) struct MutexGuard<'a, T>(Option<sync::MutexGuard<'a, T>>);

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            self.0.as_deref().unwrap()
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            self.0.as_deref_mut().unwrap()
        }
    }

    impl<T> Drop for MutexGuard<'_, T> {
        fn drop(&mut self) {
            self.0 = None;
            if !std::thread::panicking() {
                shuttle::thread::yield_now();
            }
        }
    }
}

#[allow(dead_code, unused_imports, reason = "their own tests have no harness here")]
#[path = "../toolkit-core/src/dispatch/gates.rs"]
mod gates;
#[allow(dead_code, unused_imports, reason = "their own tests have no harness here")]
#[path = "../toolkit-core/src/dispatch/turns.rs"]
mod turns;

use gates::{Gates, LimitedResource, Permit};
use shuttle::future::block_on;
use shuttle::thread;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Instant;
use turns::Turns;

#[derive(Debug, Clone, Copy)]
struct Caller {
    /// The number of permits that may be held, with its own.
    limit: usize,
    batch: u64,
    /// Whether it gives up unless admitted at once.
    gives_up: bool,
}

const fn waits(limit: usize, batch: u64) -> Caller {
    Caller { limit, batch, gives_up: false }
}

const fn gives_up(limit: usize, batch: u64) -> Caller {
    Caller { limit, batch, gives_up: true }
}

/// Returns the output of a ready future.
fn now<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// Waits for a permit, as a call does.
async fn acquire(gates: &Arc<Gates>, limit: usize, batch: u64) -> Permit {
    match gates.enter(LimitedResource::Dispatcher, limit, batch) {
        Ok(permit) => permit,
        Err(place) => place.await,
    }
}

/// Runs callers at one gate, each on its thread.
fn at_a_gate(callers: &[Caller]) {
    let gates = Arc::new(Gates::default());
    let inside = Arc::new(AtomicUsize::new(0));
    let widest = callers.iter().map(|caller| caller.limit).max().unwrap_or(1);
    let threads: Vec<_> = callers
        .iter()
        .map(|&Caller { limit, batch, gives_up }| {
            let gates = gates.clone();
            let inside = inside.clone();
            thread::spawn(move || {
                let permit = if gives_up {
                    let mut place = Box::pin(acquire(&gates, limit, batch));
                    // The permit may arrive before the drop takes the lock.
                    now(place.as_mut())
                } else {
                    Some(block_on(acquire(&gates, limit, batch)))
                };
                if permit.is_some() {
                    let others = inside.fetch_add(1, Ordering::SeqCst);
                    assert!(others < widest, "{} are inside, and {widest} may be", others + 1);
                    thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                }
                drop(permit);
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let permits: Vec<_> = (0..widest).map_while(|_| now(acquire(&gates, widest, 9))).collect();
    assert_eq!(permits.len(), widest, "a permit was lost");
    assert!(now(acquire(&gates, widest, 9)).is_none(), "a permit was made up");
}

/// Holds a permit until another call has one, perhaps behind a narrower one that gives up.
fn behind_an_abandoned_place() {
    let gates = Arc::new(Gates::default());
    let enter = |limit| acquire(&gates, limit, 1);
    let inside = now(enter(2));
    let narrow = thread::spawn({
        let gates = gates.clone();
        move || drop(now(acquire(&gates, 1, 1)))
    });
    thread::yield_now();
    drop(block_on(enter(2)));
    narrow.join().unwrap();
    drop(inside);
}

/// Runs calls in one row on threads; marked ones give up before their turn.
fn in_a_row(give_up: &[bool]) {
    let mut turns = Turns::default();
    let ended = Arc::new(Mutex::new(Vec::new()));
    let threads: Vec<_> = give_up
        .iter()
        .enumerate()
        .map(|(at, &gives_up)| {
            let mut turn = turns.next(LimitedResource::Dispatcher);
            let ended = ended.clone();
            thread::spawn(move || {
                if gives_up {
                    let _ = now(turn.comes());
                    thread::yield_now();
                } else {
                    block_on(turn.comes());
                    thread::yield_now();
                    ended.lock().unwrap().push(at);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let expected: Vec<usize> = (0..give_up.len()).filter(|at| !give_up[*at]).collect();
    assert_eq!(*ended.lock().unwrap(), expected, "a call overtook");
    assert!(now(turns.next(LimitedResource::Dispatcher).comes()).is_some(), "a turn never ends");
}

const ORDERS: usize = 2_000;

fn every_order(name: &str, case: impl Fn() + Send + Sync + 'static) {
    let started = Instant::now();
    let orders = Arc::new(AtomicUsize::new(0));
    let count = orders.clone();
    let case = move || {
        count.fetch_add(1, Ordering::SeqCst);
        case();
    };
    shuttle::check_dfs(case, None);
    println!("{name}: each of {} orders, {:?}", orders.load(Ordering::SeqCst), started.elapsed());
}

fn many_orders(name: &str, case: impl Fn() + Send + Sync + 'static) {
    let started = Instant::now();
    shuttle::check_random(case, ORDERS);
    println!("{name}: {ORDERS} orders, {:?}", started.elapsed());
}

fn main() {
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    every_order("two at a gate for one", || at_a_gate(&[waits(1, 1), waits(1, 2)]));
    every_order("one waits, one gives up", || at_a_gate(&[waits(1, 1), gives_up(1, 2)]));
    every_order("a place behind an abandoned one", behind_an_abandoned_place);
    every_order("two in a row", || in_a_row(&[false, false]));
    every_order("the first of three gives up", || in_a_row(&[true, false, false]));
    every_order("the second of three gives up", || in_a_row(&[false, true, false]));
    many_orders("three at a gate for one", || at_a_gate(&[waits(1, 1), waits(1, 1), waits(1, 2)]));
    many_orders("two of four give up", || {
        at_a_gate(&[waits(1, 1), gives_up(1, 1), waits(1, 2), gives_up(1, 2)]);
    });
    many_orders("different limits", || at_a_gate(&[waits(2, 1), waits(1, 1), waits(2, 2), gives_up(1, 3)]));
    many_orders("every second of six gives up", || in_a_row(&[false, true, false, true, true, false]));
}
