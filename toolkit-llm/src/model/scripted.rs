//! A scripted model for tests.

use super::{
    ChatModel, ChatSpan, ModelError, ModelErrorKind, ModelRequest, ModelStream, OutputFormat, OutputLosses,
};
use crate::helpers::lock;
use crate::message::{Message, ModelResponse};
use crate::stream::StreamEvent;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use toolkit_core::{RawArguments, ToolCall};
use toolkit_schema::sample;

type Respond = dyn Fn(&ModelRequest) -> Result<ModelResponse, ModelError> + Send + Sync;

/// A scripted model for tests that logs its requests.
///
/// Each answer is used once, in order. Then the [`fallback`](Self::fallback) answers, or an error if there is
/// none. Clones share the script and the log.
///
/// ```
/// use toolkit_ai::llm::{ChatModel, ModelRequest, ScriptedModel};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let model = ScriptedModel::new().text("Hello, Ada.");
/// let request = ModelRequest::from("I am Ada.").with_instructions("Be polite.");
/// let answer = model.respond(request).await?;
/// assert_eq!(answer.message.text, "Hello, Ada.");
/// assert_eq!(model.requests()[0].instructions, "Be polite.");
/// # Ok::<(), toolkit_ai::llm::ModelError>(())
/// # }).unwrap();
/// ```
#[doc(alias("mock", "fake", "TestModel", "FunctionModel"))]
#[derive(Clone, Default)]
pub struct ScriptedModel(Arc<Script>);

#[derive(Default)]
struct Script {
    steps: Mutex<VecDeque<ScriptedStep>>,
    fallback: Mutex<Option<Arc<Respond>>>,
    requests: Mutex<Vec<ModelRequest>>,
}

enum ScriptedStep {
    /// Calls of one answer, to which others may be added.
    Calls(Vec<ToolCall>),
    Answer(Result<ModelStream, ModelError>),
    Computed(Box<Respond>),
}

impl ScriptedModel {
    /// Creates a model with an empty script.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a model without a script, which calls each tool once with
    /// [sample](toolkit_schema::sample) arguments, and then says how many calls it has made.
    ///
    /// It finds tools that cannot run at all, such as one whose state is missing.
    ///
    /// ```
    /// use toolkit_ai::llm::{ChatModel, ModelRequest, ScriptedModel};
    /// use toolkit_ai::prelude::*;
    ///
    /// /// Get the weather for a city.
    /// #[tool]
    /// fn weather(city: String) -> String {
    ///     format!("{city}: clear")
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// let registry = ToolRegistry::from_tools(tools![weather])?;
    /// let request = ModelRequest::from("Try everything.").with_tools(registry);
    /// let call = ScriptedModel::every_tool().respond(request).await?.message.calls.remove(0);
    /// assert_eq!((call.name.as_str(), call.arguments.as_str()), ("weather", r#"{"city":"text"}"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn every_tool() -> Self {
        Self::new().fallback(|request| Ok(call_every_tool(request)))
    }

    /// Adds an answer that is text.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.response(ModelResponse::text(text))
    }

    /// Adds a tool call. Consecutive calls belong to the same answer, unless [`then`](Self::then) separates
    /// them.
    #[must_use]
    pub fn call(self, tool: impl Into<String>, arguments: impl Into<RawArguments>) -> Self {
        let mut steps = self.steps();
        let mut number = 1;
        for step in &*steps {
            if let ScriptedStep::Calls(calls) = step {
                number += calls.len();
            }
        }
        let id = format!("call_{}_{number}", steps.len());
        let call = ToolCall::new(id, tool, arguments);
        match steps.back_mut() {
            Some(ScriptedStep::Calls(calls)) => calls.push(call),
            _ => steps.push_back(ScriptedStep::Calls(vec![call])),
        }
        drop(steps);
        self
    }

    /// Ends an answer of tool calls, so that the next call begins another one.
    #[must_use]
    pub fn then(self) -> Self {
        let mut steps = self.steps();
        if let Some(ScriptedStep::Calls(calls)) = steps.back_mut() {
            let response = ModelResponse::calls(std::mem::take(calls));
            steps.pop_back();
            steps.push_back(ScriptedStep::Answer(Ok(response.into())));
        }
        drop(steps);
        self
    }

    /// Adds a complete response.
    #[must_use]
    pub fn response(self, response: ModelResponse) -> Self {
        self.step(ScriptedStep::Answer(Ok(response.into())))
    }

    /// Adds an error in place of an answer.
    #[must_use]
    pub fn error(self, error: ModelError) -> Self {
        self.step(ScriptedStep::Answer(Err(error)))
    }

    /// Adds a function that computes a response.
    #[must_use]
    pub fn respond_with(
        self,
        respond: impl Fn(&ModelRequest) -> ModelResponse + Send + Sync + 'static,
    ) -> Self {
        self.step(ScriptedStep::Computed(Box::new(move |request| Ok(respond(request)))))
    }

    /// Adds a streamed response. Other requests get the response in the last delta.
    #[must_use]
    pub fn deltas(self, deltas: impl IntoIterator<Item = Result<StreamEvent, ModelError>>) -> Self {
        self.step(ScriptedStep::Answer(Ok(ModelStream::from_pieces(deltas))))
    }

    /// Sets the function that answers after the script.
    #[must_use]
    pub fn fallback(
        self,
        respond: impl Fn(&ModelRequest) -> Result<ModelResponse, ModelError> + Send + Sync + 'static,
    ) -> Self {
        *lock(&self.0.fallback) = Some(Arc::new(respond));
        self
    }

    /// Returns the requests received so far.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        lock(&self.0.requests).clone()
    }

    /// Returns the number of unused answers.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.steps().len()
    }

    fn step(self, step: ScriptedStep) -> Self {
        self.steps().push_back(step);
        self
    }

    fn steps(&self) -> MutexGuard<'_, VecDeque<ScriptedStep>> {
        lock(&self.0.steps)
    }

    fn next(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let step = self.steps().pop_front();
        let stream = match step {
            Some(ScriptedStep::Calls(calls)) => Ok(ModelResponse::calls(calls).into()),
            Some(ScriptedStep::Answer(answer)) => answer,
            Some(ScriptedStep::Computed(respond)) => respond(&request).map(ModelStream::from),
            None => {
                let fallback = lock(&self.0.fallback).clone();
                match fallback {
                    Some(respond) => respond(&request).map(ModelStream::from),
                    None => Err(ModelError::new(ModelErrorKind::Other, "the script of the model has ended")),
                }
            }
        };
        lock(&self.0.requests).push(request);
        stream
    }
}

