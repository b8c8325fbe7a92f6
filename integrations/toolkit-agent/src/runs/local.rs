//! The owner of runs in one process.

use super::active::{Active, LocalInner};
use super::driver::drive;
use super::item::{DecisionItem, Inbox, Item, name_of_cancel, name_of_decision, name_of_input};
use super::listener::Listener;
use super::past::{Past, follow, kept_after};
use super::{ClientTool, Cursor, InputMode, RunInput, RunUpdates, Runs, RunsError, Submitted};
use crate::agent::Agent;
use crate::conversation::Conversation;
use crate::conversation_entry::ConversationEntry;
use crate::helpers::{lock, new_id};
use crate::limits::Limits;
use crate::pending::{Decision, Decisions, PendingCall};
use crate::session::sessions::Sessions;
use crate::session::{ConversationInfo, ConversationKey, RunStatus, StoreError};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use toolkit_core::RunContext;

/// Owns the runs of conversations in this process, over any store.
///
/// Each run works in a task of its own, so it goes on when listeners leave. Clones share the runs.
///
/// Several processes may use one store. An input is begun by the process that it was submitted in, or by the one that works
/// on the run before it. Decisions and cancellations reach the process that works, after [a second at
/// most](Self::with_poll).
///
/// ```
/// use toolkit_ai::agent::runs::{LocalRuns, Runs as _};
/// use toolkit_ai::agent::session::MemoryStore;
/// use toolkit_ai::agent::{Agent, Sessions};
/// use toolkit_ai::llm::ScriptedModel;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let agent = Agent::builder(ScriptedModel::new().text("Hi.")).build()?;
/// let runs = LocalRuns::new(agent, Sessions::new(MemoryStore::new())); // for example, a `FileStore`
/// runs.take_over().await?; // the runs of a process that has died
/// assert!(runs.waiting(None).await?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct LocalRuns {
    pub(super) inner: Arc<LocalInner>,
}

debug!(LocalRuns, self, "agent": self.inner.agent.name(), "active": lock(&self.inner.active).len());

