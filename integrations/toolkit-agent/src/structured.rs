//! Answers of a form: JSON that is read as a type.

mod form;
mod json;
mod reader;

pub(crate) use form::Form;

use crate::agent::Agent;
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::message::UserMessage;
use crate::model::{FinishReason, ModelErrorKind};
use crate::run::{Run, RunOptions, RunOutput};
use form::Native;
use reader::Reader;
use toolkit_core::ToolParams;

/// How an answer of a form is asked for.
///
/// ```
/// use toolkit_agent::FormOptions;
///
/// let options = FormOptions::new().with_attempts(5).with_native(false);
/// assert_eq!(options.attempts, 5);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormOptions {
    /// How often the model may answer until its answer is of the form; 3 if nothing else is said.
    pub attempts: u32,
    /// Whether the provider is told of the form, too, so that it holds the model to it. A provider that refuses
    /// such a request is asked again without. The instructions tell the form in any case.
    ///
    /// If nothing is said, the provider is told when there are no tools, or when an answer was not of the form: some
    /// servers take a form and tools in one request, and the model then never calls a tool, but makes its answer up.
    pub native: Option<bool>,
}

impl Default for FormOptions {
    fn default() -> Self {
        Self { attempts: 3, native: None }
    }
}

impl FormOptions {
    /// Three attempts, and the provider is told when that does no harm.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how often the model may answer, at least once.
    #[must_use]
    pub fn with_attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts.max(1);
        self
    }

    /// Sets whether the provider is told of the form, from the first question on.
    #[must_use]
    pub fn with_native(mut self, native: bool) -> Self {
        self.native = Some(native);
        self
    }
}

impl Agent {
    /// Answers with a value of a type, in a conversation of its own.
    ///
    /// The model is told the schema of the type. Its answer is taken from a code fence or from among other words, too; if
    /// it does not fit, the model is told everything that is wrong with it and asked again.
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
    /// let told = model.requests()[1].messages.last().unwrap().to_text();
    /// assert!(told.contains("`inhabitants`: there is no such member"), "{told}");
    /// assert!(told.contains("`population`: required, but missing"), "{told}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`AgentError::InvalidOutput`] if no answer was of the form, others if there is none.
    pub async fn run_as<T: ToolParams + Send + 'static>(
        &self,
        input: impl Into<UserMessage>,
    ) -> Result<T, AgentError> {
        self.run_as_in(&mut Conversation::default(), input).await
    }

    /// Answers with a value of a type, in a conversation, which then holds what was said.
    ///
    /// # Errors
    /// As those of [`run_as`](Self::run_as).
    pub async fn run_as_in<T: ToolParams + Send + 'static>(
        &self,
        conversation: &mut Conversation,
        input: impl Into<UserMessage>,
    ) -> Result<T, AgentError> {
        let (run, form) = (RunOptions::default(), FormOptions::default());
        self.run_as_with(conversation, input, run, form).await.map(|(value, _)| value)
    }

    /// Like [`run_as_in`](Self::run_as_in), with options; what came of the run stands beside the value. Limits are those
    /// of all attempts together.
    ///
    /// # Errors
    /// As those of [`run_as`](Self::run_as).
    pub async fn run_as_with<T: ToolParams + Send + 'static>(
        &self,
        conversation: &mut Conversation,
        input: impl Into<UserMessage>,
        options: RunOptions,
        form: FormOptions,
    ) -> Result<(T, RunOutput), AgentError> {
        let reader = Reader::<T>::new()?;
        let (mut first, mut later) = match form.native {
            None => (Native::WithoutTools, Native::Always),
            Some(true) => (Native::Always, Native::Always),
            Some(false) => (Native::Never, Native::Never),
        };
        let run = Run::new(self.clone(), options, None);
        conversation.settle();
        let begin = conversation.messages().len();
        let mut input = Some(input.into());
        let mut fault = String::new();
        for _ in 0..form.attempts.max(1) {
            let asked = reader.form(std::mem::replace(&mut first, later));
            let may_be_refused = asked.is_native();
            let mut output =
                match self.carry_out(conversation, input.take(), run.with_form(Some(asked))).await {
                    Err(AgentError::Model(error))
                        if error.kind == ModelErrorKind::InvalidRequest && may_be_refused =>
                    {
                        (first, later) = (Native::Never, Native::Never);
                        self.carry_out(conversation, None, run.with_form(Some(reader.form(Native::Never))))
                            .await?
                    }
                    output => output?,
                };
            output.messages = conversation.messages().get(begin..).unwrap_or_default().to_vec();
            if output.finish == FinishReason::Refused {
                return Err(AgentError::InvalidOutput(format!("the model refused: {}", output.text)));
            }
            match reader.read(&output.text).await {
                Ok(value) => return Ok((value, output)),
                Err(found) => fault = found,
            }
            let cut = match output.finish {
                FinishReason::Length => "\nIt was cut off: be shorter.",
                _ => "",
            };
            let told = format!(
                "Your answer is not of the form that was asked for: {fault}{cut}\n\
                 Answer again, with JSON of that form and nothing else."
            );
            input = Some(told.into());
        }
        Err(AgentError::InvalidOutput(fault))
    }
}
