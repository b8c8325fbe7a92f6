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
use std::mem::take;
use toolkit_core::Dispatcher;
use toolkit_llm::Message;
use toolkit_llm::ModelRequest;

impl LlmAgent {
    /// Returns the latest compaction for this agent. Without settings, it is empty, and all messages are
    /// sent.
    pub(super) fn compacted(&self, conversation: &Conversation) -> Compacted {
        let is_active = self.settings.compaction.is_some();
        let compacted = conversation.compacted(&self.settings.name).filter(|_| is_active);
        compacted.cloned().unwrap_or_default()
    }

    /// Creates the request of a turn, after a compaction if it would exceed its share of the context
    /// window.
    pub(in crate::llm) async fn fitting_request(
        &self,
        dispatcher: &Dispatcher,
        calls: &mut TurnCalls<'_>,
    ) -> Result<ModelRequest, AgentError> {
        let request = self.request(calls.conversation, dispatcher, calls.answer)?;
        let Some(compaction) = &self.settings.compaction else { return Ok(request) };
        let before = self.compacted(calls.conversation);
        let Some(plan) = self.plan(compaction, &before, &request, calls.conversation, calls.meter) else {
            return Ok(request);
        };
        // Boxed, because compactions are rare, and would make the future of every run larger.
        Box::pin(self.compact(compaction, &before, plan, calls)).await?;
        self.request(calls.conversation, dispatcher, calls.answer)
    }

    /// Plans a compaction if the request exceeds its share of the context window. `before` is the previous
    /// one.
    fn plan(
        &self,
        compaction: &Compaction,
        before: &Compacted,
        request: &ModelRequest,
        conversation: &mut Conversation,
        meter: &mut Meter,
    ) -> Option<Plan> {
        let settings = &self.settings;
        let is_forced = take(&mut meter.is_exceeded);
        let (views, messages) = conversation.views();
        let start = history::start(views, messages, settings.history_limit, before);
        let view = Visible {
            agent: &settings.name,
            messages: conversation.all_messages(),
            compacted: before,
            start,
            counter: &*compaction.counter,
        };
        let usage_from = match settings.history_limit {
            None => conversation.usage_from(),
            // The latest answer's count may include messages that are no longer sent.
            Some(_) => usize::MAX,
        };
        let counted = meter.count(view, usage_from, request);
        let bounds = compaction.bounds(settings.options.max_output_tokens);
        if !is_forced && counted <= bounds.start {
            return None;
        }
        let planner = Planner {
            view,
            fixed: compaction.counter.count_fixed(request),
            counted,
            kept: kept(conversation, view, compaction.summary_limit()),
            keep_latest: compaction.keep_latest,
            result_chars: compaction.result_limit(),
            summary_tokens: compaction.summarizer.is_some().then(|| compaction.summary_limit()),
            is_forced,
        };
        planner.plan(bounds)
    }

    /// Creates a shorter request after the model has refused one as too long. `None` if it cannot become
    /// shorter.
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

    /// Applies a plan: writes the summary, and stores the compaction in place of the one `before`.
    async fn compact(
        &self,
        compaction: &Compaction,
        before: &Compacted,
        mut plan: Plan,
        calls: &mut TurnCalls<'_>,
    ) -> Result<(), AgentError> {
        let (run, name) = (calls.scope.run, &self.settings.name);
        let messages_left_out = plan.compacted.start.saturating_sub(plan.first);
        let mut summary_error = None;
        if messages_left_out > 0 && plan.is_worth_summary && compaction.summarizer.is_some() {
            let (summary, error) = self.summary(compaction, before, &plan, calls).await?;
            plan.tokens = plan.tokens.saturating_sub(compaction.summary_limit());
            plan.tokens += compaction.counter.count_text(&summary);
            plan.compacted.summary = summary;
            summary_error = error;
        }
        calls.conversation.set_compacted(name, plan.compacted);
        *calls.meter = Meter::default();
        run.emit(|| RunEvent::Compacted {
            agent: name.clone(),
            tokens_before: plan.tokens_before,
            tokens_after: (plan.tokens as f64 / plan.factor) as u64,
            messages_left_out,
            summary_error,
            within: run.within(),
        });
        // Saves now, so that the paid summary is not lost.
        run.save(calls.conversation).await
    }

    /// Writes the summary of the messages that `plan` leaves out, or returns an earlier one with the reason.
    async fn summary(
        &self,
        compaction: &Compaction,
        before: &Compacted,
        plan: &Plan,
        calls: &mut TurnCalls<'_>,
    ) -> Result<(String, Option<String>), AgentError> {
        let (run, Settings { name, price, retry, .. }) = (calls.scope.run, &self.settings);
        let indexes = left_out(before, plan);
        let inputs = calls.conversation.unchecked_inputs(name);
        if inputs.iter().any(|(index, _)| indexes.contains(index)) {
            // A blocked input must not be in the summary.
            run.until_stopped(passed(calls.pieces.gate)).await?;
        }
        let messages = readable(name, calls.conversation.all_messages(), &indexes, &plan.compacted);
        let request = SummaryRequest::new(name, &before.summary, messages, compaction.summary_limit());
        Summaries { compaction, run, agent: name, price, retry }.write(request).await
    }
}

/// Returns the messages at `indexes` as the input of a summary for `agent`. Long results are shortened.
fn readable(agent: &str, messages: &[Message], indexes: &[usize], after: &Compacted) -> Vec<Message> {
    // A summary includes tool results, even if the request replaces them with a note.
    let compacted = Compacted { dropped: 0, shortened: usize::MAX, ..after.clone() };
    let mut readable = Vec::new();
    for index in indexes {
        if let Some(message) = messages.get(*index) {
            readable.push(history::visible(agent, *index, message, &compacted).into_owned());
        }
    }
    readable
}

/// Returns the indexes of the user messages to keep: those without an answer, and a first input that is
/// still sent and has at most `limit` tokens.
fn kept(conversation: &Conversation, view: Visible<'_>, limit: u64) -> Vec<usize> {
    let mut kept = conversation.unanswered();
    let Some(first) = view.messages.iter().position(Message::is_input) else { return kept };
    let is_sent = first >= view.start || view.compacted.kept.contains(&first);
    if is_sent && !kept.contains(&first) && view.tokens(first) <= limit {
        kept.insert(0, first);
    }
    kept
}

/// Returns the indexes of the messages that `plan` leaves out, beyond those of `before`.
fn left_out(before: &Compacted, plan: &Plan) -> Vec<usize> {
    let after = &plan.compacted;
    let kept = before.kept.iter().copied().filter(|index| !after.kept.contains(index));
    kept.chain(plan.first..after.start).collect()
}
