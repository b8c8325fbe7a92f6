//! The builder of agents with a model.

use super::agent::LlmAgent;
use super::callbacks::ModelCallbacks;
use super::guards::{Guards, around};
use super::settings::{InstructionsContext, Settings};
use super::tools::Tools;
use crate::agent::Agent;
use crate::compaction::Compaction;
use crate::guardrail::Guardrail;
use crate::limits::Limits;
use crate::team::check_names;
use std::future::ready;
use std::ops::ControlFlow;
use std::sync::Arc;
use toolkit_core::middleware::{BoxMiddleware, Callbacks, Middleware, ToolRequest};
use toolkit_core::registry::{IntoRegistrySource, RegistrySource};
use toolkit_core::{BuildError, Dispatcher, ToolConfig, ToolError, ToolOutput, ToolRegistry};
use toolkit_llm::{ChatModel, ModelOptions, ModelRequest, ModelResponse, ModelRetry, Price};

impl Agent {
    /// Creates a builder of agents with this model.
    #[must_use]
    pub fn builder(model: impl ChatModel) -> AgentBuilder {
        AgentBuilder::new(model)
    }
}

/// A builder of agents with a model, created by [`Agent::builder`].
///
/// Callbacks run in the order of registration. A response or a result of a `before` callback skips the
/// model or the tool, and later `before` callbacks.
///
/// ```
/// use toolkit_ai::prelude::*;
/// use toolkit_ai::agent::{Agent, Limits};
/// use toolkit_ai::llm::ScriptedModel;
///
/// /// Add two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let model = ScriptedModel::new().call("add", r#"{"a": 2, "b": 40}"#).text("It is 42.");
/// let agent = Agent::builder(model)
///     .name("calculator")
///     .instructions("Use the tools for each calculation.")
///     .tools(tools![add])
///     .limits(Limits::default().with_max_model_calls(5))
///     .build()?;
/// assert_eq!(agent.run("What is 2 + 40?").await?.text, "It is 42.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub struct AgentBuilder {
    settings: Settings,
    dispatcher: Option<Dispatcher>,
    /// The middleware inside that of the dispatcher.
    middleware: Vec<BoxMiddleware>,
    /// The tools beside those of the dispatcher.
    sources: Vec<RegistrySource>,
    tool_callbacks: Option<Callbacks>,
    guardrails: Vec<Guardrail>,
    /// The transfer targets that are not sub-agents, with descriptions.
    transfer_targets: Vec<(String, String)>,
}

impl AgentBuilder {
    fn new(model: impl ChatModel) -> Self {
        let settings = Settings {
            name: "agent".to_owned(),
            description: String::new(),
            model: model.boxed(),
            instructions: Box::new(|_| String::new()),
            callbacks: ModelCallbacks::default(),
            sub_agents: Vec::new(),
            tool_config: ToolConfig::default(),
            options: Arc::default(),
            limits: Limits::default(),
            retry: ModelRetry::default(),
            price: Price::default(),
            output_key: None,
            history_limit: None,
            compaction: None,
            streaming: true,
            guards: Guards::default(),
            hold_text: None,
        };
        Self {
            settings,
            dispatcher: None,
            middleware: Vec::new(),
            sources: Vec::new(),
            tool_callbacks: None,
            guardrails: Vec::new(),
            transfer_targets: Vec::new(),
        }
    }

    /// Sets the instructions for the model (the system prompt).
    #[doc(alias("preamble", "system_prompt"))]
    #[must_use]
    pub fn instructions(self, instructions: impl Into<String>) -> Self {
        let instructions = instructions.into();
        self.instructions_with(move |_| instructions.clone())
    }

    /// Sets a function that creates each model call's instructions.
    ///
    /// ```
    /// use toolkit_ai::agent::Agent;
    /// use toolkit_ai::llm::ScriptedModel;
    ///
    /// let agent = Agent::builder(ScriptedModel::new()).instructions_with(|context| {
    ///     let language = context.session.get("user:language").unwrap_or("English".into());
    ///     format!("Answer in {language}.")
    /// });
    /// ```
    #[must_use]
    pub fn instructions_with(
        mut self,
        instructions: impl Fn(&InstructionsContext<'_>) -> String + Send + Sync + 'static,
    ) -> Self {
        self.settings.instructions = Box::new(instructions);
        self
    }

    /// Adds tools: a list such as `tools![add]`, a [`ToolRegistry`], an `Arc<ToolRegistry>`, or a live
    /// registry.
    ///
    /// Two tools with the same name fail [`build`](Self::build); if a live registry gets one later, the
    /// tool added first keeps the name.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoRegistrySource) -> Self {
        self.sources.push(tools.into_registry_source());
        self
    }

