//! Batches: calls are pushed one after another, and results are taken as they arrive.

use super::preparation::{Numbering, Preparation};
use super::prepared_call::{Ended, PreparedCall};
use super::results::Results;
use super::settings::Settings;
use super::turns::Turns;
use crate::call::{CallId, ToolCall};
use crate::context::{RunContext, SessionDelta};
use crate::error::ToolError;
use crate::registry::ToolRegistry;
use crate::result::ToolResult;
use foldhash::fast::RandomState;
use futures_core::Stream;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::future::poll_fn;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A batch of running calls, started by [`Dispatcher::batch`](crate::Dispatcher::batch).
///
/// A call starts as soon as it is pushed, so a batch can run the calls of a response that is still
/// streaming. All calls use the same snapshot of the tools, and calls in one lane run in the order of
/// their pushes. Every call has exactly one result, which is an error without a tokio runtime.
///
/// Dropping the batch stops the running calls. Session changes of the calls are applied by
/// [`finish`](Self::finish), or when [`next`](Self::next) returns `None`. If the batch is dropped before
/// that, only the changes of calls whose result was taken are applied.
///
/// ```
/// use toolkit_ai::{Dispatcher, ToolCall, ToolRegistry};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?;
/// let mut batch = dispatcher.batch([ToolCall::new("call_1", "add", "{}")]);
/// batch.push(ToolCall::new("call_2", "add", "{}"));
/// let first = batch.next().await;
/// assert!(first.is_some_and(|result| result.is_error()));
/// assert_eq!(batch.finish().await.len(), 1);
/// # Ok::<(), toolkit_ai::BuildError>(())
/// # }).unwrap();
/// ```
#[must_use = "dropping a batch stops its calls"]
pub struct Batch {
    shared: Arc<BatchShared>,
    numbering: Numbering,
    turns: Turns,
    /// Created on first use.
    cancellation: Option<Cancellation>,
    tasks: Vec<JoinHandle<()>>,
    pushed: usize,
    taken: usize,
    /// The latest session change of each key, with the position of its call.
    changes: BTreeMap<String, (usize, Option<Value>)>,
}

struct BatchShared {
    settings: Arc<Settings>,
    registry: Arc<ToolRegistry>,
    run: Option<Arc<RunContext>>,
    results: Results,
}

impl Batch {
    pub(super) fn new(
        settings: Arc<Settings>,
        registry: Arc<ToolRegistry>,
        run: Option<Arc<RunContext>>,
        cancellation: Option<Cancellation>,
    ) -> Self {
        Self {
            shared: Arc::new(BatchShared { settings, registry, run, results: Results::default() }),
            numbering: Numbering::default(),
            turns: Turns::default(),
            cancellation,
            tasks: Vec::new(),
            pushed: 0,
            taken: 0,
            changes: BTreeMap::new(),
        }
    }

    /// Adds a call and starts it.
    pub fn push(&mut self, call: ToolCall) {
        let call = self.prepare(call);
        self.spawn(call, Handle::try_current().ok().as_ref());
    }

    fn prepare(&mut self, call: ToolCall) -> PreparedCall {
        let Self { shared, numbering, turns, cancellation, .. } = self;
        let BatchShared { settings, registry, run, .. } = &**shared;
        let token = cancellation.as_mut().map(|tokens| tokens.of_call(call.id.clone()));
        let run = run.as_ref();
        Preparation { settings, registry, run, decided: None, numbering, turns: Some(turns) }
            .prepare(call, token)
    }

