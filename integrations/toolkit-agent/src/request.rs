//! Requests for runs: the input or the conversation to continue, the place, and the options.

use crate::agent::{Agent, Run, RunOwner, Sink};
use crate::error::{AgentError, RunError};
use crate::helpers::BoxFuture;
use crate::limits::Limits;
use crate::options::RunOptions;
use crate::outcome::{Outcome, Waiting};
use crate::output::RunOutput;
use crate::pending::Decisions;
use crate::place::Place;
use crate::stream::RunStream;
use crate::structured::{Answer, AnswerStream, Form, TypedOutput};
use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;
use toolkit_core::registry::IntoRegistrySource;
use toolkit_core::{CancellationToken, RunContext, ToolParams};
use toolkit_llm::UserMessage;
use toolkit_llm::model::answer::AnswerMode;

impl Agent {
    /// Asks for an answer to `input`. The request takes the place and the options; `.await`,
    /// [`stream`](RunRequest::stream) or [`outcome`](RunRequest::outcome) runs it.
    ///
    /// ```
    /// use toolkit_ai::agent::{Agent, Conversation, Limits};
    /// use toolkit_ai::llm::ScriptedModel;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let agent = Agent::builder(ScriptedModel::new().text("Hello.").text("Hello again.")).build()?;
    /// assert_eq!(agent.run("Hi.").await?.text, "Hello.");
    ///
    /// let mut conversation = Conversation::new("1");
    /// let output = agent
    ///     .run("Hi.")
    ///     .on(&mut conversation)
    ///     .limits(Limits::default().with_max_model_calls(3))
    ///     .await?;
    /// assert_eq!(output.text, "Hello again.");
    /// assert_eq!(conversation.messages().len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[doc(alias("invoke", "prompt", "ask", "run_sync", "run_stream"))]
    pub fn run(&self, input: impl Into<UserMessage>) -> RunRequest<'static> {
        RunRequest::new(Request::new(self, Some(input.into()), Place::default()))
    }

    /// Continues a conversation without an answer, for example after a crash, an error, a cancelled run or
    /// an [interruption](AgentError::Interrupted).
    ///
    /// After a crash, a call without a saved result runs again only if its tool is marked as idempotent, or
    /// as read-only and not as non-idempotent. An agent called as a tool continues from its saved
    /// conversation. Of other calls, the model reads that they may have run, or after a cancelled run or a
    /// failed save, which ones were stopped.
    ///
    /// If the conversation already has an answer, the run returns it and changes nothing. It fails with
    /// [`AgentError::Interrupted`] if calls are still pending, and with [`AgentError::InvalidDecision`] if
    /// a decision fits no pending call, or if the run was not interrupted when the conversation was saved.
    pub fn resume<'a>(&self, place: impl Into<Place<'a>>) -> ResumeRequest<'a> {
        ResumeRequest::new(Request::new(self, None, place.into()))
    }
}

/// The parts of both kinds of requests.
#[derive(Debug)]
pub struct Request<'a> {
    pub(crate) agent: Agent,
    /// `None` if the run continues.
    pub(crate) input: Option<UserMessage>,
    pub(crate) place: Place<'a>,
    pub(crate) options: RunOptions,
    pub(crate) form: Form,
}

impl<'a> Request<'a> {
    fn new(agent: &Agent, input: Option<UserMessage>, place: Place<'a>) -> Self {
        Self { agent: agent.clone(), input, place, options: RunOptions::default(), form: Form::default() }
    }

    pub(crate) async fn answer(
        agent: Agent,
        input: Option<UserMessage>,
        place: Place<'a>,
        run: Run,
    ) -> Result<RunOutput, RunError> {
        let mut conversation = place.open().await?;
        let run = if input.is_none() { run.continuing(&conversation) } else { run };
        agent.execute(&mut conversation, input, run).await
    }
}

/// The result of a run: [`RunOutput`], or [`TypedOutput`] after [`RunRequest::typed`].
pub trait RunAnswer: Sized + Send + 'static {
    #[doc(hidden)]
    fn ask(request: Request<'_>) -> BoxFuture<'_, Result<Self, RunError>>;
}