    /// Adds a [`Middleware`] around all tool calls, always inside that of the
    /// [`dispatcher`](Self::dispatcher). The first one is the outermost.
    #[must_use]
    pub fn middleware(mut self, middleware: impl Middleware) -> Self {
        self.middleware.push(middleware.boxed());
        self
    }

    /// Adds a sub-agent, a target of the tool `transfer_to_agent`.
    #[doc(alias("handoff", "handoffs", "transfer"))]
    #[must_use]
    pub fn sub_agent(mut self, agent: impl Into<Agent>) -> Self {
        self.settings.sub_agents.push(agent.into());
        self
    }

    /// Adds another agent of the team, such as the parent, as a target of the tool `transfer_to_agent`.
    ///
    /// A transfer to an agent outside the team ends the run with
    /// [`AgentError::UnknownAgent`](crate::AgentError::UnknownAgent).
    #[must_use]
    pub fn transfer_to(mut self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.transfer_targets.push((name.into(), description.into()));
        self
    }

    /// Adds a callback before each model call. It may change the request, or skip the call by returning a
    /// response.
    #[must_use]
    pub fn before_model(
        self,
        callback: impl Fn(&mut ModelRequest) -> Option<ModelResponse> + Send + Sync + 'static,
    ) -> Self {
        self.before_model_async(move |mut request| {
            ready(match callback(&mut request) {
                Some(response) => ControlFlow::Break(response),
                None => ControlFlow::Continue(request),
            })
        })
    }

    /// Adds an asynchronous [`before_model`](Self::before_model) callback.
    #[must_use]
    pub fn before_model_async<Fut>(
        mut self,
        callback: impl Fn(ModelRequest) -> Fut + Send + Sync + 'static,
    ) -> Self
    where
        Fut: Future<Output = ControlFlow<ModelResponse, ModelRequest>> + Send + 'static,
    {
        self.settings.callbacks.before.push(Box::new(move |request, _| {
            let answer = callback(request);
            Box::pin(async move { Ok(answer.await) })
        }));
        self
    }

    /// Adds a callback after each model call. Its response replaces that of the model.
    ///
    /// Tool calls then start only after the complete response, even when streaming.
    #[must_use]
    pub fn after_model(
        self,
        callback: impl Fn(ModelResponse) -> ModelResponse + Send + Sync + 'static,
    ) -> Self {
        self.after_model_async(move |response| ready(callback(response)))
    }

    /// Adds an asynchronous [`after_model`](Self::after_model) callback.
    #[must_use]
    pub fn after_model_async<Fut>(
        mut self,
        callback: impl Fn(ModelResponse) -> Fut + Send + Sync + 'static,
    ) -> Self
    where
        Fut: Future<Output = ModelResponse> + Send + 'static,
    {
        self.settings.callbacks.after.push(Box::new(move |response, _| {
            let answer = callback(response);
            Box::pin(async move { Ok(answer.await) })
        }));
        self
    }

    /// Adds a callback before each tool call, inside all middleware.
    ///
    /// It may change the arguments, or skip the tool and the `after_tool` callbacks by returning a result.
    #[must_use]
    pub fn before_tool(
        self,
        callback: impl Fn(&mut ToolRequest) -> Option<Result<ToolOutput, ToolError>> + Send + Sync + 'static,
    ) -> Self {
        self.tool_callbacks(|callbacks| callbacks.before(callback))
    }

    /// Adds an asynchronous [`before_tool`](Self::before_tool) callback.
    #[must_use]
    pub fn before_tool_async<Fut>(self, callback: impl Fn(ToolRequest) -> Fut + Send + Sync + 'static) -> Self
    where
        Fut: Future<Output = ControlFlow<Result<ToolOutput, ToolError>, ToolRequest>> + Send + 'static,
    {
        self.tool_callbacks(|callbacks| callbacks.before_async(callback))
    }

    /// Adds a callback after each successful tool call. Its result replaces the tool's output.
    #[must_use]
    pub fn after_tool(
        self,
        callback: impl Fn(&ToolRequest, ToolOutput) -> Result<ToolOutput, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.tool_callbacks(|callbacks| callbacks.after(callback))
    }

    /// Adds an asynchronous [`after_tool`](Self::after_tool) callback.
    #[must_use]
    pub fn after_tool_async<Fut>(
        self,
        callback: impl Fn(ToolRequest, ToolOutput) -> Fut + Send + Sync + 'static,
    ) -> Self
    where
        Fut: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        self.tool_callbacks(|callbacks| callbacks.after_async(callback))
    }

