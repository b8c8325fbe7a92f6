//! The messages of a conversation as its agents' models read them, kept between requests.

use super::{Compacted, Conversation};
use toolkit_llm::{Message, Messages};

/// The messages in the latest requests of the agents. A request adds only new ones, so the requests of a
/// run take linear time together. A clone of the conversation begins without views.
#[derive(Debug, Default)]
pub(crate) struct Views {
    unchanged: Unchanged,
    /// The views of agents that read some messages in another form.
    rewritten: Vec<View>,
    inputs: Inputs,
}

/// The messages that the latest request's agent reads unchanged.
#[derive(Debug, Default)]
struct Unchanged {
    agent: String,
    /// The number of such messages at the beginning.
    count: usize,
}

#[derive(Debug, Default)]
struct Inputs {
    searched: usize,
    /// The index of the latest input among them.
    latest: Option<usize>,
}

/// How an agent's model reads messages in another form.
pub(crate) trait Rewrite {
    /// Returns whether the calls of an answer tool are quoted as text.
    fn is_quoted(&self, tool: &str) -> bool;

    /// Returns whether the messages before `end` can be made without those after it.
    fn is_end(&self, messages: &[Message], end: usize) -> bool;

    /// Makes messages of those from `from` on. `is_first` tells whether they begin the request.
    fn rewrite(&self, messages: &[Message], from: usize, is_first: bool) -> Vec<Message>;

    fn ending(&self, view: &[Message]) -> Option<Message>;
}

impl Clone for Views {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Views {
    /// Returns whether `agent` reads all messages unchanged: none is from another agent, and none has calls
    /// that gave a final answer. Checks only messages added since its last call.
    pub(crate) fn are_unchanged(&mut self, agent: &str, messages: &[Message]) -> bool {
        let unchanged = &mut self.unchanged;
        if unchanged.agent != agent {
            *unchanged = Unchanged { agent: agent.to_owned(), count: 0 };
        }
        for message in messages.iter().skip(unchanged.count) {
            let has_answer = matches!(message, Message::Assistant(said) if !said.answer_tool.is_empty());
            if has_answer || message.is_of_other(agent) {
                return false;
            }
            unchanged.count += 1;
        }
        unchanged.count == messages.len()
    }

    /// Returns the view of `agent` from the message `start` on.
    pub(crate) fn of(
        &mut self,
        agent: &str,
        start: usize,
        compacted: &Compacted,
        reader: &impl Rewrite,
    ) -> &mut View {
        let index = match self.rewritten.iter().position(|view| view.is_for(agent, reader)) {
            Some(index) => index,
            None => {
                self.rewritten.push(View { agent: agent.to_owned(), ..View::default() });
                self.rewritten.len() - 1
            }
        };
        let view = &mut self.rewritten[index];
        if view.start != start || view.compacted != *compacted {
            let agent = agent.to_owned();
            let compacted = compacted.clone();
            *view = View { agent, start, compacted, ..View::default() };
        }
        view
    }

    /// Returns the index of the latest input. Searches only messages added since the last call.
    pub(crate) fn latest_input(&mut self, messages: &[Message]) -> Option<usize> {
        let inputs = &mut self.inputs;
        let new = messages.get(inputs.searched..).unwrap_or_default();
        if let Some(offset) = new.iter().rposition(Message::is_input) {
            inputs.latest = Some(inputs.searched + offset);
        }
        inputs.searched = messages.len();
        inputs.latest
    }

    /// Forgets all messages from `index` on, because they have changed.
    pub(super) fn change_from(&mut self, index: usize) {
        self.unchanged.count = self.unchanged.count.min(index);
        self.rewritten.iter_mut().for_each(|view| view.change_from(index));
        if self.inputs.latest.is_some_and(|latest| latest >= index) {
            self.inputs = Inputs::default();
        } else {
            self.inputs.searched = self.inputs.searched.min(index);
        }
    }
}

/// The messages as one agent's model reads them.
#[derive(Debug, Default)]
pub(crate) struct View {
    agent: String,
    start: usize,
    compacted: Compacted,
    /// The answer tools so far, and whether their calls are quoted as text.
    quoted: Vec<(String, bool)>,
    messages: Messages,
    /// The steps in which the view has grown. Later messages change none of them.
    steps: Vec<ViewStep>,
}

/// A step of a view, as numbers of messages since its beginning.
#[derive(Debug, Clone, Copy)]
struct ViewStep {
    read: usize,
    made: usize,
}

impl View {
    /// Makes the new messages, and returns the complete view.
    pub(crate) fn extended(&mut self, messages: &[Message], reader: &impl Rewrite) -> Messages {
        let ViewStep { read, made } =
            self.steps.last().copied().unwrap_or(ViewStep { read: self.start, made: 0 });
        for message in messages.iter().skip(read) {
            if let Message::Assistant(answer) = message
                && !answer.answer_tool.is_empty()
                && !self.quoted.iter().any(|(tool, _)| *tool == answer.answer_tool)
            {
                self.quoted.push((answer.answer_tool.clone(), reader.is_quoted(&answer.answer_tool)));
            }
        }
        self.messages.truncate(made);
        let rewrite = |messages: &[Message], from: usize| reader.rewrite(messages, from, from == self.start);
        let next =
            (read + 1..=messages.len()).rev().find(|index| reader.is_end(messages, *index)).unwrap_or(read);
        if next > read {
            self.messages.extend(rewrite(messages.get(..next).unwrap_or_default(), read));
            self.steps.push(ViewStep { read: next, made: self.messages.len() });
        }
        self.messages.extend(rewrite(messages, next));
        if let Some(message) = reader.ending(&self.messages) {
            self.messages.push(message);
        }
        self.messages.clone()
    }

    /// Returns whether the view is of `agent`, and `reader` quotes the same answer tools.
    fn is_for(&self, agent: &str, reader: &impl Rewrite) -> bool {
        self.agent == agent && self.quoted.iter().all(|(tool, quoted)| reader.is_quoted(tool) == *quoted)
    }

    fn change_from(&mut self, index: usize) {
        while self.steps.pop_if(|step| step.read > index).is_some() {}
    }
}

impl Conversation {
    /// Returns the views and the messages, which a request can share.
    pub(crate) fn views(&mut self) -> (&mut Views, &Messages) {
        (&mut self.live.views, &self.state.history.messages)
    }
}
