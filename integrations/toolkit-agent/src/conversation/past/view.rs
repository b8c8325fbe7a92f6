//! What one entry shows.

use super::{Before, may_be_answer, with_slash};
use crate::conversation::{Arrived, Entry, State, Stop, TurnVerdict};
use crate::conversation_entry::{ConversationEntry, EntryKind};
use crate::event::{RunEvent, RunScope};
use crate::status::EndReason;
use std::sync::Arc;
use toolkit_core::ToolResult;
use toolkit_llm::{AssistantMessage, Message};

/// One entry, and the conversation after it.
pub(super) struct View<'a> {
    pub(super) state: &'a State,
    pub(super) before: Before,
    pub(super) within: Vec<RunScope>,
    pub(super) number: u64,
    pub(super) at: u64,
    pub(super) run: Arc<str>,
    pub(super) path: &'a str,
    pub(super) shown: &'a mut Vec<ConversationEntry>,
}

impl View<'_> {
    fn show(&mut self, kind: EntryKind) {
        let (number, at, run, path) = (self.number, self.at, self.run.clone(), self.path.to_owned());
        self.shown.push(ConversationEntry { number, at, run, path, kind });
    }

    fn event(&mut self, event: RunEvent) {
        self.show(EntryKind::Event(event));
    }

    fn is_outermost(&self) -> bool {
        self.path.is_empty()
    }

    fn message_id(&self) -> Arc<str> {
        self.state.turn_path(with_slash(self.path)).message()
    }

    fn key(&self, call: usize) -> Arc<str> {
        self.state.turn_path(with_slash(self.path)).call(call).into()
    }

    pub(super) fn show_entry(&mut self, entry: &Entry) {
        match entry {
            Entry::RunBegan { input, message, .. } | Entry::Steered { input, message, .. } => {
                self.show(EntryKind::Input { message: input.clone(), message_id: message.clone() });
            }
            Entry::Message(message) => match &**message {
                Message::User(input) => {
                    self.show(EntryKind::Input { message: input.clone(), message_id: String::new() });
                }
                added => self.show(EntryKind::Added(Box::new(added.clone()))),
            },
            Entry::Removed(count) => self.show(EntryKind::Removed(*count)),
            Entry::Titled(title) => self.show(EntryKind::Titled(title.clone())),
            Entry::Abandoned => self.show(EntryKind::Abandoned),
            Entry::Compacted { agent, compacted } => {
                let messages_left_out = compacted.left_out;
                self.show(EntryKind::Compacted { agent: agent.clone(), messages_left_out });
            }
            Entry::Snapshot(_) if self.is_outermost() => {
                self.show(EntryKind::Snapshot(self.state.history.shown_since(0)));
            }
            Entry::Forked(source) => {
                self.show(EntryKind::Forked { conversation: source.id.clone(), entry: source.entry });
            }
            Entry::Rewound { run, .. } => self.show(EntryKind::Rewound { run: run.clone() }),
            Entry::Resumed => self.resumed(),
            Entry::Stopped(stop) => self.stopped(stop),
            Entry::Ended if self.is_outermost() => {
                let output = Box::new(self.state.latest_run().unwrap_or_default());
                self.event(RunEvent::Finished { output });
            }
            Entry::AgentBegan { depth, agent, .. } => {
                self.agents_ended(*depth);
                self.event(RunEvent::AgentStarted { agent: agent.clone(), within: self.within.clone() });
            }
            Entry::AgentEnded { depth, .. } => self.agents_ended(*depth),
            Entry::BranchFailed { index, error } => self.branch_failed(*index, error),
            turn => self.show_turn(turn),
        }
    }

    fn show_turn(&mut self, entry: &Entry) {
        match entry {
            Entry::TurnBegan { .. } => {
                let Some(turn) = &self.state.turn else { return };
                let agent = turn.message().agent.clone();
                self.show(EntryKind::Turn { agent, message_id: self.message_id() });
            }
            Entry::Call(arrived) => self.call_arrived(arrived),
            Entry::ModelEnded(_) => self.message_ended(),
            Entry::Result(result) => self.result_arrived(result),
            Entry::Pending { call, reason } => {
                let Some(turn) = &self.state.turn else { return };
                let message = turn.message();
                let call_id = message.calls.get(*call).map(|call| call.id.clone());
                self.event(RunEvent::CallPending {
                    agent: message.agent.clone(),
                    key: self.key(*call),
                    call_id: call_id.unwrap_or_else(|| String::new().into()),
                    reason: reason.clone(),
                    within: self.within.clone(),
                });
            }
            Entry::Decided { call, decision, by } => {
                let (decision, by) = (decision.clone(), by.clone());
                self.show(EntryKind::Decided { key: self.key(*call), decision, by });
            }
            Entry::TurnEnded { verdict, .. } => self.turn_ended(verdict),
            _ => {}
        }
    }

    fn resumed(&mut self) {
        if let Some(run) = self.state.run.as_ref().filter(|_| self.path.is_empty()) {
            self.show(EntryKind::Resumed { attempt: run.attempts });
        }
        let within = self.within.clone();
        self.agents_resumed(self.state, &within);
    }

    /// Shows again that the unfinished agents start, as a resumed run does.
    fn agents_resumed(&mut self, state: &State, within: &[RunScope]) {
        let Some(run) = &state.run else { return };
        for frame in &run.frames {
            let from = &frame.agent;
            self.event(RunEvent::AgentStarted { agent: from.clone(), within: within.to_vec() });
            let Some(to) = &frame.transfer else { continue };
            self.event(RunEvent::AgentEnded { agent: from.clone(), within: within.to_vec() });
            if frame.output.is_none() {
                let (from, to) = (from.clone(), to.clone());
                self.event(RunEvent::Transferred { from, to, within: within.to_vec() });
            }
        }
        let Some(group) = run.frames.last() else { return };
        for (key, branch) in &state.children {
            let Some(index) = state.branch_index(key) else { continue };
            let has_answered = branch.run.as_ref().is_some_and(|run| run.output.is_some());
            if !has_answered && !group.failed.contains_key(&index) {
                self.agents_resumed(branch, &[within, &[RunScope::Branch(index)]].concat());
            }
        }
    }

    fn stopped(&mut self, stop: &Stop) {
        if stop.reason != EndReason::Dropped {
            self.agents_ended(0);
        }
        if !self.is_outermost() {
            return;
        }
        let output = Box::new(self.state.latest_run().unwrap_or_default());
        if stop.reason != EndReason::Waiting {
            return self.event(RunEvent::Stopped { reason: stop.reason.clone(), output });
        }
        let mut pending = Vec::new();
        self.state.waiting("", &mut pending);
        self.event(RunEvent::Waiting { pending, output });
    }

    /// Shows that the agents within the first `depth` end, unless they have handed over.
    fn agents_ended(&mut self, depth: usize) {
        let frames = std::mem::take(&mut self.before.frames);
        for (agent, has_handed_over) in frames.into_iter().skip(depth).rev() {
            if !has_handed_over {
                self.event(RunEvent::AgentEnded { agent, within: self.within.clone() });
            }
        }
    }

    fn branch_failed(&mut self, index: usize, error: &str) {
        let group = self.state.run.as_ref().and_then(|run| run.frames.last());
        let agent = group.and_then(|group| group.members.get(index)).cloned().unwrap_or_default();
        self.event(RunEvent::BranchFailed { agent, error: error.to_owned(), within: self.within.clone() });
    }

    /// Shows the pieces since the last call, and the call, unless they wait for a verdict.
    fn call_arrived(&mut self, arrived: &Arrived) {
        let Some(turn) = self.state.turn.as_ref().filter(|turn| !turn.checks_answers) else { return };
        let message = turn.message();
        let message_id = self.message_id();
        self.pieces(&message_id, &message.agent, &arrived.reasoning, &arrived.text);
        let Some(call) = &arrived.call else { return };
        let key = self.key(message.calls.len().saturating_sub(1));
        self.event(RunEvent::CallStarted {
            agent: message.agent.clone(),
            message_id: message_id.clone(),
            key: key.clone(),
            call_id: call.id.clone(),
            tool: call.name.clone(),
            within: self.within.clone(),
        });
        if !call.arguments.as_str().is_empty() {
            self.event(RunEvent::CallArguments {
                agent: message.agent.clone(),
                message_id,
                key,
                call_id: call.id.clone(),
                piece: call.arguments.as_str().to_owned(),
                within: self.within.clone(),
            });
        }
    }

    fn message_ended(&mut self) {
        let Some(turn) = &self.state.turn else { return };
        let message = turn.message();
        if turn.checks_answers && may_be_answer(message) {
            return;
        }
        if self.state.history.unchecked.is_none() {
            // Text before calls is not an answer, so neither is text before a pause.
            self.messages_from(self.before.waiting);
        }
        let reasoning = message.reasoning.strip_prefix(&self.before.reasoning).unwrap_or_default();
        let text = message.text.strip_prefix(&self.before.text).unwrap_or_default();
        let message_id = self.message_id();
        self.pieces(&message_id, &message.agent, reasoning, text);
        self.message(message_id, message);
    }

    fn result_arrived(&mut self, result: &ToolResult) {
        let Some(turn) = &self.state.turn else { return };
        let message = turn.message();
        let call = message.calls.get(result.position);
        // The result of an answer is for the model.
        let is_answer = call.is_some_and(|call| message.is_answer(call));
        let is_unchecked = turn.checks_answers && result.actions.skip_summarization;
        if !is_answer && !is_unchecked {
            self.result(&message.agent, result);
        }
    }

    fn turn_ended(&mut self, verdict: &TurnVerdict) {
        let history = &self.state.history;
        let frame = self.state.run.as_ref().and_then(|run| run.frames.last());
        let handover = frame.filter(|frame| frame.transfer.is_some());
        let is_open = !self.before.is_message_shown && history.unchecked.is_none();
        match verdict {
            TurnVerdict::Replaced(text) => self.replaced(text),
            TurnVerdict::Withheld if handover.is_none() => {}
            _ if is_open => self.messages_from(self.before.waiting),
            _ => {}
        }
        if self.before.holds_outputs && (*verdict != TurnVerdict::Withheld || handover.is_some()) {
            self.outputs();
        }
        if let Some(frame) = handover
            && let Some(to) = frame.transfer.clone()
        {
            let from = frame.agent.clone();
            self.event(RunEvent::AgentEnded { agent: from.clone(), within: self.within.clone() });
            self.event(RunEvent::Transferred { from, to, within: self.within.clone() });
        }
    }

    /// Shows outputs of tools that are the answer, as the verdict leaves them.
    fn outputs(&mut self) {
        let Some(Message::Tool(given)) = self.state.history.messages.last() else { return };
        for result in &given.results {
            if result.actions.skip_summarization {
                self.result(&given.agent, result);
            }
        }
    }

    /// Shows an answer in place of the model's.
    fn replaced(&mut self, text: &str) {
        let message_id = self.message_id();
        let last = self.state.history.messages.last();
        let agent = match last {
            Some(Message::Assistant(message)) => message.agent.as_str(),
            Some(Message::Tool(given)) => given.agent.as_str(),
            _ => "",
        };
        self.pieces(&message_id, agent, "", text);
        if let Some(Message::Assistant(message)) = last {
            self.message(message_id, message);
        }
    }

    /// Shows the messages from the index `begin` on, which have waited for a verdict.
    fn messages_from(&mut self, begin: usize) {
        let mut paused = std::mem::take(&mut self.before.paused).into_iter();
        for message in self.state.history.messages.iter().skip(begin) {
            let Message::Assistant(message) = message else { continue };
            let is_paused = message.paused && message.calls.is_empty();
            let earlier_id = if is_paused { paused.next() } else { None };
            let message_id = earlier_id.unwrap_or_else(|| self.message_id());
            self.pieces(&message_id, &message.agent, &message.reasoning, &message.text);
            self.message(message_id, message);
        }
    }

    fn pieces(&mut self, message_id: &Arc<str>, agent: &str, reasoning: &str, text: &str) {
        let agent = agent.to_owned();
        if !reasoning.is_empty() {
            self.event(RunEvent::Reasoning {
                agent: agent.clone(),
                message_id: message_id.clone(),
                text: reasoning.to_owned(),
                within: self.within.clone(),
            });
        }
        if !text.is_empty() {
            self.event(RunEvent::Text {
                agent,
                message_id: message_id.clone(),
                text: text.to_owned(),
                within: self.within.clone(),
            });
        }
    }

    fn message(&mut self, message_id: Arc<str>, message: &AssistantMessage) {
        let message = Box::new(message.clone());
        self.event(RunEvent::Message { message_id, message, within: self.within.clone() });
    }

    fn result(&mut self, agent: &str, result: &ToolResult) {
        self.event(RunEvent::Result {
            agent: agent.to_owned(),
            key: self.key(result.position),
            result: Box::new(result.clone()),
            within: self.within.clone(),
        });
    }
}
