//! The run of a conversation, its agents, and the conversations nested in it.

use super::RunState;
use super::branches::is_branch;
use super::{Conversation, Entry, Frame, Live, Log, OwnLog, State, Stop};
use crate::output::{AgentOutput, RunOutput, Spent};
use crate::pending::PendingCall;
use crate::status::Summary;
use std::ops::ControlFlow;
use std::sync::{Arc, Weak};
use toolkit_core::Session;
use toolkit_llm::{FinishReason, UserMessage};

/// The ids of an input: that of its run, and the one that the client gave to the message.
#[derive(Debug, Clone, Default)]
pub(crate) struct InputId {
    pub(crate) run: Arc<str>,
    pub(crate) message: String,
}

impl Conversation {
    /// Begins a run with `input`, and abandons an unfinished one. `is_attempt` tells whether it repeats the
    /// latest one, with feedback as its input.
    pub(crate) fn begin_run(&mut self, input: UserMessage, is_attempt: bool, id: &InputId) {
        self.live.depth = 0;
        self.live.resumed = 0;
        self.keep_arrived();
        let InputId { run, message } = id.clone();
        self.record(Entry::RunBegan { input, is_attempt, run, message });
    }

    /// Returns the id of the latest run, or an empty string.
    pub(crate) fn run_id(&self) -> Arc<str> {
        self.state.run.as_ref().map(|run| run.id.clone()).unwrap_or_default()
    }

    /// Returns what lists tell of the conversation. `None` for that of a called or parallel agent.
    pub(crate) fn summary(&self) -> Option<Arc<Summary>> {
        if !self.node.is_empty() {
            return None;
        }
        let State { title, origin, .. } = &self.state;
        let (title, status) = (title.clone(), self.state.status());
        Some(Arc::new(Summary { title, status, forked_from: origin.source_ids() }))
    }

    /// Records that a run works in this conversation, until the returned value is dropped.
    pub(crate) fn start_run(&mut self) -> Arc<()> {
        let running = Arc::new(());
        self.live.running = Arc::downgrade(&running);
        running
    }

    /// Returns the index of the first message of the latest run, or of the original question if it repeats
    /// an invalid answer.
    pub(crate) fn begin_of_run(&self) -> usize {
        self.state.run.as_ref().map_or(self.state.history.len(), RunState::first)
    }

    /// Returns the number of invalid answers in the latest run and those that it repeats.
    pub(crate) fn invalid_answers(&self) -> u32 {
        self.state.run.as_ref().map_or(0, |run| run.invalid_answers)
    }

    /// Notes the number of invalid answers, and whether the innermost agent answers again.
    pub(crate) fn set_invalid_answers(&mut self, count: u32, is_repeated: bool) {
        if is_repeated || self.invalid_answers() != count {
            self.record(Entry::AnswerInvalid { count, is_repeated });
        }
    }

    pub(crate) fn stop_run(&mut self, stop: Stop) {
        self.live.depth = 0;
        self.live.resumed = 0;
        self.keep_arrived();
        self.record(Entry::Stopped(stop));
    }

    /// Returns whether the conversation was loaded while a run worked in it, or after the run's process
    /// died.
    pub(crate) fn may_be_worked_on(&self) -> bool {
        Weak::ptr_eq(&self.live.running, &Weak::new())
            && self.state.run.as_ref().is_some_and(|run| run.is_working)
    }

    /// Continues the latest run. Returns its output if it has already answered, or else what it has spent.
    pub(crate) fn continue_run(&mut self) -> ControlFlow<RunOutput, Spent> {
        if let Some(output) = self.finished() {
            let begin = self.begin_of_run();
            let messages = self.messages_since(begin);
            return ControlFlow::Break(output.in_run(self.run_spent(), self.attempt_spent(), messages));
        }
        self.keep_arrived();
        self.record(Entry::Resumed);
        self.live.depth = 0;
        self.live.resumed = self.frames().len();
        ControlFlow::Continue(self.run_spent())
    }

    /// Returns the output of the latest run, if it has answered and no message was added afterwards.
    pub(crate) fn finished(&self) -> Option<AgentOutput> {
        let run = self.state.run.as_ref().filter(|run| run.end == Some(self.state.history.len()))?;
        run.output.clone().filter(|_| self.state.turn.is_none())
    }

    /// Returns whether the outermost agent has answered, but the run has not ended.
    pub(crate) fn has_answered(&self) -> bool {
        self.state.run.as_ref().is_some_and(|run| run.output.is_some() && run.end.is_none())
    }

