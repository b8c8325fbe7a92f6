//! A wrapper of a model that counts its calls and tokens, and collects the tool registries of its requests.

use crate::helpers::lock;
use futures_core::Stream;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};
use toolkit_core::ToolRegistry;
use toolkit_llm::__private::{Account, Bill, Billing};
use toolkit_llm::StreamEvent;
use toolkit_llm::model::{
    BoxModel, ChatModel, ModelError, ModelRequest, ModelResponse, ModelStream, OutputFormat, OutputLosses,
    Usage,
};

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
    bill: Bill,
    model_calls: u32,
    tools: Vec<Arc<ToolRegistry>>,
}

impl Seen {
    /// Returns the tokens and the number of model calls counted so far.
    pub(super) fn counts(&self) -> (Bill, u32) {
        let counts = lock(&self.0);
        (counts.bill, counts.model_calls)
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

    fn add(&self, bill: Bill) {
        lock(&self.0).bill += bill;
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

    async fn respond(&self, mut request: ModelRequest) -> Result<ModelResponse, ModelError> {
        self.seen.request(&request);
        let observer = Observer::new(&self.seen, &request);
        request.bill_to(&observer);
        let answer = ChatModel::respond(&self.model, request).await;
        self.seen.add(answer.as_ref().map_or_else(ModelError::billed, ModelResponse::billed));
        answer
    }

    async fn stream(&self, mut request: ModelRequest) -> Result<ModelStream, ModelError> {
        self.seen.request(&request);
        let observer = Observer::new(&self.seen, &request);
        request.bill_to(&observer);
        let stream = ChatModel::stream(&self.model, request).await;
        if let Err(error) = &stream {
            self.seen.add(error.billed());
        }
        let reported = Usage::default();
        stream.map(|stream| ModelStream::new(ObservedStream { stream, reported, observer }))
    }

    fn output_losses(&self, output: &OutputFormat) -> OutputLosses {
        ChatModel::output_losses(&self.model, output)
    }
}

/// Counts the tokens of a request that is dropped, also for the run of the trial.
struct Observer {
    seen: Seen,
    run: Option<Account>,
}

impl Observer {
    fn new(seen: &Seen, request: &ModelRequest) -> Arc<Self> {
        Arc::new(Self { seen: seen.clone(), run: request.account.clone() })
    }
}

impl Billing for Observer {
    fn add(&self, bill: Bill) {
        self.seen.add(bill);
        if let Some(run) = &self.run {
            run.add(bill);
        }
    }
}

struct ObservedStream {
    /// Dropped before `observer`, which counts what it has not reported.
    stream: ModelStream,
    /// The tokens reported so far, until the stream ends with others.
    reported: Usage,
    observer: Arc<Observer>,
}

impl Stream for ObservedStream {
    type Item = Result<StreamEvent, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let delta = ready!(Pin::new(&mut self.stream).poll_next(cx));
        let ended = match &delta {
            Some(Ok(StreamEvent::Usage(reported))) => {
                self.reported = *reported;
                return Poll::Ready(delta);
            }
            Some(Ok(StreamEvent::Done(response))) => response.billed(),
            Some(Err(error)) => match error.billed() {
                bill if bill.is_empty() => self.reported.into(),
                bill => bill,
            },
            _ => return Poll::Ready(delta),
        };
        self.reported = Usage::default();
        self.observer.seen.add(ended);
        Poll::Ready(delta)
    }
}

impl Drop for ObservedStream {
    fn drop(&mut self) {
        self.observer.seen.add(self.reported.into());
    }
}