impl RunAnswer for RunOutput {
    fn ask(request: Request<'_>) -> BoxFuture<'_, Result<Self, RunError>> {
        let Request { agent, input, place, options, .. } = request;
        Box::pin(async move {
            let run = Run::new(agent.clone(), options, None);
            Request::answer(agent, input, place, run).await
        })
    }
}

impl<T: ToolParams + Send + 'static> RunAnswer for TypedOutput<T> {
    fn ask(request: Request<'_>) -> BoxFuture<'_, Result<Self, RunError>> {
        Box::pin(async move {
            let Request { agent, input, place, options, form } = request;
            let answer = Answer::<T>::new(&form)?;
            let mut run = Run::new(agent.clone(), options, None);
            let mut conversation = place.open().await?;
            if input.is_none() {
                run = run.continuing(&conversation);
            }
            agent.answer_as(&mut conversation, input, run, &answer).await
        })
    }
}

async fn outcome<A: RunAnswer>(request: Request<'_>) -> Result<Outcome<A>, RunError> {
    match A::ask(request).await {
        Ok(answer) => Ok(Outcome::Answered(answer)),
        Err(RunError { error: AgentError::Interrupted { pending }, output }) => {
            Ok(Outcome::Waiting(Waiting { pending, output }))
        }
        Err(error) => Err(error),
    }
}

/// Declares a request with the methods that both kinds have.
macro_rules! requests {
    ($($(#[$doc:meta])* $request:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        #[must_use = "a run does nothing until it is awaited or streamed"]
        pub struct $request<'a, A = RunOutput> {
            inner: Request<'a>,
            answer: PhantomData<fn() -> A>,
        }

        impl<'a, A> $request<'a, A> {
            fn new(inner: Request<'a>) -> Self {
                Self { inner, answer: PhantomData }
            }

            /// Sets the limits of the run. Default: those of the agent.
            pub fn limits(mut self, limits: Limits) -> Self {
                self.inner.options.limits = Some(limits);
                self
            }

            /// Sets the token for cancelling the run.
            ///
            /// Running calls then get error results, so that the conversation can be continued, and a save
            /// in progress gets five more seconds. An answer that is already there is returned, even during
            /// its save.
            pub fn cancellation(mut self, cancellation: CancellationToken) -> Self {
                self.inner.options.cancellation = cancellation;
                self
            }

            /// Adds a value for the tools of the run, by its type, such as the state of a web request. See
            /// [`RunContext::with_state`].
            #[doc(alias("deps", "context"))]
            pub fn state<T: Any + Send + Sync>(mut self, value: T) -> Self {
                self.inner.options.context = self.inner.options.context.with_state(value);
                self
            }

            /// Sets the context of tools, in place of the [state](Self::state) set before.
            ///
            /// The agent adds its name, the id of the run and the session.
            ///
            /// Create a new context for each run: clones share the `temp:` values of the session and the
            /// counts of an [`AttemptLimit`](toolkit_core::middleware::AttemptLimit).
            pub fn context(mut self, context: RunContext) -> Self {
                self.inner.options.context = context;
                self
            }

            /// Adds tools for this run: a list such as `tools![add]`, a registry or a live registry.
            ///
            /// Agents called as tools do not have them, and an agent's own tool hides one with the same
            /// name.
            ///
            /// Give them again to [`Agent::resume`]. If a pending call that may now run lacks its tool, the
            /// run ends with [`AgentError::TeamChanged`], and the conversation is unchanged.
            #[doc(alias("toolsets"))]
            pub fn with_tools(mut self, tools: impl IntoRegistrySource) -> Self {
                self.inner.options.tools.push(tools.into_registry_source());
                self
            }

            /// Sets the id of the run. Default: a new id.
            pub fn invocation_id(mut self, invocation_id: impl Into<String>) -> Self {
                self.inner.options.invocation_id = Some(invocation_id.into());
                self
            }

            /// Sets whether the tracing spans of model calls contain instructions, messages and answers,
            /// which may be private or large. Needs the feature `tracing`. Default: `false`.
            ///
            /// A span never contains what a guardrail may still block: messages while an input is checked
            /// [beside the model](crate::guardrail::Guardrail::beside_model), and answers of an agent that
            /// [holds text back](crate::AgentBuilder::hold_text). For tools, see
            /// [`Dispatcher::with_event_contents`](toolkit_core::Dispatcher::with_event_contents).
            pub fn traced_messages(mut self, traced_messages: bool) -> Self {
                self.inner.options.traced_messages = traced_messages;
                self
            }
        }

        impl<'a> $request<'a> {
            /// Runs the agent for an owner, who hears the events.
            pub(crate) async fn owned(self, owner: Arc<dyn RunOwner>) -> Result<RunOutput, RunError> {
                let Request { agent, input, place, options, .. } = self.inner;
                let run = Run::new(agent.clone(), options, Some(Sink::Owner(owner)));
                Request::answer(agent, input, place, run).await
            }

            /// Asks for a [typed](TypedOutput) answer.
            #[doc(alias("output_type", "structured_output", "extract", "response_format"))]
            pub fn typed<T: ToolParams + Send + 'static>(self) -> $request<'a, TypedOutput<T>> {
                $request::new(self.inner)
            }

            /// Runs the agent, and yields its events. Polling the stream drives the run.
            #[doc(alias("run_stream", "astream_events"))]
            #[must_use]
            pub fn stream(self) -> RunStream<'a> {
                let Request { agent, input, place, options, .. } = self.inner;
                RunStream::start(&agent.clone(), options, |run| Request::answer(agent, input, place, run))
            }
        }

        impl<'a, T: ToolParams + Send + 'static> $request<'a, TypedOutput<T>> {
            /// Sets the maximum number of answers before the run fails: at least 1, by default 3.
            ///
            /// A [resumed](Agent::resume) run has the remaining attempts, or new ones if none remain.
            pub fn attempts(mut self, attempts: u32) -> Self {
                self.inner.form.attempts = attempts.max(1);
                self
            }

            /// Sets how the model gives the answer. By default, the agent chooses for each request:
            ///
            /// 1. [`Native`](AnswerMode::Native), if the request has no tools and the provider's dialect
            ///    can express the schema.
            /// 2. [`Tool`](AnswerMode::Tool) otherwise.
            /// 3. [`Text`](AnswerMode::Text), after the server has refused another mode, or if the [tool
            ///    choice](crate::AgentBuilder::tool_config) forbids calls.
            ///
            /// If the program sets `Native` and the provider would exclude valid answers, as OpenAI does
            /// with maps that are not empty, the agent uses `Tool`, and a
            /// [`RunEvent`](crate::RunEvent::RequestLosses) reports the losses.
            pub fn mode(mut self, mode: AnswerMode) -> Self {
                self.inner.form.mode = Some(mode);
                self
            }

            /// Runs the agent, and yields its events and the growing answer. Polling the stream drives the
            /// run.
            #[must_use]
            pub fn stream(self) -> AnswerStream<'a, T> {
                let Request { agent, input, place, options, form } = self.inner;
                AnswerStream::new(agent, input, place, options, &form)
            }
        }