    fn spawn(&mut self, call: PreparedCall, runtime: Option<&Handle>) {
        self.pushed += 1;
        // Finished tasks are forgotten, so that a batch kept open for long does not grow.
        if self.tasks.len() > 2 * self.len() + 64 {
            self.tasks.retain(|task| !task.is_finished());
        }
        let mut slot = Slot { call: Some(call), shared: self.shared.clone() };
        match runtime {
            Some(runtime) => {
                // Boxed, because the runtime moves the future of a task six times.
                self.tasks.push(runtime.spawn(Box::pin(async move {
                    // A variable for the slot would take its space in the future of the task a second
                    // time.
                    let BatchShared { settings, registry, run, .. } = &*slot.shared;
                    let Some(call) = &mut slot.call else { return };
                    let ended = call.run(settings, registry, run.as_ref()).await;
                    slot.fill(ended);
                })));
            }
            None => {
                slot.refuse(ToolError::failed("there is no tokio runtime to run it on"));
            }
        }
    }

    /// Returns the number of results not yet taken, also of running calls.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pushed - self.taken
    }

    /// Returns whether the results of all calls were taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the next result in the order of completion, or `None` if all results were taken.
    ///
    /// [`ToolResult::position`] identifies the call. Dropping the future loses no result.
    pub async fn next(&mut self) -> Option<ToolResult> {
        poll_fn(|cx| self.poll_result(cx)).await
    }

    /// Waits for all calls and returns the remaining results in the order of the calls.
    pub async fn finish(mut self) -> Vec<ToolResult> {
        let rest = poll_fn(|cx| self.shared.results.poll_rest(self.pushed, cx)).await;
        self.taken = self.pushed;
        for result in &rest {
            self.note(result);
        }
        rest
    }

    /// Cancels all calls, including calls pushed later, with an error of the kind
    /// [`Cancelled`](crate::ErrorKind::Cancelled).
    pub fn cancel(&mut self) {
        self.cancellation_token().cancel();
    }

    /// Cancels the calls with this id like [`cancel`](Self::cancel).
    pub fn cancel_call(&mut self, id: impl Into<CallId>) {
        self.call_token(id).cancel();
    }

    /// Returns a token for other tasks to cancel all calls.
    #[must_use]
    pub fn cancellation_token(&mut self) -> CancellationToken {
        self.cancellation.get_or_insert_default().all.get_or_insert_default().clone()
    }

    /// Returns a token for other tasks to cancel the calls with this id.
    #[must_use]
    pub fn call_token(&mut self, id: impl Into<CallId>) -> CancellationToken {
        self.cancellation.get_or_insert_default().of_call(id.into())
    }

    fn poll_result(&mut self, cx: &mut Context<'_>) -> Poll<Option<ToolResult>> {
        let result = ready!(self.shared.results.poll_next(self.pushed, cx));
        match &result {
            Some(result) => {
                self.taken += 1;
                self.note(result);
            }
            None => self.apply_changes(),
        }
        Poll::Ready(result)
    }

    fn note(&mut self, result: &ToolResult) {
        if let Some(tokens) = &mut self.cancellation {
            tokens.release(&result.call_id);
        }
        if self.shared.run.is_none() {
            return;
        }
        for (key, value) in &result.actions.state_delta {
            let change = (result.position, value.clone());
            let last = self.changes.entry(key.clone()).or_insert_with(|| change.clone());
            if last.0 < change.0 {
                *last = change;
            }
        }
    }

    fn apply_changes(&mut self) {
        if self.changes.is_empty() {
            return;
        }
        let mut delta = SessionDelta::new();
        for (key, (_, value)) in mem::take(&mut self.changes) {
            delta.insert(key, value);
        }
        if let Some(run) = &self.shared.run {
            run.apply(&delta);
        }
    }
}

impl Extend<ToolCall> for Batch {
    /// Starts the calls. With event listeners, all are announced before the first one starts.
    fn extend<T: IntoIterator<Item = ToolCall>>(&mut self, calls: T) {
        let calls = calls.into_iter();
        self.tasks.reserve(calls.size_hint().0);
        let runtime = Handle::try_current().ok();
        if self.shared.settings.bus.has_listeners() {
            let prepared: Vec<PreparedCall> = calls.map(|call| self.prepare(call)).collect();
            for call in prepared {
                self.spawn(call, runtime.as_ref());
            }
        } else {
            for call in calls {
                let prepared = self.prepare(call);
                self.spawn(prepared, runtime.as_ref());
            }
        }
    }
}

