//! What an owner does next with a conversation.

use super::InputMode;
use super::item::{Inbox, InputItem, Numbered};
use crate::conversation::Conversation;
use crate::pending::Decisions;
use crate::session::RunStatus;
use std::collections::BTreeMap;

#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// Delete items that were taken up, or fit nothing any more.
    Discard(Vec<u64>),
    /// Continue the run with decisions. `items` are those of the inbox, by call.
    Resume { decisions: Decisions, items: BTreeMap<String, u64> },
    /// Continue the run only to end it: its calls get results, and what it has spent is known.
    Interrupt,
    /// Begin a run.
    Begin(Box<Numbered<InputItem>>),
    /// End the waiting run, which takes up these items.
    Cancel(Vec<u64>),
    /// Nothing, before this second.
    Wait(Option<u64>),
}

/// Returns what follows from the state of a conversation and its inbox. `takes_over` tells whether a run that is noted as
/// working belongs to this owner. `now` is in seconds since 1970.
pub(super) fn next_step(conversation: &Conversation, inbox: Inbox, takes_over: bool, now: u64) -> Step {
    let status = conversation.status();
    let stale = stale(conversation, &status, &inbox);
    if !stale.is_empty() {
        return Step::Discard(stale);
    }
    match status {
        RunStatus::Working { .. } if takes_over && has_interrupt(&inbox, now) => Step::Interrupt,
        RunStatus::Working { .. } if takes_over => {
            Step::Resume { decisions: Decisions::new(), items: BTreeMap::new() }
        }
        RunStatus::Working { .. } => Step::Wait(None),
        RunStatus::Waiting { .. } => after_waiting(inbox, now),
        RunStatus::Idle | RunStatus::Ended { .. } => begin(inbox.inputs, now),
    }
}

/// Returns whether an item ends the run. Cancellations of other runs were discarded.
pub(super) fn has_interrupt(inbox: &Inbox, now: u64) -> bool {
    !inbox.cancelled.is_empty() || inbox.inputs.iter().any(|input| input.item.interrupts(now))
}

fn after_waiting(inbox: Inbox, now: u64) -> Step {
    if !inbox.cancelled.is_empty() {
        return Step::Cancel(inbox.cancelled.iter().map(|item| item.number).collect());
    }
    let mut interrupts = inbox.inputs;
    interrupts.retain(|input| input.item.mode == InputMode::Interrupt);
    let interrupt = begin(interrupts, now);
    if matches!(interrupt, Step::Begin(_)) {
        // The run ends first, so that its listeners hear its end.
        return Step::Cancel(Vec::new());
    }
    if inbox.decisions.is_empty() {
        return interrupt;
    }
    let mut decisions = Decisions::new();
    let mut items = BTreeMap::new();
    for Numbered { number, item, .. } in inbox.decisions {
        items.insert(item.call.clone(), number);
        decisions = decisions.with(item.call, item.decision).decided_by(item.by);
    }
    Step::Resume { decisions, items }
}

/// Begins a run for the first input whose time has come.
fn begin(inputs: Vec<Numbered<InputItem>>, now: u64) -> Step {
    let mut earliest = None;
    for input in inputs {
        let not_before = input.item.not_before;
        if not_before <= now {
            return Step::Begin(Box::new(input));
        }
        earliest = Some(earliest.map_or(not_before, |earliest: u64| earliest.min(not_before)));
    }
    Step::Wait(earliest)
}

/// Returns the items that were taken up, or fit nothing any more.
fn stale(conversation: &Conversation, status: &RunStatus, inbox: &Inbox) -> Vec<u64> {
    let mut stale = Vec::new();
    for input in &inbox.inputs {
        if conversation.has_input(&input.id) {
            stale.push(input.number);
        }
    }
    let is_unfinished = matches!(status, RunStatus::Working { .. } | RunStatus::Waiting { .. });
    for cancelled in &inbox.cancelled {
        if !is_unfinished || status.run() != Some(&cancelled.item) {
            stale.push(cancelled.number);
        }
    }
    if matches!(status, RunStatus::Working { .. }) {
        // Its pending calls may be those of a turn that is not saved yet.
        return stale;
    }
    let pending = conversation.pending();
    for decision in &inbox.decisions {
        if !pending.iter().any(|call| call.id == decision.item.call) {
            stale.push(decision.number);
        }
    }
    stale
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inbox(not_before: u64) -> Inbox {
        let item = InputItem { not_before, ..InputItem::new("Wake up.".into()) };
        Inbox { inputs: vec![Numbered { number: 1, id: "1".to_owned(), item }], ..Inbox::default() }
    }

    #[test]
    fn a_clock_that_jumps_neither_loses_an_input_nor_begins_it_early() {
        let conversation = Conversation::new("1");
        for now in [50, 99, 0, 98] {
            assert_eq!(next_step(&conversation, inbox(100), false, now), Step::Wait(Some(100)));
        }
        for now in [100, u64::MAX] {
            let step = next_step(&conversation, inbox(100), false, now);
            assert!(matches!(&step, Step::Begin(input) if input.number == 1), "{step:?}");
        }
    }
}