impl LocalRuns {
    /// Creates an owner of the runs of `agent`. It begins to work with the first input, or with
    /// [`take_over`](Self::take_over).
    #[must_use]
    pub fn new(agent: Agent, sessions: Sessions) -> Self {
        let inner = LocalInner {
            agent,
            sessions,
            limits: None,
            context: None,
            deadline: None,
            poll: Duration::from_secs(1),
            active: Arc::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    fn inner_mut(&mut self) -> &mut LocalInner {
        Arc::make_mut(&mut self.inner)
    }

    /// Sets the limits of each run. Default: those of the agent.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.inner_mut().limits = Some(limits);
        self
    }

    /// Sets a function that makes the context of the tools of a run, such as the state of its user.
    #[must_use]
    pub fn with_context(
        mut self,
        context: impl Fn(ConversationKey<'_>) -> RunContext + Send + Sync + 'static,
    ) -> Self {
        self.inner_mut().context = Some(Arc::new(context));
        self
    }

    /// Sets a function that gives a waiting call a deadline, and the decision that is taken then.
    #[must_use]
    pub fn with_deadline(
        mut self,
        deadline: impl Fn(&PendingCall) -> Option<(Duration, Decision)> + Send + Sync + 'static,
    ) -> Self {
        self.inner_mut().deadline = Some(Arc::new(deadline));
        self
    }

    /// Sets how often a working run looks for what other processes have put into its inbox. Default: each second.
    #[must_use]
    pub fn with_poll(mut self, poll: Duration) -> Self {
        self.inner_mut().poll = poll.max(Duration::from_millis(1));
        self
    }

    /// Continues all runs that the store says work, and begins the inputs that wait. Returns how many conversations these
    /// are.
    ///
    /// Call it when no other process works on the store, such as at the start of the only one: a run that still works
    /// elsewhere loses its right to save.
    ///
    /// # Errors
    /// [`RunsError::Store`] if the store cannot be read.
    pub async fn take_over(&self) -> Result<usize, RunsError> {
        let unfinished = self.inner.sessions.store().unfinished(None).await?;
        for info in &unfinished {
            self.wake(ConversationKey { user: &info.user, id: &info.id }, true);
        }
        Ok(unfinished.len())
    }

    /// Makes a task look at the conversation, which is begun unless there is one.
    fn wake(&self, key: ConversationKey<'_>, takes_over: bool) -> Arc<Active> {
        let mut active = lock(&self.inner.active);
        let name = (key.user.to_owned(), key.id.to_owned());
        if let Some(known) = active.get(&name) {
            known.wake(takes_over);
            return known.clone();
        }
        let new = Arc::new(Active::new(key));
        new.wake(takes_over);
        active.insert(name, new.clone());
        tokio::spawn(drive(self.inner.clone(), new.clone()));
        new
    }

    fn find(&self, key: ConversationKey<'_>) -> Option<Arc<Active>> {
        lock(&self.inner.active).get(&(key.user.to_owned(), key.id.to_owned())).cloned()
    }

    async fn load(&self, key: ConversationKey<'_>) -> Result<Conversation, StoreError> {
        let read = self.inner.sessions.read(key).await?;
        Ok(read.unwrap_or_else(|| Conversation::new(key.id)))
    }

    /// Returns whether an input before that with this number waits.
    async fn is_behind(&self, key: ConversationKey<'_>, number: u64) -> Result<bool, StoreError> {
        let inbox = Inbox::load(&self.inner.sessions, key).await?;
        Ok(inbox.inputs.first().is_some_and(|input| input.number < number))
    }

    /// Returns whether the inbox has an item of this name, of an earlier submission.
    async fn has_item(&self, key: ConversationKey<'_>, name: &str) -> Result<bool, StoreError> {
        let inbox = self.inner.sessions.store().inbox(key).await?;
        Ok(inbox.iter().any(|item| item.name == name))
    }

    async fn put(&self, key: ConversationKey<'_>, name: &str, item: &Item) -> Result<(u64, Item), RunsError> {
        let content = serde_json::to_string(item).map_err(StoreError::from)?;
        let kept = self.inner.sessions.store().put(key, name, &content).await?;
        Ok((kept.number, serde_json::from_str(&kept.content).map_err(StoreError::from)?))
    }
}

impl Runs for LocalRuns {
    async fn submit(&self, key: ConversationKey<'_>, input: RunInput) -> Result<Submitted, RunsError> {
        let RunInput { run, mut item } = input;
        item.ticket = new_id().to_string();
        let run = run.unwrap_or_else(|| new_id().to_string());
        let mode = item.mode;
        let before = self.load(key).await?;
        if before.has_input(&run) {
            return Ok(Submitted { run, is_new: false, behind: None, after: None });
        }
        if !item.replaced.is_empty() && !before.can_rewind(&item.replaced) {
            return Err(RunsError::Refused(format!("the conversation has no input `{}`", item.replaced)));
        }
        if let Some(reason) = refusal(mode, busy(&before).as_ref())
            && !self.has_item(key, &name_of_input(&run)).await?
        {
            return Err(RunsError::Refused(reason));
        }
        let (log, entry) = before.saved_entries();
        let after = (entry > 0).then_some(Cursor { log, entry, attempt: 0, piece: 0 });
        ClientTool::registry(&item.tools).map_err(RunsError::Refused)?;
        let wanted = Item::Input(item);
        let (number, kept) = self.put(key, &name_of_input(&run), &wanted).await?;
        // Read after the item was put: an earlier one is in the inbox or in the log.
        let conversation = self.load(key).await?;
        let store = self.inner.sessions.store();
        let behind = busy(&conversation).filter(|status| status.run() != Some(&run));
        if conversation.has_input(&run) {
            // If the item is gone, it was taken up meanwhile.
            let is_again = store.take(key, number).await? || kept != wanted;
            return Ok(Submitted { run, is_new: !is_again, behind, after });
        }
        // Only one of two inputs that came at the same time may begin the run.
        if mode == InputMode::Reject
            && (behind.is_some() || self.is_behind(key, number).await?)
            && store.take(key, number).await?
        {
            return Err(RunsError::Refused(REFUSED.to_owned()));
        }
        self.wake(key, false);
        Ok(Submitted { run, is_new: kept == wanted, behind, after })
    }

    async fn attach(&self, key: ConversationKey<'_>, after: Option<Cursor>) -> Result<RunUpdates, RunsError> {
        let sessions = &self.inner.sessions;
        if let Some(active) = self.find(key) {
            let (updates, place, kept) = active.hub.listen().await;
            let mut past = Past::load(sessions, key).await?.updates(after.as_ref(), Some(&place));
            past.extend(kept_after(after.as_ref(), &place, kept));
            return Ok(updates.after(past));
        }
        let past = Past::load(sessions, key).await?;
        let (listener, updates) = Listener::new();
        let updates = updates.after(past.updates(after.as_ref(), None));
        if past.is_working() {
            let name = (key.user.to_owned(), key.id.to_owned());
            tokio::spawn(follow(sessions.clone(), name, past, listener, self.inner.poll));
        }
        Ok(updates)
    }

    async fn cancel(&self, key: ConversationKey<'_>, run: &str) -> Result<bool, RunsError> {
        let store = self.inner.sessions.store();
        let mut was_waiting = false;
        for item in store.inbox(key).await? {
            if item.name == name_of_input(run) {
                was_waiting = store.take(key, item.number).await?;
            }
        }
        // Looked at after the input was taken back: a task that has read it before looks again once it is noted as working.
        if self.find(key).is_some_and(|active| active.cancel(run)) {
            return Ok(true);
        }
        if busy(&self.load(key).await?).is_none_or(|status| status.run() != Some(run)) {
            return Ok(was_waiting);
        }
        self.put(key, &name_of_cancel(run), &Item::Cancel(run.to_owned())).await?;
        self.wake(key, false);
        Ok(true)
    }

    async fn decide(
        &self,
        key: ConversationKey<'_>,
        call: &str,
        decision: Decision,
        by: &str,
    ) -> Result<(), RunsError> {
        let ticket = new_id().to_string();
        let mine = DecisionItem { call: call.to_owned(), decision, by: by.to_owned(), ticket };
        let (number, kept) = self.put(key, &name_of_decision(call), &Item::Decision(mine.clone())).await?;
        let Item::Decision(kept) = kept else {
            return Err(StoreError::new("the inbox of the conversation is damaged").into());
        };
        // Read after the item was put: an earlier decision is in the inbox or in the log.
        let conversation = self.load(key).await?;
        let decisions = Decisions::new().with(call, mine.decision.clone());
        if let Err(reason) = decisions.check(&conversation.pending()) {
            // An earlier one may be in use.
            if kept == mine {
                self.inner.sessions.store().take(key, number).await?;
            }
            let log = self.inner.sessions.store().load(key).await?;
            let Some((decision, by)) = log.and_then(|log| Conversation::decision_in(&log.entries, call))
            else {
                return Err(RunsError::NotPending(reason));
            };
            return agree(&mine, decision, by);
        }
        self.wake(key, false);
        agree(&mine, kept.decision, kept.by)
    }

    async fn status(&self, key: ConversationKey<'_>) -> Result<RunStatus, RunsError> {
        Ok(self.load(key).await?.status())
    }

    async fn queued(&self, key: ConversationKey<'_>) -> Result<Vec<String>, RunsError> {
        let inbox = Inbox::load(&self.inner.sessions, key).await?;
        Ok(inbox.inputs.into_iter().map(|input| input.id).collect())
    }

    async fn values(&self, key: ConversationKey<'_>) -> Result<BTreeMap<String, Value>, RunsError> {
        Ok(self.load(key).await?.session_values().snapshot())
    }

    async fn entries(&self, key: ConversationKey<'_>) -> Result<Vec<ConversationEntry>, RunsError> {
        Ok(self.inner.sessions.user(key.user).conversation(key.id).entries(None).await?)
    }

    async fn waiting(&self, user: Option<&str>) -> Result<Vec<ConversationInfo>, RunsError> {
        let mut found = self.inner.sessions.store().unfinished(user).await?;
        found.retain(|info| matches!(info.summary.status, RunStatus::Waiting { .. }));
        Ok(found)
    }

    async fn list(&self, user: &str) -> Result<Vec<ConversationInfo>, RunsError> {
        Ok(self.inner.sessions.store().list(user).await?)
    }
}

const REFUSED: &str = "another input came before this one; submit it again when its run has ended";

/// Returns the status of an unfinished run.
fn busy(conversation: &Conversation) -> Option<RunStatus> {
    let status = conversation.status();
    matches!(status, RunStatus::Working { .. } | RunStatus::Waiting { .. }).then_some(status)
}

/// Returns why the mode refuses an input behind a run.
fn refusal(mode: InputMode, behind: Option<&RunStatus>) -> Option<String> {
    match (mode, behind?) {
        (InputMode::Reject, status) => {
            let run = status.run().unwrap_or_default();
            Some(format!(
                "run `{run}` is unfinished; submit the input again when it has ended, or with another mode"
            ))
        }
        (InputMode::Steer, RunStatus::Waiting { calls, .. }) => {
            let ids: Vec<String> = calls.iter().map(|call| format!("`{}`", call.id)).collect();
            Some(format!(
                "the run waits for decisions about {}; decide them, or submit with another mode",
                ids.join(", ")
            ))
        }
        _ => None,
    }
}

/// Compares a decision with the one that counts.
fn agree(mine: &DecisionItem, decision: Decision, by: String) -> Result<(), RunsError> {
    if mine.decision == decision {
        return Ok(());
    }
    Err(RunsError::AlreadyDecided { call: mine.call.clone(), decision: Box::new(decision), by })
}
