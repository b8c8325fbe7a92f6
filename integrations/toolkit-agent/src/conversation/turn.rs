//! The unfinished turn of a conversation.

use super::Conversation;
use super::keys::Keys;
use super::lost::lost;
use super::native::{Added, Extent, GrowingNative as _};
use super::nested::child_of_call;
use super::withhold::withhold;
use crate::message::store_details;
use crate::pending::PendingCall;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toolkit_core::context::SessionDelta;
use toolkit_core::error::Pending;
use toolkit_core::{ToolCall, ToolError, ToolResult};
use toolkit_llm::{AssistantMessage, NativeMessages};

/// An unfinished turn: the parts of the model's message and the tool results that have arrived so far.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Turn {
    message: AssistantMessage,
    /// The results so far, in the order of completion. The field `position` of a result is the index of its
    /// call in the turn.
    results: Vec<ToolResult>,
    /// The pending calls, by their index in the turn. The value is the reason why the result of the call
    /// comes later.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pending: BTreeMap<usize, Pending>,
    /// The number of results whose changes of session values are already applied to the session.
    #[serde(skip_serializing_if = "is_zero")]
    applied: usize,
    /// Whether the agent checks its answers with guardrails. In an unfinished turn, no answer is checked yet.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    checks_answers: bool,
    /// All changes of `pending`, in order. A save writes only the changes since the last save.
    #[serde(skip)]
    pending_changes: Vec<(usize, Option<Pending>)>,
    /// The number of the turn in its conversation. A save compares this number with its last value, to
    /// recognize a new turn.
    #[serde(skip)]
    number: u64,
    /// The number of edits of the message. Adding to it is not an edit.
    #[serde(skip)]
    revision: u64,
}

/// The extent of a turn at its last save, for finding later changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TurnMarks {
    number: u64,
    text: usize,
    reasoning: usize,
    native: Extent,
    calls: usize,
    results: usize,
    pending: usize,
    applied: usize,
    revision: u64,
    checks_answers: bool,
}

