//! The state of a conversation: a fold over the entries of its log.

use super::Compactions;
use super::fork::{InputMark, Origin};
use super::history::History;
use super::{Entry, Frame, InputId, RunState, Stop, Turn};
use crate::output::{AgentOutput, Spent};
use crate::status::{EndReason, RunStatus};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use toolkit_llm::{Message, UserMessage};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct State {
    pub(super) history: History,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) turn: Option<Turn>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<RunState>,
    pub(super) runs: u32,
    /// What the runs before the latest one have spent.
    #[serde(skip_serializing_if = "Spent::is_zero")]
    pub(super) earlier_runs: Spent,
    /// The ids of the inputs so far.
    #[serde(skip_serializing_if = "Vec::is_empty", with = "crate::helpers::shared_texts")]
    pub(super) inputs: Vec<Arc<str>>,
    /// The inputs between turns, by index.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) marks: Vec<InputMark>,
    #[serde(skip_serializing_if = "str::is_empty", with = "crate::helpers::shared_text")]
    pub(super) title: Arc<str>,
    #[serde(skip_serializing_if = "Compactions::is_empty")]
    pub(super) compactions: Compactions,
    /// The unfinished conversations of agents called as tools, by their call, and of parallel agents.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) children: BTreeMap<String, Self>,
    #[serde(skip_serializing_if = "Origin::is_empty")]
    pub(super) origin: Origin,
}

impl State {
    /// Applies an entry of the conversation at the path `node`. `at` is its time in seconds.
    pub(crate) fn apply_at(&mut self, node: &str, entry: Entry, at: u64) {
        let mut target = self;
        for key in node.split('/').filter(|key| !key.is_empty()) {
            let Self { children, origin, .. } = target;
            target = children.entry(key.to_owned()).or_insert_with(|| Self::called(origin));
        }
        target.apply(entry, at);
    }

    /// Creates the state of a called agent's conversation.
    pub(super) fn called(around: &Origin) -> Self {
        Self { origin: around.of_called(), ..Self::default() }
    }

    pub(crate) fn apply(&mut self, entry: Entry, at: u64) {
        match entry {
            Entry::Log { .. } | Entry::Forked(_) | Entry::Values { .. } => {}
            Entry::Snapshot(state) => *self = state.attached(),
            Entry::Rewound { run, calls } => self.rewind(&run, calls, at),
            Entry::Message(message) => self.add_message(*message, at),
            Entry::Removed(count) => self.remove_first(count),
            Entry::Settled => self.settle(at),
            Entry::Abandoned => self.give_up_run(at),
            Entry::Compacted { agent, compacted } => self.compactions.set(&agent, *compacted),

            Entry::RunBegan { input, is_attempt, run, message } => {
                self.begin_run(input, is_attempt, InputId { run, message }, at);
            }
            Entry::Steered { input, run, .. } => self.steer(input, run, at),
            Entry::Titled(title) => self.title = title.into(),
            Entry::Resumed => self.resume(),
            Entry::Spent(spent) => self.run().attempt_spent = spent,
            Entry::Stopped(stop) => self.stop(stop, at),
            Entry::Ended => self.end_run(at),

            Entry::InputReplaced { index, message } => {
                let title = title_of(&message);
                self.retitle(index, &title);
                self.history.replace(index, message);
            }
            Entry::InputBlocked { index } => {
                self.retitle(index, "");
                self.history.block(index);
            }

            Entry::AgentBegan { depth, agent, members } => self.begin_agent(depth, agent, members, at),
            Entry::AgentEnded { depth, output } => {
                let output = output.map(|output| *output).or_else(|| self.answer_at(depth).cloned());
                self.end_agent(depth, output.unwrap_or_default(), at);
            }
            Entry::Transferred(to) => self.frame().transfer = Some(to),
            Entry::AnswerInvalid { count, is_repeated } => self.note_invalid(count, is_repeated),
            Entry::BranchBegan(index) => self.begin_branch(index),
            Entry::BranchFailed { index, error } => {
                self.frame().failed.insert(index, error);
            }
            Entry::BranchesFailed => {
                self.join_branches(at);
                self.frame().failed.clear();
            }

            Entry::TurnBegan { agent, checks_answers } => {
                let agent = agent.unwrap_or_else(|| self.innermost().to_owned());
                self.begin_turn(agent, checks_answers, at);
            }
            Entry::Call(arrived) => self.turn().arrive(*arrived),
            Entry::Started(calls) => self.start(calls),
            Entry::Result(result) => self.add_result(*result),
            Entry::Pending { call, reason } => self.set_pending(call, reason),
            Entry::Decided { call, decision, .. } => self.turn().decide(call, decision),
            Entry::Applied => self.turn().set_applied(),
            Entry::AnswersChecked => self.turn().checks_answers = true,
            Entry::ModelEnded(end) => self.end_message(*end),
            Entry::ModelFailed => self.drop_turn(),
            Entry::TurnStopped { is_kept } => self.stop_turn(is_kept, at),
            Entry::TurnEnded { verdict, answer } => self.end_turn(verdict, answer.map(|answer| *answer), at),
            Entry::PausedRemoved => {
                self.history.remove_paused();
            }
        }
    }

