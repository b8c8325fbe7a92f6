//! The changes of a conversation between two saves.

use super::edit::Replaced;
use super::progress::Progress;
use super::turn::{TurnChange, TurnMarks};
use super::{Compactions, Conversation, Keys, Turn, Views};
use crate::helpers::lock;
use crate::output::Spent;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::mem::{replace, take};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use toolkit_llm::Message;

/// The changes of one conversation between two saves. An entry in the log is a list of such changes: for the
/// outermost conversation, and for the conversations nested in it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Changes {
    /// The path of keys that leads from the outermost conversation to the changed one. Empty if the outermost
    /// conversation has changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    node: Vec<String>,
    /// The number of messages that are removed at the beginning, before anything else changes.
    #[serde(skip_serializing_if = "is_zero")]
    dropped: usize,
    /// The number of messages that remain at the beginning. All later messages are removed. `None` keeps all
    /// messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    keep: Option<usize>,
    /// The new messages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    messages: Vec<Message>,
    /// The times of the new messages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    times: Vec<u64>,
    /// The changes of the unfinished turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<TurnChange>,
    /// Whether this change ends the turn that was unfinished before it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    turn_ends: bool,
    /// The changed progress, without the steps that are the same at its beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<Progress>,
    /// The number of these steps.
    #[serde(skip_serializing_if = "is_zero")]
    kept_steps: usize,
    /// Whether the unfinished run was abandoned.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    progress_ends: bool,
    /// The compactions, if they have changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    compactions: Option<Compactions>,
    /// All calls of removed messages, if messages were removed before they were saved. Otherwise, loading the changes
    /// counts the calls of the messages that it removes.
    #[serde(skip_serializing_if = "Keys::is_empty")]
    removed_calls: Keys,
    /// All replacements of copied messages, if there are new ones. Only the copy for a parallel agent has
    /// such replacements.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced: Option<Replaced>,
    /// The tokens, the cost and the numbers of calls of the run, if the rest of the progress is the same, or only a
    /// nested conversation has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    spent: Option<Spent>,
    /// The changed session values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    state: BTreeMap<String, Value>,
    /// The keys of the removed session values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    removed: Vec<String>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The extent of a conversation at its last save, for finding later changes.
#[derive(Debug, Clone, Default, PartialEq)]
struct Marks {
    /// The number of saved messages, without those removed since. Messages before `base` are neither counted nor saved.
    messages: usize,
    /// The number of saved messages that were removed at the beginning since the last save.
    dropped: usize,
    /// The index of the first message changed since the last save, counted from the message at `base`.
    changed: Option<usize>,
    turn: Option<TurnMarks>,
    /// The progress with an empty `spent`.
    progress: Option<Progress>,
    spent: Spent,
    /// The `revision` of the compactions.
    compactions: u64,
    /// The number of saved replacements of copied messages.
    replaced: usize,
    /// Whether messages with calls were removed that are not saved.
    has_removed_calls: bool,
}

/// The log to which a conversation is saved, and the state at the last save. A clone of the conversation has
/// its own position in the log. After one of them is saved, a save of the other is refused.
#[derive(Debug, Default)]
pub(crate) struct Saved {
    /// Created with the first log, because most conversations are not saved.
    cursor: OnceLock<Arc<Cursor>>,
    /// The log of the run that saves this conversation. `None` for a clone.
    log: Option<Arc<Cursor>>,
    /// The state at the last save, with the `generation` of the log at that time. `None` before the first
    /// save.
    marks: Option<(u64, Marks)>,
}

impl Clone for Saved {
    fn clone(&self) -> Self {
        let copy = |cursor: &Arc<Cursor>| {
            let position = Mutex::new(lock(&cursor.position).clone());
            Arc::new(Cursor { position, turnstile: Arc::default() }).into()
        };
        Self { cursor: self.cursor.get().map(copy).unwrap_or_default(), log: None, marks: self.marks.clone() }
    }
}

