//! Servers of any protocol: what the calls of their clients share.

use crate::context::RunContext;
use crate::dispatch::Dispatcher;
use crate::error::{BuildError, ErrorKind, ToolError};
use crate::guard::guarded;
use crate::registry::{IntoRegistrySource, RegistrySource};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The largest maximum of calls, which every semaphore and a `u32` can count.
const MOST_CALLS: usize = 1 << 28;

type CallState<C> = dyn Fn(&C, RunContext) -> Result<RunContext, ToolError> + Send + Sync;

/// Held while a call runs.
pub type CallPermit = OwnedSemaphorePermit;

/// The calls of a server's clients: permits, numbers, and the state computed from the caller `C`.
///
/// Clones share permits and numbers.
#[derive(Clone)]
pub struct ServedCalls<C> {
    permits: Arc<Semaphore>,
    max: usize,
    numbers: Arc<AtomicU64>,
    state: Vec<Arc<CallState<C>>>,
}

/// Up to 1,000 calls at once.
impl<C: Clone + Send + Sync + 'static> Default for ServedCalls<C> {
    fn default() -> Self {
        Self::new(1_000)
    }
}

impl<C: Clone + Send + Sync + 'static> ServedCalls<C> {
    /// Admits up to `max` calls at once. Zero counts as one.
    #[must_use]
    pub fn new(max: usize) -> Self {
        let max = max.clamp(1, MOST_CALLS);
        Self { permits: Arc::new(Semaphore::new(max)), max, numbers: Arc::default(), state: Vec::new() }
    }

    /// Sets the maximum of calls at once, for this value and later clones.
    pub fn set_max(&mut self, max: usize) {
        self.max = max.clamp(1, MOST_CALLS);
        self.permits = Arc::new(Semaphore::new(self.max));
    }

    /// Returns the maximum of calls at once.
    #[must_use]
    pub fn max(&self) -> usize {
        self.max
    }

    /// Adds a value to the state of each call, computed from its caller.
    pub fn add_state<T: Send + Sync + 'static>(
        &mut self,
        state: impl Fn(&C) -> Result<T, ToolError> + Send + Sync + 'static,
    ) {
        self.state.push(Arc::new(move |caller, run| Ok(run.with_state(state(caller)?))));
    }

    /// Returns a number that no other call has.
    #[must_use]
    pub fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Takes the permit of a call.
    ///
    /// # Errors
    /// All permits are taken.
    pub fn admit(&self) -> Result<CallPermit, ToolError> {
        match self.permits.clone().try_acquire_owned() {
            Ok(permit) => Ok(permit),
            Err(_) => Err(ToolError::new(ErrorKind::RateLimited, "the server is busy; try again later")),
        }
    }

    /// Returns whether all permits are taken.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.permits.available_permits() == 0
    }

    /// Waits until all calls have ended, and admits no call until the returned value is dropped.
    pub async fn all_ended(&self) -> Option<CallPermit> {
        let all = u32::try_from(self.max).unwrap_or(u32::MAX);
        self.permits.clone().acquire_many_owned(all).await.ok()
    }

    /// Returns `run` with the caller as state, and with the state computed from it.
    ///
    /// # Errors
    /// The error or the panic of the function that computes the state.
    pub fn run_context(&self, run: RunContext, caller: &C) -> Result<RunContext, ToolError> {
        match guarded(|| self.with_states_of(caller, run)) {
            Ok(computed) => computed,
            Err(_) => Err(ToolError::new(ErrorKind::Panicked, "the server cannot tell who calls the tool")),
        }
    }

    fn with_states_of(&self, caller: &C, run: RunContext) -> Result<RunContext, ToolError> {
        let mut run = run.with_state(caller.clone());
        for add in &self.state {
            run = add(caller, run)?;
        }
        Ok(run)
    }
}

impl<C> fmt::Debug for ServedCalls<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServedCalls").field("max", &self.max).finish_non_exhaustive()
    }
}

/// Creates the dispatcher of a server.
///
/// Tools of a fixed registry may take the caller `C` as state. A live registry must declare this state
/// itself.
///
/// # Errors
/// Those of [`Dispatcher::new`].
pub fn dispatcher_for<C: Send + Sync + 'static>(
    registry: impl IntoRegistrySource,
) -> Result<Dispatcher, BuildError> {
    match registry.into_registry_source() {
        RegistrySource::Fixed(registry) => {
            Dispatcher::new(Arc::unwrap_or_clone(registry).with_run_state::<C>())
        }
        live @ RegistrySource::Live(_) => Dispatcher::new(live),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::State;
    use std::time::Duration;
    use tokio::time::timeout;

    #[derive(Debug, Clone, PartialEq)]
    struct User(&'static str);

    #[derive(Debug, PartialEq)]
    struct Tenant(usize);

    #[test]
    fn calls_beyond_the_maximum_are_refused_until_one_ends() {
        for (max, admitted) in [(0, 1), (1, 1), (3, 3)] {
            let mut calls = ServedCalls::<User>::default();
            calls.set_max(max);
            let mut permits: Vec<CallPermit> =
                (0..admitted).map(|_| calls.clone().admit().unwrap()).collect();
            assert!(calls.is_full());
            let refused = calls.admit().unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::RateLimited);
            assert_eq!(refused.message(), "the server is busy; try again later");
            permits.pop();
            assert!(calls.admit().is_ok());
        }
    }

    #[test]
    fn any_maximum_can_be_set() {
        let calls = ServedCalls::<User>::new(usize::MAX);
        assert_eq!(calls.max(), MOST_CALLS);
        assert!(calls.admit().is_ok());
    }

    #[test]
    fn clones_give_no_number_twice() {
        let calls = ServedCalls::<User>::new(1);
        let numbers = [calls.next_number(), calls.clone().next_number(), calls.next_number()];
        assert_eq!(numbers, [0, 1, 2]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_all_calls_is_awaited() {
        let calls = ServedCalls::<User>::new(2);
        let running = calls.admit().unwrap();
        assert!(timeout(Duration::from_secs(60), calls.all_ended()).await.is_err());
        assert!(!calls.is_full(), "a wait that is given up holds no permits");
        drop(running);
        let ended = calls.all_ended().await;
        assert!(calls.admit().is_err());
        drop(ended);
        assert!(calls.admit().is_ok());
    }

    #[test]
    fn the_state_of_a_call_is_computed_from_its_caller() {
        let mut calls = ServedCalls::<User>::new(1);
        calls.add_state(|user| match user.0 {
            "" => panic!("secret text"),
            "eve" => Err(ToolError::failed("unknown user")),
            name => Ok(Tenant(name.len())),
        });
        calls.set_max(2);
        let run_of = |name| calls.run_context(RunContext::new(), &User(name));
        let run = run_of("ada").unwrap();
        let state = run.state_over(None);
        let state: &State = state.as_ref().unwrap();
        assert_eq!((state.get(), state.get()), (Some(&User("ada")), Some(&Tenant(3))));
        assert_eq!(run_of("eve").unwrap_err().message(), "Error running tool: unknown user");
        let panicked = run_of("").unwrap_err();
        assert_eq!(
            (panicked.kind(), panicked.message()),
            (ErrorKind::Panicked, "the server cannot tell who calls the tool")
        );
    }
}
