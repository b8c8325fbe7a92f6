//! Guardrails: checks of inputs, requests, responses, tool calls, outputs and answers.

pub use crate::event::GuardAction;

use crate::helpers::BoxFuture;
use crate::output::AgentOutput;
use std::future::ready;
use std::sync::Arc;
use toolkit_core::{Session, ToolCall, ToolOutput};
use toolkit_llm::{Messages, UserMessage};
use toolkit_llm::{ModelRequest, ModelResponse};

/// A check that can pass, replace or block one type of value, or end the run.
///
/// The type decides when the check runs:
///
/// | type | when the check runs | after [`Verdict::Block`] |
/// | --- | --- | --- |
/// | [`UserMessage`] | before the first model call | the text is the agent's answer; the input is removed |
/// | [`ModelRequest`] | before each model call | the text is the response; the model is not called |
/// | [`ModelResponse`] | after each model call, before its tool calls run | the text is the response; its calls do not run |
/// | [`ToolCall`] | before each tool call, inside of all middleware | the model reads the text as an error; the tool does not run |
/// | [`ToolOutput`] | after each successful call, and on results that the program [supplies](crate::Decision) | the model reads the text as an error instead |
/// | [`AgentOutput`] | on the answer of the agent | the text replaces the answer, also in the conversation |
///
/// A check of a [`ToolCall`] sees the arguments that the tool receives: near misses such as `"5"` for 5 are
/// coerced, and aliases are replaced by parameter names. If it replaces the call, the tool gets the new
/// arguments. A replacement with another tool's name denies the call.
///
/// In a [typed run](crate::RunRequest::typed), only an answer of the requested type is checked. With a
/// guardrail for [`AgentOutput`], an invalid answer appears neither in events nor in the conversation, but
/// the error that the model reads, and [`AgentError::InvalidOutput`](crate::AgentError::InvalidOutput), may
/// quote it.
///
/// An answer joins the [messages](crate::Conversation::messages) after its check. If the run is cancelled
/// before, the answer is removed. If the run is dropped, the JSON and the log of the conversation contain
/// it until a [resumed](crate::Agent::resume) run checks it again, or new input removes it. Calls beside
/// the answer, and their results, always stay. Text before a pause of the provider is hidden as well, but a
/// resumed run of the same agent continues it.
///
/// If the checked answer is the arguments of a call, the text and the other answers in the same message are
/// withheld as unchecked.
///
/// A run on a [saved conversation](crate::Place) saves its input before the checks, in case of a crash. The
/// log keeps even a blocked or replaced input until the conversation is [erased](crate::Sessions::erase) or
/// deleted. A [`Recorder`](toolkit_llm::record::Recorder) records what its model reads and writes, even
/// before a check.
///
/// Guardrails for the same type run in the order of addition, each on the value that the one before has
/// returned. An agent that is called as a tool, or continues a transferred conversation, uses only its own
/// guardrails.
///
/// ```
/// use toolkit_ai::agent::guardrail::{Guardrail, GuardContext, Verdict};
/// use toolkit_ai::agent::{Agent, AgentError};
/// use toolkit_ai::llm::{ScriptedModel, UserMessage};
///
/// let secrets = Guardrail::new("secrets", |input: &UserMessage, context: &GuardContext| {
///     if context.session.get("user:trusted").is_none() && input.to_text().contains("password") {
///         return Verdict::Block("I do not talk about passwords.".to_owned());
///     }
///     Verdict::Pass
/// });
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let model = ScriptedModel::new().text("Hello.");
/// let agent = Agent::builder(model).guardrail(secrets).build()?;
/// assert_eq!(agent.run("What is the password?").await?.text, "I do not talk about passwords.");
/// assert_eq!(agent.run("Hi.").await?.text, "Hello.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[doc(alias("output_validator", "moderation"))]
#[derive(Clone)]
pub struct Guardrail {
    pub(crate) name: String,
    pub(crate) check: Check,
    pub(crate) is_beside_model: bool,
}

/// The decision of a [`Guardrail`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Verdict<T> {
    /// The value is accepted.
    Pass,
    /// Another value replaces this one.
    Replace(T),
    /// The text replaces the value, at the place that [`Guardrail`] lists.
    Block(String),
    /// The run ends with [`AgentError::Blocked`](crate::AgentError::Blocked) and this reason. Running calls
    /// are cancelled, and in a team all agents stop.
    End(String),
}

/// The context of a [`Guardrail`]'s check.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GuardContext {
    /// The name of the agent.
    pub agent: String,
    /// The session of the conversation.
    pub session: Session,
    /// The id of the run.
    pub invocation_id: String,
    /// The call in checks of calls and outputs, or else `None`.
    pub call: Option<ToolCall>,
    /// The messages before the value, in checks of inputs and answers only. A request has its own.
    pub messages: Messages,
}