impl Saved {
    pub(crate) fn cursor(&self) -> &Arc<Cursor> {
        self.cursor.get_or_init(Arc::default)
    }

    /// Returns whether a run saves the conversation into this log.
    pub(crate) fn is_in(&self, log: &Arc<Cursor>) -> bool {
        self.log.as_ref().is_some_and(|own| Arc::ptr_eq(own, log))
    }

    /// Connects the conversation to the log of a run. `is_replaced` is `true` if another conversation may
    /// have been connected to the log before. If so, the next save writes all messages.
    pub(crate) fn connect(&mut self, log: &Arc<Cursor>, is_replaced: bool) {
        if is_replaced && !self.is_in(log) {
            self.marks = Some((u64::MAX, Marks::default()));
        }
        self.log = Some(log.clone());
        self.cursor = log.clone().into();
    }

    /// Connects the conversation to the log of `other`, if there is one.
    pub(super) fn connect_like(&mut self, other: &Self) {
        self.log.clone_from(&other.log);
    }
}

/// The position in the log of a conversation. The conversations nested in it share this log.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    pub(crate) position: Mutex<Position>,
    /// A lock for saving, so that only one save runs at a time.
    pub(crate) turnstile: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Position {
    /// The store that contains the log.
    pub(crate) store: Option<Weak<dyn Any + Send + Sync>>,
    /// The version of the log after the latest entry.
    pub(crate) version: u64,
    /// A number that is increased after a failed save, and when the store changes. All parts must then be
    /// saved again.
    pub(crate) generation: u64,
    /// The session values at the last save.
    pub(crate) values: BTreeMap<String, Value>,
    /// After a failed save, the conversations that are up to date in the log, by their paths. `None` if all are.
    pub(crate) rewritten: Option<BTreeSet<Vec<String>>>,
}

impl Position {
    /// Returns whether the conversations around the one at `node` are up to date in the log. If they are not, saving
    /// them later drops what the log has of the conversation.
    pub(crate) fn has_around(&self, node: &[String]) -> bool {
        let is_written = |done: &BTreeSet<Vec<String>>| {
            (0..node.len()).all(|len| node.get(..len).is_some_and(|path| done.contains(path)))
        };
        self.rewritten.as_ref().is_none_or(is_written)
    }

    /// Notes that the conversation at `node` is up to date in the log.
    pub(crate) fn set_written(&mut self, node: &[String]) {
        if let Some(rewritten) = &mut self.rewritten {
            rewritten.insert(node.to_vec());
        }
    }
}

impl Conversation {
    /// Returns the changes of this conversation and of its nested conversations since the last save. `node`
    /// is the path of keys from the outermost conversation to this one. `values` contains the current values
    /// of the session, and `spent` what the run has spent so far.
    pub(crate) fn changes(
        &self,
        position: &Position,
        values: &BTreeMap<String, Value>,
        node: &[String],
        spent: Option<Spent>,
    ) -> Vec<Changes> {
        let mut all = Vec::new();
        self.collect_changes(position.generation, node, &mut all);
        let saved = &position.values;
        let removed: Vec<String> = saved.keys().filter(|key| !values.contains_key(*key)).cloned().collect();
        let changed = values.iter().filter(|(key, value)| saved.get(*key) != Some(value));
        let state: BTreeMap<String, Value> =
            changed.map(|(key, value)| (key.clone(), value.clone())).collect();
        // The outermost conversation has the sum for the whole run.
        let spent = spent.filter(|_| !node.is_empty() && !all.is_empty());
        if spent.is_some() || !removed.is_empty() || !state.is_empty() {
            all.push(Changes { spent, state, removed, ..Changes::default() });
        }
        all
    }

