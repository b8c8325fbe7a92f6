//! Plans a compaction: chooses the results to shorten and the messages to leave out.

use super::meter::Visible;
use crate::compaction::Bounds;
use crate::conversation::{Compacted, is_boundary};
use toolkit_llm::Message;

/// The estimated tokens of the note about messages left out.
const NOTE_TOKENS: u64 = 50;

pub(super) struct Planner<'a> {
    pub(super) view: Visible<'a>,
    pub(super) fixed: u64,
    /// The request's tokens before the compaction, counted by the provider if possible.
    pub(super) counted: u64,
    pub(super) kept: Vec<usize>,
    pub(super) keep_latest: usize,
    pub(super) result_chars: usize,
    /// The maximum tokens of a new summary. `None` if the agent writes none.
    pub(super) summary_tokens: Option<u64>,
    /// Whether the model has refused the request, so that the estimate is too low.
    pub(super) is_forced: bool,
}

/// A planned compaction, still with the summary of the previous one.
pub(super) struct Plan {
    pub(super) compacted: Compacted,
    /// The first message sent before the compaction.
    pub(super) first: usize,
    pub(super) tokens_before: u64,
    pub(super) tokens: u64,
    /// The estimated tokens divided by the provider's count.
    pub(super) factor: f64,
    /// Whether the saved tokens pay for a summary.
    pub(super) is_worth_summary: bool,
}

/// The estimated tokens of a message in full, with shortened results, and with notes instead of results.
#[derive(Clone, Copy)]
struct Cost {
    full: u64,
    shortened: u64,
    dropped: u64,
}

impl Cost {
    fn of(&self, index: usize, compacted: &Compacted) -> u64 {
        match index {
            _ if index < compacted.dropped => self.dropped,
            _ if index < compacted.shortened => self.shortened,
            _ => self.full,
        }
    }
}

impl Planner<'_> {
    /// Plans a compaction, unless it would save too little.
    pub(super) fn plan(&self, bounds: Bounds) -> Option<Plan> {
        let view = &self.view;
        let len = view.messages.len();
        let mut state = PlanDraft::new(self);
        let before = state.total();
        // A larger deviation cannot come from the estimate of texts.
        let factor = (before as f64 / self.counted.max(1) as f64).clamp(0.25, 4.0);
        let must = self.is_forced || self.counted > bounds.most;
        let bounds = self.scaled(bounds, before, factor);
        // Each compaction invalidates prompt caches and may cost a summary. It is better to wait until long
        // latest messages are old.
        let enough = bounds.start.midpoint(bounds.target);
        let old = len.saturating_sub(self.keep_latest);
        state.shorten(old, bounds.target);
        state.drop_results(old, bounds.target);
        let with_all_messages = if must { Some(state.clone()) } else { None };
        state.leave_out(old, bounds.target);
        if let Some(earlier) = with_all_messages
            && state.total() > enough
        {
            // The latest messages alone are too long, so leaving out all old ones would not help.
            state = earlier;
            state.reduce_latest(bounds, enough);
        }
        let after = state.total();
        // Until the window is full, a compaction must come close to its target.
        let is_worth = after <= if must { enough } else { bounds.target.midpoint(enough) };
        let is_large = before.saturating_sub(after) >= bounds.start.saturating_sub(bounds.target) / 4;
        if after >= before || !(is_worth || must) {
            return None;
        }
        Some(Plan {
            compacted: Compacted { made_at: len, ..state.compacted },
            first: view.start,
            tokens_before: self.counted,
            tokens: after,
            factor,
            is_worth_summary: is_worth || is_large || self.is_forced,
        })
    }

    /// Converts the bounds from tokens of the provider to estimated tokens. `estimated` is the estimate of
    /// the uncompacted request.
    fn scaled(&self, bounds: Bounds, estimated: u64, factor: f64) -> Bounds {
        let scale = |tokens: u64| (tokens as f64 * factor) as u64;
        let Bounds { most, start, target } = bounds;
        let bounds = Bounds { most: scale(most), start: scale(start), target: scale(target) };
        if !self.is_forced {
            return bounds;
        }
        // The instructions and the tools cannot be shortened.
        let target = bounds.target.min(estimated.midpoint(self.fixed));
        Bounds { most: target, start: target, target }
    }
}

#[derive(Clone)]
struct PlanDraft<'a> {
    planner: &'a Planner<'a>,
    compacted: Compacted,
    /// The index of the first message to send, so far.
    first: usize,
    /// The estimated tokens of each message, from the first one before the compaction.
    costs: Vec<Cost>,
    messages: u64,
    /// The estimated tokens of the text that replaces older messages.
    replacement: u64,
}

