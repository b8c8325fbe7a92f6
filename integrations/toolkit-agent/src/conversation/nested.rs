//! The progress of a run in its conversation, and the conversations of nested agents.

use super::branches::BRANCH;
use super::progress::{Frame, Progress, Step};
use super::{AgentOutput, Conversation, Keys, PendingCall, RunOutput, Turn};
use crate::model::FinishReason;
use crate::output::Spent;
use std::ops::ControlFlow;
use std::sync::{Arc, Weak};
use toolkit_core::Session;
use toolkit_llm::{Message, UserMessage};

const CALL: &str = "call/";

/// Returns the key for the conversation of an agent called as a tool. `position` is the index of the call in
/// its turn.
pub(super) fn child_of_call(position: usize) -> String {
    format!("{CALL}{position}")
}

impl Conversation {
    /// Begins a new run with `input`. Abandons the latest run if it is unfinished.
    pub(crate) fn begin_run(&mut self, input: UserMessage) {
        self.entered.clear();
        self.give_up_run();
        self.progress = Some(Progress { begin: self.messages.len(), working: 1, ..Progress::default() });
        self.add(Message::User(input));
    }

    /// Begins a run that repeats the latest run with feedback as its `input`. The original question counts as
    /// unanswered.
    pub(crate) fn begin_attempt(&mut self, input: UserMessage) {
        let question = self.progress.as_ref().map(Progress::first);
        let invalid = self.invalid_answers();
        self.begin_run(input);
        if let Some(progress) = &mut self.progress {
            progress.question = question;
            progress.invalid_answers = invalid;
        }
    }

    /// Abandons the latest run if it is unfinished. The messages of its parallel agents are added to the
    /// conversation.
    pub(super) fn give_up_run(&mut self) {
        self.give_up_work(0);
        self.replaced.clear();
        self.progress = None;
    }

    /// Records that a run works in this conversation, until the returned value is dropped.
    pub(crate) fn start_run(&mut self) -> Arc<()> {
        let running = Arc::new(());
        self.running = Arc::downgrade(&running);
        running
    }

    /// Returns the index of the first message of the latest run. If the run repeats an invalid answer,
    /// returns the index of the original question.
    pub(crate) fn begin_of_run(&self) -> usize {
        self.progress.as_ref().map_or(self.messages.len(), Progress::first)
    }

    /// Returns the number of invalid answers in the latest run, including the runs that it repeats.
    pub(crate) fn invalid_answers(&self) -> u32 {
        self.progress.as_ref().map_or(0, |progress| progress.invalid_answers)
    }

    /// Sets the number of invalid answers in the latest run.
    pub(crate) fn set_invalid_answers(&mut self, invalid: u32) {
        if let Some(progress) = &mut self.progress {
            progress.invalid_answers = invalid;
        }
    }

    /// Notes that the run has stopped: removes all agents from the list of working agents.
    pub(crate) fn leave_all(&mut self) {
        self.entered.clear();
        if let Some(progress) = &mut self.progress {
            progress.working = 0;
        }
    }

    /// Returns whether the conversation was loaded while a run worked in it, or after the process of the run died.
    pub(crate) fn may_be_worked_on(&self) -> bool {
        let is_loaded = Weak::ptr_eq(&self.running, &Weak::new());
        is_loaded && self.progress.as_ref().is_some_and(|progress| progress.working > 0)
    }

    /// Continues the latest run. Returns `Break` with its output if it has already ended with an answer.
    /// Otherwise, returns the tokens, the cost and the numbers of calls so far.
    pub(crate) fn continue_run(&mut self) -> ControlFlow<RunOutput, Spent> {
        self.entered.clear();
        let finished = self.finished();
        let begin = self.messages.len();
        let progress = self.progress.get_or_insert_with(|| Progress { begin, ..Progress::default() });
        if let Some(output) = finished {
            let spent = progress.spent;
            let begin = progress.first();
            return ControlFlow::Break(output.in_run(spent, self.messages_since(begin)));
        }
        if progress.output.is_some() {
            *progress = Progress { begin, ..Progress::default() };
        }
        progress.working = progress.working.saturating_add(1);
        ControlFlow::Continue(progress.spent)
    }