    /// Returns the path to a call of the conversation at the path `node`.
    pub(super) fn path_of_call(&self, node: &str, position: usize) -> String {
        let mut state = self;
        for key in node.split('/') {
            state = state.children.get(key).unwrap_or(state);
        }
        let key = state.call_key(position);
        if node.is_empty() { key } else { format!("{node}/{key}") }
    }

    /// Notes, after the log was read, which calls of unfinished turns have own entries.
    pub(super) fn note_entries(&mut self) {
        if let Some(mut turn) = self.turn.take() {
            turn.note_entries(|position| self.children.contains_key(&self.call_key(position)));
            self.turn = Some(turn);
        }
        self.children.values_mut().for_each(Self::note_entries);
    }

    pub(super) fn run(&mut self) -> &mut RunState {
        let begin = self.history.len();
        self.run.get_or_insert_with(|| RunState { begin, ..RunState::default() })
    }

    pub(super) fn frame(&mut self) -> &mut Frame {
        let frames = &mut self.run().frames;
        if frames.is_empty() {
            frames.push(Frame::default());
        }
        let last = frames.len() - 1;
        &mut frames[last]
    }

    /// Returns the key of a call of the unfinished turn: the numbers of the run, the turn and the call.
    pub(super) fn call_key(&self, position: usize) -> String {
        let turns = self.run.as_ref().map_or(0, |run| run.turns);
        format!("{}.{turns}.{position}", self.runs)
    }

    fn begin_run(&mut self, input: UserMessage, is_attempt: bool, id: InputId, at: u64) {
        let InputId { run: id, message } = id;
        let mut run = RunState { id: id.clone(), is_working: true, attempts: 1, ..RunState::default() };
        if let Some(before) = self.run.as_ref().filter(|_| is_attempt) {
            run.question = Some(before.first());
            run.invalid_answers = before.invalid_answers;
            // The repetition belongs to the same attempt of the program.
            run.attempts = before.attempts;
            run.earlier_spent = before.earlier_spent;
            run.attempt_spent = before.attempt_spent;
            self.run = Some(RunState::default());
        }
        self.give_up_run(at);
        self.runs += 1;
        run.begin = self.history.len();
        if !is_attempt && !id.is_empty() {
            self.marks.push(InputMark { index: run.begin, run: id.clone(), message });
        }
        self.run = Some(run);
        self.add_input(input, id, at);
    }

    fn note_invalid(&mut self, count: u32, is_repeated: bool) {
        self.run().invalid_answers = count;
        if is_repeated {
            self.frame().is_repair = true;
        }
    }

    fn steer(&mut self, input: UserMessage, id: Arc<str>, at: u64) {
        self.stop_turn(false, at);
        self.add_input(input, id, at);
    }

    fn add_input(&mut self, input: UserMessage, id: Arc<str>, at: u64) {
        if self.title.is_empty() {
            self.title = title_of(&input);
        }
        if !id.is_empty() {
            self.inputs.push(id);
        }
        self.history.add(Message::User(input), at);
    }

    fn add_message(&mut self, message: Message, at: u64) {
        self.stop_turn(false, at);
        if message.is_input() && self.run.as_ref().is_none_or(|run| !run.is_working) {
            self.marks.push(InputMark { index: self.history.len(), ..InputMark::default() });
        }
        self.history.add(message, at);
    }

    fn resume(&mut self) {
        let begin = self.history.len();
        if self.run.as_ref().is_none_or(|run| run.end.is_some()) {
            self.give_up_run_state();
            self.runs += 1;
            self.run = Some(RunState { begin, ..RunState::default() });
        }
        let run = self.run();
        run.end_attempt();
        run.is_working = true;
        run.attempts += 1;
    }

    fn stop(&mut self, stop: Stop, at: u64) {
        let ends_turn = stop.ends_turn();
        let run = self.run();
        run.is_working = false;
        run.stopped_at = at;
        run.reason = stop.reason;
        if run.reason == EndReason::Waiting
            && let Some(turn) = &mut self.turn
        {
            // The run's batch has applied the changes of its results.
            turn.set_applied();
        }
        // Pending calls can still be decided.
        if ends_turn && !self.is_pending() {
            self.stop_turn(false, at);
        }
    }

