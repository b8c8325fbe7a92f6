//! The settings of compaction.

use super::count::{CountTokens, TokenEstimate};
use super::summary::SummaryRequest;
use crate::helpers::BoxFuture;
use std::fmt::Display;
use std::sync::Arc;
use toolkit_llm::model::BoxModel;
use toolkit_llm::{ChatModel, ModelOptions};

type Summarize = dyn Fn(SummaryRequest) -> BoxFuture<'static, Result<String, String>> + Send + Sync;

/// Settings for compacting long conversations, given to
/// [`AgentBuilder::compaction`](crate::AgentBuilder::compaction).
///
/// If a request exceeds its share of the context window, the agent takes these steps until it is small
/// enough:
///
/// 1. Old tool results keep only their beginning and their end.
/// 2. Old tool results become a note of one line.
/// 3. The oldest messages become a summary, written by a [model](Self::with_summary_model) or a
///    [function](Self::with_summary). Without either, or if the summary fails, a note replaces them.
///
/// The [latest messages](Self::with_keep_latest) stay unchanged, unless the request would still exceed the
/// window. Then they are reduced too, the results of the latest turn last. A summary that would save little
/// is not written, because it would have to be paid in each turn.
///
/// The unanswered message of the user stays, and so does the first one, which usually states the task, if
/// it is not longer than a [summary](Self::with_summary_tokens) may be. Calls are never separated from
/// their results.
///
/// The conversation keeps all its messages. A compaction is saved with it, and until the next one, requests
/// begin with the same messages, so prompt caches stay valid.
///
/// The latest answer's usage counts, without reasoning that later requests lack; only newer messages are
/// estimated. If the model refuses a request as [too long](toolkit_llm::ModelErrorKind::ContextTooLong),
/// the agent compacts once and asks again, but not if an answer is cut off.
///
/// ```
/// use toolkit_ai::agent::compaction::Compaction;
/// use toolkit_ai::agent::{Agent, Conversation};
/// use toolkit_ai::llm::{ModelResponse, ScriptedModel};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let model = ScriptedModel::new().fallback(|_| Ok(ModelResponse::text("I see. ".repeat(40))));
/// let summaries = ScriptedModel::new().fallback(|_| Ok(ModelResponse::text("We talked about numbers.")));
/// let agent = Agent::builder(model.clone())
///     .compaction(Compaction::new(1_000).with_summary_model(summaries))
///     .build()?;
/// let mut conversation = Conversation::default();
/// for number in 0..20 {
///     agent.run(format!("This is number {number}.")).on(&mut conversation).await?;
/// }
/// assert_eq!(conversation.messages().len(), 40);
/// let requests = model.requests();
/// let last = requests.last().unwrap();
/// assert!(last.messages.len() < 15);
/// assert!(last.messages[0].to_text().contains("We talked about numbers."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[doc(alias("summarization", "trim_messages"))]
#[derive(Clone)]
pub struct Compaction {
    window: u64,
    answer_tokens: Option<u64>,
    start_at: f64,
    reduce_to: f64,
    pub(crate) keep_latest: usize,
    result_chars: Option<usize>,
    summary_tokens: Option<u64>,
    pub(crate) counter: Arc<dyn CountTokens>,
    pub(crate) summarizer: Option<Summarizer>,
    pub(crate) summary_options: Option<ModelOptions>,
    pub(crate) summary_instructions: Option<String>,
}

#[derive(Clone)]
pub(crate) enum Summarizer {
    Model(BoxModel),
    Function(Arc<Summarize>),
}

/// Sizes of requests in tokens that decide when and how much to compact.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// The maximum of a request; the rest of the window is for the answer.
    pub(crate) most: u64,
    /// The size above which a request is compacted.
    pub(crate) start: u64,
    /// The size wanted after a compaction.
    pub(crate) target: u64,
}

impl Compaction {
    /// Creates settings for a model with this context window in tokens, without summaries.
    #[must_use]
    pub fn new(window: u64) -> Self {
        Self {
            window,
            answer_tokens: None,
            start_at: 0.8,
            reduce_to: 0.5,
            keep_latest: 6,
            result_chars: None,
            summary_tokens: None,
            counter: Arc::new(TokenEstimate),
            summarizer: None,
            summary_options: None,
            summary_instructions: None,
        }
    }

    /// Sets the model for summaries, which may be a cheaper one.
    ///
    /// Each summary counts as a model call of the run.
    ///
    /// The model reads the old messages as text, in at most eight requests. The oldest messages of a longer
    /// text are not in the summary.
    #[must_use]
    pub fn with_summary_model(mut self, model: impl ChatModel) -> Self {
        self.summarizer = Some(Summarizer::Model(model.boxed()));
        self
    }

