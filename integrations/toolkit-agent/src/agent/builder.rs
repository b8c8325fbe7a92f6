//! How an agent that asks a model is made.

use super::Agent;
use crate::error::AgentError;
use crate::limits::Limits;
use crate::llm::{Instructions, InstructionsView, LlmAgent, ModelCallbacks, Tools};
use crate::message::UserMessage;
use crate::model::{ChatModel, ModelOptions, ModelRequest, ModelResponse, ModelRetry, Price, SharedModel};
use crate::team::check_names;
use std::fmt;
use std::future::ready;
use std::ops::ControlFlow;
use toolkit_core::middleware::{Callbacks, Middleware, ToolRequest};
use toolkit_core::registry::RegistrySource;
use toolkit_core::{BuildError, Dispatcher, ToolConfig, ToolError, ToolOutput, ToolRegistry};

/// Makes an agent that asks a model; [`Agent::builder`] begins it.
///
/// Callbacks are called in the order in which they were added. A `before` callback that has an answer makes it
/// that of the model or the tool, which is then not asked, nor are the callbacks after it.
pub struct AgentBuilder {
    name: String,
    description: String,
    model: SharedModel,
    instructions: Instructions,
    tools: Result<Option<Dispatcher>, BuildError>,
    tool_callbacks: Callbacks,
    has_tool_callbacks: bool,
    model_callbacks: ModelCallbacks,
    sub_agents: Vec<Agent>,
    other_agents: Vec<(String, String)>,
    tool_use: ToolConfig,
    options: ModelOptions,
    limits: Limits,
    retry: ModelRetry,
    price: Price,
    output_key: Option<String>,
    history_limit: Option<usize>,
    streaming: bool,
}

impl AgentBuilder {
    pub(super) fn new(model: impl ChatModel) -> Self {
        Self {
            name: "agent".to_owned(),
            description: String::new(),
            model: SharedModel::new(model),
            instructions: Instructions::default(),
            tools: Ok(None),
            tool_callbacks: Callbacks::new(),
            has_tool_callbacks: false,
            model_callbacks: ModelCallbacks::default(),
            sub_agents: Vec::new(),
            other_agents: Vec::new(),
            tool_use: ToolConfig::default(),
            options: ModelOptions::default(),
            limits: Limits::default(),
            retry: ModelRetry::default(),
            price: Price::default(),
            output_key: None,
            history_limit: None,
            streaming: true,
        }
    }