    fn end_run(&mut self, at: u64) {
        self.settle(at);
        self.children.clear();
        let end = self.history.len();
        let run = self.run();
        run.is_working = false;
        run.frames.clear();
        run.end = Some(end);
    }

    fn begin_agent(&mut self, depth: usize, agent: String, members: Vec<String>, at: u64) {
        if self.run().frames.len() > depth {
            self.give_up_work(at);
        }
        let frames = &mut self.run().frames;
        frames.truncate(depth);
        // Most agents have none within them, and a frame is large.
        frames.reserve_exact(1);
        frames.push(Frame { agent, members, ..Frame::default() });
    }

    fn end_agent(&mut self, depth: usize, output: AgentOutput, at: u64) {
        self.join_branches(at);
        let run = self.run();
        run.frames.truncate(depth);
        match run.frames.last_mut() {
            Some(outer) => {
                outer.ended += 1;
                outer.output = Some(output);
            }
            None => run.output = Some(output),
        }
    }

    /// Ends the unfinished turn and removes text before a pause.
    pub(super) fn settle(&mut self, at: u64) {
        self.stop_turn(false, at);
        self.history.remove_paused();
    }

    /// Ends the unfinished turn, and appends the messages of unfinished parallel agents.
    pub(super) fn give_up_work(&mut self, at: u64) {
        self.settle(at);
        self.join_branches(at);
    }

    pub(super) fn give_up_run(&mut self, at: u64) {
        self.give_up_work(at);
        self.give_up_run_state();
    }

    fn give_up_run_state(&mut self) {
        if let Some(mut run) = self.run.take() {
            run.end_attempt();
            self.earlier_runs += run.earlier_spent;
        }
    }

    /// Returns how the latest run stands.
    pub(super) fn status(&self) -> RunStatus {
        let Some(state) = &self.run else { return RunStatus::Idle };
        let run = state.id.clone();
        if state.is_working {
            return RunStatus::Working { run, attempt: state.attempts };
        }
        if state.end.is_some() {
            return RunStatus::Ended { run, reason: EndReason::Answered };
        }
        let mut calls = Vec::new();
        self.waiting("", &mut calls);
        if calls.is_empty() {
            RunStatus::Ended { run, reason: state.reason.clone() }
        } else {
            RunStatus::Waiting { run, since: state.stopped_at, calls }
        }
    }

    /// Returns the title that the first input gives.
    pub(super) fn first_title(&self) -> Arc<str> {
        match self.history.messages.first() {
            Some(Message::User(input)) => title_of(input),
            _ => Arc::default(),
        }
    }

    /// Gives the conversation another title, if it has that of the input at `index`.
    pub(super) fn retitle(&mut self, index: usize, title: &str) {
        if let Some(Message::User(input)) = self.history.messages.get(index)
            && !self.title.is_empty()
            && self.title == title_of(input)
        {
            self.title = title.into();
        }
    }

    fn remove_first(&mut self, count: usize) {
        let count = count.min(self.history.len());
        for index in 0..count {
            self.retitle(index, "");
        }
        self.history.remove_first(count);
        if let Some(run) = &mut self.run {
            run.remove_first(count);
        }
        self.compactions.remove_first(count, self.history.len());
        self.marks.retain(|mark| mark.index >= count);
        self.marks.iter_mut().for_each(|mark| mark.index -= count);
    }

    /// Returns the answer of the last turn of the agent at `depth`, or else of the last agent within it.
    pub(super) fn answer_at(&self, depth: usize) -> Option<&AgentOutput> {
        let frame = self.run.as_ref()?.frames.get(depth)?;
        frame.answer.as_ref().or(frame.output.as_ref())
    }

    /// Returns the name of the innermost working agent.
    pub(super) fn innermost(&self) -> &str {
        let frame = self.run.as_ref().and_then(|run| run.frames.last());
        frame.map_or("", |frame| &frame.agent)
    }
}

/// The most characters of a title that is the beginning of an input.
const TITLE: usize = 60;

/// Returns the first line of an input that is not blank.
fn title_of(input: &UserMessage) -> Arc<str> {
    for content in &input.content {
        let text = content.to_text();
        let Some(line) = text.lines().map(str::trim).find(|line| !line.is_empty()) else { continue };
        return match line.char_indices().nth(TITLE) {
            Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default().trim_end()).into(),
            None => line.into(),
        };
    }
    Arc::default()
}
