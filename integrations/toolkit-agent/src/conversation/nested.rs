//! The progress of a run in its conversation, and the conversations nested in it.

use super::branches::BRANCH;
use super::progress::{Frame, Progress, Step};
use super::{AgentOutput, Conversation, PendingCall, RunOutput};
use crate::message::{Message, UserMessage};
use crate::model::FinishReason;
use crate::output::Spent;
use std::ops::ControlFlow;
use std::sync::Arc;
use toolkit_core::{CallId, Session};

const CALL: &str = "call/";

/// Returns the key of the conversation of an agent called as a tool. `position` is the index of the call in
/// its turn.
pub(super) fn child_of_call(position: usize) -> String {
    format!("{CALL}{position}")
}

impl Conversation {
    /// Begins a new run with the input. Gives up an earlier run if it is unfinished.
    pub(crate) fn begin_run(&mut self, input: UserMessage) {
        self.entered.clear();
        self.give_up_run();
        self.progress = Some(Progress { begin: self.messages.len(), ..Progress::default() });
        self.add(Message::User(input));
    }

    /// Begins a run that asks for the answer to the latest run again. The input of the latest run stays
    /// unanswered.
    pub(crate) fn begin_attempt(&mut self, input: UserMessage) {
        let (question, invalid) = (self.progress.as_ref().map(Progress::first), self.invalid_answers());
        self.begin_run(input);
        if let Some(progress) = &mut self.progress {
            progress.question = question;
            progress.invalid_answers = invalid;
        }
    }

    /// Gives up the latest run if it is unfinished. The messages of its parallel agents are kept.
    pub(super) fn give_up_run(&mut self) {
        self.give_up_work(0);
        self.replaced.clear();
        self.progress = None;
    }

    /// Notes that a run works in this conversation until the returned value is dropped.
    pub(crate) fn start_run(&mut self) -> Arc<()> {
        let running = Arc::new(());
        self.running = Arc::downgrade(&running);
        running
    }

    /// Returns the index of the first message of the latest run, with all attempts to answer it.
    pub(crate) fn begin_of_run(&self) -> usize {
        self.progress.as_ref().map_or(self.messages.len(), Progress::first)
    }

    /// Returns the number of invalid answers in the latest run, with all attempts to answer it.
    pub(crate) fn invalid_answers(&self) -> u32 {
        self.progress.as_ref().map_or(0, |progress| progress.invalid_answers)
    }

    /// Sets the number of invalid answers in the latest run.
    pub(crate) fn set_invalid_answers(&mut self, invalid: u32) {
        if let Some(progress) = &mut self.progress {
            progress.invalid_answers = invalid;
        }
    }

    /// Leaves all agents, because the run has stopped.
    pub(crate) fn leave_all(&mut self) {
        self.entered.clear();
    }

    /// Continues the latest run. If the run has ended with an answer, returns its output. Otherwise, returns
    /// the tokens, the cost and the numbers of calls so far.
    pub(crate) fn continue_run(&mut self) -> ControlFlow<RunOutput, Spent> {
        self.entered.clear();
        let (finished, begin) = (self.finished(), self.messages.len());
        let progress = self.progress.get_or_insert_with(|| Progress { begin, ..Progress::default() });
        match (finished, &progress.output) {
            (Some(output), _) => {
                let (spent, begin) = (progress.spent, progress.first());
                ControlFlow::Break(output.in_run(spent, self.messages_since(begin)))
            }
            (None, Some(_)) => {
                *progress = Progress { begin, ..Progress::default() };
                ControlFlow::Continue(Spent::default())
            }
            (None, None) => ControlFlow::Continue(progress.spent),
        }
    }

    /// Returns the output of the latest run, if the run has ended with an answer and no message was added
    /// since.
    pub(crate) fn finished(&self) -> Option<AgentOutput> {
        let progress = self.progress.as_ref().filter(|progress| progress.end == Some(self.messages.len()))?;
        progress.output.clone().filter(|_| self.turn.is_none())
    }

