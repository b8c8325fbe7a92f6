//! The unfinished turn of a conversation.

use super::State;
use super::interrupted_calls::{interrupted, not_started};
use super::native::GrowingNative as _;
use super::{Arrived, ModelEnd};
use crate::pending::Decision;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use toolkit_core::context::SessionDelta;
use toolkit_core::error::Pending;
use toolkit_core::{ToolCall, ToolError, ToolResult};
use toolkit_llm::AssistantMessage;
use toolkit_llm::FinishReason;

/// The message so far, and the results of its calls.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Turn {
    message: AssistantMessage,
    /// The results so far, sorted by call once all are there. Positions are indexes of calls.
    results: Vec<ToolResult>,
    /// The calls that have begun, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    started: Vec<usize>,
    /// The calls that wait for a decision or a result, with the reason.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pending: BTreeMap<usize, Pending>,
    /// The started calls that waited, and were not started again.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    waited: BTreeSet<usize>,
    /// The waiting calls of tools that were not called again since a fork.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    repeated: BTreeSet<usize>,
    #[serde(skip)]
    without_entries: WithoutEntries,
    /// The decisions about calls that run, for a rerun after a crash.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    decided: BTreeMap<usize, Decision>,
    /// The results whose session changes are not applied yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unapplied: Vec<usize>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) checks_answers: bool,
    /// The end of the message, once it has arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<TurnEnd>,
}

/// The calls without an own conversation in a log that was read. `None` if the log lacks entries of the
/// turn. Not a part of the state.
#[derive(Debug, Clone, Default)]
struct WithoutEntries(Option<BTreeSet<usize>>);

impl PartialEq for WithoutEntries {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TurnEnd {
    pub(crate) finish: FinishReason,
    /// Whether the provider knows the empty message.
    pub(crate) is_kept: bool,
}

impl Turn {
    pub(super) fn new(agent: String, checks_answers: bool) -> Self {
        let message = AssistantMessage::default().by(agent);
        Self {
            message,
            checks_answers,
            without_entries: WithoutEntries(Some(BTreeSet::new())),
            ..Self::default()
        }
    }

    /// Returns the message so far, without the pieces since its last complete call.
    pub(crate) fn message(&self) -> &AssistantMessage {
        &self.message
    }

    pub(crate) fn results(&self) -> &[ToolResult] {
        &self.results
    }

    pub(crate) fn end(&self) -> Option<&TurnEnd> {
        self.end.as_ref()
    }

    pub(super) fn arrive(&mut self, arrived: Arrived) {
        let Arrived { text, reasoning, native, call, answer_tool } = arrived;
        self.message.text.push_str(&text);
        self.message.reasoning.push_str(&reasoning);
        match (&mut self.message.native, native) {
            (Some(known), Some(more)) => known.extend(more),
            (known, more) => *known = more.or_else(|| known.take()),
        }
        self.message.calls.extend(call);
        if self.message.answer_tool.is_empty() {
            self.message.answer_tool = answer_tool;
        }
    }

    pub(super) fn end_message(&mut self, end: ModelEnd) {
        let ModelEnd { finish, is_kept, continues, mut message, usage } = end;
        let known = std::mem::take(&mut self.message);
        message.agent = known.agent;
        message.usage = usage;
        if continues {
            message.text.insert_str(0, &known.text);
            message.reasoning.insert_str(0, &known.reasoning);
            message.calls.splice(..0, known.calls);
            message.native = message.native.or(known.native);
        }
        self.message = message;
        self.end = Some(TurnEnd { finish, is_kept });
        self.sort();
    }

    fn sort(&mut self) {
        if self.is_complete() {
            self.results.sort_by_key(|result| result.position);
        }
    }

    pub(super) fn start(&mut self, calls: Vec<usize>) {
        if !self.waited.is_empty() {
            self.waited.retain(|call| !calls.contains(call));
            self.repeated.retain(|call| !calls.contains(call));
        }
        if let Some(without) = self.without_entries.0.as_mut().filter(|without| !without.is_empty()) {
            without.retain(|call| !calls.contains(call));
        }
        if self.started.is_empty() {
            self.started = calls;
            return;
        }
        for call in calls {
            if let Err(place) = self.started.binary_search(&call) {
                self.started.insert(place, call);
            }
        }
    }

    pub(super) fn add_result(&mut self, result: ToolResult) {
        self.pending.remove(&result.position);
        if !result.actions.state_delta.is_empty() {
            self.unapplied.push(result.position);
        }
        if self.results.is_empty() {
            self.results.reserve_exact(self.message.calls.len());
        }
        self.results.push(result);
        self.sort();
    }

    /// Returns whether the call at `position` waits because its tool has earlier calls.
    pub(crate) fn is_repeated(&self, position: usize) -> bool {
        self.repeated.contains(&position)
    }

