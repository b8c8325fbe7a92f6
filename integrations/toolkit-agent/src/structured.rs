//! Structured output: answers decoded into a Rust type.

mod partial;
mod stream;

pub use stream::{AnswerEvent, AnswerStream};
pub use toolkit_llm::model::answer::AnswerMode;

use crate::agent::{Agent, Run};
use crate::answer::{AnswerCheck, AnswerFormat, is_blocked};
use crate::conversation::Conversation;
use crate::error::{AgentError, RunError};
use crate::model::FinishReason;
use crate::options::RunOptions;
use crate::output::RunOutput;
use std::sync::Arc;
use toolkit_core::{ToolError, ToolParams};
use toolkit_llm::UserMessage;
use toolkit_llm::model::answer::AnswerReader;

/// The options for structured output.
///
/// ```
/// use toolkit_ai::llm::model::answer::AnswerMode;
/// use toolkit_ai::agent::structured::StructuredOptions;
///
/// let options = StructuredOptions::new().with_attempts(5).with_mode(AnswerMode::Tool);
/// assert_eq!(options.attempts, 5);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StructuredOptions {
    /// The maximum number of answers that the model may give before the run fails. Default: 3.
    ///
    /// A [resumed](Agent::resume_as) run continues with the remaining attempts. If none remain, it gets new
    /// attempts.
    pub attempts: u32,
    /// The way in which the model gives the answer. By default (`None`), the agent chooses for each request:
    ///
    /// 1. [`Native`](AnswerMode::Native), if the request has no tools and the provider's dialect of JSON
    ///    Schema can express the complete schema.
    /// 2. [`Tool`](AnswerMode::Tool) in all other requests.
    /// 3. [`Text`](AnswerMode::Text), after the server has refused a request in another mode, or if the
    ///    [tool choice](crate::AgentBuilder::tool_config) forbids calls.
    ///
    /// If the program sets `Native`, but the provider would then exclude valid answers, the agent uses `Tool`
    /// instead. For example, OpenAI's structured output allows only empty maps. A
    /// [`RunEvent`](crate::RunEvent::RequestLosses) then reports the losses.
    pub mode: Option<AnswerMode>,
}

impl Default for StructuredOptions {
    fn default() -> Self {
        Self { attempts: 3, mode: None }
    }
}

impl StructuredOptions {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

setters! { StructuredOptions:
    /// Sets the maximum number of answers that the model may give before the run fails. The minimum is 1.
    with_attempts(attempts: u32) = attempts.max(1);
    /// Sets the way in which the model gives the answer.
    with_mode(mode: AnswerMode) = Some(mode);
}

impl<T: ToolParams + Send + 'static> AnswerCheck for AnswerReader<T> {
    fn text(&self, text: &str) -> Result<(), String> {
        self.find(text).map(drop)
    }

    fn arguments(&self, arguments: &str) -> Result<(), ToolError> {
        self.check(arguments)
    }
}

/// Returns the format of the final answer, which all agents of a run share.
fn form<T: ToolParams + Send + 'static>(
    reader: &Arc<AnswerReader<T>>,
    options: &StructuredOptions,
) -> AnswerFormat {
    AnswerFormat::new(reader.format().clone(), options.mode, reader.clone(), options.attempts)
}