    fn collect_changes(&self, generation: u64, node: &[String], all: &mut Vec<Changes>) {
        let marks = self.saved.marks.as_ref();
        let saved = marks.filter(|(of, _)| *of == generation).map(|(_, marks)| marks);
        // After a failed save, the log may contain only a part of the changes. A nested conversation may also
        // replace an earlier one with the same key.
        let is_repeated = saved.is_none() && (marks.is_some() || !node.is_empty());
        let own = self.messages.get(self.base..).unwrap_or_default();
        let kept = saved.map_or(0, |marks| marks.changed.unwrap_or(marks.messages).min(marks.messages));
        let kept = kept.min(own.len());
        let is_shorter = saved.is_some_and(|marks| kept < marks.messages);
        let (mut progress, spent) = self.relative_progress();
        let is_same = saved.is_some_and(|marks| marks.progress == progress);
        let saved_progress = saved.and_then(|marks| marks.progress.as_ref()).filter(|_| !is_same);
        let kept_steps = match (&mut progress, saved_progress) {
            (Some(progress), Some(saved)) => progress.remove_steps_of(saved),
            _ => 0,
        };
        let has_spent = saved.is_some_and(|marks| marks.spent != spent);
        let had_progress = saved.is_some_and(|marks| marks.progress.is_some());
        let saved_turn = saved.and_then(|marks| marks.turn);
        // If no message is kept, loading the changes also removes the compactions and the replacements.
        let is_reset = saved.is_none() || is_shorter && kept == 0;
        let is_compacted = saved.is_some_and(|marks| marks.compactions != self.compactions.revision())
            || is_reset && !self.compactions.is_empty();
        let has_replaced = self.replaced.len() != saved.map_or(0, |marks| marks.replaced)
            || is_reset && !self.replaced.is_empty();
        let has_removed_calls = is_reset || saved.is_some_and(|marks| marks.has_removed_calls);
        let removed_calls = if has_removed_calls { self.removed_calls.clone() } else { Keys::default() };
        let changes = Changes {
            node: node.to_vec(),
            dropped: saved.map_or(0, |marks| marks.dropped),
            keep: (is_shorter || is_repeated).then_some(kept),
            messages: own.get(kept..).unwrap_or_default().to_vec(),
            times: self.times.get(self.base + kept..).unwrap_or_default().to_vec(),
            turn: self.turn.as_ref().and_then(|turn| turn.changes(saved_turn)),
            turn_ends: self.turn.is_none() && (saved_turn.is_some() || is_repeated),
            progress_ends: progress.is_none() && (had_progress || is_repeated),
            // Written alone if nothing else has changed, because the steps may contain long outputs.
            spent: (is_same && has_spent).then_some(spent),
            progress: progress.filter(|_| !is_same).map(|progress| Progress { spent, ..progress }),
            kept_steps,
            compactions: is_compacted.then(|| self.compactions.clone()),
            removed_calls,
            replaced: has_replaced.then(|| self.replaced.clone()),
            ..Changes::default()
        };
        if changes != (Changes { node: node.to_vec(), ..Changes::default() }) {
            all.push(changes);
        }
        for (key, child) in &self.children {
            let node: Vec<String> = node.iter().chain([key]).cloned().collect();
            child.collect_changes(generation, &node, all);
        }
    }

    /// Returns the progress, with indexes counted from the message at `base` and an empty `spent`, and its `spent`.
    fn relative_progress(&self) -> (Option<Progress>, Spent) {
        let Some(mut progress) = self.progress.clone() else { return Default::default() };
        progress.move_by(-self.base.cast_signed());
        let spent = take(&mut progress.spent);
        (Some(progress), spent)
    }

    /// Records that all changes of this conversation and its nested conversations are saved.
    pub(crate) fn mark_saved(&mut self, generation: u64) {
        let (progress, spent) = self.relative_progress();
        let marks = Marks {
            messages: self.messages.len().saturating_sub(self.base),
            dropped: 0,
            changed: None,
            turn: self.turn.as_ref().map(Turn::marks),
            progress,
            spent,
            compactions: self.compactions.revision(),
            replaced: self.replaced.len(),
            has_removed_calls: false,
        };
        self.saved.marks = Some((generation, marks));
        self.children.values_mut().for_each(|child| child.mark_saved(generation));
    }

