//! The request of a turn.

use super::history::Reader;
use super::reduce::distrust_server;
use crate::agent::RunAgent as _;
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::helpers::guarded;
use crate::llm::agent::LlmAgent;
use crate::llm::answer::FinalAnswer;
use crate::llm::settings::InstructionsContext;
use std::borrow::Cow;
use std::sync::Arc;
use toolkit_core::Dispatcher;
use toolkit_llm::ModelRequest;
use toolkit_llm::model::ServerState;

impl LlmAgent {
    pub(super) fn request(
        &self,
        conversation: &mut Conversation,
        dispatcher: &Dispatcher,
        answer: &FinalAnswer<'_>,
    ) -> Result<ModelRequest, AgentError> {
        let settings = &self.settings;
        let session = match dispatcher.run_context().and_then(|run| run.session()) {
            Some(session) => Cow::Borrowed(session),
            None => Cow::Owned(conversation.session()),
        };
        let context = InstructionsContext { agent: self.name(), session: &session };
        let instructions = match guarded(|| (settings.instructions)(&context)) {
            Ok(instructions) => instructions,
            Err(panic) => {
                let what = format!("the instructions function of agent `{}`", self.name());
                return Err(AgentError::Other(format!("{what} has panicked: {panic}")));
            }
        };
        let mut compacted = self.compacted(conversation);
        let options = &settings.options;
        let is_changed = distrust_server(&mut compacted, self.name(), conversation.history(), options);
        let tools = dispatcher.registry();
        // A provider that stores the conversation needs the result of each call in it.
        let is_quoted = |tool: &str| options.server_state.is_none() && !answer.has_tool(&tools, tool);
        let limit = settings.history_limit;
        let reader = Reader { agent: self.name(), limit, compacted: &compacted, is_quoted: &is_quoted };
        let messages = reader.messages(conversation);
        let mut request = ModelRequest::of(messages)
            .with_instructions(instructions)
            .with_tools(tools)
            .with_tool_use(settings.tool_config.clone())
            .with_options(options.clone());
        if is_changed {
            Arc::make_mut(&mut request.options).server_state = Some(ServerState::Responses);
        }
        answer.add_to(&mut request);
        Ok(request)
    }
}
