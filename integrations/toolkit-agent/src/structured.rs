//! Structured output: answers decoded into a Rust type.

mod json;
mod reader;

use crate::agent::{Agent, Run};
use crate::conversation::Conversation;
use crate::error::{AgentError, RunError};
use crate::message::UserMessage;
use crate::model::{FinishReason, ModelErrorKind};
use crate::options::RunOptions;
use crate::output::RunOutput;
use reader::Reader;
use serde_json::Value;
use toolkit_core::ToolParams;

/// The options for structured output.
///
/// ```
/// use toolkit_agent::structured::StructuredOptions;
///
/// let options = StructuredOptions::new().with_attempts(5).with_native(false);
/// assert_eq!(options.attempts, 5);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StructuredOptions {
    /// The maximum number of answers requested from the model before the run fails. Default: 3.
    pub attempts: u32,
    /// Whether requests ask the provider to enforce the schema. If the provider rejects such a request, the
    /// agent repeats the request without enforcement. The instructions always contain the schema.
    ///
    /// By default (`None`), requests without tools ask for enforcement, and so do all requests after an
    /// invalid answer. Before an invalid answer, requests with tools do not ask for enforcement, because some
    /// servers would let the model invent an answer instead of calling a tool.
    pub native: Option<bool>,
}

impl Default for StructuredOptions {
    fn default() -> Self {
        Self { attempts: 3, native: None }
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
    /// Sets the maximum number of answers requested from the model, at least 1.
    with_attempts(attempts: u32) = attempts.max(1);
    /// Sets whether requests ask the provider to enforce the schema, from the first request on.
    with_native(native: bool) = Some(native);
}

/// Returns the JSON values in the text of an answer: the text itself, or values in code fences or in prose.
pub(crate) fn json_values(text: &str) -> Vec<Value> {
    json::find(text).into_iter().filter_map(|json| serde_json::from_str(json).ok()).collect()
}

impl Agent {
    /// Answers `input` in a new conversation, and returns the answer as a value of type `T`.
    ///
    /// The instructions contain the schema of `T`. The answer may be in a code fence or surrounded by other
    /// text. After an invalid answer, the model gets a list of all violations and answers again.
    ///
    /// ```
    /// use toolkit_agent::{Agent, ScriptedModel};
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
        let (run, structured) = (RunOptions::default(), StructuredOptions::default());
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

    /// Resumes an unanswered conversation, for example after an [interruption](AgentError::Interrupted), and returns
    /// the answer as a value together with the output of the run.
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
        if input.is_some() {
            conversation.settle();
        }
        let begin = match input {
            Some(_) => conversation.messages().len(),
            None => conversation.begin_of_run(),
        };
        let (reader, run) = (Reader::<T>::new()?, Run::new(self.clone(), run, None));
        let ended = self.attempts(conversation, &reader, (begin, input), run, structured).await;
        ended.map_err(|error| {
            // All attempts together are the run of the program.
            let output = conversation.latest_run().unwrap_or_default();
            RunError::new(error, Some(RunOutput { messages: conversation.messages_since(begin), ..output }))
        })
    }

    /// Asks for answers until one is valid. `begin` is the index of the first message of the run.
    async fn attempts<T: ToolParams + Send + 'static>(
        &self,
        conversation: &mut Conversation,
        reader: &Reader<T>,
        (begin, mut input): (usize, Option<UserMessage>),
        mut run: Run,
        structured: StructuredOptions,
    ) -> Result<(T, RunOutput), AgentError> {
        let mut native = structured.native;
        let mut invalid = String::new();
        for _ in 0..structured.attempts.max(1) {
            let part = run.with_answer_format(Some(reader.answer_format(native)));
            let first = self.execute(conversation, input.take(), part).await;
            // Decisions are made once.
            run = run.without_decisions();
            let mut output = match first {
                Err(RunError { error: AgentError::Model(error), .. })
                    if error.kind == ModelErrorKind::InvalidRequest && native != Some(false) =>
                {
                    native = Some(false);
                    let part = run.with_answer_format(Some(reader.answer_format(native)));
                    self.execute(conversation, None, part).await?
                }
                output => output?,
            };
            // If this answer is invalid, the next request asks the provider to enforce the schema.
            native = native.or(Some(true));
            output.messages = conversation.messages_since(begin);
            if output.finish == FinishReason::Refused {
                return Err(AgentError::InvalidOutput(format!("the model refused: {}", output.text)));
            }
            match reader.read(&output.text).await {
                Ok(value) => return Ok((value, output)),
                Err(message) => invalid = message,
            }
            let cut = match output.finish {
                FinishReason::Length => "\nIt was cut off: be shorter.",
                _ => "",
            };
            let feedback = format!(
                "Your answer is not of the form that was asked for: {invalid}{cut}\n\
                 Answer again, with JSON of that form and nothing else."
            );
            input = Some(feedback.into());
        }
        Err(AgentError::InvalidOutput(invalid))
    }
}
