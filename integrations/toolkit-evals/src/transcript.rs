//! The transcript of a trial, with its tool calls prepared for comparison.

use crate::expected::ComparableCall;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use toolkit_agent::RunOutput;
use toolkit_core::__private::lock;
use toolkit_core::middleware::{Next, ToolRequest};
use toolkit_core::{Dispatcher, ErrorKind, ToolCall, ToolError, ToolOutput, ToolRegistry, ToolResult};
use toolkit_llm::{FinishReason, Message};

/// The messages, tool calls and answer of a trial, up to an error if there was one.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Transcript {
    /// The answer. Empty after an error.
    pub answer: String,
    /// Why the model stopped.
    pub finish: FinishReason,
    /// The tool calls in the messages, in order, without those inside an agent called as a tool.
    pub calls: Vec<CalledTool>,
    /// All messages, including the question.
    pub messages: Vec<Message>,
    /// The tool registries of the requests, without repetitions.
    #[serde(skip)]
    tools: Vec<Arc<ToolRegistry>>,
}

/// A tool call in a transcript.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CalledTool {
    /// The name of the tool, as the model wrote it.
    pub name: String,
    /// The arguments, as the model wrote them.
    pub arguments: String,
    /// The kind of the error of a failed call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorKind>,
    /// The text of the result.
    pub result: String,
    /// Whether the dispatcher accepted the call for its tool: `false` for unknown or disabled tools,
    /// invalid arguments, and missing results. `true` for calls denied by permissions or refused by a
    /// limit.
    pub reached_tool: bool,
    #[serde(skip)]
    pub(crate) comparable: ComparableCall,
}

impl Transcript {
    /// Creates a transcript of any conversation.
    ///
    /// The answer is the text of the last message if the model wrote it, and empty otherwise.
    ///
    /// `tools` is the agent's registry, for comparing calls by their meaning.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit_ai::ToolRegistry;
    /// use toolkit_ai::llm::Message;
    /// use toolkit_evals::{Task, Transcript};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let messages = [Message::user("What is 17 + 25?"), Message::assistant("It is 42.")];
    /// let transcript = Transcript::of_messages(&messages, ToolRegistry::new()).await;
    /// let task = Task::new("sum", "What is 17 + 25?").with_answer_containing(["42"]);
    /// assert!(task.score(&transcript).await[0].passed);
    /// # });
    /// ```
    pub async fn of_messages(messages: &[Message], tools: impl Into<Arc<ToolRegistry>>) -> Self {
        let answer = match messages.last() {
            Some(Message::Assistant(said)) => said.text.clone(),
            _ => String::new(),
        };
        Self { answer, ..Self::new(messages, None, vec![tools.into()]).await }
    }

    /// Creates the transcript of a conversation. `output` is `None` without an answer.
    pub(crate) async fn new(
        messages: &[Message],
        output: Option<RunOutput>,
        tools: Vec<Arc<ToolRegistry>>,
    ) -> Self {
        let output = output.unwrap_or_default();
        let mut transcript = Self {
            answer: output.text,
            finish: output.finish,
            calls: Vec::new(),
            messages: messages.to_vec(),
            tools,
        };
        let mut results: Vec<&ToolResult> = Vec::new();
        for message in messages {
            if let Message::Tool(given) = message {
                results.extend(&given.results);
            }
        }
        for message in messages {
            let Message::Assistant(said) = message else { continue };
            for call in &said.calls {
                // Several calls may have the same id, so each result is used once.
                let at = results.iter().position(|result| result.call_id == call.id);
                let result = at.map(|at| results.remove(at));
                let called = transcript.called(call, result).await;
                transcript.calls.push(called);
            }
        }
        transcript
    }

    async fn called(&self, call: &ToolCall, result: Option<&ToolResult>) -> CalledTool {
        let error = result.and_then(ToolResult::error).map(ToolError::kind);
        let is_refused = matches!(
            error,
            Some(
                ErrorKind::NotFound
                    | ErrorKind::InvalidJson
                    | ErrorKind::InvalidArguments
                    | ErrorKind::Disabled
            )
        );
        CalledTool {
            name: call.name.clone(),
            arguments: call.arguments.as_str().to_owned(),
            error,
            result: result.map(|result| result.to_text().into_owned()).unwrap_or_default(),
            reached_tool: result.is_some() && !is_refused,
            comparable: self.comparable(&call.name, call.arguments.as_str()).await,
        }
    }

    /// Returns the tool's own name and the canonical arguments.
    ///
    /// If no registry accepts the call, `name` stays, and the members of the arguments are sorted.
    pub(crate) async fn comparable(&self, name: &str, arguments: &str) -> ComparableCall {
        for tools in self.tools.iter().rev() {
            if let Some(comparable) = canonical(tools.clone(), name, arguments).await {
                return comparable;
            }
        }
        let text = match serde_json::from_str::<Value>(arguments) {
            Ok(mut value) => {
                value.sort_all_objects();
                value.to_string()
            }
            Err(_) => arguments.trim().to_owned(),
        };
        (name.to_owned(), Some(text))
    }
}

fn comparable_of(request: &ToolRequest) -> Option<ComparableCall> {
    let arguments = request.canonical_arguments()?;
    Some((request.definition().name.to_string(), Some(arguments.to_owned())))
}

/// Returns the tool's own name and the canonical arguments of a call. `None` if the registry has no such
/// tool, or if the arguments have no canonical form.
///
/// Only middleware can read canonical arguments, so the call passes through a dispatcher whose only
/// middleware reads them and does not run the tool.
async fn canonical(tools: Arc<ToolRegistry>, name: &str, arguments: &str) -> Option<ComparableCall> {
    let found = Arc::new(Mutex::new(None));
    let read = {
        let found = found.clone();
        move |request: ToolRequest, _: Next| {
            *lock(&found) = comparable_of(&request);
            std::future::ready(Ok::<_, ToolError>(ToolOutput::text("")))
        }
    };
    let dispatcher = Dispatcher::new(tools).ok()?.with_middleware(read);
    let _ = dispatcher.dispatch([ToolCall::new("call", name, arguments)]).await;
    lock(&found).take()
}