    /// `is_repeated` tells whether its tool has earlier calls.
    pub(super) fn set_pending(&mut self, call: usize, reason: Pending, is_repeated: bool) {
        if is_repeated {
            self.repeated.insert(call);
        }
        self.decided.remove(&call);
        self.waited.insert(call);
        self.pending.insert(call, reason);
    }

    pub(super) fn decide(&mut self, call: usize, decision: Option<Decision>) {
        self.pending.remove(&call);
        // An approval to call the tool again is none for its permissions.
        if let Some(decision) = decision
            && !self.is_repeated(call)
        {
            self.decided.insert(call, decision);
        }
    }

    /// Returns the decision because of which the call at `position` runs.
    pub(crate) fn decided(&self, position: usize) -> Option<&Decision> {
        self.decided.get(&position)
    }

    /// Returns the unapplied session changes of results. After a crash, the session lacks them.
    pub(crate) fn state_changes(&self) -> SessionDelta {
        let mut changes = SessionDelta::new();
        for result in &self.results {
            if self.unapplied.contains(&result.position) {
                changes.extend(result.actions.state_delta.clone());
            }
        }
        changes
    }

    pub(super) fn set_applied(&mut self) {
        self.unapplied.clear();
    }

    /// Returns why the call at `position` is pending, if it is.
    pub(crate) fn pending(&self, position: usize) -> Option<&Pending> {
        self.pending.get(&position)
    }

    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    pub(crate) fn has_started(&self, position: usize) -> bool {
        self.started.binary_search(&position).is_ok()
    }

    /// Returns whether the call at `position` was started, and has not waited since then.
    pub(crate) fn may_have_run(&self, position: usize) -> bool {
        self.has_started(position) && !self.waited.contains(&position)
    }

    /// Returns whether an agent called at `position` may have begun: it saves an entry before it does. Only in a log that
    /// was read is it known that there is none.
    pub(crate) fn agent_may_have_begun(&self, position: usize) -> bool {
        self.without_entries.0.as_ref().is_none_or(|without| !without.contains(&position))
    }

    /// Notes, after the log was read, the calls for which `has_entries` finds no own conversation.
    pub(super) fn note_entries(&mut self, has_entries: impl Fn(usize) -> bool) {
        let unanswered = self.unanswered().into_iter();
        if let Some(without) = &mut self.without_entries.0 {
            without.extend(unanswered.filter(|position| !has_entries(*position)));
        }
    }

    pub(crate) fn has_succeeded(&self, position: usize) -> bool {
        self.results.iter().any(|result| result.position == position && result.outcome.is_ok())
    }

    /// Returns whether the message and all calls have ended.
    pub(crate) fn is_complete(&self) -> bool {
        self.end.is_some() && self.results.len() == self.message.calls.len()
    }

    pub(crate) fn unanswered(&self) -> Vec<usize> {
        let mut is_open = vec![true; self.message.calls.len()];
        for result in &self.results {
            if let Some(open) = is_open.get_mut(result.position) {
                *open = false;
            }
        }
        is_open.iter().enumerate().filter(|(_, open)| **open).map(|(position, _)| position).collect()
    }

    /// Returns the message, and one result for each call, in order. `called` returns an agent's unfinished
    /// conversation by the index of its call.
    pub(super) fn into_parts(
        self,
        mut called: impl FnMut(usize) -> Option<State>,
    ) -> (AssistantMessage, Vec<ToolResult>) {
        let Self { message, mut results, pending, started, waited, .. } = self;
        if are_in_order(&results, &message.calls) {
            return (message, results);
        }
        results.sort_by_key(|result| result.position);
        let mut received = results.into_iter().peekable();
        let mut in_order = Vec::with_capacity(message.calls.len());
        for (position, call) in message.calls.iter().enumerate() {
            if let Some(result) = received.next_if(|result| result.position == position)
                && result.call_id == call.id
            {
                in_order.push(result);
                continue;
            }
            let has_begun = started.binary_search(&position).is_ok() && !waited.contains(&position);
            let error = if message.is_answer(call) {
                ToolError::cancelled(&call.name)
            } else if pending.contains_key(&position) || has_begun {
                interrupted(call, pending.get(&position), called(position))
            } else {
                not_started(call)
            };
            in_order.push(ToolResult::of(call, Err(error)).with_position(position));
        }
        (message, in_order)
    }
}

fn are_in_order(results: &[ToolResult], calls: &[ToolCall]) -> bool {
    if results.len() != calls.len() {
        return false;
    }
    for (position, (result, call)) in results.iter().zip(calls).enumerate() {
        if result.position != position || result.call_id != call.id {
            return false;
        }
    }
    true
}
