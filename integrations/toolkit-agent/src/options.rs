//! The options of a run.

use crate::limits::Limits;
use crate::pending::Decisions;
use crate::session::Sessions;
use toolkit_core::{CancellationToken, RunContext};

/// The options of a run, such as its limits, its cancellation and its autosave.
///
/// ```
/// use toolkit_ai::agent::{Agent, Conversation, Limits, RunOptions};
/// use toolkit_ai::llm::ScriptedModel;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let agent = Agent::builder(ScriptedModel::new().text("Hello.")).build()?;
/// let mut conversation = Conversation::new("1");
/// let options = RunOptions::new()
///     .with_limits(Limits::default().with_max_model_calls(3))
///     .with_invocation_id("request 17");
/// assert_eq!(agent.run_with(&mut conversation, "Hi.", options).await?.text, "Hello.");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// The limits of the run. Default: the limits of the agent.
    pub limits: Option<Limits>,
    /// The token for cancelling the run. On cancellation, each running call gets an error result, so that the
    /// conversation can be continued. A save in progress gets five more seconds.
    /// An answer that is already there is returned, also if the run is cancelled while it is saved.
    pub cancellation: CancellationToken,
    /// The id of the run. Default: a new id.
    pub invocation_id: Option<String>,
    /// The sessions in whose store the run saves its conversation. Default: the run does not save the
    /// conversation.
    pub autosave: Option<Sessions>,
    /// Whether tracing spans contain the messages of model calls. Default: `false`.
    pub traced_messages: bool,
    /// The decisions about the pending calls of an interrupted run.
    pub decisions: Decisions,
    /// The context that tools receive in the run, with extensions and state of the program. The agent adds
    /// its name, the id of the run and the session.
    pub context: RunContext,
}

impl RunOptions {
    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

setters! { RunOptions:
    /// Sets the limits of the run.
    with_limits(limits: Limits) = Some(limits);
    /// Sets the cancellation token of the run.
    with_cancellation(cancellation: CancellationToken) = cancellation;
    /// Sets the id of the run.
    with_invocation_id(invocation_id: impl Into<String>) = Some(invocation_id.into());
    /// Sets the decisions about the pending calls of an interrupted run, for
    /// [`Agent::resume`](crate::Agent::resume). Calls without a decision stay pending.
    with_decisions(decisions: Decisions) = decisions;
    /// Sets whether the tracing spans of model calls contain instructions, messages and answers, which may be
    /// private or large. This has an effect only with the feature `tracing`. A span never contains what a guardrail may
    /// still block: messages while an input is checked [beside the model](crate::guardrail::Guardrail::beside_model),
    /// and answers of an agent that [holds text back](crate::AgentBuilder::hold_text). For the arguments and outputs of
    /// tools, see [`Dispatcher::with_event_contents`](toolkit_core::Dispatcher::with_event_contents).
    with_traced_messages(traced_messages: bool) = traced_messages;
    /// Saves the conversation during the run: after the input is added, before each tool call runs, after
    /// each result while other calls run, after each turn, and at the end. Each save includes the
    /// conversations of agents called as tools and of parallel agents.
    ///
    /// After a crash, the store contains the last saved state. [`Agent::resume`](crate::Agent::resume)
    /// continues the run from this state.
    with_autosave(autosave: &Sessions) = Some(autosave.clone());
    /// Sets the context that tools receive in the run. Its extensions may contain the caller of a web service
    /// or a trace context, for example.
    ///
    /// Create a new context for each run, because clones share the `temp:` values of the session and the
    /// counts of an [`AttemptLimit`](toolkit_core::middleware::AttemptLimit).
    with_context(context: RunContext) = context;
}