    /// Sets an asynchronous function for summaries.
    ///
    /// ```
    /// use toolkit_ai::agent::compaction::{Compaction, SummaryRequest};
    ///
    /// async fn summarize(request: SummaryRequest) -> Result<String, std::io::Error> {
    ///     let asked = request.messages.iter().filter(|message| message.to_text().contains('?')).count();
    ///     Ok(format!("{} The user asked {asked} further questions.", request.previous))
    /// }
    ///
    /// let compaction = Compaction::new(128_000).with_summary(summarize);
    /// ```
    #[must_use]
    pub fn with_summary<Fut, E>(
        mut self,
        summarize: impl Fn(SummaryRequest) -> Fut + Send + Sync + 'static,
    ) -> Self
    where
        Fut: Future<Output = Result<String, E>> + Send + 'static,
        E: Display,
    {
        self.summarizer = Some(Summarizer::Function(Arc::new(move |request| {
            let summary = summarize(request);
            Box::pin(async move { summary.await.map_err(|error| error.to_string()) })
        })));
        self
    }

    /// Returns the sizes at which a compaction begins and ends. `max_output` is the maximum length of
    /// answers.
    pub(crate) fn bounds(&self, max_output: Option<u32>) -> Bounds {
        let answer = self.answer_tokens.or(max_output.map(u64::from)).unwrap_or(self.window / 8);
        let most = self.window.saturating_sub(answer);
        let share = |share: f64| (most as f64 * share.clamp(0.0, 1.0)) as u64;
        Bounds { most, start: share(self.start_at), target: share(self.reduce_to.min(self.start_at)) }
    }

    /// Returns the maximum characters of a shortened tool result.
    pub(crate) fn result_limit(&self) -> usize {
        let of_window = usize::try_from(self.window / 16).unwrap_or(usize::MAX).clamp(200, 4_000);
        self.result_chars.unwrap_or(of_window)
    }

    /// Returns the maximum length of a summary, in tokens.
    pub(crate) fn summary_limit(&self) -> u64 {
        self.summary_tokens.unwrap_or((self.window / 16).min(2_048)).max(1)
    }

    /// Returns the maximum tokens of the summary model's answer. Many models refuse to allow more output
    /// than they support.
    pub(crate) fn summary_output(&self) -> Option<u32> {
        match &self.summary_options {
            Some(options) => options.max_output_tokens,
            None => {
                let limit = self.summary_limit();
                let most = limit.saturating_mul(4).min(4_096).max(limit);
                Some(u32::try_from(most).unwrap_or(u32::MAX))
            }
        }
    }

    /// Returns the maximum tokens of the conversation text in one summary request, beside `instructions`,
    /// the previous summary and the answer.
    pub(crate) fn summary_room(&self, instructions: u64) -> u64 {
        let answer = self.summary_output().map_or(0, u64::from);
        let most = self.bounds(None).most.min(self.window.saturating_sub(answer));
        most.saturating_sub(2 * self.summary_limit() + instructions)
    }
}

setters! { Compaction:
    /// Sets the tokens reserved for the answer. Default: the agent's
    /// [`max_output_tokens`](ModelOptions::max_output_tokens), or an eighth of the window.
    with_answer_tokens(answer_tokens: u64) = Some(answer_tokens);
    /// Sets the share of the window at which a compaction begins, from 0 to 1, without the tokens reserved
    /// for the answer. Larger numbers, such as percentages, count as 1. Default: 0.8.
    with_start_at(start_at: f64) = start_at;
    /// Sets the share of the window wanted after a compaction, from 0 to that of
    /// [`with_start_at`](Self::with_start_at), without the tokens reserved for the answer. Default: 0.5.
    with_reduce_to(reduce_to: f64) = reduce_to;
    /// Sets the number of latest messages to keep unchanged. All results of a turn are one message.
    /// Default: 6.
    ///
    /// If the request would still exceed the window, they are reduced too, oldest first.
    with_keep_latest(keep_latest: usize) = keep_latest;
    /// Sets the maximum characters of a shortened tool result. Default: a sixteenth of the window's tokens,
    /// from 200 to 4,000.
    with_result_chars(result_chars: usize) = Some(result_chars);
    /// Sets the maximum tokens of a summary. Longer ones are cut. Default: a sixteenth of the window, at
    /// most 2,048.
    with_summary_tokens(summary_tokens: u64) = Some(summary_tokens);
    /// Sets the token counter. Default: [`TokenEstimate`].
    with_counter(counter: impl CountTokens) = Arc::new(counter);
    /// Sets the options for the requests to the summary model.
    ///
    /// By default, an answer may be four times as long as a summary, so that a model may think first, but
    /// at most 4,096 tokens or the maximum of a summary if that is more.
    ///
    /// If the model refuses this default, or uses it up without an answer, the agent asks again without a
    /// limit.
    with_summary_options(summary_options: ModelOptions) = Some(summary_options);
    /// Sets the summary model's instructions.
    with_summary_instructions(summary_instructions: impl Into<String>) = Some(summary_instructions.into());
}

debug!(Compaction, self, "window": self.window, "has_summaries": self.summarizer.is_some());