impl Agent {
    /// Answers `input` in a new conversation, and returns the answer as a value of type `T`.
    ///
    /// The model answers in one of three [modes](StructuredOptions::mode). A text answer may be in a code
    /// fence or surrounded by other text. Near misses are coerced as in tool calls. After an invalid answer,
    /// the model gets a list of all violations and answers again. From then on, no tool runs: the agent
    /// forbids tool calls in its requests, and refuses calls that the model makes anyway.
    ///
    /// In a team, only the agent that gave an invalid answer is asked again. A
    /// [`ParallelAgent`](crate::team::ParallelAgent) and a custom [`RunAgent`](crate::RunAgent) run again as
    /// a whole, but without tools. In such a repetition, only the last agent of a
    /// [`SequentialAgent`](crate::team::SequentialAgent) or [`LoopAgent`](crate::team::LoopAgent) runs, once.
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
    /// let city: City = Agent::builder(model.clone()).build()?.run_as("What is the capital of Norway?").await?;
    /// assert_eq!(city, City { name: "Oslo".to_owned(), population: 717_710 });
    ///
    /// let feedback = model.requests()[1].messages.last().unwrap().to_text();
    /// assert!(feedback.contains("`inhabitants`: there is no such member"), "{feedback}");
    /// assert!(feedback.contains("`population`: required, but missing"), "{feedback}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`RunError`] with [`AgentError::InvalidOutput`] if no answer was valid or the model refused, or with any
    /// other [`AgentError`] if the run failed.
    #[doc(alias("extract", "output_type", "structured_output"))]
    pub async fn run_as<T: ToolParams + Send + 'static>(
        &self,
        input: impl Into<UserMessage>,
    ) -> Result<T, RunError> {
        self.run_as_in(&mut Conversation::default(), input).await
    }

    /// Answers `input` in a conversation, and returns the answer as a value of type `T`.
    ///
    /// # Errors
    /// See [`run_as`](Self::run_as).
    pub async fn run_as_in<T: ToolParams + Send + 'static>(
        &self,
        conversation: &mut Conversation,
        input: impl Into<UserMessage>,
    ) -> Result<T, RunError> {
        let run = RunOptions::default();
        let structured = StructuredOptions::default();
        self.run_as_with(conversation, input, run, structured).await.map(|(value, _)| value)
    }

    /// Answers `input` in a conversation, and returns the answer as a value together with the output of the
    /// run. The limits of the run apply to all attempts together.
    ///
    /// # Errors
    /// See [`run_as`](Self::run_as).
    pub async fn run_as_with<T: ToolParams + Send + 'static>(
        &self,
        conversation: &mut Conversation,
        input: impl Into<UserMessage>,
        run: RunOptions,
        structured: StructuredOptions,
    ) -> Result<(T, RunOutput), RunError> {
        self.execute_as(conversation, Some(input.into()), run, structured).await
    }

    /// Continues a conversation that has no answer yet, for example after an
    /// [interruption](AgentError::Interrupted). Returns the answer as a value together with the output of the
    /// run.
    ///
    /// # Errors
    /// See [`run_as`](Self::run_as) and [`resume`](Self::resume).
    pub async fn resume_as<T: ToolParams + Send + 'static>(
        &self,
        conversation: &mut Conversation,
        run: RunOptions,
        structured: StructuredOptions,
    ) -> Result<(T, RunOutput), RunError> {
        self.execute_as(conversation, None, run, structured).await
    }

    async fn execute_as<T: ToolParams + Send + 'static>(
        &self,
        conversation: &mut Conversation,
        input: Option<UserMessage>,
        run: RunOptions,
        structured: StructuredOptions,
    ) -> Result<(T, RunOutput), RunError> {
        let reader = Arc::new(AnswerReader::<T>::new()?);
        let form = Arc::new(form(&reader, &structured));
        self.answer_as(conversation, input, Run::new(self.clone(), run, None), &reader, form).await
    }

    /// Runs the agent and decodes its answer with `reader`. If the run fails, the error covers all attempts.
    async fn answer_as<T: ToolParams + Send + 'static>(
        &self,
        conversation: &mut Conversation,
        input: Option<UserMessage>,
        run: Run,
        reader: &AnswerReader<T>,
        form: Arc<AnswerFormat>,
    ) -> Result<(T, RunOutput), RunError> {
        if input.is_some() {
            conversation.settle();
        }
        let begin = match input {
            Some(_) => conversation.messages().len(),
            None => conversation.begin_of_run(),
        };
        let ended = self.attempts(conversation, (begin, input), run, reader, form).await;
        ended.map_err(|error| {
            // For the program, all attempts together are one run.
            let mut output = conversation.latest_run().unwrap_or_default();
            if matches!(error, AgentError::InvalidOutput(_)) && output.text.is_empty() {
                output.text = conversation.last_answer();
            }
            RunError::new(error, Some(RunOutput { messages: conversation.messages_since(begin), ..output }))
        })
    }

    /// Runs the agent until it gives a valid answer. After the first run, it runs without tool calls. `begin`
    /// is the index of the first message of the first run.
    async fn attempts<T: ToolParams + Send + 'static>(
        &self,
        conversation: &mut Conversation,
        (begin, mut input): (usize, Option<UserMessage>),
        run: Run,
        reader: &AnswerReader<T>,
        form: Arc<AnswerFormat>,
    ) -> Result<(T, RunOutput), AgentError> {
        let mut run = run.with_answer_format(Some(form.clone()));
        // If the resumed run had already ended with an invalid answer, its attempts may be used up.
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
                Ok(value) => return Ok((value, output)),
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
            let feedback = format!(
                "Your answer is not of the form that was asked for: {invalid}\n\
                 Answer again, with JSON that fits this schema and nothing else:\n{}",
                form.format.schema
            );
            input = Some(UserMessage::feedback(feedback));
        }
    }
}
