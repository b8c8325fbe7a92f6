//! An agent that asks a model: the loop between it and its tools.

mod ask;
mod callbacks;
mod failures;
mod history;
mod tools;
mod work;

pub(crate) use callbacks::ModelCallbacks;
pub(crate) use tools::Tools;

use crate::agent::{Agent, AgentEnd, RunAgent};
use crate::conversation::{Conversation, Owner};
use crate::error::AgentError;
use crate::event::RunEvent;
use crate::limits::Limits;
use crate::message::Message;
use crate::model::{ModelOptions, ModelRequest, ModelResponse, ModelRetry, Price, SharedModel};
use crate::run::Run;
use ask::within;
use failures::Failures;
use std::fmt;
use std::ops::ControlFlow;
use toolkit_core::context::ToolActions;
use toolkit_core::{Dispatcher, Session, ToolConfig, ToolResult};
use work::Work;

/// What the instructions of an agent may depend on.
#[derive(Debug)]
#[non_exhaustive]
pub struct InstructionsView<'a> {
    /// The name of the agent.
    pub agent: &'a str,
    /// What the conversation remembers.
    pub session: &'a Session,
}

/// What a model should know and do.
pub(crate) enum Instructions {
    Text(String),
    Made(Box<MakeInstructions>),
}

/// What an agent is told whose own words are the last.
const GO_ON: &str = "Go on.";

