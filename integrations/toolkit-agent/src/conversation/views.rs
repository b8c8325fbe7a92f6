//! The messages of a conversation as the models of its agents read them, kept from request to request.

use super::{Compacted, Conversation};
use toolkit_llm::{Message, Messages};

/// The messages in the latest requests of the agents. A request adds only the messages that are new since then, so the
/// requests of a run take linear time together. A clone of the conversation begins with no views.
#[derive(Debug, Default)]
pub(crate) struct Views {
    /// The agent of the latest request, and the number of messages at the beginning that this agent reads unchanged.
    unchanged: (String, usize),
    /// The views of agents that read some messages in another form.
    rewritten: Vec<View>,
    /// The number of messages searched for inputs, and the index of the latest input among them.
    input: (usize, Option<usize>),
}

impl Clone for Views {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Views {
    /// Returns whether `agent` reads all messages unchanged: none is from another agent, and none has calls that gave
    /// a final answer. Checks only the messages added since the last call for the same agent.
    pub(crate) fn are_unchanged(&mut self, agent: &str, messages: &[Message]) -> bool {
        let (name, checked) = &mut self.unchanged;
        if name != agent {
            agent.clone_into(name);
            *checked = 0;
        }
        let is_unchanged = |message: &&Message| match message {
            Message::Assistant(said) if !said.answer_tool.is_empty() => false,
            message => !message.is_of_other(agent),
        };
        *checked += messages.iter().skip(*checked).take_while(is_unchanged).count();
        *checked == messages.len()
    }

    /// Returns the view of `agent` from the message `start` on, after the compaction. `is_quoted` tells whether the
    /// agent reads the calls of an answer tool as text.
    pub(crate) fn of(
        &mut self,
        agent: &str,
        start: usize,
        compacted: &Compacted,
        is_quoted: &dyn Fn(&str) -> bool,
    ) -> &mut View {
        let is_of = |view: &View| {
            view.agent == agent && view.quoted.iter().all(|(tool, quoted)| is_quoted(tool) == *quoted)
        };
        let index = self.rewritten.iter().position(is_of).unwrap_or_else(|| {
            self.rewritten.push(View { agent: agent.to_owned(), ..View::default() });
            self.rewritten.len() - 1
        });
        let view = &mut self.rewritten[index];
        if view.start != start || view.compacted != *compacted {
            let agent = agent.to_owned();
            let compacted = compacted.clone();
            *view = View { agent, start, compacted, ..View::default() };
        }
        view
    }

    /// Returns the index of the latest input. Searches only the messages added since the last call.
    pub(crate) fn latest_input(&mut self, messages: &[Message]) -> Option<usize> {
        let (searched, latest) = &mut self.input;
        let new = messages.get(*searched..).unwrap_or_default();
        if let Some(offset) = new.iter().rposition(Message::is_input) {
            *latest = Some(*searched + offset);
        }
        *searched = messages.len();
        *latest
    }

    /// Forgets all messages from `index` on, because they have changed.
    pub(super) fn change_from(&mut self, index: usize) {
        self.unchanged.1 = self.unchanged.1.min(index);
        self.rewritten.iter_mut().for_each(|view| view.change_from(index));
        let (searched, latest) = &mut self.input;
        if latest.is_some_and(|latest| latest >= index) {
            self.input = (0, None);
        } else {
            *searched = (*searched).min(index);
        }
    }
}

/// The messages of a conversation as the model of one agent reads them.
#[derive(Debug, Default)]
pub(crate) struct View {
    agent: String,
    /// The index of the first message.
    start: usize,
    compacted: Compacted,
    /// The answer tools of the messages so far, and whether their calls are quoted as text.
    quoted: Vec<(String, bool)>,
    messages: Messages,
    /// The steps in which the view has grown: the number of messages read, and the number of messages made of them. No
    /// later message changes what was made.
    steps: Vec<(usize, usize)>,
}

impl View {
    /// Makes the messages that were added to the conversation, and returns the complete view.
    ///
    /// `rewrite` makes messages of a range that begins at an index. The messages before an index for which `is_end`
    /// returns `true` can be made without those after it. `end` returns a message to add at the end of the view.
    pub(crate) fn extended(
        &mut self,
        messages: &[Message],
        is_quoted: &dyn Fn(&str) -> bool,
        is_end: impl Fn(usize) -> bool,
        rewrite: impl Fn(&[Message], usize) -> Vec<Message>,
        end: impl Fn(&[Message]) -> Option<Message>,
    ) -> Messages {
        let (read, made) = self.steps.last().copied().unwrap_or((self.start, 0));
        for message in messages.iter().skip(read) {
            if let Message::Assistant(said) = message
                && !said.answer_tool.is_empty()
                && !self.quoted.iter().any(|(tool, _)| *tool == said.answer_tool)
            {
                self.quoted.push((said.answer_tool.clone(), is_quoted(&said.answer_tool)));
            }
        }
        self.messages.truncate(made);
        let next = (read + 1..=messages.len()).rev().find(|index| is_end(*index)).unwrap_or(read);
        if next > read {
            self.messages.extend(rewrite(messages.get(..next).unwrap_or_default(), read));
            self.steps.push((next, self.messages.len()));
        }
        self.messages.extend(rewrite(messages, next));
        if let Some(message) = end(&self.messages) {
            self.messages.push(message);
        }
        self.messages.clone()
    }

    fn change_from(&mut self, index: usize) {
        while self.steps.pop_if(|(read, _)| *read > index).is_some() {}
    }
}

impl Conversation {
    /// Returns the views, with the list of messages, which a request can share.
    pub(crate) fn views(&mut self) -> (&mut Views, &Messages) {
        (&mut self.live.views, &self.state.history.messages)
    }
}