pub(crate) type CheckFn<T> =
    Arc<dyn Fn(T, GuardContext) -> BoxFuture<'static, (T, Verdict<T>)> + Send + Sync>;

/// The function of a guardrail, by its type.
#[derive(Clone)]
pub(crate) enum Check {
    Input(CheckFn<UserMessage>),
    Request(CheckFn<ModelRequest>),
    Response(CheckFn<ModelResponse>),
    Call(CheckFn<ToolCall>),
    ToolOutput(CheckFn<ToolOutput>),
    Output(CheckFn<AgentOutput>),
}

mod sealed {
    use super::{Check, CheckFn};

    /// A type of values that a guardrail can check.
    pub trait Sealed: Clone + Send + 'static {
        #[allow(private_interfaces, reason = "programs cannot name the trait")]
        fn check(check: CheckFn<Self>) -> Check;
    }
}

/// A type of values that a [`Guardrail`] can check. Other crates cannot implement it.
pub trait Guarded: sealed::Sealed {}

macro_rules! guarded {
    ($($type:ident => $variant:ident),*) => {
        $(
            impl sealed::Sealed for $type {
                #[allow(private_interfaces, reason = "programs cannot name the trait")]
                fn check(check: CheckFn<Self>) -> Check {
                    Check::$variant(check)
                }
            }

            impl Guarded for $type {}
        )*
    };
}

guarded! {
    UserMessage => Input, ModelRequest => Request, ModelResponse => Response, ToolCall => Call,
    ToolOutput => ToolOutput, AgentOutput => Output
}

impl Guardrail {
    /// Creates a guardrail from a function. Events and errors contain `name`.
    #[must_use]
    pub fn new<T: Guarded>(
        name: impl Into<String>,
        check: impl Fn(&T, &GuardContext) -> Verdict<T> + Send + Sync + 'static,
    ) -> Self {
        Self::from_check(
            name,
            Arc::new(move |value: T, context| {
                let verdict = check(&value, &context);
                Box::pin(ready((value, verdict)))
            }),
        )
    }

    /// Creates a guardrail from an asynchronous function, such as one that asks a model.
    ///
    /// The limits and the cost of the run do not include the calls of that model. A check that fails
    /// chooses its verdict; [`Verdict::End`] lets nothing pass.
    ///
    /// ```
    /// use toolkit_ai::agent::guardrail::{Guardrail, Verdict};
    /// use toolkit_ai::agent::{Agent, AgentError};
    /// use toolkit_ai::llm::{ScriptedModel, UserMessage};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// let judge = Agent::builder(ScriptedModel::new().text("true")).build()?;
    /// let on_topic = Guardrail::new_async("on topic", move |input: UserMessage, _| {
    ///     let judge = judge.clone();
    ///     async move {
    ///         match judge.run(input).typed::<bool>().await.map(|answer| answer.value) {
    ///             Ok(true) => Verdict::Pass,
    ///             _ => Verdict::End("not about cooking".to_owned()),
    ///         }
    ///     }
    /// });
    /// // The check runs at the same time as the first model call.
    /// let model = ScriptedModel::new().text("Boil it.");
    /// let agent = Agent::builder(model).guardrail(on_topic.beside_model()).build()?;
    /// assert_eq!(agent.run("How do I cook leek?").await?.text, "Boil it.");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn new_async<T: Guarded, Fut>(
        name: impl Into<String>,
        check: impl Fn(T, GuardContext) -> Fut + Send + Sync + 'static,
    ) -> Self
    where
        Fut: Future<Output = Verdict<T>> + Send + 'static,
    {
        Self::from_check(
            name,
            Arc::new(move |value: T, context| {
                let verdict = check(value.clone(), context);
                Box::pin(async move { (value, verdict.await) })
            }),
        )
    }

    fn from_check<T: Guarded>(name: impl Into<String>, check: CheckFn<T>) -> Self {
        Self { name: name.into(), check: T::check(check), is_beside_model: false }
    }

    /// Runs the check of an input beside the first model call, to save time.
    ///
    /// Before it has passed, no tool call starts and no event of the response is emitted. If it does not
    /// pass, the model call is dropped, and its tokens so far are counted. Other checks ignore this
    /// setting.
    #[must_use]
    pub fn beside_model(mut self) -> Self {
        self.is_beside_model = true;
        self
    }
}

debug!(Guardrail, self, "name": self.name, "is_beside_model": self.is_beside_model);