type MakeInstructions = dyn Fn(&InstructionsView<'_>) -> String + Send + Sync;

impl Default for Instructions {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

/// An agent that asks a model.
pub(crate) struct LlmAgent {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) model: SharedModel,
    pub(crate) instructions: Instructions,
    pub(crate) tools: Tools,
    pub(crate) callbacks: ModelCallbacks,
    pub(crate) sub_agents: Vec<Agent>,
    pub(crate) tool_use: ToolConfig,
    pub(crate) options: ModelOptions,
    pub(crate) limits: Limits,
    pub(crate) retry: ModelRetry,
    pub(crate) price: Price,
    pub(crate) output_key: Option<String>,
    pub(crate) history_limit: Option<usize>,
    pub(crate) streaming: bool,
}

impl RunAgent for LlmAgent {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn sub_agents(&self) -> &[Agent] {
        &self.sub_agents
    }

    fn limits(&self) -> Limits {
        self.limits.clone()
    }

    async fn run(&self, conversation: &mut Conversation, run: &Run) -> Result<AgentEnd, AgentError> {
        run.tell(|| RunEvent::AgentStarted { agent: self.name.clone() });
        let ended = self.turns(conversation, run).await;
        run.tell(|| RunEvent::AgentEnded { agent: self.name.clone() });
        match ended? {
            Ended::Answer(end) => Ok(end),
            Ended::Transfer(to) => {
                let agent = self.find(run, &to)?;
                run.tell(|| RunEvent::Transferred { from: self.name.clone(), to });
                agent.take_part(conversation, run).await
            }
        }
    }
}

/// How the turns of an agent have ended.
enum Ended {
    Answer(AgentEnd),
    /// The agent of this name goes on.
    Transfer(String),
}

impl LlmAgent {
    /// An agent below this one, or anywhere in the team.
    fn find<'a>(&'a self, run: &'a Run, name: &str) -> Result<&'a Agent, AgentError> {
        let below = self.sub_agents.iter().find_map(|agent| agent.find(name));
        let found = below.or_else(|| run.root().find(name));
        found.ok_or_else(|| AgentError::UnknownAgent(name.to_owned()))
    }

    /// Asks the model and runs its calls, until it calls no more.
    async fn turns(&self, conversation: &mut Conversation, run: &Run) -> Result<Ended, AgentError> {
        let mut failures = Failures::new(run.budget().limits().max_repeated_failures);
        let mut escalate = false;
        loop {
            run.check_cancelled()?;
            run.budget().take_model_call()?;
            let dispatcher = self.dispatcher(conversation, run)?;
            let mut work = Work::new(&dispatcher, run, &self.name, &mut failures);
            let response = match self.answer(conversation, run, &dispatcher, &mut work).await {
                Ok(response) => response,
                Err(error) => {
                    work.stop(conversation).await;
                    return Err(error);
                }
            };
            let results = self.end_turn(conversation, run, &response, work).await?;
            let ToolActions { transfer_to_agent, skip_summarization, escalate: now, .. } =
                ToolResult::merged_actions(&results);
            escalate |= now;
            let is_answer = skip_summarization || results.is_empty();
            if transfer_to_agent.is_some() || !is_answer {
                run.save(conversation).await?;
            }
            if let Some(to) = transfer_to_agent {
                return Ok(Ended::Transfer(to));
            }
            if is_answer {
                let text = match results.is_empty() {
                    true => response.message.text,
                    false => results.iter().map(ToolResult::to_text).collect::<Vec<_>>().join("\n"),
                };
                self.remember(conversation, &text);
                let agent = self.name.clone();
                return Ok(Ended::Answer(AgentEnd { text, agent, finish: response.finish, escalate }));
            }
        }
    }

    /// The tools as they are now, with what their calls may know.
    fn dispatcher(&self, conversation: &Conversation, run: &Run) -> Result<Dispatcher, AgentError> {
        let context = run
            .context()
            .clone()
            .with_agent_name(self.name.as_str())
            .with_session(conversation.session())
            .with_extension(Owner(conversation.user_id().to_owned()))
            .with_extension(run.clone());
        let dispatcher = self.tools.now()?.with_run(context);
        if !run.is_heard() {
            return Ok(dispatcher);
        }
        let (run, agent) = (run.clone(), self.name.clone());
        Ok(dispatcher.with_listener(move |event| {
            run.tell(|| RunEvent::Tool { agent: agent.clone(), event: Box::new(event.clone()) });
        }))
    }

    fn request(&self, conversation: &Conversation, run: &Run, dispatcher: &Dispatcher) -> ModelRequest {
        let instructions = match &self.instructions {
            Instructions::Text(text) => text.clone(),
            Instructions::Made(make) => {
                make(&InstructionsView { agent: &self.name, session: &conversation.session() })
            }
        };
        let mut messages = history::seen_by(&self.name, conversation.messages(), self.history_limit);
        // Providers want somebody else's words to answer.
        if let Some(Message::Assistant(_)) = messages.last() {
            messages.push(Message::user(GO_ON));
        }
        let mut request = ModelRequest::new(messages)
            .with_instructions(instructions)
            .with_tools(dispatcher.registry())
            .with_tool_use(self.tool_use.clone())
            .with_options(self.options.clone());
        if let Some(form) = run.form() {
            form.ask(&mut request);
        }
        request
    }

    /// What the model answers, or a callback for it.
    async fn answer(
        &self,
        conversation: &mut Conversation,
        run: &Run,
        dispatcher: &Dispatcher,
        work: &mut Work<'_>,
    ) -> Result<ModelResponse, AgentError> {
        let request = self.request(conversation, run, dispatcher);
        conversation.begin_turn(&self.name);
        let response = match within(run, self.callbacks.before(request)).await? {
            ControlFlow::Break(response) => response,
            ControlFlow::Continue(request) => self.ask(conversation, run, request, work).await?,
        };
        run.budget().add_usage(response.usage, &self.price);
        within(run, self.callbacks.after(response)).await
    }

    /// Waits for the results and adds all of the turn to the conversation.
    async fn end_turn(
        &self,
        conversation: &mut Conversation,
        run: &Run,
        response: &ModelResponse,
        mut work: Work<'_>,
    ) -> Result<Vec<ToolResult>, AgentError> {
        let mut message = response.message.clone();
        message.agent.clone_from(&self.name);
        message.usage = response.usage;
        let more = work.not_in(&message.calls);
        if !more.is_empty() {
            // What was started has to be answered, and its native form says nothing of it.
            message.calls.extend(more);
            message.native = None;
        }
        conversation.turn().message = message.clone();
        run.tell(|| RunEvent::Message { message: Box::new(message.clone()) });
        if !message.calls.is_empty() {
            run.save(conversation).await?;
        }
        for call in work.not_started(&message.calls) {
            work.start(call, conversation.turn());
        }
        let finished = work.finish(conversation).await;
        let results = std::mem::take(&mut conversation.turn().results);
        let results = conversation.end_turn(message, results);
        finished.map(|()| results)
    }

    fn remember(&self, conversation: &Conversation, text: &str) {
        if let Some(key) = &self.output_key {
            conversation.session().apply(&[(key.clone(), Some(text.into()))].into());
        }
    }
}

impl fmt::Debug for Instructions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.debug_tuple("Text").field(text).finish(),
            Self::Made(_) => f.debug_tuple("Made").finish_non_exhaustive(),
        }
    }
}