    /// Returns the output of the latest run so far, without messages of unfinished turns and unfinished
    /// parallel agents.
    ///
    /// `None` if there was no run, or if the program has added a user message after it.
    ///
    /// ```
    /// use toolkit_ai::agent::{Agent, Conversation};
    /// use toolkit_ai::llm::ScriptedModel;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// let agent = Agent::builder(ScriptedModel::new().text("Hello.")).build()?;
    /// let mut conversation = Conversation::default();
    /// let output = agent.run("Hi.").on(&mut conversation).await?;
    /// assert_eq!(conversation.latest_run(), Some(output));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn latest_run(&self) -> Option<RunOutput> {
        self.state.latest_run()
    }

    /// Ends an answered run, and returns its output.
    pub(crate) fn end_run(&mut self) -> RunOutput {
        self.live.depth = 0;
        self.live.resumed = 0;
        self.record(Entry::Ended);
        self.latest_run().unwrap_or_default()
    }

    /// Returns what all runs have spent.
    ///
    /// After a process was killed, its open model call is missing; [`lost_attempts`](Spent::lost_attempts) counts these processes.
    #[must_use]
    pub fn spent(&self) -> Spent {
        let mut spent = self.state.earlier_runs;
        spent += self.run_spent();
        spent
    }

    fn run_spent(&self) -> Spent {
        self.state.run.as_ref().map(RunState::spent).unwrap_or_default()
    }

    pub(crate) fn attempt_spent(&self) -> Spent {
        self.state.attempt_spent()
    }

    /// Logs what the enclosing attempt has spent so far, before an entry that tells why.
    pub(crate) fn log_spent(&self, spent: impl FnOnce() -> Spent) {
        if let Some(log) = &self.log.0 {
            log.spend(spent);
        }
    }

    /// Sets what the attempt has spent so far. A save writes it.
    pub(crate) fn set_spent(&mut self, spent: Spent) {
        if let Some(run) = &mut self.state.run {
            run.attempt_spent = spent;
        }
    }

    fn frames(&self) -> &[Frame] {
        self.state.run.as_ref().map_or(&[], |run| &run.frames)
    }

    /// Adds a working agent. `members` are the agents of a team.
    ///
    /// # Errors
    /// A message if the run was interrupted in another agent or in a team of other agents.
    pub(crate) fn enter(&mut self, agent: &str, members: Vec<String>) -> Result<(), String> {
        let depth = self.live.depth;
        match self.frames().get(depth).filter(|_| depth < self.live.resumed) {
            Some(frame) => frame.check_team(agent, &members)?,
            None => {
                self.live.resumed = self.live.resumed.min(depth);
                self.record(Entry::AgentBegan { depth, agent: agent.to_owned(), members });
            }
        }
        self.live.depth += 1;
        Ok(())
    }

    pub(crate) fn frame(&self) -> Option<&Frame> {
        self.frames().get(self.live.depth.checked_sub(1)?)
    }

    /// Returns the number of nested working agents.
    pub(crate) fn depth(&self) -> usize {
        self.live.depth
    }

    /// Ends the agents within the outermost `depth` with the answer `output`.
    pub(crate) fn agent_ended(&mut self, depth: usize, output: &AgentOutput) {
        self.live.depth = depth;
        self.live.resumed = self.live.resumed.min(depth);
        if self.frames().len() > depth {
            let is_known = self.state.answer_at(depth) == Some(output);
            let output = if is_known { None } else { Some(Box::new(output.clone())) };
            self.record(Entry::AgentEnded { depth, output });
        }
    }

    /// Leaves the failed agents within the outermost `depth`. A later run continues them.
    pub(crate) fn agent_failed(&mut self, depth: usize) {
        self.live.depth = depth;
        self.live.resumed = self.live.resumed.min(depth);
    }

    /// Creates an empty conversation with the values of `session`.
    pub(crate) fn with_session(session: &Session) -> Self {
        Self::new(session.id()).sharing(session)
    }

    /// Returns the conversation with the id and values of `session`.
    pub(crate) fn sharing(mut self, session: &Session) -> Self {
        self.id = session.id().into();
        self.session = session.clone();
        self
    }

    /// Takes the unfinished conversation of an agent called at `position`.
    pub(crate) fn take_called(&mut self, position: usize) -> Option<State> {
        // Checked first: most turns call no agent, and building the key allocates.
        if self.state.children.is_empty() {
            None
        } else {
            self.state.children.remove(&self.state.call_key(position))
        }
    }

    pub(crate) fn has_called(&self, position: usize) -> bool {
        !self.state.children.is_empty() && self.state.children.contains_key(&self.state.call_key(position))
    }

    /// Puts back the conversation of an agent called at `position`.
    pub(crate) fn return_called(&mut self, position: usize, called: State) {
        self.state.children.insert(self.state.call_key(position), called);
    }

    /// Creates the conversation of an agent called as a tool, at the path `node` of a log.
    pub(crate) fn called(log: Option<Arc<Log>>, node: &str, unfinished: Option<State>) -> Self {
        let resumed =
            unfinished.as_ref().and_then(|state| state.run.as_ref()).map_or(0, |run| run.frames.len());
        Self {
            state: unfinished.unwrap_or_default(),
            log: OwnLog(log),
            node: format!("{node}/").into(),
            live: Live { resumed, ..Live::default() },
            ..Self::default()
        }
    }

    pub(crate) fn log(&self) -> Option<Arc<Log>> {
        self.log.0.clone()
    }

    /// Empties the conversation for another attempt at a call, after `runs` runs of earlier ones.
    pub(crate) fn reset(&mut self, runs: u32) {
        let reset = State { runs, ..State::called(&self.state.origin) };
        self.record(Entry::Snapshot(Box::new(reset)));
    }

    pub(crate) fn take_state(&mut self) -> State {
        self.keep_arrived();
        std::mem::take(&mut self.state)
    }

    /// Adds an empty copy for the parallel agent at `index`, before it begins.
    pub(crate) fn begin_branch(&mut self, index: usize) {
        self.record(Entry::BranchBegan(index));
    }

    /// Returns the conversation of a parallel agent: a copy of this one, with its unfinished work.
    pub(crate) fn branch(&mut self, index: usize) -> Self {
        let key = self.state.branch_key(index);
        let state = self.state.children.remove(&key).unwrap_or_default();
        let resumed = state.run.as_ref().map_or(0, |run| run.frames.len());
        Self {
            state,
            user_id: self.user_id.clone(),
            error_details: self.error_details,
            log: OwnLog(self.log.0.clone()),
            node: format!("{}{key}/", self.node).into(),
            live: Live { resumed, ..Live::default() },
            ..Self::with_session(&self.session())
        }
    }

    /// Puts back a parallel agent's conversation, finished or not.
    pub(crate) fn return_branch(&mut self, index: usize, mut branch: Self) {
        self.state.children.insert(self.state.branch_key(index), branch.take_state());
    }

    pub(crate) fn branch_failed(&mut self, index: usize, error: String) {
        self.record(Entry::BranchFailed { index, error });
    }

    /// Adds the messages of all parallel agents, which have failed.
    pub(crate) fn branches_failed(&mut self) {
        self.record(Entry::BranchesFailed);
    }

    pub(crate) fn has_branch(&self, index: usize) -> bool {
        self.state.children.contains_key(&self.state.branch_key(index))
    }
}

