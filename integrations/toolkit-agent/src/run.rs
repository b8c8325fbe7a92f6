//! Entry points: one agent answers in one conversation.

mod stream;

pub use stream::RunStream;

use crate::agent::{Agent, AgentOutput, Run};
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::event::RunOutput;
use crate::message::UserMessage;
use crate::options::RunOptions;
use crate::session::Sessions;
use tokio::sync::mpsc::unbounded_channel;

impl Agent {
    /// Answers in a new conversation.
    ///
    /// # Errors
    /// [`AgentError`] if there is no answer.
    pub async fn run(&self, input: impl Into<UserMessage>) -> Result<RunOutput, AgentError> {
        self.run_in(&mut Conversation::default(), input).await
    }

    /// Answers in a conversation and adds the new messages to it. Dropping the future stops the run; the conversation
    /// can continue.
    ///
    /// # Errors
    /// [`AgentError`] if there is no answer.
    pub async fn run_in(
        &self,
        conversation: &mut Conversation,
        input: impl Into<UserMessage>,
    ) -> Result<RunOutput, AgentError> {
        self.run_with(conversation, input, RunOptions::default()).await
    }

    /// Answers in a conversation, with options.
    ///
    /// # Errors
    /// [`AgentError`] if there is no answer.
    pub async fn run_with(
        &self,
        conversation: &mut Conversation,
        input: impl Into<UserMessage>,
        options: RunOptions,
    ) -> Result<RunOutput, AgentError> {
        self.execute(conversation, Some(input.into()), Run::new(self.clone(), options, None)).await
    }

    /// Continues a conversation without an answer: after a crash, an error, or a cancelled run.
    ///
    /// # Errors
    /// [`AgentError`] if there is no answer.
    pub async fn resume(
        &self,
        conversation: &mut Conversation,
        options: RunOptions,
    ) -> Result<RunOutput, AgentError> {
        self.execute(conversation, None, Run::new(self.clone(), options, None)).await
    }

    /// Answers in a new conversation and yields events meanwhile.
    #[must_use]
    pub fn run_stream(&self, input: impl Into<UserMessage>) -> RunStream<'static> {
        let input = Some(input.into());
        self.stream(RunOptions::default(), |agent, run| async move {
            agent.execute(&mut Conversation::default(), input, run).await
        })
    }

    /// Answers in a conversation and yields events meanwhile.
    #[must_use]
    pub fn run_stream_in<'a>(
        &self,
        conversation: &'a mut Conversation,
        input: impl Into<UserMessage>,
        options: RunOptions,
    ) -> RunStream<'a> {
        let input = Some(input.into());
        self.stream(options, |agent, run| async move { agent.execute(conversation, input, run).await })
    }

    /// Continues a conversation without an answer and yields events meanwhile.
    #[must_use]
    pub fn resume_stream<'a>(
        &self,
        conversation: &'a mut Conversation,
        options: RunOptions,
    ) -> RunStream<'a> {
        self.stream(options, |agent, run| async move { agent.execute(conversation, None, run).await })
    }

    fn stream<'a, F>(&self, options: RunOptions, execute: impl FnOnce(Self, Run) -> F) -> RunStream<'a>
    where
        F: Future<Output = Result<RunOutput, AgentError>> + Send + 'a,
    {
        let (sender, events) = unbounded_channel();
        let run = Run::new(self.clone(), options, Some(sender));
        RunStream::new(Box::pin(execute(self.clone(), run)), events)
    }

    /// Settles and extends the conversation, runs the agent and sums up the run.
    pub(crate) async fn execute(
        &self,
        conversation: &mut Conversation,
        input: Option<UserMessage>,
        run: Run,
    ) -> Result<RunOutput, AgentError> {
        conversation.settle();
        let begin = conversation.messages().len();
        if let Some(input) = input {
            conversation.push(input);
        }
        let output = match run.save(conversation).await {
            Ok(()) => self.join_run(conversation, &run).await,
            Err(error) => Err(error),
        };
        conversation.settle();
        let saved = run.save(conversation).await;
        let AgentOutput { text, agent, finish, escalate } = output?;
        saved?;
        let budget = run.budget();
        Ok(RunOutput {
            text,
            agent,
            finish,
            escalate,
            usage: budget.usage(),
            cost: budget.cost(),
            model_calls: budget.model_calls(),
            tool_calls: budget.tool_calls(),
            messages: conversation.messages_since(begin),
        })
    }
}

impl Sessions {
    /// Runs an agent in a conversation and saves it meanwhile.
    ///
    /// # Errors
    /// [`AgentError`] if there is no answer, or the conversation cannot be read or saved.
    pub async fn run(
        &self,
        agent: &Agent,
        user: &str,
        id: &str,
        input: impl Into<UserMessage>,
    ) -> Result<RunOutput, AgentError> {
        let mut conversation = self.open(user, id).await?;
        agent.run_with(&mut conversation, input, RunOptions::new().with_autosave(self)).await
    }

    /// Continues a conversation without an answer, such as after a crash.
    ///
    /// # Errors
    /// [`AgentError`] if there is no answer, or the conversation cannot be read or saved.
    pub async fn resume(&self, agent: &Agent, user: &str, id: &str) -> Result<RunOutput, AgentError> {
        let mut conversation = self.open(user, id).await?;
        agent.resume(&mut conversation, RunOptions::new().with_autosave(self)).await
    }
}