        impl<'a, A: RunAnswer> $request<'a, A> {
            /// Runs the agent. Calls that wait for a decision are an [`Outcome`], not an error.
            ///
            /// # Errors
            /// [`RunError`] if the run failed.
            pub async fn outcome(self) -> Result<Outcome<A>, RunError> {
                outcome(self.inner).await
            }
        }

        impl<'a, A: RunAnswer> IntoFuture for $request<'a, A> {
            type Output = Result<A, RunError>;
            type IntoFuture = BoxFuture<'a, Self::Output>;

            fn into_future(self) -> Self::IntoFuture {
                A::ask(self.inner)
            }
        }
    )*};
}

requests! {
    /// A run that begins with an input, created by [`Agent::run`].
    ///
    /// `.await` returns a [`RunOutput`], or a [`TypedOutput`] after [`typed`](Self::typed), and a
    /// [`RunError`] without an answer. Dropping the future stops the run; the conversation can be
    /// continued.
    ///
    /// Without a lent conversation, the request is `'static`: a web handler can return its
    /// [stream](Self::stream), and [`into_future`](IntoFuture::into_future) suits functions that take a
    /// future.
    RunRequest;
    /// A run that continues, created by [`Agent::resume`], with [decisions](Self::decide) instead of input.
    ResumeRequest;
}

impl<A> RunRequest<'_, A> {
    /// Sets the id that the client has given to the input.
    pub(crate) fn message_id(mut self, message: String) -> Self {
        self.inner.options.message_id = message;
        self
    }

    /// Sets the [place](Place) of the run: `&mut conversation`, or
    /// `sessions.user("ada").conversation("1")`. Default: a new conversation, dropped at the end.
    pub fn on<'a>(self, place: impl Into<Place<'a>>) -> RunRequest<'a, A> {
        let Request { agent, input, options, form, .. } = self.inner;
        RunRequest::new(Request { agent, input, place: place.into(), options, form })
    }
}

impl<A> ResumeRequest<'_, A> {
    /// Sets the decisions about pending calls. The others stay pending.
    ///
    /// Decisions are accepted only after the run was [interrupted](AgentError::Interrupted), because its
    /// other calls may be running before. After a crash, resume without decisions first: the run is
    /// interrupted again, with the same pending calls.
    pub fn decide(mut self, decisions: Decisions) -> Self {
        self.inner.options.decisions = decisions;
        self
    }
}