fn call_every_tool(request: &ModelRequest) -> ModelResponse {
    if let Some(Message::Tool(answered)) = request.messages.last() {
        let failed = answered.results.iter().filter(|result| result.is_error()).count();
        let count = answered.results.len();
        return ModelResponse::text(format!("Calls: {count}, failed: {failed}."));
    }
    let turn = request.messages.len();
    let mut calls = Vec::new();
    for (index, tool) in request.tools.iter_definitions().enumerate() {
        let arguments = sample(&tool.parameters).to_string();
        calls.push(ToolCall::new(format!("call_{turn}_{index}"), tool.name.as_str(), arguments));
    }
    if calls.is_empty() {
        return ModelResponse::text("I have no tools.");
    }
    ModelResponse::calls(calls)
}

impl ChatModel for ScriptedModel {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn respond(&self, mut request: ModelRequest) -> Result<ModelResponse, ModelError> {
        let span = ChatSpan::unless_open(self, &mut request, false);
        span.respond(async { self.next(request)?.collect().await }).await
    }

    async fn stream(&self, mut request: ModelRequest) -> Result<ModelStream, ModelError> {
        let span = ChatSpan::unless_open(self, &mut request, true);
        span.stream(async { self.next(request) }).await
    }

    fn output_losses(&self, _: &OutputFormat) -> OutputLosses {
        OutputLosses::default()
    }
}

debug!(ScriptedModel, self, "remaining": self.remaining(), "requests": lock(&self.0.requests).len());

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response::FinishReason;
    use toolkit_core::{ToolError, ToolResult};

    #[tokio::test]
    async fn results_of_every_tool_are_counted() {
        let model = ScriptedModel::every_tool();
        let call = ToolCall::new("call_0", "ping", "{}");
        let failed = ToolResult::of(&call, Err(ToolError::failed("no")));
        let answer = model.respond(ModelRequest::new([Message::tool(vec![failed])])).await.unwrap();
        assert_eq!(answer.message.text, "Calls: 1, failed: 1.");
        let answer = model.respond(ModelRequest::from("Try everything.")).await.unwrap();
        assert_eq!(answer.message.text, "I have no tools.");
    }

    #[tokio::test]
    async fn adjacent_calls_form_one_answer() {
        let model = ScriptedModel::new().call("a", "{}").call("b", "{}").then().call("c", "{}").text("done");
        assert_eq!(model.remaining(), 3);
        let names = |response: ModelResponse| {
            let calls = response.message.calls.iter().map(|call| call.name.clone());
            (calls.collect::<Vec<_>>().join(" "), response.finish)
        };
        let ask = || model.respond(ModelRequest::new([]));
        assert_eq!(names(ask().await.unwrap()), ("a b".to_owned(), FinishReason::ToolCalls));
        assert_eq!(names(ask().await.unwrap()), ("c".to_owned(), FinishReason::ToolCalls));
        assert_eq!(ask().await.unwrap().message.text, "done");
        assert!(ask().await.is_err());
        assert_eq!(model.requests().len(), 4);
    }
}
