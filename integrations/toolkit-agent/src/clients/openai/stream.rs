//! The events of a stream of `async-openai`.

use super::service::Watch;
use crate::model::ModelError;
use crate::wire::Fragment;
use async_openai::error::OpenAIError;
use futures_core::Stream;
use serde_json::Value;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use toolkit_wire::ApiFormat;

type Values = Pin<Box<dyn Stream<Item = Result<Value, OpenAIError>> + Send>>;

/// The events of a stream.
pub(super) struct Events {
    format: ApiFormat,
    events: Values,
    watch: Watch,
    is_over: bool,
}

impl Events {
    pub(super) fn new(format: ApiFormat, events: Values, watch: Watch) -> Self {
        Self { format, events, watch, is_over: false }
    }
}

impl Stream for Events {
    type Item = Result<Fragment, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let next = ready!(self.events.as_mut().poll_next(context));
        Poll::Ready(match next {
            Some(Ok(event)) => Some(Ok(Fragment::Event(event))),
            Some(Err(error)) => Some(Err(self.watch.explain(error))),
            None => {
                self.is_over = true;
                // The client keeps the line that ends a stream for itself: it reads no further than that.
                let was_said = self.format == ApiFormat::OpenAiChat && !self.watch.has_ended();
                was_said.then(|| Ok(Fragment::Event("[DONE]".into())))
            }
        })
    }
}
