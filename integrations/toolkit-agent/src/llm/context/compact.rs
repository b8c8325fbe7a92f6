//! Compaction before a model call: shortens a request that is too long for the context window.

use super::history;
use super::meter::{Meter, Visible};
use super::plan::{Plan, Planner};
use super::summaries::Summaries;
use crate::compaction::{Compaction, SummaryRequest};
use crate::conversation::{Compacted, Conversation};
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::llm::agent::LlmAgent;
use crate::llm::guards::parallel_check::passed;
use crate::llm::settings::Settings;
use crate::llm::turn::calls::TurnCalls;
use toolkit_core::Dispatcher;
use toolkit_llm::Message;
use toolkit_llm::ModelRequest;

impl LlmAgent {
    /// Returns the latest compaction for this agent. If the agent has no compaction settings, returns an
    /// empty one, and all messages are sent.
    pub(super) fn compacted(&self, conversation: &Conversation) -> Compacted {
        let is_active = self.settings.compaction.is_some();
        let compacted = conversation.compacted(&self.settings.name).filter(|_| is_active);
        compacted.cloned().unwrap_or_default()
    }

    /// Creates the request of a turn. If the request exceeds its share of the context window, compacts the
    /// conversation first.
    pub(in crate::llm) async fn fitting_request(
        &self,
        dispatcher: &Dispatcher,
        calls: &mut TurnCalls<'_>,
    ) -> Result<ModelRequest, AgentError> {
        let request = self.request(calls.conversation, dispatcher, calls.answer)?;
        let Some(compaction) = &self.settings.compaction else { return Ok(request) };
        let is_forced = std::mem::take(&mut calls.meter.is_exceeded);
        let compacted = self.compacted(calls.conversation);
        let (views, messages) = calls.conversation.views();
        let start = history::start(views, messages, self.settings.history_limit, &compacted);
        let view = self.view(compaction, calls.conversation, &compacted, start);
        let usage_from = match self.settings.history_limit {
            None => calls.conversation.usage_from(),
            // The provider may have counted the latest answer together with messages that are no longer sent.
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
            kept: kept(calls.conversation, view, compaction.summary_limit()),
            keep_latest: compaction.keep_latest,
            result_chars: compaction.result_limit(),
            summary_tokens: compaction.summarizer.is_some().then(|| compaction.summary_limit()),
            is_forced,
        };
        let Some(plan) = planner.plan(bounds) else { return Ok(request) };
        let before = (&compacted, view.start);
        // Boxed, because compactions are rare, and the future would make the future of every run larger.
        Box::pin(self.compact(compaction, before, plan, counted, calls)).await?;
        self.request(calls.conversation, dispatcher, calls.answer)
    }

    /// Creates a shorter request after the model has refused a request as too long. Returns `None` if the
    /// request cannot become shorter.
    pub(in crate::llm) async fn shorter_request(
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
        start: usize,
    ) -> Visible<'a> {
        let messages = conversation.all_messages();
        Visible { agent: &self.settings.name, messages, compacted, start, counter: &*compaction.counter }
    }

    /// Carries out a planned compaction: writes the summary, and stores the compaction in the conversation.
    /// `before` is the previous compaction, and `first` the index of the first message that was sent so far.
    async fn compact(
        &self,
        compaction: &Compaction,
        (before, first): (&Compacted, usize),
        plan: Plan,
        tokens_before: u64,
        calls: &mut TurnCalls<'_>,
    ) -> Result<(), AgentError> {
        let (run, Settings { name, price, retry, .. }) = (calls.scope.run, &self.settings);
        let Plan { mut compacted, tokens: mut tokens_after, factor, is_worth_summary } = plan;
        let messages_left_out = compacted.start.saturating_sub(first);
        let mut summary_error = None;
        if messages_left_out > 0 && is_worth_summary && compaction.summarizer.is_some() {
            let indexes = left_out(before, first, &compacted);
            let inputs = calls.conversation.unchecked_inputs(name);
            if inputs.iter().any(|(index, _)| indexes.contains(index)) {
                // Waits for the check of an input, because a blocked input must not be in the summary.
                run.until_stopped(passed(calls.pieces.gate)).await?;
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
        // Saves now, so that the paid summary is not lost.
        run.save(calls.conversation).await
    }

    /// Returns the messages at `indexes` as the input of a summary. Long tool results are shortened.
    fn readable(&self, conversation: &Conversation, indexes: &[usize], after: &Compacted) -> Vec<Message> {
        let messages = conversation.all_messages();
        // A summary includes the tool results, even if the request replaces them with a note.
        let readable = Compacted { dropped: 0, shortened: usize::MAX, ..after.clone() };
        let visible = indexes.iter().filter_map(|index| {
            let message = messages.get(*index)?;
            Some(history::visible(&self.settings.name, *index, message, &readable).into_owned())
        });
        visible.collect()
    }
}

/// Returns the indexes of the user messages that a compaction keeps: those without an answer, and the first input if it
/// is still sent and has at most `limit` tokens.
fn kept(conversation: &Conversation, view: Visible<'_>, limit: u64) -> Vec<usize> {
    let mut kept = conversation.unanswered();
    let first = view.messages.iter().position(Message::is_input);
    let is_sent = |index: &usize| *index >= view.start || view.compacted.kept.contains(index);
    if let Some(first) =
        first.filter(|first| is_sent(first) && !kept.contains(first) && view.tokens(*first) <= limit)
    {
        kept.insert(0, first);
    }
    kept
}

/// Returns the indexes of the messages that the compaction `after` leaves out, unless `before` has already
/// left them out. `first` is the index of the first message that was sent so far.
fn left_out(before: &Compacted, first: usize, after: &Compacted) -> Vec<usize> {
    let kept = before.kept.iter().copied().filter(|index| !after.kept.contains(index));
    kept.chain(first..after.start).collect()
}
