//! A model that says what a test wants.

use crate::model::{
    ChatModel, ModelDelta, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelStream,
};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use toolkit_core::{RawArguments, ToolCall};

type Answer = Result<ModelResponse, ModelError>;
type Make = dyn Fn(&ModelRequest) -> Answer + Send + Sync;

/// A model for tests: it answers by a script, and remembers what it was asked.
///
/// Each answer is given once, in their order. When the script has ended, the model answers as
/// [`otherwise`](Self::otherwise) says, or with an error. Clones share script and memory.
///
/// ```
/// use toolkit_agent::{Agent, ScriptedModel};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let model = ScriptedModel::new().text("Hello, Ada.");
/// let output = Agent::builder(model.clone()).instructions("Be polite.").run("I am Ada.").await?;
/// assert_eq!(output.text, "Hello, Ada.");
/// assert_eq!(model.requests()[0].instructions, "Be polite.");
/// # Ok::<(), toolkit_agent::AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Default)]
pub struct ScriptedModel(Arc<Script>);

#[derive(Default)]
struct Script {
    steps: Mutex<VecDeque<Step>>,
    otherwise: Mutex<Option<Arc<Make>>>,
    requests: Mutex<Vec<ModelRequest>>,
}

enum Step {
    /// Calls of one answer are gathered until something else follows.
    Calls(Vec<ToolCall>),
    Answer(Box<Answer>),
    Made(Box<Make>),
    Pieces(Vec<Result<ModelDelta, ModelError>>),
}

impl ScriptedModel {
    /// A model without a script.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers with a text.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.response(ModelResponse::text(text))
    }

    /// Answers with a call of a tool. Several one after another are calls of one answer, unless
    /// [`then`](Self::then) stands between them.
    #[must_use]
    pub fn call(self, tool: impl Into<String>, arguments: impl Into<RawArguments>) -> Self {
        let mut steps = self.steps();
        let calls = steps.iter().map(|step| if let Step::Calls(calls) = step { calls.len() } else { 0 });
        let id = format!("call_{}_{}", steps.len(), calls.sum::<usize>() + 1);
        let call = ToolCall::new(id, tool, arguments);
        match steps.back_mut() {
            Some(Step::Calls(calls)) => calls.push(call),
            _ => steps.push_back(Step::Calls(vec![call])),
        }
        drop(steps);
        self
    }

    /// Ends an answer of calls, so that the next call is one of another answer.
    #[must_use]
    pub fn then(self) -> Self {
        let mut steps = self.steps();
        if let Some(Step::Calls(calls)) = steps.back_mut() {
            let response = ModelResponse::calls(std::mem::take(calls));
            steps.pop_back();
            steps.push_back(Step::Answer(Box::new(Ok(response))));
        }
        drop(steps);
        self
    }

    /// Answers with this response.
    #[must_use]
    pub fn response(self, response: ModelResponse) -> Self {
        self.step(Step::Answer(Box::new(Ok(response))))
    }

    /// Fails.
    #[must_use]
    pub fn error(self, error: ModelError) -> Self {
        self.step(Step::Answer(Box::new(Err(error))))
    }

    /// Answers as a function says, which may look at the request.
    #[must_use]
    pub fn answer(self, make: impl Fn(&ModelRequest) -> ModelResponse + Send + Sync + 'static) -> Self {
        self.step(Step::Made(Box::new(move |request| Ok(make(request)))))
    }

    /// Answers piece by piece, as a stream does. A program that wants the answer whole gets that of the last piece.
    #[must_use]
    pub fn pieces(self, pieces: impl IntoIterator<Item = Result<ModelDelta, ModelError>>) -> Self {
        self.step(Step::Pieces(pieces.into_iter().collect()))
    }

    /// Says how to answer when the script has ended.
    #[must_use]
    pub fn otherwise(
        self,
        make: impl Fn(&ModelRequest) -> Result<ModelResponse, ModelError> + Send + Sync + 'static,
    ) -> Self {
        *lock(&self.0.otherwise) = Some(Arc::new(make));
        self
    }

    /// What the model was asked so far.
    #[must_use]
    pub fn requests(&self) -> Vec<ModelRequest> {
        lock(&self.0.requests).clone()
    }

    /// How many answers of the script are left.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.steps().len()
    }

    fn step(self, step: Step) -> Self {
        self.steps().push_back(step);
        self
    }

    fn steps(&self) -> std::sync::MutexGuard<'_, VecDeque<Step>> {
        lock(&self.0.steps)
    }

    fn next(&self, request: ModelRequest) -> Result<Given, ModelError> {
        let step = self.steps().pop_front();
        let given = match step {
            Some(Step::Calls(calls)) => Ok(Given::whole(ModelResponse::calls(calls))),
            Some(Step::Answer(answer)) => answer.map(Given::whole),
            Some(Step::Made(make)) => make(&request).map(Given::whole),
            Some(Step::Pieces(pieces)) => Ok(Given::Pieces(pieces)),
            None => {
                let otherwise = lock(&self.0.otherwise).clone();
                match otherwise {
                    Some(make) => make(&request).map(Given::whole),
                    None => Err(ModelError::new(ModelErrorKind::Other, "the script of the model has ended")),
                }
            }
        };
        lock(&self.0.requests).push(request);
        given
    }
}

/// An answer of the script.
enum Given {
    Whole(Box<ModelResponse>),
    Pieces(Vec<Result<ModelDelta, ModelError>>),
}

impl Given {
    fn whole(response: ModelResponse) -> Self {
        Self::Whole(Box::new(response))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ChatModel for ScriptedModel {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        match self.next(request)? {
            Given::Whole(response) => Ok(*response),
            Given::Pieces(pieces) => ModelStream::from_pieces(pieces).collect().await,
        }
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        Ok(match self.next(request)? {
            Given::Whole(response) => (*response).into(),
            Given::Pieces(pieces) => ModelStream::from_pieces(pieces),
        })
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel")
            .field("remaining", &self.remaining())
            .field("asked", &lock(&self.0.requests).len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FinishReason;

    #[tokio::test]
    async fn calls_are_gathered() {
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
