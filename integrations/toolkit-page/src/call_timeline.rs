//! The calls that the page remembers: the latest ones, within a limit of calls and of bytes.

use crate::call_record::CallRecord;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use toolkit_core::events::{ToolEvent, ToolEventKind};

/// How many calls are sent at once.
pub(crate) const MOST_ROWS: usize = 500;

pub(crate) struct CallTimeline {
    kept: Mutex<KeptCalls>,
    /// The number of the latest change.
    changes: watch::Sender<u64>,
}

/// The calls by their numbers, which have no gaps.
#[derive(Default)]
struct KeptCalls {
    calls: VecDeque<CallRecord>,
    /// How many calls were dropped, and so the number of the first that is left.
    dropped: u64,
    latest_change: u64,
    /// The call of each latest change.
    changed: BTreeMap<u64, u64>,
    /// The numbers of running calls, by the address that their events share.
    running: HashMap<usize, u64>,
    bytes: usize,
    max_calls: usize,
    max_bytes: usize,
}

/// What the table of calls asks for.
#[derive(Debug, Default, serde::Deserialize)]
pub(crate) struct CallQuery {
    #[serde(default)]
    pub(crate) tool: String,
    #[serde(default)]
    pub(crate) state: String,
    #[serde(default)]
    pub(crate) order: String,
    pub(crate) limit: Option<usize>,
}

impl CallTimeline {
    pub(crate) fn new(max_calls: usize, max_bytes: usize) -> Self {
        let kept = KeptCalls { max_calls, max_bytes, ..KeptCalls::default() };
        Self { kept: Mutex::new(kept), changes: watch::Sender::new(0) }
    }

    pub(crate) fn resize(&self, max_calls: usize, max_bytes: usize) {
        let mut kept = self.kept();
        (kept.max_calls, kept.max_bytes) = (max_calls, max_bytes);
    }

    pub(crate) fn record(&self, event: &ToolEvent) {
        let key = Arc::as_ptr(&event.call) as usize;
        let mut kept = self.kept();
        let number = match kept.running.get(&key) {
            Some(number) => *number,
            None if event.kind == ToolEventKind::Called => {
                let number = kept.dropped + kept.calls.len() as u64;
                kept.calls.push_back(CallRecord::new(number, event));
                kept.running.insert(key, number);
                number
            }
            // The call was dropped, or began before the page.
            None => return,
        };
        if event.end().is_some() {
            kept.running.remove(&key);
        }
        kept.latest_change += 1;
        let change = kept.latest_change;
        let Some(record) = kept.get_mut(number) else { return };
        let bytes = record.add(event);
        let before = std::mem::replace(&mut record.changed, change);
        kept.bytes += bytes;
        kept.changed.remove(&before);
        kept.changed.insert(change, number);
        while kept.calls.len() > kept.max_calls || kept.bytes > kept.max_bytes && kept.calls.len() > 1 {
            kept.drop_first();
        }
        drop(kept);
        self.changes.send_replace(change);
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Returns the rows of calls that changed after `change`, earliest change first, and the last change
    /// among them.
    pub(crate) fn changes_since(&self, change: u64) -> (Value, u64) {
        let kept = self.kept();
        let mut last = change;
        let mut rows = Vec::new();
        for (at, number) in kept.changed.range(change + 1..).take(MOST_ROWS) {
            last = *at;
            rows.extend(kept.get(*number).map(CallRecord::row));
        }
        (json!({"rows": rows, "totals": kept.totals()}), last)
    }

    /// Returns the rows that a query asks for.
    pub(crate) fn rows(&self, query: &CallQuery) -> Value {
        let kept = self.kept();
        let mut matching: Vec<&CallRecord> = Vec::new();
        for record in kept.calls.iter().rev() {
            let has_tool = query.tool.is_empty() || record.call.tool.contains(&query.tool);
            if has_tool && has_state(record, &query.state) {
                matching.push(record);
            }
        }
        let count = matching.len();
        match query.order.as_str() {
            "waited" => matching.sort_by_cached_key(|record| std::cmp::Reverse(record.waited())),
            "ran" => matching.sort_by_cached_key(|record| std::cmp::Reverse(record.ran())),
            _ => {}
        }
        matching.truncate(query.limit.unwrap_or(200).min(MOST_ROWS));
        let rows: Vec<Value> = matching.into_iter().map(CallRecord::row).collect();
        json!({"rows": rows, "matching": count, "change": kept.latest_change, "totals": kept.totals()})
    }

    pub(crate) fn details(&self, number: u64, contents: bool) -> Option<Value> {
        self.kept().get(number).map(|record| record.details(contents))
    }

    fn kept(&self) -> MutexGuard<'_, KeptCalls> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn has_state(record: &CallRecord, state: &str) -> bool {
    match state {
        "" => true,
        "open" => !record.has_ended(),
        "failed" => record.has_ended() && record.state() != "result",
        state => record.state() == state,
    }
}

impl KeptCalls {
    fn get(&self, number: u64) -> Option<&CallRecord> {
        self.calls.get(usize::try_from(number.checked_sub(self.dropped)?).ok()?)
    }

    fn get_mut(&mut self, number: u64) -> Option<&mut CallRecord> {
        self.calls.get_mut(usize::try_from(number.checked_sub(self.dropped)?).ok()?)
    }

    fn drop_first(&mut self) {
        let Some(first) = self.calls.pop_front() else { return };
        self.dropped += 1;
        self.bytes = self.bytes.saturating_sub(first.bytes);
        self.changed.remove(&first.changed);
        if !first.has_ended() {
            self.running.retain(|_, number| *number != first.number);
        }
    }

    fn totals(&self) -> Value {
        json!({"kept": self.calls.len(), "dropped": self.dropped, "running": self.running.len(), "bytes": self.bytes})
    }
}

impl std::fmt::Debug for CallTimeline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallTimeline").field("totals", &self.kept().totals()).finish_non_exhaustive()
    }
}
