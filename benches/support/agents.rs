//! An agent's runs with a scripted model, and the loop by hand.

use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};
use toolkit_agent::{Agent, Conversation, Sessions};
use toolkit_ai::prelude::*;
use toolkit_llm::{
    AssistantMessage, ChatModel, Message, ModelError, ModelRequest, ModelResponse, ToolMessage,
};

/// A model that calls `add` for an input, and answers results with a text.
pub(crate) struct Script(ModelResponse);

impl Script {
    pub(crate) fn new(calls: usize) -> Self {
        let call = |n: usize| ToolCall::new(format!("call_{n}"), "add", r#"{"a":17,"b":25}"#);
        Self(ModelResponse::calls((0..calls).map(call)))
    }
}

impl ChatModel for Script {
    fn name(&self) -> &str {
        "script"
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        Ok(match request.messages.last() {
            Some(Message::Tool(_)) => ModelResponse::text("Done."),
            _ => self.0.clone(),
        })
    }
}

pub(crate) fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

/// An agent with `calls` calls in its first turn and an answer in its second.
pub(crate) fn agent(calls: usize, streaming: bool) -> Agent {
    let tools = ToolRegistry::from_tools(super::tools::all()).unwrap();
    Agent::builder(Script::new(calls)).tools(tools).streaming(streaming).build().unwrap()
}

/// A run in a new conversation in memory.
pub(crate) async fn saved(agent: &Agent) -> String {
    agent.run("Add.").on(Sessions::default().user("ada").conversation("1")).await.unwrap().text
}

/// A conversation of earlier runs with one call each.
pub(crate) fn conversation(messages: usize) -> Conversation {
    let call = ToolCall::new("call_0", "add", r#"{"a":17,"b":25}"#);
    let result = ToolResult::of(&call, Ok(ToolOutput::text("42")));
    let mut conversation = Conversation::new("1");
    for index in 0..messages {
        conversation.push(match index % 4 {
            0 => Message::user("Add."),
            1 => AssistantMessage::text("").with_calls([call.clone()]).into(),
            2 => Message::Tool(ToolMessage::new(vec![result.clone()])),
            _ => Message::assistant("Done."),
        });
    }
    conversation
}

/// The loop without this crate: no limits, events or retries, and a task for each call.
pub(crate) async fn by_hand(model: &Script, tools: &Arc<ToolRegistry>) -> String {
    let mut messages = vec![Message::user("Add.")];
    loop {
        let request = ModelRequest::new(messages.clone()).with_tools(tools.clone());
        let AssistantMessage { text, calls, .. } = model.respond(request).await.unwrap().message;
        messages.push(AssistantMessage::text(text.clone()).with_calls(calls.clone()).into());
        if calls.is_empty() {
            return text;
        }
        let running: Vec<_> = calls
            .into_iter()
            .map(|call| {
                let tools = tools.clone();
                tokio::spawn(async move {
                    let output = tools.call(&call.name, call.arguments.as_str()).await;
                    ToolResult::of(&call, output)
                })
            })
            .collect();
        let mut results = Vec::with_capacity(running.len());
        for result in running {
            results.push(result.await.unwrap());
        }
        messages.push(Message::Tool(ToolMessage::new(results)));
    }
}