impl Stream for Batch {
    type Item = ToolResult;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ToolResult>> {
        self.poll_result(cx)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len(), Some(self.len()))
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        if !self.is_empty() {
            for task in &self.tasks {
                task.abort();
            }
        }
        self.apply_changes();
    }
}

impl_debug!(Batch, |this|
    pushed: this.pushed,
    taken: this.taken,
    tasks: this.tasks.len(),
    tokens: this.cancellation.as_ref().map_or(0, |tokens| tokens.calls.len()),
    turns: this.turns.len(),
);

#[derive(Default)]
pub(super) struct Cancellation {
    /// Created on first use, because a batch may have no calls.
    all: Option<CancellationToken>,
    calls: HashMap<CallId, CallTokens, RandomState>,
}

/// The token of all calls with the same id, and the number of its users.
struct CallTokens {
    token: CancellationToken,
    uses: usize,
}

impl From<CancellationToken> for Cancellation {
    fn from(all: CancellationToken) -> Self {
        Self { all: Some(all), ..Self::default() }
    }
}

impl Cancellation {
    /// Returns the token of an id for one more use, until [`release`](Self::release).
    fn of_call(&mut self, id: CallId) -> CancellationToken {
        let all = self.all.get_or_insert_default();
        let tokens = self.calls.entry(id).or_insert_with(|| CallTokens { token: all.child_token(), uses: 0 });
        tokens.uses += 1;
        tokens.token.clone()
    }

    /// Ends one use of the token, and removes it after the last one.
    ///
    /// Tokens given to the program stay, because the program does not call `release`.
    fn release(&mut self, id: &CallId) {
        if let Some(tokens) = self.calls.get_mut(id) {
            tokens.uses -= 1;
            if tokens.uses == 0 {
                self.calls.remove(id);
            }
        }
    }
}

/// The slot for the result of one call, filled even if the task of the call never finishes.
struct Slot {
    call: Option<PreparedCall>,
    shared: Arc<BatchShared>,
}

impl Slot {
    fn fill(mut self, ended: Ended) {
        if let Some(call) = self.call.take() {
            self.shared.results.put(call.into_result(ended));
        }
    }

    #[cold]
    fn refuse(mut self, error: ToolError) {
        if let Some(call) = self.call.take() {
            self.shared.results.put(call.into_error(error, &self.shared.settings));
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            self.shared.results.put(call.into_lost(&self.shared.settings));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::Dispatcher;
    use tokio::runtime::Builder;

    /// Returns the number of tasks looked at by many pushes with some results taken.
    fn steps(pushes: usize, take_every: usize) -> usize {
        let dispatcher = Dispatcher::new(ToolRegistry::new()).unwrap();
        let runtime = Builder::new_current_thread().build().unwrap();
        let handle = runtime.handle().clone();
        drop(runtime);
        let _entered = handle.enter();
        let mut batch = dispatcher.batch([]);
        let mut steps = 0;
        for push in 0..pushes {
            // The condition of `spawn`.
            if batch.tasks.len() > 2 * (batch.len() + 1) + 64 {
                steps += batch.tasks.len();
            }
            batch.push(ToolCall::new(push.to_string(), "absent", "{}"));
            if push % take_every == 0 {
                let result = batch.poll_result(&mut Context::from_waker(std::task::Waker::noop()));
                assert!(matches!(result, Poll::Ready(Some(_))));
            }
        }
        assert_eq!(batch.len(), pushes - pushes.div_ceil(take_every));
        steps
    }

    #[test]
    fn pushes_after_the_runtime_is_gone_are_linear() {
        for take_every in [1, 2, 3, 100, 50_000] {
            let steps = steps(50_000, take_every);
            assert!(steps <= 4 * 50_000, "{steps} steps, taking every {take_every}");
        }
    }
}
