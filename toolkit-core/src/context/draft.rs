//! What a call has written so far: it counts only when the call has succeeded.

use super::actions::ToolActions;
use super::{RunContext, ToolContext};
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// What a call has written, made when it first writes. Clones share it.
#[derive(Debug, Default)]
pub(super) struct Draft {
    shared: OnceLock<Arc<Mutex<Page>>>,
    /// The attempt that writes here, and whoever has a clone from it; 0 is whoever stands around all attempts.
    attempt: AtomicU64,
}

/// What the newest attempt has written; `None` when the call has ended.
#[derive(Debug)]
struct Page {
    attempt: u64,
    actions: Option<ToolActions>,
}

impl Draft {
    /// Begins a new attempt: what an earlier one has written is void, and so is what it still writes, such as a
    /// thread that was left behind.
    #[inline]
    pub(super) fn begin(&self) {
        if let Some(shared) = self.shared.get() {
            let mut page = lock(shared);
            let attempt = page.attempt + 1;
            *page = Page { attempt, actions: Some(ToolActions::default()) };
            self.attempt.store(attempt, Ordering::Relaxed);
        }
    }

    /// What was written. Whoever writes from now on writes to nothing.
    pub(super) fn close(&self) -> ToolActions {
        let Some(shared) = self.shared.get() else { return ToolActions::default() };
        lock(shared).actions.take().unwrap_or_default()
    }

    fn shared(&self) -> &Arc<Mutex<Page>> {
        self.shared
            .get_or_init(|| Arc::new(Mutex::new(Page { attempt: 0, actions: Some(ToolActions::default()) })))
    }

    fn write(&self, change: impl FnOnce(&mut ToolActions)) {
        if let Some(actions) = self.own(&mut lock(self.shared())) {
            change(actions);
        }
    }

    /// The value that was written under a key, `Some(None)` if it was removed.
    fn read(&self, key: &str) -> Option<Option<Value>> {
        self.own(&mut lock(self.shared.get()?))?.state_delta.get(key).cloned()
    }

    /// What there is on the page, if it is still that of this attempt.
    fn own<'a>(&self, page: &'a mut Page) -> Option<&'a mut ToolActions> {
        let attempt = self.attempt.load(Ordering::Relaxed);
        page.actions.as_mut().filter(|_| attempt == 0 || attempt == page.attempt)
    }
}

fn lock(page: &Mutex<Page>) -> MutexGuard<'_, Page> {
    page.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Clone for Draft {
    fn clone(&self) -> Self {
        let attempt = self.attempt.load(Ordering::Relaxed).into();
        Self { shared: OnceLock::from(self.shared().clone()), attempt }
    }
}

/// The session as one call sees it, with what this call has written.
///
/// What is written here reaches the session when the batch has ended, and only if this call has succeeded;
/// the changes of its calls come in the order of the calls. Prefixes of keys say for whom a
/// value is, see [`Session`](crate::Session). What a call writes that no dispatcher runs is gone when the call is.
#[derive(Debug, Clone, Copy)]
pub struct SessionHandle<'a>(&'a ToolContext);

impl SessionHandle<'_> {
    /// The id of the session, if there is one.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        Some(self.0.run()?.session()?.id())
    }

    /// The value under a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Value> {
        let written = self.0.draft.read(key);
        written.unwrap_or_else(|| self.0.run().and_then(|run: &RunContext| run.get(key)))
    }

    /// Sets the value under a key.
    pub fn set(&self, key: impl Into<String>, value: impl Into<Value>) {
        let (key, value) = (key.into(), value.into());
        self.0.draft.write(|actions| {
            actions.state_delta.insert(key, Some(value));
        });
    }

    /// Removes the value under a key.
    pub fn remove(&self, key: impl Into<String>) {
        let key = key.into();
        self.0.draft.write(|actions| {
            actions.state_delta.insert(key, None);
        });
    }
}

/// What a call wants the agent to do. It counts only if the call succeeds, and is then in
/// [`ToolResult::actions`](crate::ToolResult::actions).
#[derive(Debug, Clone, Copy)]
pub struct ActionsHandle<'a>(&'a ToolContext);

impl ActionsHandle<'_> {
    /// Has another agent go on with the conversation.
    pub fn transfer_to_agent(&self, name: impl Into<String>) {
        let name = name.into();
        self.0.draft.write(|actions| actions.transfer_to_agent = Some(name));
    }

    /// Ends a loop of agents.
    pub fn escalate(&self) {
        self.0.draft.write(|actions| actions.escalate = true);
    }

    /// Makes the output the answer, so that the model need not put it into words.
    pub fn skip_summarization(&self) {
        self.0.draft.write(|actions| actions.skip_summarization = true);
    }
}

impl ToolContext {
    /// The session, to be read and changed.
    ///
    /// ```
    /// use toolkit::{ToolContext, ToolName};
    ///
    /// let context = ToolContext::new(ToolName::new("search")?);
    /// context.session().set("last_query", "rust");
    /// assert_eq!(context.session().get("last_query"), Some("rust".into()));
    /// # Ok::<(), toolkit::name::NameError>(())
    /// ```
    #[must_use]
    pub fn session(&self) -> SessionHandle<'_> {
        SessionHandle(self)
    }

    /// What the agent should do after this call.
    #[must_use]
    pub fn actions(&self) -> ActionsHandle<'_> {
        ActionsHandle(self)
    }
}