impl State {
    pub(super) fn latest_run(&self) -> Option<RunOutput> {
        let run = self.run.as_ref()?;
        let mut messages = self.history.shown_since(run.first());
        let len = run.end.map_or(usize::MAX, |end| end.saturating_sub(run.first()));
        if len < messages.len() {
            messages.truncate(len);
        }
        let output = match &run.output {
            Some(output) => output.clone(),
            None => AgentOutput { finish: FinishReason::Interrupted, ..AgentOutput::default() },
        };
        Some(output.in_run(run.spent(), run.attempt_spent, messages))
    }

    pub(super) fn attempt_spent(&self) -> Spent {
        self.run.as_ref().map(|run| run.attempt_spent).unwrap_or_default()
    }

    pub(crate) fn is_pending(&self) -> bool {
        let mut found = Vec::new();
        self.waiting("", &mut found);
        !found.is_empty()
    }

    /// Collects the pending calls. `node` is the path to this conversation.
    pub(super) fn waiting(&self, node: &str, found: &mut Vec<PendingCall>) {
        if let Some(turn) = &self.turn
            && (turn.has_pending() || !self.children.is_empty())
        {
            for position in turn.unanswered() {
                let Some(call) = turn.message().calls.get(position) else { continue };
                let key = self.call_key(position);
                let id = format!("{node}{key}");
                match (self.children.get(&key), turn.pending(position)) {
                    (Some(child), _) => child.waiting(&format!("{id}/"), found),
                    (None, Some(reason)) => found.push(PendingCall {
                        id,
                        agent: turn.message().agent.clone(),
                        call: call.clone(),
                        reason: reason.clone(),
                    }),
                    (None, None) => {}
                }
            }
        }
        for (key, branch) in self.children.iter().filter(|(key, _)| is_branch(key)) {
            branch.waiting(&format!("{node}{key}/"), found);
        }
    }
}