    /// Sets the name, as other agents know it; `agent` if it is not said.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets what the agent is for, as other agents read it.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets what the model should know and do: its system prompt.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Instructions::Text(instructions.into());
        self
    }

    /// Sets what the model should know and do, made anew for each question.
    ///
    /// ```
    /// use toolkit_agent::{Agent, ScriptedModel};
    ///
    /// let agent = Agent::builder(ScriptedModel::new()).instructions_with(|view| {
    ///     let language = view.session.get("user:language").unwrap_or("English".into());
    ///     format!("Answer in {language}.")
    /// });
    /// ```
    #[must_use]
    pub fn instructions_with(
        mut self,
        instructions: impl Fn(&InstructionsView<'_>) -> String + Send + Sync + 'static,
    ) -> Self {
        self.instructions = Instructions::Made(Box::new(instructions));
        self
    }

    /// Sets the tools: a registry, a live one, or an `Arc` of one.
    #[must_use]
    pub fn tools(mut self, tools: impl Into<RegistrySource>) -> Self {
        self.tools = match self.tools {
            Ok(Some(dispatcher)) => dispatcher.with_registry(tools),
            _ => Dispatcher::new(tools),
        }
        .map(Some);
        self
    }

    /// Sets what runs the tools, for limits, policies and middleware of its own.
    #[must_use]
    pub fn dispatcher(mut self, dispatcher: Dispatcher) -> Self {
        self.tools = Ok(Some(dispatcher));
        self
    }

    /// Puts a [`Middleware`] between calls and tools.
    #[must_use]
    pub fn middleware(mut self, middleware: impl Middleware) -> Self {
        self.tools = self.tools.and_then(|dispatcher| {
            let dispatcher = match dispatcher {
                Some(dispatcher) => dispatcher,
                None => Dispatcher::new(ToolRegistry::new())?,
            };
            Ok(Some(dispatcher.with_middleware(middleware)))
        });
        self
    }

    /// Adds an agent that may take over: the model gets a tool `transfer_to_agent` that names it.
    #[must_use]
    pub fn sub_agent(mut self, agent: impl Into<Agent>) -> Self {
        self.sub_agents.push(agent.into());
        self
    }

    /// Names an agent elsewhere in the team that may take over, such as the one above, and says what it is for: the
    /// tool `transfer_to_agent` names it, too. If there is none of this name in a run, that run ends with
    /// [`AgentError::UnknownAgent`].
    #[must_use]
    pub fn transfer_to(mut self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.other_agents.push((name.into(), description.into()));
        self
    }

    /// Sets how the model may use its tools.
    #[must_use]
    pub fn tool_use(mut self, tool_use: impl Into<ToolConfig>) -> Self {
        self.tool_use = tool_use.into();
        self
    }

    /// Sets how the model should answer.
    #[must_use]
    pub fn options(mut self, options: ModelOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets how far a run may go.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how often the model is asked again when it has not answered.
    #[must_use]
    pub fn retry(mut self, retry: ModelRetry) -> Self {
        self.retry = retry;
        self
    }

    /// Sets what tokens cost, so that a run can say what it has cost.
    #[must_use]
    pub fn price(mut self, price: Price) -> Self {
        self.price = price;
        self
    }

    /// Has the answer remembered under this key of the session.
    #[must_use]
    pub fn output_key(mut self, key: impl Into<String>) -> Self {
        self.output_key = Some(key.into());
        self
    }

    /// Sets how many messages of a long conversation the model reads at most, counted from its end. They begin with a
    /// message of the user, and the latest one is always among them, with what came after it.
    #[must_use]
    pub fn history_limit(mut self, messages: usize) -> Self {
        self.history_limit = Some(messages);
        self
    }

    /// Sets whether answers are asked for piece by piece, so that calls run while the model still writes. They are, if
    /// nothing else is said.
    #[must_use]
    pub fn streaming(mut self, streaming: bool) -> Self {
        self.streaming = streaming;
        self
    }

    /// Calls this before the model. It may change the request, or answer it.
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

    /// Like [`before_model`](Self::before_model), for a callback that waits.
    #[must_use]
    pub fn before_model_async<Fut>(
        mut self,
        callback: impl Fn(ModelRequest) -> Fut + Send + Sync + 'static,
    ) -> Self
    where
        Fut: Future<Output = ControlFlow<ModelResponse, ModelRequest>> + Send + 'static,
    {
        self.model_callbacks.before.push(Box::new(move |request| Box::pin(callback(request))));
        self
    }

    /// Calls this with what the model has answered; what it returns takes the place of that. With it, calls run only
    /// when the model has said all.
    #[must_use]
    pub fn after_model(
        self,
        callback: impl Fn(ModelResponse) -> ModelResponse + Send + Sync + 'static,
    ) -> Self {
        self.after_model_async(move |response| ready(callback(response)))
    }

    /// Like [`after_model`](Self::after_model), for a callback that waits.
    #[must_use]
    pub fn after_model_async<Fut>(
        mut self,
        callback: impl Fn(ModelResponse) -> Fut + Send + Sync + 'static,
    ) -> Self
    where
        Fut: Future<Output = ModelResponse> + Send + 'static,
    {
        self.model_callbacks.after.push(Box::new(move |response| Box::pin(callback(response))));
        self
    }

    /// Calls this before a tool, inside of all middleware. It may change the arguments, or answer the call.
    #[must_use]
    pub fn before_tool(
        self,
        callback: impl Fn(&mut ToolRequest) -> Option<Result<ToolOutput, ToolError>> + Send + Sync + 'static,
    ) -> Self {
        self.tool_callbacks(|callbacks| callbacks.before(callback))
    }

    /// Like [`before_tool`](Self::before_tool), for a callback that waits.
    #[must_use]
    pub fn before_tool_async<Fut>(self, callback: impl Fn(ToolRequest) -> Fut + Send + Sync + 'static) -> Self
    where
        Fut: Future<Output = ControlFlow<Result<ToolOutput, ToolError>, ToolRequest>> + Send + 'static,
    {
        self.tool_callbacks(|callbacks| callbacks.before_async(callback))
    }

    /// Calls this with what a tool gave back; what it returns takes the place of that.
    #[must_use]
    pub fn after_tool(
        self,
        callback: impl Fn(&ToolRequest, ToolOutput) -> Result<ToolOutput, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.tool_callbacks(|callbacks| callbacks.after(callback))
    }

    /// Like [`after_tool`](Self::after_tool), for a callback that waits.
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
        self.tool_callbacks = add(self.tool_callbacks);
        self.has_tool_callbacks = true;
        self
    }

    /// Makes the agent.
    ///
    /// # Errors
    /// [`BuildError`] if the tools cannot be used, among other things because one has the name of the tool that
    /// the agent adds for its sub-agents; or if two agents of the team have one name.
    pub fn build(self) -> Result<Agent, BuildError> {
        check_names(&self.name, &self.sub_agents)?;
        let mut dispatcher = match self.tools? {
            Some(dispatcher) => dispatcher,
            None => Dispatcher::new(ToolRegistry::new())?,
        };
        if self.has_tool_callbacks {
            dispatcher = dispatcher.with_middleware(self.tool_callbacks);
        }
        Ok(Agent::from(LlmAgent {
            tools: Tools::new(dispatcher, &self.sub_agents, &self.other_agents)?,
            name: self.name,
            description: self.description,
            model: self.model,
            instructions: self.instructions,
            callbacks: self.model_callbacks,
            sub_agents: self.sub_agents,
            tool_use: self.tool_use,
            options: self.options,
            limits: self.limits,
            retry: self.retry,
            price: self.price,
            output_key: self.output_key,
            history_limit: self.history_limit,
            streaming: self.streaming,
        }))
    }

    /// Makes the agent and has it answer, in a conversation of its own.
    ///
    /// # Errors
    /// [`AgentError`] if the tools cannot be used, or there is no answer.
    pub async fn run(self, input: impl Into<UserMessage>) -> Result<crate::run::RunOutput, AgentError> {
        self.build()?.run(input).await
    }
}

impl fmt::Debug for AgentBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentBuilder")
            .field("name", &self.name)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}
