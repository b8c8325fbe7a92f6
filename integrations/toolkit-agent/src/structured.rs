//! Structured output: answers decoded into a Rust type.

mod partial;
mod stream;

pub use stream::{AnswerEvent, AnswerStream};
use toolkit_llm::model::answer::AnswerMode;

use crate::agent::{Agent, Run};
use crate::answer::{ExpectedAnswer, is_blocked};
use crate::conversation::Conversation;
use crate::error::{AgentError, RunError};
use crate::output::RunOutput;
use std::sync::Arc;
use toolkit_core::{BuildError, ToolParams};
use toolkit_llm::FinishReason;
use toolkit_llm::UserMessage;
use toolkit_llm::model::answer::{AnswerFormat, AnswerReader, feedback};

/// The form of the expected answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    /// The maximum number of answers.
    pub(crate) attempts: u32,
    /// `None` if the agent chooses.
    pub(crate) mode: Option<AnswerMode>,
}

impl Default for Form {
    fn default() -> Self {
        Self { attempts: AnswerFormat::ATTEMPTS, mode: None }
    }
}

/// An answer of the type `T` to a [typed](crate::RunRequest::typed) request, with the output of the run.
///
/// The model answers in one of three [modes](crate::RunRequest::mode). A text answer may be in a code fence
/// or surrounded by other text. Near misses are coerced as in tool calls. After an invalid answer, the
/// model gets a list of all violations and answers again. From then on, the agent forbids tool calls, and
/// refuses those made anyway. The limits of the run apply to all attempts together.
///
/// If no answer was valid or the model refused, the run ends with [`AgentError::InvalidOutput`].
///
/// In a team, only the agent that gave an invalid answer is asked again. A
/// [`ParallelAgent`](crate::team::ParallelAgent) and a custom [`RunAgent`](crate::RunAgent) run again as a
/// whole, without tools. Of a [`SequentialAgent`](crate::team::SequentialAgent) or
/// [`LoopAgent`](crate::team::LoopAgent), only the last agent runs in a repetition, once.
///
/// ```
/// use toolkit_ai::agent::Agent;
/// use toolkit_ai::llm::ScriptedModel;
///
/// #[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
/// struct City {
///     name: String,
///     population: u32,
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let model = ScriptedModel::new()
///     .text(r#"{"name": "Oslo", "inhabitants": 717710}"#)
///     .text("Sorry:\n```json\n{\"name\": \"Oslo\", \"population\": 717710}\n```");
/// let agent = Agent::builder(model.clone()).build()?;
/// let city: City = agent.run("What is the capital of Norway?").typed().await?.value;
/// assert_eq!(city, City { name: "Oslo".to_owned(), population: 717_710 });
///
/// let feedback = model.requests()[1].messages.last().unwrap().to_text();
/// assert!(feedback.contains("`inhabitants`: there is no such member"), "{feedback}");
/// assert!(feedback.contains("`population`: required, but missing"), "{feedback}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TypedOutput<T> {
    /// The answer.
    pub value: T,
    /// The output of the run.
    pub output: RunOutput,
}

/// The reader of the final answer, and what all agents share of it.
pub(crate) struct Answer<T> {
    reader: AnswerReader<T>,
    expected: Arc<ExpectedAnswer>,
}

impl<T: ToolParams + Send + 'static> Answer<T> {
    pub(crate) fn new(form: &Form) -> Result<Self, BuildError> {
        let reader = AnswerReader::new(form.mode, form.attempts)?;
        let expected = Arc::new(ExpectedAnswer::new(reader.format.clone()));
        Ok(Self { reader, expected })
    }
}

impl Agent {
    /// Runs the agent and decodes its answer. An error covers all attempts.
    pub(crate) async fn answer_as<T: ToolParams + Send + 'static>(
        &self,
        conversation: &mut Conversation,
        input: Option<UserMessage>,
        run: Run,
        answer: &Answer<T>,
    ) -> Result<TypedOutput<T>, RunError> {
        if input.is_some() {
            conversation.settle();
        }
        let begin = match input {
            Some(_) => conversation.messages().len(),
            None => conversation.begin_of_run(),
        };
        let error = match self.attempts(conversation, (begin, input), run, answer).await {
            Ok(output) => return Ok(output),
            Err(error) => error,
        };
        // For the program, all attempts are one run.
        let mut output = conversation.latest_run().unwrap_or_default();
        if matches!(error, AgentError::InvalidOutput(_)) && output.text.is_empty() {
            output.text = conversation.last_answer();
        }
        output.messages = conversation.messages_since(begin);
        Err(RunError::new(error, Some(output)))
    }

    /// Runs the agent until its answer is valid, after the first run without tool calls. `begin` is the
    /// index of the first message of the first run.
    async fn attempts<T: ToolParams + Send + 'static>(
        &self,
        conversation: &mut Conversation,
        (begin, mut input): (usize, Option<UserMessage>),
        run: Run,
        Answer { reader, expected }: &Answer<T>,
    ) -> Result<TypedOutput<T>, AgentError> {
        let form = &reader.format;
        let mut run = run.with_answer(Some(expected.clone()));
        // If the resumed run had ended with an invalid answer, its attempts may be used up.
        let mut has_ended = input.is_none() && conversation.finished().is_some();
        if input.is_none() {
            form.continue_from(conversation.invalid_answers());
        }
        loop {
            let mut output = self.execute(conversation, input.take(), run.clone()).await?;
            output.messages = conversation.messages_since(begin);
            if output.finish == FinishReason::Refused {
                return Err(AgentError::InvalidOutput(format!("the model refused: {}", output.text)));
            }
            if is_blocked(&output.finish) {
                return Err(AgentError::InvalidOutput(format!("a guardrail blocked it: {}", output.text)));
            }
            let invalid = match reader.read(&output.text).await {
                Ok(value) => return Ok(TypedOutput { value, output }),
                Err(invalid) => invalid,
            };
            if !form.may_repeat() {
                if !std::mem::take(&mut has_ended) {
                    return Err(AgentError::InvalidOutput(invalid));
                }
                form.continue_from(1);
            }
            has_ended = false;
            conversation.set_invalid_answers(form.invalid_answers(), false);
            run = run.for_answers_only();
            let schema = &form.output.schema;
            let again = format!("Answer again, with JSON that fits this schema and nothing else:\n{schema}");
            input = Some(UserMessage::feedback(feedback(&invalid, &again)));
        }
    }
}
