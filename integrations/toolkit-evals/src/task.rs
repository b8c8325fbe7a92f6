//! Tasks of an eval.

use crate::expected::{CallMatch, ExpectedAnswer, ExpectedCall};
use crate::score::Score;
use crate::transcript::Transcript;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;
use toolkit_core::schema::nearest;

type Check = dyn Fn(&Transcript) -> Score + Send + Sync;

const OPTIONAL_MEMBERS: [&str; 4] = ["calls", "call_match", "answer", "criteria"];

/// A question for an agent, with expected tool calls and answer.
///
/// A solved task needs an expectation or a [scorer](crate::Scorer). If any run without an error will do,
/// add `.with_check(|_| true)`.
///
/// ```
/// use serde_json::json;
/// use toolkit_evals::Task;
///
/// let task = Task::new("sum", "What is 17 + 25?")
///     .with_call("add", json!({"a": 17, "b": 25}))
///     .with_answer_containing(["42"])
///     .with_check(|transcript| transcript.answer.len() < 100);
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Task {
    /// The id of the task, unique in its eval.
    pub id: String,
    /// The question for the agent.
    pub question: String,
    /// The expected tool calls. `None` leaves them unscored, and an empty list expects no call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<ExpectedCall>>,
    /// How the agent's calls are compared with the expected ones.
    #[serde(default, skip_serializing_if = "CallMatch::is_default")]
    pub call_match: CallMatch,
    /// The expected answer, if a rule scores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<ExpectedAnswer>,
    /// The criteria of a good answer, in words, for a [`Judge`](super::Judge).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria: Option<String>,
    /// Further data, for the function that builds the agent. In JSON, all other members.
    #[serde(flatten)]
    pub data: Map<String, Value>,
    #[serde(skip)]
    check: Option<Arc<Check>>,
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task")
            .field("id", &self.id)
            .field("question", &self.question)
            .field("calls", &self.calls)
            .field("answer", &self.answer)
            .finish_non_exhaustive()
    }
}

impl Task {
    /// Creates a task without expectations.
    #[must_use]
    pub fn new(id: impl Into<String>, question: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            question: question.into(),
            calls: None,
            call_match: CallMatch::default(),
            answer: None,
            criteria: None,
            data: Map::new(),
            check: None,
        }
    }

    /// Adds an expected call of `tool` with these arguments.
    #[must_use]
    pub fn with_call(mut self, tool: impl Into<String>, arguments: impl Into<Value>) -> Self {
        self.calls.get_or_insert_default().push(ExpectedCall::new(tool, arguments));
        self
    }

    /// Sets the expected calls. An empty list expects none.
    #[must_use]
    pub fn with_calls(mut self, calls: impl IntoIterator<Item = ExpectedCall>) -> Self {
        self.calls = Some(calls.into_iter().collect());
        self
    }

    /// Sets how actual calls are compared with expected ones.
    #[must_use]
    pub fn with_call_match(mut self, call_match: CallMatch) -> Self {
        self.call_match = call_match;
        self
    }

    /// Sets the expected answer.
    #[must_use]
    pub fn with_answer(mut self, answer: ExpectedAnswer) -> Self {
        self.answer = Some(answer);
        self
    }

    /// Sets the criteria of a good answer, in words, for a [`Judge`](super::Judge) or another scorer of the
    /// eval.
    #[must_use]
    pub fn with_criteria(mut self, criteria: impl Into<String>) -> Self {
        self.criteria = Some(criteria.into());
        self
    }

    /// Expects an answer that contains all these strings.
    #[must_use]
    pub fn with_answer_containing<S: Into<String>>(self, parts: impl IntoIterator<Item = S>) -> Self {
        self.with_answer(ExpectedAnswer::Contains(parts.into_iter().map(Into::into).collect()))
    }

    /// Sets a function to score the transcript.
    ///
    /// It returns a [`Score`], whether the trial passes, or a `Result` with the reason of a failure.
    #[must_use]
    pub fn with_check<S: Into<Score>>(
        mut self,
        check: impl Fn(&Transcript) -> S + Send + Sync + 'static,
    ) -> Self {
        self.check = Some(Arc::new(move |transcript| check(transcript).into()));
        self
    }

    /// Parses a sequence of tasks in JSON, which may be empty. Line breaks do not matter.
    ///
    /// # Errors
    /// [`TaskError`] if the text is not a sequence of tasks, if two have the same id, or if a member looks
    /// misspelled, such as `criterias`.
    pub fn from_json_lines(text: &str) -> Result<Vec<Self>, TaskError> {
        let line = text.trim();
        if !line.is_empty() && !line.contains(['{', '[', '\n']) {
            let message = "is no text of tasks; if it is the path of a file, read the file first";
            return Err(TaskError(format!("`{line}` {message}")));
        }
        let mut tasks: Vec<Self> = Vec::new();
        for (task, number) in serde_json::Deserializer::from_str(text).into_iter::<Self>().zip(1..) {
            let task = task.map_err(|error| TaskError(format!("task {number}: {error}")))?;
            if tasks.iter().any(|known| known.id == task.id) {
                return Err(TaskError(format!("task {number}: there is another task `{}`", task.id)));
            }
            if let Some((member, meant)) = task.misspelled() {
                return Err(TaskError(format!(
                    "task {number}: there is no member `{member}`; did you mean `{meant}`?"
                )));
            }
            tasks.push(task);
        }
        Ok(tasks)
    }

    /// Returns a member of the data that looks like a misspelled member of a task, and the latter. A name
    /// that only contains one, such as `answer_language`, is data.
    fn misspelled(&self) -> Option<(&str, &'static str)> {
        for member in self.data.keys() {
            let near = nearest(member, OPTIONAL_MEMBERS);
            if let Some(meant) = near.into_iter().find(|meant| member.len().abs_diff(meant.len()) <= 2) {
                return Some((member, meant));
            }
        }
        None
    }

    /// Scores the transcript with the function set by [`with_check`](Self::with_check), if any.
    pub(crate) fn checked(&self, transcript: &Transcript) -> Option<Score> {
        self.check.as_ref().map(|check| check(transcript))
    }
}

/// The error of a text that is no task sequence.
#[derive(Clone, PartialEq, Eq)]
pub struct TaskError(String);

/// Prints the message, so that a failed `main` shows it.
impl fmt::Debug for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TaskError {}
