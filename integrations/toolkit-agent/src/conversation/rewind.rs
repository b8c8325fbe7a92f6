//! Going back: a conversation that goes on before one of its inputs, in the same log.

use super::fork::{EarlierCall, InputMark};
use super::{Conversation, Entry, ForkPoint, State};

impl Conversation {
    /// Returns whether the conversation can go back to before the input with this id: that of its run, or the one that the
    /// client gave to the message.
    pub(crate) fn can_rewind(&self, input: &str) -> bool {
        self.state.mark_of(input).is_some()
    }

    /// Goes back to before an input, as a [fork](Self::forked) from the saves of its log would.
    ///
    /// # Errors
    /// As those of `forked`.
    pub(crate) fn rewind(&mut self, input: &str, saves: &[String]) -> Result<(), String> {
        let Some(mark) = self.state.mark_of(input) else { return Ok(()) };
        let run = mark.run.clone();
        let point = ForkPoint::Input(run.to_string());
        let fork = Self::forked((&self.user_id, &self.id), saves, &point, &self.id)?;
        self.keep_arrived();
        self.live.depth = 0;
        self.live.resumed = 0;
        self.record(Entry::Rewound { run, calls: fork.earlier_calls().to_vec() });
        let values = fork.session.store().snapshot();
        for key in self.session.store().snapshot().into_keys() {
            if !values.contains_key(&key) {
                self.session.store().remove(&key);
            }
        }
        for (key, value) in values {
            self.session.store().set(key, value);
        }
        Ok(())
    }
}

impl State {
    fn mark_of(&self, input: &str) -> Option<&InputMark> {
        self.marks.iter().rfind(|mark| !input.is_empty() && (*mark.run == *input || mark.message == input))
    }

    /// Leaves out the input of a run, and all that follows it. What was spent stays.
    pub(super) fn rewind(&mut self, run: &str, calls: Vec<EarlierCall>, at: u64) {
        let Some(position) = self.marks.iter().rposition(|mark| *mark.run == *run) else { return };
        self.give_up_run(at);
        if position == 0 {
            self.retitle(0, "");
        }
        self.remove_last_inputs(self.marks.len() - position - 1);
        self.origin.calls = calls;
    }
}
