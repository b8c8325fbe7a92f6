//! A cache of outputs for identical calls.

use super::{Middleware, Next, Outcome, SharedOutcome, ToolRequest, run_once};
use crate::context::SeenState;
use crate::definition::Tool;
use crate::error::BuildError;
use crate::guard::lock;
use crate::pattern::PerTool;
use lru::LruCache;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

/// Caches the outputs of identical calls: calls of the same tool with the same
/// [arguments](ToolRequest::canonical_arguments), in any batch.
///
/// Select tools [by name](Self::for_tool) whose output depends on nothing but their arguments and the
/// state. Registries with different state share no outputs. Neither do runs, if the tool
/// [declares](crate::ToolDefinition::state_needs) the type of the state, as a parameter with `#[state]`
/// does. The cache does not know what else a tool reads from its context: the user, the session, the run
/// and undeclared state of the run. Tools with [computed](crate::ArgumentTransform::computed) arguments
/// and errors are never cached. A cached output repeats neither session changes nor actions.
///
/// A call identical to a running one waits and shares its outcome, including errors. If the running call
/// is cancelled, one of the waiting calls runs instead. Replacing a tool invalidates its entries. A full
/// cache loses the least recently used entry.
///
/// Add the cache after [`Permissions`](super::Permissions), otherwise denied callers can read cached
/// outputs. Clones share the entries.
///
/// ```
/// use std::time::Duration;
/// use toolkit_ai::{Dispatcher, ToolRegistry};
/// use toolkit_ai::middleware::Cache;
///
/// let cache = Cache::new(1_000).for_tool("geo-*")?.with_time_to_live(Duration::from_secs(3600));
/// let dispatcher = Dispatcher::new(ToolRegistry::new())?.with_middleware(cache.clone());
/// cache.clear();
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct Cache {
    tools: PerTool<()>,
    time_to_live: Option<Duration>,
    entries: Arc<Mutex<LruCache<CallKey, CachedOutcome>>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct CallKey {
    tool: Box<str>,
    arguments: Box<str>,
    state: SeenState,
}

struct CachedOutcome {
    /// The tool with this name. Another one replaces the entry.
    tool: Weak<dyn Tool>,
    answer: SharedOutcome,
}

impl Cache {
    /// Creates an empty cache for at most `entries` outputs of tools still to be selected. Zero counts as
    /// one.
    pub fn new(entries: usize) -> Self {
        let entries = NonZeroUsize::new(entries).unwrap_or(NonZeroUsize::MIN);
        Self {
            tools: PerTool::default(),
            time_to_live: None,
            entries: Arc::new(Mutex::new(LruCache::new(entries))),
        }
    }

    /// Selects tools with a full name matching `pattern`, where `*` matches any string and `?` any
    /// character.
    ///
    /// # Errors
    /// [`BuildError`] if no legal name can match the pattern.
    pub fn for_tool(mut self, pattern: impl Into<String>) -> Result<Self, BuildError> {
        self.tools.add(pattern, ())?;
        Ok(self)
    }

    /// Removes all entries. Running calls do not add their outputs afterwards.
    pub fn clear(&self) {
        self.entries().clear();
    }

    fn entries(&self) -> MutexGuard<'_, LruCache<CallKey, CachedOutcome>> {
        lock(&self.entries)
    }

    fn key(&self, request: &ToolRequest) -> Option<CallKey> {
        let name = &request.definition().name;
        self.tools.permission(name)?;
        let needs = request.definition().state_needs();
        let state = request.context().all_state().map(|state| state.seen_by(needs)).unwrap_or_default();
        let arguments = request.canonical_arguments()?.into();
        Some(CallKey { tool: name.as_str().into(), arguments, state })
    }

    /// Returns the outcome for `key`, or a new one to be set by the caller.
    fn answer(&self, key: &CallKey, tool: &Arc<dyn Tool>) -> SharedOutcome {
        let mut entries = self.entries();
        if let Some(entry) = entries.get(key)
            && std::ptr::addr_eq(entry.tool.as_ptr(), Arc::as_ptr(tool))
            && self.is_valid(&entry.answer)
        {
            return entry.answer.clone();
        }
        let entry = CachedOutcome { tool: Arc::downgrade(tool), answer: Arc::default() };
        let answer = entry.answer.clone();
        entries.put(key.clone(), entry);
        answer
    }

    /// Returns whether an outcome is still to be set, or a success that has not expired.
    fn is_valid(&self, answer: &SharedOutcome) -> bool {
        let Some(shared) = answer.get() else { return true };
        shared.outcome.is_ok() && self.time_to_live.is_none_or(|limit| shared.at.elapsed() < limit)
    }

    /// Removes the entry for `key`, unless another outcome has replaced `answer`.
    fn forget(&self, key: &CallKey, answer: &SharedOutcome) {
        let mut entries = self.entries();
        if entries.peek(key).is_some_and(|entry| Arc::ptr_eq(&entry.answer, answer)) {
            entries.pop(key);
        }
    }
}

impl Middleware for Cache {
    fn tool_patterns(&self) -> Vec<&str> {
        self.tools.patterns()
    }

    async fn handle(&self, request: ToolRequest, next: Next) -> Outcome {
        let Some(key) = self.key(&request) else {
            return next.run(request).await;
        };
        let answer = self.answer(&key, request.tool());
        let (outcome, _) = run_once(&answer, request, next).await;
        if outcome.is_err() {
            self.forget(&key, &answer);
        }
        outcome
    }
}

setters! { Cache:
    /// Sets how long an output is valid. The default is no limit.
    with_time_to_live(time_to_live: Duration) = Some(time_to_live);
}

// The outputs may be secrets.
impl_debug!(Cache, |this| tools: this.tools, time_to_live: this.time_to_live, entries: this.entries().len());