    /// Returns the output of the latest run so far: its tokens, cost, numbers of calls and messages, and its
    /// answer if there is one. The messages of unfinished turns and of unfinished parallel agents are not
    /// included.
    ///
    /// Returns `None` if the conversation had no run, or if the program has added a message of the user
    /// since.
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
        let (spent, begin) = (progress.spent, progress.first());
        output.in_run(spent, self.messages_since(begin))
    }

    /// Returns the tokens, the cost and the numbers of calls of the latest run so far.
    pub(crate) fn spent(&self) -> Spent {
        self.progress.as_ref().map(|progress| progress.spent).unwrap_or_default()
    }

    /// Sets the tokens, the cost and the numbers of calls of the run so far.
    pub(crate) fn set_spent(&mut self, spent: Spent) {
        if let Some(progress) = &mut self.progress {
            progress.spent = spent;
        }
    }

    /// Enters an agent of the team. Returns the step that the agent had reached before an interruption.
    pub(crate) fn enter(&mut self, agent: &str) -> Option<Step> {
        let depth = self.entered.len();
        self.entered.push(agent.to_owned());
        let frames = &mut self.progress.get_or_insert_default().frames;
        match frames.get(depth) {
            Some(frame) if frame.agent == agent => Some(frame.step.clone()),
            _ => {
                frames.truncate(depth);
                None
            }
        }
    }

    /// Sets the step of the agent entered last.
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

    /// Ends the step of the agent entered last, so that a later run begins the agent again.
    pub(crate) fn end_step(&mut self) {
        let depth = self.entered.len().saturating_sub(1);
        if let Some(progress) = &mut self.progress {
            progress.frames.truncate(depth);
        }
        self.drop_branches();
    }

    /// Returns the number of agents entered and not left.
    pub(crate) fn depth(&self) -> usize {
        self.entered.len()
    }

    /// Leaves all agents except the outermost `depth` agents. If the outermost agent left has succeeded, its
    /// step ends. Otherwise, a later run continues the step.
    pub(crate) fn leave(&mut self, depth: usize, has_succeeded: bool) {
        self.entered.truncate(depth);
        if has_succeeded {
            if let Some(progress) = &mut self.progress {
                progress.frames.truncate(depth);
            }
            self.drop_branches();
        }
    }

    /// Drops the conversations of agents called as tools.
    pub(super) fn drop_called(&mut self) {
        self.children.retain(|key, _| !key.starts_with(CALL));
    }

    /// Drops the conversations of parallel groups that have ended.
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

    /// Shares the values of `session`.
    pub(crate) fn sharing(mut self, session: &Session) -> Self {
        self.id = session.id().into();
        self.session = session.clone();
        self
    }

    /// Removes and returns the unfinished conversation of an agent called as a tool.
    pub(crate) fn take_called(&mut self, position: usize) -> Option<Self> {
        // Checked first, because the key is a string and most turns call no agent.
        if self.children.is_empty() { None } else { self.children.remove(&child_of_call(position)) }
    }

    pub(crate) fn has_called(&self, position: usize) -> bool {
        self.children.contains_key(&child_of_call(position))
    }

    /// Keeps the unfinished conversation of an agent called as a tool.
    pub(crate) fn keep_called(&mut self, position: usize, child: Self) {
        self.children.insert(child_of_call(position), child.detached());
    }

    /// Returns the path of keys to the conversation of an agent called as a tool. `node` is the path to the
    /// calling conversation.
    pub(crate) fn node_of_call(node: &[String], position: usize) -> Vec<String> {
        node.iter().cloned().chain([child_of_call(position)]).collect()
    }

    /// Returns the [key](super::key) of a call of the unfinished turn.
    pub(crate) fn key_of_call(&self, position: usize) -> String {
        let calls = self.turn.as_ref().map(|turn| turn.message().calls.as_slice()).unwrap_or_default();
        super::key(calls, position, &|id| self.calls_with(id))
    }

    /// Returns the number of calls with this id, without the unfinished turn.
    fn calls_with(&self, id: &CallId) -> usize {
        let of_message = |message: &Message| match message {
            Message::Assistant(message) => message.calls.iter().filter(|call| call.id == *id).count(),
            _ => 0,
        };
        self.messages.iter().map(of_message).sum()
    }

    /// Collects the pending calls of this conversation and of its nested conversations. `outer` returns how many calls
    /// have an id in the conversations that this conversation of a parallel agent continues.
    pub(super) fn waiting(
        &self,
        outer: &dyn Fn(&CallId) -> usize,
        prefix: &str,
        found: &mut Vec<PendingCall>,
    ) {
        let earlier = |id: &CallId| outer(id) + self.calls_with(id);
        if let Some(turn) = &self.turn {
            turn.waiting(&self.children, &earlier, prefix, found);
        }
        for (key, branch) in &self.children {
            if let Some(index) = key.strip_prefix(BRANCH) {
                let prefix = format!("{prefix}{}/", index.rsplit('/').next().unwrap_or_default());
                branch.waiting(&earlier, &prefix, found);
            }
        }
    }
}

impl Progress {
    /// Shifts the message indexes by `by`, after earlier messages were removed or added.
    pub(super) fn move_by(&mut self, by: isize) {
        self.begin = self.begin.saturating_add_signed(by);
        self.end = self.end.map(|end| end.saturating_add_signed(by));
        self.question = self.question.map(|question| question.saturating_add_signed(by));
    }
}
