//! Answering a call with what the same call gave before.

use super::pattern::fits;
use super::{Middleware, Next, Outcome, ToolRequest};
use crate::error::ErrorKind;
use crate::tool::Tool;
use lru::LruCache;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio::time::Instant;

/// Answers a call with what the same call gave before, in this batch or an earlier one: the same tool with the same
/// [arguments](ToolRequest::canonical_arguments).
///
/// Only the tools that it is [told](Self::for_tool) are answered from it: those whose output depends on nothing
/// but their arguments. What such a tool writes into the session or wants of the agent is not
/// done again. Only outputs are kept, no errors. Calls that come while the same call runs wait for it and share
/// what comes of it, be it an error; if it is cancelled, one of them runs. A tool that was replaced by one of the same name has
/// to run anew.
///
/// It has so many entries at most, and what was not used for longest goes first. Put it inside of
/// [`Permissions`](super::Permissions), or who may not call a tool reads what others were answered. Clones share
/// what is kept.
///
/// ```
/// use std::time::Duration;
/// use toolkit::{Dispatcher, ToolRegistry};
/// use toolkit::middleware::Cache;
///
/// let cache = Cache::new(1_000).for_tool("geo-*").with_time_to_live(Duration::from_secs(3600));
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?.with_middleware(cache.clone());
/// cache.clear();
/// # Ok::<(), toolkit::BuildError>(())
/// ```
#[derive(Clone)]
pub struct Cache {
    patterns: Vec<String>,
    time_to_live: Option<Duration>,
    entries: Arc<Mutex<LruCache<Key, Entry>>>,
}

/// The tool's name and its arguments.
type Key = (Box<str>, Box<str>);

struct Entry {
    tool: Weak<dyn Tool>,
    answer: Arc<OnceCell<Answered>>,
}

/// What came of a call, and when.
struct Answered {
    outcome: Outcome,
    at: Instant,
}

impl Cache {
    /// An empty cache for no tool yet, with this many entries at most, and one at least.
    #[must_use]
    pub fn new(entries: usize) -> Self {
        let entries = NonZeroUsize::new(entries).unwrap_or(NonZeroUsize::MIN);
        Self {
            patterns: Vec::new(),
            time_to_live: None,
            entries: Arc::new(Mutex::new(LruCache::new(entries))),
        }
    }

    /// Answers calls of the tools whose name fits the pattern, where `*` is any text.
    #[must_use]
    pub fn for_tool(mut self, pattern: impl Into<String>) -> Self {
        self.patterns.push(pattern.into());
        self
    }

    /// Sets how long an output is good for. Without it, it is for ever.
    #[must_use]
    pub fn with_time_to_live(mut self, limit: Duration) -> Self {
        self.time_to_live = Some(limit);
        self
    }

    /// Forgets everything, as after something was changed that tools look at. A call that runs meanwhile is not
    /// kept either.
    pub fn clear(&self) {
        self.entries().clear();
    }

    fn entries(&self) -> MutexGuard<'_, LruCache<Key, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn key(&self, request: &ToolRequest) -> Option<Key> {
        let name = request.definition().name.as_str();
        let is_kept = self.patterns.iter().any(|pattern| fits(name, pattern));
        is_kept.then(|| Some((name.into(), request.canonical_arguments()?.into())))?
    }

    /// Where the answer is, or will be.
    fn answer(&self, key: &Key, tool: &Arc<dyn Tool>) -> Arc<OnceCell<Answered>> {
        let mut entries = self.entries();
        if let Some(entry) = entries.get(key) {
            let is_good = entry.answer.get().is_none_or(|answered| self.is_good(answered));
            if is_good && std::ptr::addr_eq(entry.tool.as_ptr(), Arc::as_ptr(tool)) {
                return entry.answer.clone();
            }
        }
        let entry = Entry { tool: Arc::downgrade(tool), answer: Arc::default() };
        let answer = entry.answer.clone();
        entries.put(key.clone(), entry);
        answer
    }

    fn is_good(&self, answered: &Answered) -> bool {
        let age = answered.at.elapsed();
        answered.outcome.is_ok() && self.time_to_live.is_none_or(|limit| age < limit)
    }

    /// Makes room for something better than an error.
    fn forget(&self, key: &Key, answer: &Arc<OnceCell<Answered>>) {
        let mut entries = self.entries();
        if entries.peek(key).is_some_and(|entry| Arc::ptr_eq(&entry.answer, answer)) {
            entries.pop(key);
        }
    }
}

impl Middleware for Cache {
    async fn handle(&self, request: ToolRequest, next: Next) -> Outcome {
        let Some(key) = self.key(&request) else {
            return next.run(request).await;
        };
        let answer = self.answer(&key, request.tool());
        let run = async {
            match next.run(request).await {
                // Nobody else should be answered with it.
                Err(error) if error.kind() == ErrorKind::Cancelled => Err(error),
                outcome => Ok(Answered { outcome, at: Instant::now() }),
            }
        };
        let outcome = answer.get_or_try_init(|| run).await?.outcome.clone();
        if outcome.is_err() {
            self.forget(&key, &answer);
        }
        outcome
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Outputs may be secrets; how many there are says enough.
        f.debug_struct("Cache")
            .field("patterns", &self.patterns)
            .field("time_to_live", &self.time_to_live)
            .field("entries", &self.entries().len())
            .finish()
    }
}
