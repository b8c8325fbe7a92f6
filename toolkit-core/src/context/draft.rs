//! The draft of a call: its changes and actions, kept only if it succeeds.

use super::ToolContext;
use super::actions::ToolActions;
use crate::guard::lock;
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// The session changes and actions of a call, allocated with the first change. Clones share them.
#[derive(Debug, Default)]
pub(super) struct Draft {
    shared: OnceLock<Arc<Mutex<Page>>>,
    /// The attempt that uses this clone; 0 for middleware, which is not tied to an attempt.
    attempt: AtomicU64,
}

/// The writes of middleware and the latest attempt.
#[derive(Debug)]
struct Page {
    attempt: u64,
    /// All writes. `None` after the call has ended.
    actions: Option<ToolActions>,
    /// The writes from before the first write of the latest attempt; `None` before that write.
    before: Option<ToolActions>,
}

impl Page {
    fn new() -> Self {
        Self { attempt: 0, actions: Some(ToolActions::default()), before: None }
    }
}

impl Draft {
    /// Begins a new attempt. The earlier attempt's writes are discarded, also later ones, for example from
    /// a thread that still runs. Earlier writes of middleware are kept.
    #[inline]
    pub(super) fn begin(&self) {
        if let Some(shared) = self.shared.get() {
            let mut page = lock(shared);
            page.attempt += 1;
            if let Some(before) = page.before.take() {
                page.actions = Some(before);
            }
            self.attempt.store(page.attempt, Ordering::Relaxed);
        }
    }

    /// Closes the draft and returns its content. Later changes are discarded.
    #[inline]
    pub(super) fn close(&self) -> Option<ToolActions> {
        lock(self.shared.get()?).actions.take()
    }

    fn shared(&self) -> &Arc<Mutex<Page>> {
        self.shared.get_or_init(|| Arc::new(Mutex::new(Page::new())))
    }

    pub(super) fn merge(&self, nested: &ToolActions) {
        self.write(|actions| actions.merge(nested));
    }

    fn write(&self, change: impl FnOnce(&mut ToolActions)) {
        let mut page = lock(self.shared());
        let attempt = self.attempt.load(Ordering::Relaxed);
        if attempt != 0 && attempt == page.attempt && page.before.is_none() {
            page.before = page.actions.clone();
        }
        if let Some(actions) = self.own(&mut page) {
            change(actions);
        }
    }

    /// Returns what the call has written under `key`; `Some(None)` if it removed the key.
    fn read(&self, key: &str) -> Option<Option<Value>> {
        self.own(&mut lock(self.shared.get()?))?.state_delta.get(key).cloned()
    }

    /// Returns the actions in `page`, unless the call has ended or begun a later attempt.
    fn own<'a>(&self, page: &'a mut Page) -> Option<&'a mut ToolActions> {
        let attempt = self.attempt.load(Ordering::Relaxed);
        page.actions.as_mut().filter(|_| attempt == 0 || attempt == page.attempt)
    }
}

impl Clone for Draft {
    fn clone(&self) -> Self {
        let attempt = self.attempt.load(Ordering::Relaxed).into();
        Self { shared: OnceLock::from(self.shared().clone()), attempt }
    }
}

/// The session as seen by one call, including the call's own changes.
///
/// The changes reach the session when the batch ends, in the order of the calls, and only from successful
/// calls. Without a dispatcher, they are lost. The prefix of a key selects its scope, see
/// [`Session`](crate::Session).
#[derive(Debug, Clone, Copy)]
pub struct SessionHandle<'a>(&'a ToolContext);

impl SessionHandle<'_> {
    /// Returns the session's id, if any.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        Some(self.0.run()?.session()?.id())
    }

    /// Returns the session value of a key, or the call's change of it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Value> {
        match self.0.draft.read(key) {
            Some(written) => written,
            None => self.0.run()?.get(key),
        }
    }

    /// Sets the value of a key in the session.
    pub fn set(&self, key: impl Into<String>, value: impl Into<Value>) {
        self.write(key.into(), Some(value.into()));
    }

    /// Removes a key from the session.
    pub fn remove(&self, key: impl Into<String>) {
        self.write(key.into(), None);
    }

    fn write(&self, key: String, value: Option<Value>) {
        self.0.draft.write(|actions| drop(actions.state_delta.insert(key, value)));
    }
}

/// Requests actions from the agent. If the call succeeds, they are in
/// [`ToolResult::actions`](crate::ToolResult::actions).
#[derive(Debug, Clone, Copy)]
pub struct ActionsHandle<'a>(&'a ToolContext);

impl ActionsHandle<'_> {
    /// Requests the transfer of the conversation to the agent `name`.
    pub fn transfer_to_agent(&self, name: impl Into<String>) {
        let name = name.into();
        self.0.draft.write(|actions| actions.transfer_to_agent = Some(name));
    }

    /// Requests the end of the running loop of agents.
    pub fn escalate(&self) {
        self.0.draft.write(|actions| actions.escalate = true);
    }

    /// Makes the output the final answer, not summarized by the model.
    pub fn skip_summarization(&self) {
        self.0.draft.write(|actions| actions.skip_summarization = true);
    }
}

impl ToolContext {
    /// Returns a handle for the session.
    ///
    /// ```
    /// use toolkit_ai::{ToolContext, ToolName};
    ///
    /// let context = ToolContext::new(ToolName::new("search")?);
    /// context.session().set("last_query", "rust");
    /// assert_eq!(context.session().get("last_query"), Some("rust".into()));
    /// # Ok::<(), toolkit_ai::name::NameError>(())
    /// ```
    #[must_use]
    pub fn session(&self) -> SessionHandle<'_> {
        SessionHandle(self)
    }

    /// Returns a handle for requesting actions from the agent.
    #[must_use]
    pub fn actions(&self) -> ActionsHandle<'_> {
        ActionsHandle(self)
    }
}