/// The changes of a turn since the last save.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct TurnChange {
    /// Whether the changes begin a new turn.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) begins: bool,
    /// The complete message, if it was edited. Nothing is added to it then.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<AssistantMessage>,
    /// The text added to the message. A message that arrives in pieces is saved with each of its calls.
    #[serde(skip_serializing_if = "String::is_empty")]
    text: String,
    /// The reasoning added to the message.
    #[serde(skip_serializing_if = "String::is_empty")]
    reasoning: String,
    /// What was added to the native form of the message.
    #[serde(skip_serializing_if = "Added::is_empty")]
    native: Added,
    /// The calls added to the message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<ToolCall>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    results: Vec<ToolResult>,
    /// The calls that became pending, by their index. `None` marks a call that is no longer pending.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pending: Vec<(usize, Option<Pending>)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    applied: Option<usize>,
    /// Whether the agent of the turn checks its answers from now on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    checks_answers: bool,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Turn {
    pub(super) fn new(agent: &str, number: u64) -> Self {
        let message = AssistantMessage::default().by(agent);
        Self { message, number, ..Self::default() }
    }

    /// Returns the same turn with another number. The next save then writes the complete turn.
    pub(super) fn renumbered(self, number: u64) -> Self {
        Self { number, ..self }
    }

    /// Returns the parts of the model's message that have arrived so far.
    pub(crate) fn message(&self) -> &AssistantMessage {
        &self.message
    }

    /// Changes the message with `edit`, and counts the edit.
    pub(crate) fn edit(&mut self, edit: impl FnOnce(&mut AssistantMessage)) {
        self.revision += 1;
        edit(&mut self.message);
    }

    /// Adds a piece of the text.
    pub(crate) fn push_text(&mut self, piece: &str) {
        self.message.text.push_str(piece);
    }

    /// Adds a piece of the reasoning.
    pub(crate) fn push_reasoning(&mut self, piece: &str) {
        self.message.reasoning.push_str(piece);
    }

    /// Adds further parts of the message in its native form.
    pub(crate) fn push_native(&mut self, native: NativeMessages) {
        let known = self.message.native.get_or_insert_with(|| NativeMessages::new("", Vec::new()));
        if !known.extend(native) {
            self.revision += 1;
        }
    }

    pub(crate) fn push_call(&mut self, call: ToolCall) {
        self.message.calls.push(call);
    }

    /// Adds the result of a call. If the result is an error of the kind `Pending`, only marks the call as
    /// pending.
    pub(super) fn add_result(&mut self, mut result: ToolResult, error_details: bool) {
        if let Some(pending) = result.error().and_then(ToolError::pending) {
            self.pending.insert(result.position, pending.clone());
            self.pending_changes.push((result.position, Some(pending.clone())));
            return;
        }
        if error_details {
            store_details(&mut result, true);
        }
        self.results.push(result);
    }

    /// Marks the call at `position` as no longer pending, because it runs again.
    pub(crate) fn restart(&mut self, position: usize) {
        if self.pending.remove(&position).is_some() {
            self.pending_changes.push((position, None));
        }
    }

    /// Returns the changes of session values from results whose changes were not applied yet, and marks them
    /// as applied. After a crash, the session lacks these changes.
    pub(crate) fn take_state_changes(&mut self) -> SessionDelta {
        let mut results: Vec<&ToolResult> = self.results.iter().skip(self.applied).collect();
        results.sort_by_key(|result| result.position);
        let deltas = results.into_iter().flat_map(|result| result.actions.state_delta.clone());
        let changes = deltas.collect();
        self.applied = self.results.len();
        changes
    }

    /// Returns why the call at `position` is pending. Returns `None` if it is not pending.
    pub(crate) fn pending(&self, position: usize) -> Option<&Pending> {
        self.pending.get(&position)
    }

    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Returns whether the call at `position` has a successful result.
    pub(crate) fn has_succeeded(&self, position: usize) -> bool {
        self.results.iter().any(|result| result.position == position && result.outcome.is_ok())
    }

    /// Returns the indexes of the calls without a result.
    pub(crate) fn unanswered(&self) -> Vec<usize> {
        let mut is_open = vec![true; self.message.calls.len()];
        for result in &self.results {
            if let Some(open) = is_open.get_mut(result.position) {
                *open = false;
            }
        }
        is_open.iter().enumerate().filter(|(_, open)| **open).map(|(position, _)| position).collect()
    }

    /// Sets whether the agent of the turn checks its answers with guardrails.
    pub(crate) fn set_checks_answers(&mut self, checks_answers: bool) {
        self.checks_answers = checks_answers;
    }

    pub(super) fn checks_answers(&self) -> bool {
        self.checks_answers
    }

    /// Removes the answer if the agent checks its answers, because the turn ends before the check.
    pub(super) fn withhold_answer(&mut self) {
        if self.checks_answers {
            withhold(&mut self.message, &mut self.results);
        }
    }

    /// Returns the message, and one result for each call, in the order of the calls. The field `position` of each
    /// result is set to the index of its call. `called` returns the unfinished conversation of the agent called at an
    /// index.
    pub(super) fn into_parts(
        self,
        mut called: impl FnMut(usize) -> Option<Conversation>,
    ) -> (AssistantMessage, Vec<ToolResult>) {
        let Self { message, mut results, pending, .. } = self;
        if results.len() > 1 {
            results.sort_by_key(|result| result.position);
        }
        let mut results = results.into_iter().peekable();
        let of_call = |(position, call): (usize, &ToolCall)| {
            let lost = || {
                let error = if message.is_answer(call) {
                    ToolError::cancelled(&call.name)
                } else {
                    lost(call, pending.get(&position), called(position))
                };
                ToolResult::of(call, Err(error))
            };
            let found = results.next_if(|result| result.position == position && result.call_id == call.id);
            found.unwrap_or_else(lost).with_position(position)
        };
        let results = message.calls.iter().enumerate().map(of_call).collect();
        (message, results)
    }

    /// Collects the pending calls of the turn. `children` contains the conversations of agents called as
    /// tools, including agents stopped by a crash. `keys` has counted the calls of earlier turns.
    pub(super) fn waiting(
        &self,
        children: &BTreeMap<String, Conversation>,
        mut keys: Keys,
        prefix: &str,
        found: &mut Vec<PendingCall>,
    ) {
        let keys: Vec<String> = self.message.calls.iter().map(|call| keys.next(&call.id)).collect();
        for position in self.unanswered() {
            let Some((call, key)) = self.message.calls.get(position).zip(keys.get(position)) else {
                continue;
            };
            let id = || format!("{prefix}{key}");
            match (children.get(&child_of_call(position)), self.pending.get(&position)) {
                (Some(child), _) => child.waiting(&Keys::default(), &format!("{}/", id()), found),
                (None, Some(reason)) => found.push(PendingCall {
                    id: id(),
                    agent: self.message.agent.clone(),
                    call: call.clone(),
                    reason: reason.clone(),
                }),
                (None, None) => {}
            }
        }
    }

    pub(super) fn marks(&self) -> TurnMarks {
        TurnMarks {
            number: self.number,
            text: self.message.text.len(),
            reasoning: self.message.reasoning.len(),
            native: self.message.native.as_ref().map(NativeMessages::extent).unwrap_or_default(),
            calls: self.message.calls.len(),
            results: self.results.len(),
            pending: self.pending_changes.len(),
            applied: self.applied,
            revision: self.revision,
            checks_answers: self.checks_answers,
        }
    }

    /// Returns the changes since the save with the marks `saved`, or the complete turn if `saved` is `None`.
    /// Returns `None` if nothing has changed.
    pub(super) fn changes(&self, saved: Option<TurnMarks>) -> Option<TurnChange> {
        let now = self.marks();
        if saved == Some(now) {
            return None;
        }
        let saved = saved.filter(|saved| saved.number == now.number);
        let is_new = saved.is_none();
        let is_edited = saved.is_none_or(|saved| saved.revision != now.revision);
        // A message that is written whole has no further parts.
        let kept = saved.filter(|_| !is_edited).unwrap_or(now);
        let saved =
            saved.unwrap_or(TurnMarks { results: 0, pending: 0, applied: 0, checks_answers: false, ..now });
        let pending = if is_new {
            self.pending.iter().map(|(position, reason)| (*position, Some(reason.clone()))).collect()
        } else {
            self.pending_changes.get(saved.pending..).unwrap_or_default().to_vec()
        };
        let native = self.message.native.as_ref();
        Some(TurnChange {
            begins: is_new,
            message: is_edited.then(|| self.message.clone()),
            text: self.message.text.get(kept.text..).unwrap_or_default().to_owned(),
            reasoning: self.message.reasoning.get(kept.reasoning..).unwrap_or_default().to_owned(),
            native: native.map(|native| native.since(kept.native)).unwrap_or_default(),
            calls: self.message.calls.get(kept.calls..).unwrap_or_default().to_vec(),
            results: self.results.get(saved.results..).unwrap_or_default().to_vec(),
            pending,
            applied: (saved.applied != now.applied).then_some(now.applied),
            checks_answers: self.checks_answers && !saved.checks_answers,
        })
    }
}

impl TurnChange {
    /// Applies the changes to `turn`.
    pub(super) fn apply(self, turn: &mut Option<Turn>) {
        if self.begins {
            *turn = None;
        }
        let turn = turn.get_or_insert_default();
        if let Some(message) = self.message {
            turn.message = message;
        }
        turn.message.text.push_str(&self.text);
        turn.message.reasoning.push_str(&self.reasoning);
        if let Some(native) = &mut turn.message.native {
            native.add(self.native);
        }
        turn.message.calls.extend(self.calls);
        turn.results.extend(self.results);
        for (position, reason) in self.pending {
            match reason {
                Some(reason) => turn.pending.insert(position, reason),
                None => turn.pending.remove(&position),
            };
        }
        turn.applied = self.applied.unwrap_or(turn.applied);
        turn.checks_answers |= self.checks_answers;
    }
}
