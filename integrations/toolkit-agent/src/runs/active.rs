//! The conversations with a task, and the settings of their owner.

use super::hub::Hub;
use crate::agent::Agent;
use crate::helpers::lock;
use crate::limits::Limits;
use crate::pending::{Decision, PendingCall};
use crate::session::ConversationKey;
use crate::session::sessions::Sessions;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use toolkit_core::{CancellationToken, RunContext};

type AllActive = HashMap<(String, String), Arc<Active>>;
type ContextOf = dyn Fn(ConversationKey<'_>) -> RunContext + Send + Sync;
type DeadlineOf = dyn Fn(&PendingCall) -> Option<(Duration, Decision)> + Send + Sync;

#[derive(Clone)]
pub(super) struct LocalInner {
    pub(super) agent: Agent,
    pub(super) sessions: Sessions,
    pub(super) limits: Option<Limits>,
    pub(super) context: Option<Arc<ContextOf>>,
    pub(super) deadline: Option<Arc<DeadlineOf>>,
    pub(super) poll: Duration,
    /// The conversations with a task, by user and id.
    pub(super) active: Arc<Mutex<AllActive>>,
}

/// A conversation with a task.
pub(super) struct Active {
    pub(super) user: String,
    pub(super) id: String,
    pub(super) hub: Hub,
    pub(super) current: Mutex<Option<Current>>,
    /// Whether the inbox may have changed since the task has looked at it.
    pub(super) has_news: AtomicBool,
    /// Whether the inbox may have an input that steers.
    pub(super) is_steered: AtomicBool,
    /// Whether a run that is noted as working is to be continued.
    pub(super) takes_over: AtomicBool,
    pub(super) news: Notify,
}

/// The run that works.
pub(super) struct Current {
    pub(super) run: Arc<str>,
    pub(super) cancellation: CancellationToken,
}

impl Active {
    pub(super) fn new(key: ConversationKey<'_>) -> Self {
        Self {
            user: key.user.to_owned(),
            id: key.id.to_owned(),
            hub: Hub::default(),
            current: Mutex::default(),
            has_news: AtomicBool::new(false),
            is_steered: AtomicBool::new(false),
            takes_over: AtomicBool::new(false),
            news: Notify::new(),
        }
    }

    pub(super) fn key(&self) -> ConversationKey<'_> {
        ConversationKey { user: &self.user, id: &self.id }
    }

    pub(super) fn wake(&self, takes_over: bool) {
        self.takes_over.fetch_or(takes_over, Ordering::Relaxed);
        // At the next turn already, even if the inbox was not looked at before.
        self.is_steered.store(true, Ordering::Relaxed);
        self.has_news.store(true, Ordering::Release);
        self.news.notify_one();
    }

    /// Cancels the run if it works, and returns whether it does.
    pub(super) fn cancel(&self, run: &str) -> bool {
        let current = lock(&self.current);
        let Some(current) = current.as_ref().filter(|current| *current.run == *run) else { return false };
        current.cancellation.cancel();
        true
    }
}
