//! Prompts: functions whose output is a conversation for the model, chosen by the user of the client.

use super::client_call::{self, CallSession, ClientCall};
use super::visibility::View;
use crate::server::protocol::{block, icons, published_meta};
use rmcp::RoleServer;
use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, PaginatedRequestParams, Prompt,
    PromptArgument, PromptMessage, Role,
};
use rmcp::service::RequestContext;
use serde_json::Value;
use toolkit_core::output::IntoToolOutput;
use toolkit_core::{Content, Dispatcher, ToolDefinition, ToolError, ToolOutput};

/// The model's role in the value of [`PromptMessages`].
const ASSISTANT: &str = "assistant";

/// The messages of a prompt, also of the model.
///
/// ```
/// use toolkit_ai::tool;
/// use toolkit_ai::mcp::server::PromptMessages;
///
/// /// Reviews a file.
/// #[tool(register = false)]
/// fn review(path: String) -> PromptMessages {
///     PromptMessages::new()
///         .user(format!("Review the file {path}."))
///         .assistant("I read it. Which faults matter most?")
/// }
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct PromptMessages {
    contents: Vec<Content>,
    roles: Vec<&'static str>,
}

impl PromptMessages {
    /// Creates an empty list of messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a message of the user.
    pub fn user(self, content: impl Into<Content>) -> Self {
        self.with(content.into(), "user")
    }

    /// Adds a message of the model.
    pub fn assistant(self, content: impl Into<Content>) -> Self {
        self.with(content.into(), ASSISTANT)
    }

    fn with(mut self, content: Content, role: &'static str) -> Self {
        self.contents.push(content);
        self.roles.push(role);
        self
    }
}

impl IntoToolOutput for PromptMessages {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::new(self.contents).with_structured(self.roles.into()))
    }
}

/// Returns a page of the prompts, and the cursor of the next page.
pub(crate) fn listed(
    dispatcher: &Dispatcher,
    view: &View<'_>,
    request: Option<PaginatedRequestParams>,
) -> Result<(Vec<Prompt>, Option<String>), ErrorData> {
    let registry = dispatcher.registry();
    let (page, next) = view.page(registry.iter_definitions(), request)?;
    Ok((page.into_iter().map(listed_prompt).collect(), next))
}

fn listed_prompt(definition: &ToolDefinition) -> Prompt {
    let parameters = &definition.parameters;
    let properties = parameters.get("properties").and_then(Value::as_object).into_iter().flatten();
    let required = parameters.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut arguments = Vec::new();
    for (name, schema) in properties {
        let is_required = required.iter().any(|required| required == name);
        let mut argument = PromptArgument::new(name).with_required(is_required);
        argument.description = schema.get("description").and_then(Value::as_str).map(str::to_owned);
        arguments.push(argument);
    }
    let description = Some(&definition.description).filter(|description| !description.is_empty());
    let mut prompt = Prompt::new(definition.name.as_str(), description, Some(arguments));
    prompt.title.clone_from(&definition.metadata.title);
    prompt.icons = icons(&definition.metadata);
    prompt.meta = published_meta(&definition.metadata.meta);
    prompt
}

pub(crate) async fn get(
    session: CallSession<'_>,
    dispatcher: &Dispatcher,
    request: GetPromptRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<GetPromptResponse, ErrorData> {
    let registry = dispatcher.registry();
    let not_found = || ErrorData::invalid_params(format!("Prompt `{}` not found", request.name), None);
    let prompt = registry.get(&request.name).ok_or_else(not_found)?;
    let call = ClientCall {
        id: session.settings.next_call_id(),
        name: &request.name,
        arguments: Value::Object(request.arguments.unwrap_or_default()).to_string().into(),
        input_responses: request.input_responses,
        request_state: request.request_state,
    };
    let output = match client_call::output(session, dispatcher, call, context, not_found).await? {
        Ok(output) => output,
        Err(question) => return Ok(question.into()),
    };
    let roles = output.structured().and_then(Value::as_array).cloned().unwrap_or_default();
    let mut messages = Vec::new();
    for (index, content) in output.into_content().into_iter().enumerate() {
        let is_assistant = roles.get(index).is_some_and(|role| role == ASSISTANT);
        let role = if is_assistant { Role::Assistant } else { Role::User };
        messages.push(PromptMessage::new(role, block(content, index)));
    }
    let mut result = GetPromptResult::new(messages);
    result.description = Some(prompt.definition().description.clone()).filter(|text| !text.is_empty());
    Ok(result.into())
}
