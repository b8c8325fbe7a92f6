//! A wrapper of a model that counts its calls and tokens, and collects the tool registries of its requests.

use crate::helpers::lock;
use crate::model::{
    BoxModel, ChatModel, ModelDelta, ModelError, ModelRequest, ModelResponse, ModelStream, OutputFormat,
    OutputLosses, Usage,
};
use futures_core::Stream;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use toolkit_core::ToolRegistry;

/// A model, wrapped to count its calls and tokens. The counts are available even if the run fails.
pub(super) struct Observed {
    model: BoxModel,
    seen: Seen,
}

/// The calls, tokens and tool registries counted so far. Clones share the counts.
#[derive(Clone, Default)]
pub(super) struct Seen(Arc<Mutex<Counts>>);

#[derive(Default)]
struct Counts {
    usage: Usage,
    model_calls: u32,
    tools: Vec<Arc<ToolRegistry>>,
}

impl Seen {
    /// Returns the tokens and the number of model calls counted so far.
    pub(super) fn usage(&self) -> (Usage, u32) {
        let counts = lock(&self.0);
        (counts.usage, counts.model_calls)
    }

    /// Returns the tool registries of all requests, without repetitions.
    pub(super) fn tools(&self) -> Vec<Arc<ToolRegistry>> {
        lock(&self.0).tools.clone()
    }

    fn request(&self, request: &ModelRequest) {
        let mut counts = lock(&self.0);
        counts.model_calls += 1;
        if !counts.tools.iter().any(|known| Arc::ptr_eq(known, &request.tools)) {
            counts.tools.push(request.tools.clone());
        }
    }

    fn answer(&self, answer: Result<&ModelResponse, &ModelError>) {
        let response = answer.map_or_else(|error| error.partial.as_deref(), Some);
        if let Some(response) = response {
            lock(&self.0).usage += response.billed();
        }
    }
}

impl Observed {
    pub(super) fn new(model: BoxModel) -> (Self, Seen) {
        let seen = Seen::default();
        (Self { model, seen: seen.clone() }, seen)
    }
}

impl ChatModel for Observed {
    fn name(&self) -> &str {
        ChatModel::name(&self.model)
    }

    fn provider(&self) -> &str {
        ChatModel::provider(&self.model)
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        self.seen.request(&request);
        let answer = ChatModel::respond(&self.model, request).await;
        self.seen.answer(answer.as_ref());
        answer
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        self.seen.request(&request);
        let stream = ChatModel::stream(&self.model, request).await;
        stream.map(|stream| ModelStream::new(ObservedStream { stream, seen: self.seen.clone() }))
    }

    fn output_losses(&self, output: &OutputFormat) -> OutputLosses {
        ChatModel::output_losses(&self.model, output)
    }
}

struct ObservedStream {
    stream: ModelStream,
    seen: Seen,
}

impl Stream for ObservedStream {
    type Item = Result<ModelDelta, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let delta = ready!(Pin::new(&mut self.stream).poll_next(cx));
        match &delta {
            Some(Ok(ModelDelta::Done(response))) => self.seen.answer(Ok(response)),
            Some(Err(error)) => self.seen.answer(Err(error)),
            _ => {}
        }
        Poll::Ready(delta)
    }
}