    fn tool_callbacks(mut self, add: impl FnOnce(Callbacks) -> Callbacks) -> Self {
        self.tool_callbacks = Some(add(self.tool_callbacks.unwrap_or_default()));
        self
    }

    /// Adds a [`Guardrail`], which sees values as the callbacks have changed them.
    #[must_use]
    pub fn guardrail(mut self, guardrail: Guardrail) -> Self {
        self.guardrails.push(guardrail);
        self
    }

    /// Builds the agent.
    ///
    /// # Errors
    /// [`BuildError`] if a tool is invalid (with transfer targets, also one named `transfer_to_agent`), if
    /// two agents of the team have the same name, or if a rule of
    /// [permissions](toolkit_core::middleware::Permissions#rules-without-tools) selects no tool.
    pub fn build(self) -> Result<Agent, BuildError> {
        let mut settings = self.settings;
        let (guards, tool_guards) = Guards::new(self.guardrails, &settings.name, &mut settings.callbacks);
        settings.guards = guards;
        check_names(&settings.name, &settings.sub_agents)?;
        let mut dispatcher = match self.dispatcher {
            Some(dispatcher) => dispatcher,
            None => Dispatcher::new(ToolRegistry::new())?,
        };
        for middleware in self.middleware {
            dispatcher = dispatcher.with_middleware(middleware);
        }
        for callbacks in around(self.tool_callbacks, tool_guards) {
            dispatcher = dispatcher.with_middleware(callbacks);
        }
        let tools = Tools::new(dispatcher, self.sources, &settings.sub_agents, &self.transfer_targets)?;
        Ok(Agent::from(LlmAgent { settings, tools }))
    }
}

setters! { AgentBuilder:
    /// Sets the dispatcher for tool calls, with its registry, limits, policies and middleware.
    ///
    /// [`tools`](Self::tools) and [`middleware`](Self::middleware) add to it, before or after this call.
    dispatcher(dispatcher: Dispatcher) = Some(dispatcher);
}

setters! { AgentBuilder.settings:
    /// Sets the name of the agent. Default: `agent`.
    name(name: impl Into<String>) = name.into();
    /// Sets the description for the models of other agents.
    description(description: impl Into<String>) = description.into();
    /// Sets the tool choice and other settings for tool use.
    ///
    /// With `parallel: Some(false)`, only the first call of a message runs, even if the provider ignores
    /// the setting; the model is told about the others.
    tool_config(tool_config: impl Into<ToolConfig>) = tool_config.into();
    /// Sets the options for answers, such as the temperature.
    options(options: impl Into<Arc<ModelOptions>>) = options.into();
    /// Sets the [`Limits`] of a run of this agent, and of its work in another agent's run.
    limits(limits: Limits) = limits;
    /// Sets the retries of failed model calls.
    retry(retry: ModelRetry) = retry;
    /// Sets the price of tokens.
    price(price: Price) = price;
    /// Sets the session key that stores each answer.
    output_key(output_key: impl Into<String>) = Some(output_key.into());
    /// Sets the maximum number of messages sent to the model: the latest, beginning with a user message.
    ///
    /// The latest user message and all after it are always sent.
    history_limit(history_limit: usize) = Some(history_limit);
    /// Sets the compaction of conversations beyond the context window.
    ///
    /// By default, the run fails if they are too long.
    compaction(compaction: Compaction) = Some(compaction);
    /// Sets whether responses are streamed, so that tool calls start before their end.
    ///
    /// Otherwise, the text of a response is one [event](crate::RunEvent::Text). Default: `true`.
    streaming(streaming: bool) = streaming;
    /// Sets whether [text events](crate::RunEvent::Text) wait until guardrails have checked the text.
    ///
    /// With `false`, listeners may receive text that is blocked afterwards. Reasoning and calls of the
    /// provider's tools wait only after such text, or if the agent has a guardrail for responses. As that
    /// may change tool calls, their pieces then have no events.
    ///
    /// Default: `true` if the agent has a [`Guardrail`] for responses or answers.
    hold_text(hold_text: bool) = Some(hold_text);
}

debug!(AgentBuilder, self, "name": self.settings.name, "model": self.settings.model.name());

impl Settings {
    pub(super) fn hold_text(&self) -> bool {
        self.hold_text.unwrap_or_else(|| self.guards.hold_text())
    }
}
