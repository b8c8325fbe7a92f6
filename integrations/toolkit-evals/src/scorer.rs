//! The trait for scorers, and the scoring of a transcript by its task's expectations.

use crate::expected::{ComparableCall, compare_calls};
use crate::score::Score;
use crate::score_error::ScoreError;
use crate::task::Task;
use crate::transcript::Transcript;
use std::pin::Pin;

/// A rule or a model that scores trials.
///
/// Expectations of a single [`Task`] need none. Implement this trait for rules that apply to all tasks of
/// an eval.
///
/// ```
/// use toolkit_evals::{Score, ScoreError, Scorer, Task, Transcript};
///
/// struct Brief;
///
/// impl Scorer for Brief {
///     fn name(&self) -> &str {
///         "brief"
///     }
///
///     async fn score(&self, _: &Task, transcript: &Transcript) -> Result<Score, ScoreError> {
///         Ok(Score::from(transcript.answer.len() < 200))
///     }
/// }
/// ```
pub trait Scorer: Send + Sync + 'static {
    /// Returns the name for the report.
    fn name(&self) -> &str;

    /// Scores the transcript of a trial that ended without an error.
    ///
    /// # Errors
    /// There is no score. The report contains the error and its tokens, and the trial is not solved.
    fn score(
        &self,
        task: &Task,
        transcript: &Transcript,
    ) -> impl Future<Output = Result<Score, ScoreError>> + Send;
}

/// The object-safe form of [`Scorer`].
pub(crate) trait DynScorer: Send + Sync {
    fn name(&self) -> &str;
    fn score<'a>(&'a self, task: &'a Task, transcript: &'a Transcript) -> Scoring<'a>;
}

type Scoring<'a> = Pin<Box<dyn Future<Output = Result<Score, ScoreError>> + Send + 'a>>;

impl<T: Scorer> DynScorer for T {
    fn name(&self) -> &str {
        Scorer::name(self)
    }

    fn score<'a>(&'a self, task: &'a Task, transcript: &'a Transcript) -> Scoring<'a> {
        Box::pin(Scorer::score(self, task, transcript))
    }
}

impl Task {
    /// Scores a transcript by the task's expectations. The scores are named `calls`, `answer` and `check`,
    /// one for each expectation.
    pub async fn score(&self, transcript: &Transcript) -> Vec<Score> {
        let mut scores = Vec::new();
        if let Some(expected) = &self.calls {
            let mut comparable: Vec<ComparableCall> = Vec::new();
            for call in expected {
                comparable.push(match &call.arguments {
                    Some(arguments) => transcript.comparable(&call.name, &arguments.to_string()).await,
                    None => (call.name.clone(), None),
                });
            }
            let mut actual: Vec<ComparableCall> = Vec::new();
            for call in &transcript.calls {
                if call.reached_tool {
                    actual.push(call.comparable.clone());
                }
            }
            scores.push(Score::from(compare_calls(self.call_match, &comparable, &actual)).named("calls"));
        }
        if let Some(expected) = &self.answer {
            scores.push(Score::from(expected.compare(&transcript.answer)).named("answer"));
        }
        scores.extend(self.checked(transcript).map(|score| score.named("check")));
        scores
    }
}
