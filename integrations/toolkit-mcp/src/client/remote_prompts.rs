//! The prompts of a server.

use super::connection::{ListedPage, PageParams};
use super::content::content_of;
use super::mcp_client::McpClient;
use super::remote_resources::question;
use crate::mcp_error::McpError;
use crate::request_span::RequestTarget;
use rmcp::RoleClient;
use rmcp::model::{GetPromptRequestParams, GetPromptResponse, Prompt, Role};
use rmcp::service::Peer;
use serde_json::{Map, Value};
use toolkit_core::Content;

/// The maximum number of arguments of a prompt. Further ones are left out.
const MOST_ARGUMENTS: usize = 100;

/// A prompt that a server lists.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpPrompt {
    /// The name for [`McpClient::prompt`].
    pub name: String,
    /// The name for humans.
    pub title: Option<String>,
    /// What the prompt is for.
    pub description: Option<String>,
    /// Its arguments.
    pub arguments: Vec<McpPromptArgument>,
}

/// An argument of a prompt; its value is a string.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpPromptArgument {
    /// Its name.
    pub name: String,
    /// What the argument is.
    pub description: Option<String>,
    /// Whether the server needs the argument.
    pub is_required: bool,
}

/// A message of a prompt.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct McpPromptMessage {
    /// Whether the message is the model's, and not the user's.
    pub is_from_model: bool,
    /// Its content.
    pub content: Content,
}

impl McpClient {
    /// Lists the prompts, at most [as many as tools](super::McpLimits::tools); none if the server has no
    /// prompts.
    ///
    /// # Errors
    /// [`McpError`] if the client is not connected, or if the server refuses the list.
    pub async fn prompts(&self) -> Result<Vec<McpPrompt>, McpError> {
        let prompts = async {
            let session = self.session()?;
            session.list_all("prompts/list", |peer, page| self.prompt_page(peer, page)).await
        };
        self.named(prompts).await
    }

    /// Returns the messages of a prompt, filled in with `arguments`.
    ///
    /// # Errors
    /// [`McpError`] if the client is not connected, or if the server refuses the name or the arguments.
    pub async fn prompt(
        &self,
        name: &str,
        arguments: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Vec<McpPromptMessage>, McpError> {
        let values: Map<String, Value> =
            arguments.into_iter().map(|(name, value)| (name, value.into())).collect();
        let mut params = GetPromptRequestParams::new(name);
        if !values.is_empty() {
            params.arguments = Some(values);
        }
        let filled = async {
            let session = self.session()?;
            let request = session.peer.get_prompt_once(params);
            match session.answer("prompts/get", RequestTarget::Prompt(name), request).await? {
                GetPromptResponse::Complete(result) => Ok(result.messages),
                _ => Err(question("prompts/get")),
            }
        };
        let mut messages = Vec::new();
        for message in self.named(filled).await? {
            let is_from_model = message.role == Role::Assistant;
            messages.push(McpPromptMessage { is_from_model, content: content_of(message.content) });
        }
        Ok(messages)
    }

    async fn prompt_page(&self, peer: Peer<RoleClient>, params: PageParams) -> ListedPage<McpPrompt> {
        let page = peer.list_prompts(params).await?;
        let prompts = page.prompts.into_iter().map(|prompt| self.listed_prompt(prompt)).collect();
        Ok((prompts, page.next_cursor))
    }

    fn listed_prompt(&self, prompt: Prompt) -> McpPrompt {
        let mut arguments = Vec::new();
        for argument in prompt.arguments.unwrap_or_default().into_iter().take(MOST_ARGUMENTS) {
            arguments.push(McpPromptArgument {
                name: self.short_text(&argument.name),
                description: argument.description.map(|description| self.short_text(&description)),
                is_required: argument.required == Some(true),
            });
        }
        McpPrompt {
            name: self.short_text(&prompt.name),
            title: prompt.title.map(|title| self.short_text(&title)),
            description: prompt.description.map(|description| self.short_text(&description)),
            arguments,
        }
    }
}
