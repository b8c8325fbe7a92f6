//! The ends of runs whose calls may wait for the program.

use crate::error::{AgentError, RunError};
use crate::output::RunOutput;
use crate::pending::PendingCall;
use serde::Serialize;

/// The end of a run: an answer, or calls that wait for the program.
///
/// Its JSON is `{"answered": …}` or `{"waiting": {"pending": […], "output": …}}`.
///
/// ```
/// use toolkit_ai::agent::{Agent, Conversation, Decisions, Outcome};
/// use toolkit_ai::llm::ScriptedModel;
/// use toolkit_ai::prelude::*;
///
/// /// Ask the user.
/// #[tool]
/// fn ask(question: String) -> Result<String, ToolError> {
///     Err(ToolError::question(question))
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let model = ScriptedModel::new().call("ask", r#"{"question": "Which colour?"}"#).text("Blue it is.");
/// let agent = Agent::builder(model).tools(tools![ask]).build()?;
/// let mut conversation = Conversation::new("1");
/// let mut outcome = agent.run("Paint the door.").on(&mut conversation).outcome().await?;
/// while let Outcome::Waiting(waiting) = outcome {
///     let decisions = Decisions::new().answer(&waiting.pending[0].id, "blue");
///     outcome = agent.resume(&mut conversation).decide(decisions).outcome().await?;
/// }
/// assert_eq!(outcome.answered()?.text, "Blue it is.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome<A = RunOutput> {
    /// The agent has answered.
    Answered(A),
    /// Calls wait for the program.
    Waiting(Waiting),
}

/// Calls that wait for decisions or results from the program.
///
/// The conversation contains them, even when saved. [`Agent::resume`](crate::Agent::resume) continues the
/// run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Waiting {
    /// The calls that wait.
    pub pending: Vec<PendingCall>,
    /// The output so far, without the unfinished turn.
    pub output: Box<RunOutput>,
}

impl<A> Outcome<A> {
    /// Returns the answer.
    ///
    /// # Errors
    /// [`AgentError::Interrupted`] if calls wait.
    pub fn answered(self) -> Result<A, RunError> {
        match self {
            Self::Answered(answer) => Ok(answer),
            Self::Waiting(Waiting { pending, output }) => {
                Err(RunError { error: AgentError::Interrupted { pending }, output })
            }
        }
    }
}