    /// Records that the message at `index` has changed since the last save and the last request.
    pub(super) fn mark_changed(&mut self, index: usize) {
        self.views.change_from(index);
        let own = index.checked_sub(self.base);
        if let (Some((_, marks)), Some(own)) = (self.saved.marks.as_mut(), own) {
            marks.changed = Some(marks.changed.map_or(own, |changed| changed.min(own)));
        }
    }

    /// Removes the first `removed` messages.
    pub(super) fn remove_first(&mut self, removed: usize) {
        let count = removed.min(self.messages.len());
        let gone: Vec<Message> = self.messages.drain(..count).collect();
        let (copied, own) = gone.split_at(self.base.min(gone.len()));
        self.copied_calls = take(&mut self.copied_calls).after(copied);
        self.removed_calls = take(&mut self.removed_calls).after(own);
        self.times.drain(..removed.min(self.times.len()));
        self.base -= copied.len();
        if let Some((_, marks)) = &mut self.saved.marks {
            let dropped = own.len().min(marks.messages);
            let (_, unsaved) = own.split_at(dropped);
            let is_changed = marks.changed.is_some_and(|changed| changed < dropped);
            marks.has_removed_calls |= is_changed || !Keys::default().after(unsaved).is_empty();
            marks.messages -= dropped;
            marks.dropped += dropped;
            marks.changed = marks.changed.map(|changed| changed.saturating_sub(dropped));
        }
        self.views = Views::default();
        if let Some(progress) = &mut self.progress {
            progress.move_by(-removed.cast_signed());
        }
        if removed > 0 {
            self.move_compactions(removed, 0);
        }
    }

    /// Applies changes from the log to the outermost conversation `self`, or to the nested conversation that
    /// `changes` names.
    pub(crate) fn apply(&mut self, mut changes: Changes) {
        for (key, value) in take(&mut changes.state) {
            self.session.store().set(key, value);
        }
        changes.removed.iter().for_each(|key| self.session.store().remove(key));
        let node = take(&mut changes.node);
        let child = node.into_iter().fold(self, |target, key| target.children.entry(key).or_default());
        child.apply_own(changes);
    }

    fn apply_own(&mut self, changes: Changes) {
        self.views = Views::default();
        let dropped = changes.dropped.min(self.messages.len());
        let gone: Vec<Message> = self.messages.drain(..dropped).collect();
        self.removed_calls = take(&mut self.removed_calls).after(&gone);
        self.times.drain(..dropped.min(self.times.len()));
        if let Some(keep) = changes.keep {
            self.messages.truncate(keep);
            if keep == 0 {
                self.compactions = Compactions::default();
                self.replaced.clear();
                self.removed_calls = Keys::default();
            }
        }
        if !changes.removed_calls.is_empty() {
            self.removed_calls = changes.removed_calls;
        }
        self.replaced = changes.replaced.unwrap_or_else(|| take(&mut self.replaced));
        if let Some(compactions) = changes.compactions {
            self.compactions = compactions;
        }
        self.times.resize(self.messages.len(), 0);
        self.messages.extend(changes.messages);
        self.times.extend(changes.times);
        if changes.turn_ends || changes.turn.as_ref().is_some_and(|turn| turn.begins) {
            self.turn = None;
            self.drop_called();
        }
        if let Some(turn) = changes.turn {
            turn.apply(&mut self.turn);
        }
        if changes.progress_ends || changes.progress.is_some() {
            let before = replace(&mut self.progress, changes.progress);
            if let (Some(progress), Some(before)) = (&mut self.progress, before) {
                progress.add_steps_of(before, changes.kept_steps);
            }
            self.drop_branches();
        }
        if let Some(spent) = changes.spent {
            self.set_spent(spent);
        }
    }
}
