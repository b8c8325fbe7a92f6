//! Compaction before a model call: a shorter request for a conversation beyond the context window.

use super::agent::LlmAgent;
use super::beside::passed;
use super::calls::TurnCalls;
use super::history;
use super::meter::{Meter, Visible};
use super::plan::{Plan, Planner};
use super::settings::Settings;
use super::summaries::Summaries;
use crate::compaction::{Compaction, SummaryRequest};
use crate::conversation::{Compacted, Conversation};
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::message::Message;
use crate::model::ModelRequest;
use toolkit_core::Dispatcher;

impl LlmAgent {
    /// Returns the latest compaction for this agent. Without compaction settings, the agent sends all
    /// messages.
    pub(super) fn compacted(&self, conversation: &Conversation) -> Compacted {
        let is_active = self.settings.compaction.is_some();
        let compacted = conversation.compacted(&self.settings.name).filter(|_| is_active);
        compacted.cloned().unwrap_or_default()
    }

    /// Creates the request of a turn. If the request exceeds its share of the context window, a compaction
    /// comes first.
    pub(super) async fn fitting_request(
        &self,
        dispatcher: &Dispatcher,
        calls: &mut TurnCalls<'_>,
    ) -> Result<ModelRequest, AgentError> {
        let request = self.request(calls.conversation, dispatcher, calls.answer);
        let Some(compaction) = &self.settings.compaction else { return Ok(request) };
        let is_forced = std::mem::take(&mut calls.meter.is_exceeded);
        let compacted = self.compacted(calls.conversation);
        let view = self.view(compaction, calls.conversation, &compacted);
        let usage_from = match self.settings.history_limit {
            None => calls.conversation.usage_from(),
            // The latest answer may have been given to a longer history.
            Some(_) => usize::MAX,
        };
        let counted = calls.meter.count(view, usage_from, &request);
        let bounds = compaction.bounds(self.settings.options.max_output_tokens);
        if !is_forced && counted <= bounds.start {
            return Ok(request);
        }
        let planner = Planner {
            view,
            fixed: compaction.counter.count_fixed(&request),
            counted,
            unanswered: calls.conversation.unanswered(),
            keep_latest: compaction.keep_latest,
            result_chars: compaction.result_limit(),
            summary_tokens: compaction.summarizer.is_some().then(|| compaction.summary_limit()),
            is_forced,
        };
        let Some(plan) = planner.plan(bounds) else { return Ok(request) };
        let before = (&compacted, view.start);
        // Boxed, because few turns begin with a compaction, and each future of a run has room for it.
        Box::pin(self.compact(compaction, before, plan, counted, calls)).await?;
        Ok(self.request(calls.conversation, dispatcher, calls.answer))
    }

    /// Creates a shorter request after the model has refused a request as too long. Returns `None` if there
    /// is nothing to leave out.
    pub(super) async fn shorter_request(
        &self,
        dispatcher: &Dispatcher,
        calls: &mut TurnCalls<'_>,
    ) -> Result<Option<ModelRequest>, AgentError> {
        if self.settings.compaction.is_none() {
            return Ok(None);
        }
        let before = self.compacted(calls.conversation);
        calls.meter.is_exceeded = true;
        let request = self.fitting_request(dispatcher, calls).await?;
        Ok((self.compacted(calls.conversation) != before).then_some(request))
    }

    fn view<'a>(
        &'a self,
        compaction: &'a Compaction,
        conversation: &'a Conversation,
        compacted: &'a Compacted,
    ) -> Visible<'a> {
        let messages = conversation.messages();
        Visible {
            agent: &self.settings.name,
            messages,
            compacted,
            start: history::start(messages, self.settings.history_limit, compacted),
            counter: &*compaction.counter,
        }
    }

    /// Adds the summary to a planned compaction, and the compaction to the conversation. `first` is the index
    /// of the first message of the request before the compaction.
    async fn compact(
        &self,
        compaction: &Compaction,
        (before, first): (&Compacted, usize),
        plan: Plan,
        tokens_before: u64,
        calls: &mut TurnCalls<'_>,
    ) -> Result<(), AgentError> {
        let (run, Settings { name, price, retry, .. }) = (calls.run, &self.settings);
        let Plan { mut compacted, tokens: mut tokens_after, factor, is_worth_summary } = plan;
        let messages_left_out = compacted.start.saturating_sub(first);
        let mut summary_error = None;
        if messages_left_out > 0 && is_worth_summary && compaction.summarizer.is_some() {
            let indexes = left_out(before, first, &compacted);
            let inputs = calls.conversation.unchecked_inputs(name);
            if inputs.iter().any(|(index, _)| indexes.contains(index)) {
                // An input that is blocked must not be in the summary.
                run.until_stopped(passed(calls.gate)).await?;
            }
            let messages = self.readable(calls.conversation, &indexes, &compacted);
            let limit = compaction.summary_limit();
            let request = SummaryRequest::new(name, &before.summary, messages, limit);
            let summaries = Summaries { compaction, run, agent: name, price, retry };
            let (summary, error) = summaries.write(request).await?;
            let tokens = compaction.counter.count_text(&summary);
            tokens_after = tokens_after.saturating_sub(limit) + tokens;
            (compacted.summary, summary_error) = (summary, error);
        }
        let tokens_after = (tokens_after as f64 / factor) as u64;
        calls.conversation.set_compacted(name, compacted);
        *calls.meter = Meter::default();
        run.emit(|| RunEvent::Compacted {
            agent: name.clone(),
            tokens_before,
            tokens_after,
            messages_left_out,
            summary_error,
            within: run.within(),
        });
        // Save now, because the summary is paid for.
        run.save(calls.conversation).await
    }

    /// Returns the messages at `indexes` for a summary. Long results are shortened.
    fn readable(&self, conversation: &Conversation, indexes: &[usize], after: &Compacted) -> Vec<Message> {
        let messages = conversation.messages();
        // The results are in the summary, even if they are only a note in the request.
        let readable = Compacted { dropped: 0, shortened: usize::MAX, ..after.clone() };
        let visible = indexes.iter().filter_map(|index| {
            let message = messages.get(*index)?;
            Some(history::visible(&self.settings.name, *index, message, &readable).into_owned())
        });
        visible.collect()
    }
}

/// Returns the indexes of the messages that a compaction leaves out, in addition to the messages left out before.
/// `first` is the index of the first message of the request before the compaction.
fn left_out(before: &Compacted, first: usize, after: &Compacted) -> Vec<usize> {
    let kept = before.kept.iter().copied().filter(|index| !after.kept.contains(index));
    kept.chain(first..after.start).collect()
}