    /// Returns the output of the latest run, if the run has ended with an answer and no message was added
    /// afterwards.
    pub(crate) fn finished(&self) -> Option<AgentOutput> {
        let progress = self.progress.as_ref().filter(|progress| progress.end == Some(self.messages.len()))?;
        progress.output.clone().filter(|_| self.turn.is_none())
    }

    /// Returns the output of the latest run so far: its tokens, cost, messages and numbers of calls, and its
    /// answer if there is one. Messages of unfinished turns and of unfinished parallel agents are not
    /// included.
    ///
    /// Returns `None` if the conversation had no run, or if the program has added a user message after the
    /// run.
    ///
    /// ```
    /// use toolkit_agent::{Agent, Conversation, ScriptedModel};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// let agent = Agent::builder(ScriptedModel::new().text("Hello.")).build()?;
    /// let mut conversation = Conversation::default();
    /// let output = agent.run_in(&mut conversation, "Hi.").await?;
    /// assert_eq!(conversation.latest_run(), Some(output));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn latest_run(&self) -> Option<RunOutput> {
        let progress = self.progress.as_ref()?;
        let unfinished = || AgentOutput { finish: FinishReason::Interrupted, ..AgentOutput::default() };
        let mut messages = self.messages_since(progress.first());
        let len = progress.end.map_or(usize::MAX, |end| end.saturating_sub(progress.first()));
        if len < messages.len() {
            messages.truncate(len);
        }
        Some(progress.output.clone().unwrap_or_else(unfinished).in_run(progress.spent, messages))
    }

    /// Ends the run with an answer, and returns the output of the run.
    pub(crate) fn end_run(&mut self, output: AgentOutput) -> RunOutput {
        self.children.clear();
        self.entered.clear();
        let end = self.messages.len();
        let progress = self.progress.get_or_insert_default();
        progress.frames.clear();
        progress.end = Some(end);
        progress.output = Some(output.clone());
        let spent = progress.spent;
        let begin = progress.first();
        output.in_run(spent, self.messages_since(begin))
    }

    /// Returns the tokens, the cost and the numbers of calls of the latest run, which may be unfinished.
    pub(crate) fn spent(&self) -> Spent {
        self.progress.as_ref().map(|progress| progress.spent).unwrap_or_default()
    }

    /// Sets the tokens, the cost and the numbers of calls of the run so far.
    pub(crate) fn set_spent(&mut self, spent: Spent) {
        if let Some(progress) = &mut self.progress {
            progress.spent = spent;
        }
    }

    /// Returns the other agent that was interrupted in the place of an agent that begins now.
    pub(crate) fn interrupted_instead(&self, agent: &str) -> Option<&str> {
        let frame = self.progress.as_ref()?.frames.get(self.entered.len())?;
        (frame.agent != agent).then_some(&frame.agent)
    }

    /// Adds an agent to the working agents. If the agent was interrupted earlier, returns the step that it
    /// had reached. If another agent was interrupted in its place, abandons the work of that agent.
    pub(crate) fn enter(&mut self, agent: &str) -> Option<Step> {
        let depth = self.entered.len();
        if self.interrupted_instead(agent).is_some() {
            self.give_up_interrupted();
        }
        self.entered.push(agent.to_owned());
        let frames = &self.progress.get_or_insert_default().frames;
        frames.get(depth).map(|frame| frame.step.clone())
    }

    /// Abandons the work of an agent that was interrupted within the innermost working agent.
    pub(crate) fn give_up_interrupted(&mut self) {
        let depth = self.entered.len();
        self.give_up_work(0);
        self.progress.get_or_insert_default().frames.truncate(depth);
    }

    /// Sets the step of the innermost working agent.
    pub(crate) fn set_step(&mut self, step: Step) {
        let Some(depth) = self.entered.len().checked_sub(1) else { return };
        let Some(agent) = self.entered.last().cloned() else { return };
        let frames = &mut self.progress.get_or_insert_default().frames;
        let frame = Frame { agent, step };
        if frames.len() >= depth && frames.get(depth) != Some(&frame) {
            frames.truncate(depth);
            frames.push(frame);
        }
    }

    /// Removes the step of the innermost working agent, so that a later run starts this agent from the
    /// beginning.
    pub(crate) fn end_step(&mut self) {
        let depth = self.entered.len().saturating_sub(1);
        if let Some(progress) = &mut self.progress {
            progress.frames.truncate(depth);
        }
        self.drop_branches();
    }

    /// Returns the number of agents that are working now, nested in each other.
    pub(crate) fn depth(&self) -> usize {
        self.entered.len()
    }

    /// Removes all working agents except for the outermost `depth` agents.
    ///
    /// If `has_succeeded` is `true`, the steps of the removed agents are removed, too. Otherwise, a later run
    /// continues at these steps.
    pub(crate) fn leave(&mut self, depth: usize, has_succeeded: bool) {
        self.entered.truncate(depth);
        if has_succeeded {
            if let Some(progress) = &mut self.progress {
                progress.frames.truncate(depth);
            }
            self.drop_branches();
        }
    }

    /// Removes the conversations of agents called as tools.
    pub(super) fn drop_called(&mut self) {
        self.children.retain(|key, _| !key.starts_with(CALL));
    }

    /// Removes the copies for parallel agents whose group has ended.
    pub(super) fn drop_branches(&mut self) {
        let frames = self.progress.as_ref().map_or(0, |progress| progress.frames.len());
        self.children.retain(|key, _| {
            let depth = key.strip_prefix(BRANCH).and_then(|rest| rest.split('/').next()?.parse().ok());
            depth.is_none_or(|depth: usize| depth < frames)
        });
    }

    /// Creates an empty conversation that shares the values of `session`.
    pub(crate) fn with_session(session: &Session) -> Self {
        Self::new(session.id()).sharing(session)
    }

    /// Returns the conversation with the id and the values of `session`. It shares the values with `session`.
    pub(crate) fn sharing(mut self, session: &Session) -> Self {
        self.id = session.id().into();
        self.session = session.clone();
        self
    }

    /// Removes and returns the unfinished conversation of the agent called at `position`.
    pub(crate) fn take_called(&mut self, position: usize) -> Option<Self> {
        // Checked first: most turns call no agent, and building the key allocates.
        if self.children.is_empty() { None } else { self.children.remove(&child_of_call(position)) }
    }

    pub(crate) fn has_called(&self, position: usize) -> bool {
        self.children.contains_key(&child_of_call(position))
    }

    /// Stores the unfinished conversation of the agent called at `position`.
    pub(crate) fn keep_called(&mut self, position: usize, child: Self) {
        self.children.insert(child_of_call(position), child.detached());
    }

    /// Returns the path of keys to the conversation of the agent called at `position`. `node` is the path to
    /// the conversation that contains the call.
    pub(crate) fn node_of_call(node: &[String], position: usize) -> Vec<String> {
        node.iter().cloned().chain([child_of_call(position)]).collect()
    }

    /// Returns the [keys](Keys) of the calls of the unfinished turn, in their order.
    pub(crate) fn keys_of_turn(&self) -> Vec<String> {
        let (removed, messages) = self.calls_so_far();
        let mut keys = removed.after(messages);
        let calls = self.turn.iter().flat_map(|turn| &turn.message().calls);
        calls.map(|call| keys.next(&call.id)).collect()
    }

    /// Collects the pending calls of this conversation and of its nested conversations. `outer` has counted the calls
    /// of the conversations that this conversation of a parallel agent continues.
    pub(super) fn waiting(&self, outer: &Keys, prefix: &str, found: &mut Vec<PendingCall>) {
        if self.children.is_empty() && !self.turn.as_ref().is_some_and(Turn::has_pending) {
            return;
        }
        let keys = self.removed_calls_after(outer.clone()).after(&self.messages);
        if let Some(turn) = &self.turn {
            turn.waiting(&self.children, keys.clone(), prefix, found);
        }
        for (key, branch) in &self.children {
            if let Some(index) = key.strip_prefix(BRANCH) {
                let prefix = format!("{prefix}{}/", index.rsplit('/').next().unwrap_or_default());
                branch.waiting(&keys, &prefix, found);
            }
        }
    }
}

impl Progress {
    /// Adds `by` to the message indexes, after messages were added or removed before them.
    pub(super) fn move_by(&mut self, by: isize) {
        self.begin = self.begin.saturating_add_signed(by);
        self.unchecked = self.unchecked.map(|unchecked| unchecked.saturating_add_signed(by));
        self.end = self.end.map(|end| end.saturating_add_signed(by));
        self.question = self.question.map(|question| question.saturating_add_signed(by));
    }
}