impl<'a> PlanDraft<'a> {
    fn new(planner: &'a Planner<'a>) -> Self {
        let view = planner.view;
        let compacted = Compacted { result_chars: planner.result_chars, ..view.compacted.clone() };
        let [full, shortened, dropped] = [(0, 0), (usize::MAX, 0), (0, usize::MAX)]
            .map(|(shortened, dropped)| Compacted { shortened, dropped, made_at: 0, ..compacted.clone() });
        let tokens = |index, compacted| Visible { compacted, ..view }.tokens(index);
        let mut costs = Vec::with_capacity(view.messages.len().saturating_sub(view.start));
        let mut messages = 0;
        for (index, message) in view.messages.iter().enumerate().skip(view.start) {
            let in_full = tokens(index, &full);
            let mut cost = Cost { full: in_full, shortened: in_full, dropped: in_full };
            if matches!(message, Message::Tool(_)) {
                cost.shortened = tokens(index, &shortened);
                cost.dropped = tokens(index, &dropped);
            }
            messages += cost.of(index, view.compacted);
            costs.push(cost);
        }
        Self {
            planner,
            compacted,
            first: view.start,
            costs,
            messages,
            replacement: view.replacement_tokens(),
        }
    }

    fn total(&self) -> u64 {
        self.planner.fixed + self.replacement + self.messages
    }

    fn cost(&self, index: usize) -> Cost {
        let nothing = Cost { full: 0, shortened: 0, dropped: 0 };
        index
            .checked_sub(self.planner.view.start)
            .and_then(|offset| self.costs.get(offset))
            .map_or(nothing, |cost| *cost)
    }

    /// Shortens results before the index `end`, oldest first, down to `target` tokens.
    fn shorten(&mut self, end: usize, target: u64) {
        for index in self.first.max(self.compacted.shortened)..end {
            if self.total() <= target {
                return;
            }
            let cost = self.cost(index);
            self.messages = self.messages - cost.of(index, &self.compacted) + cost.shortened;
            self.compacted.shortened = index + 1;
        }
    }

    /// Reduces a request with too long latest messages to at most `enough` tokens, the results of the
    /// latest turn last.
    fn reduce_latest(&mut self, bounds: Bounds, enough: u64) {
        let Planner { view, keep_latest, .. } = self.planner;
        let len = view.messages.len();
        let latest_results = view.messages.iter().rposition(|message| matches!(message, Message::Tool(_)));
        let latest_turn = latest_results.unwrap_or(len);
        self.shorten(latest_turn, bounds.target);
        self.leave_out(len.saturating_sub(*keep_latest), bounds.target);
        if self.total() > enough {
            self.drop_results(latest_turn, bounds.target);
        }
        if self.total() > bounds.most {
            self.shorten(len, bounds.start);
        }
        if self.total() > enough {
            // Leaves out more than the window requires, or the next turn would need a compaction again.
            self.leave_out(len.saturating_sub(1), enough);
        }
        if self.total() > bounds.most {
            self.drop_results(len, bounds.most);
        }
    }

    /// Replaces results before the index `end` with notes, oldest first, down to `target` tokens.
    fn drop_results(&mut self, end: usize, target: u64) {
        for index in self.first.max(self.compacted.dropped)..end {
            if self.total() <= target {
                return;
            }
            let cost = self.cost(index);
            self.messages = self.messages - cost.of(index, &self.compacted) + cost.dropped;
            self.compacted.dropped = index + 1;
        }
    }

    /// Leaves out messages before the index `end`, oldest first, down to `target` tokens.
    fn leave_out(&mut self, end: usize, target: u64) {
        if self.total() <= target {
            return;
        }
        let view = self.planner.view;
        let tokens = |index: &usize| (*index, view.tokens(*index));
        let inputs: Vec<(usize, u64)> = self.planner.kept.iter().map(tokens).collect();
        let note = self.note_tokens();
        let mut removed = 0;
        let mut best = None::<(u64, usize, u64, u64)>;
        for index in self.first + 1..=end {
            removed += self.cost(index - 1).of(index - 1, &self.compacted);
            if !is_boundary(self.planner.view.messages, index) {
                continue;
            }
            let messages = self.messages.saturating_sub(removed);
            let kept = inputs.iter().filter(|(kept, _)| *kept < index).map(|(_, tokens)| tokens);
            let replacement = note + kept.sum::<u64>();
            let total = self.planner.fixed + messages + replacement;
            if total < best.map_or(self.total(), |(total, ..)| total) {
                best = Some((total, index, messages, replacement));
            }
            if total <= target {
                break;
            }
        }
        if let Some((_, index, messages, replacement)) = best {
            (self.first, self.messages, self.replacement) = (index, messages, replacement);
            self.set_start(index);
        }
    }

    fn note_tokens(&self) -> u64 {
        let Planner { view, summary_tokens, .. } = self.planner;
        let summary = summary_tokens.unwrap_or_else(|| view.counter.count_text(&view.compacted.summary));
        NOTE_TOKENS + summary
    }

    fn set_start(&mut self, start: usize) {
        let Planner { view, kept, .. } = self.planner;
        let before = view.compacted;
        let kept: Vec<usize> = kept.iter().copied().filter(|index| *index < start).collect();
        let left_out = before.left_out + before.kept.len() + start.saturating_sub(before.start);
        self.compacted.left_out = left_out.saturating_sub(kept.len());
        self.compacted.kept = kept;
        self.compacted.start = start;
    }
}
