//! The events of a streamed answer, for a model.

use super::fragment::{EventStream, Fragment};
use super::response::{blocked, is_beside_text, model_response, read_response};
use crate::facts::{ApiFormat, Server};
use crate::json::WireError;
use crate::message::{ModelResponse, NativeMessages, RequestLoss};
use crate::model::{ModelError, ModelErrorKind, ModelOptions, ServerState, has_media};
use crate::reading::{StreamAccumulator, StreamEnd};
use crate::response::{FinishReason, Response, Usage};
use crate::stream::StreamEvent;
use futures_core::Stream;
use serde_json::Value;
use std::collections::{HashSet, VecDeque};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use toolkit_core::{CallId, ToolCall};

/// The events of an answer, decoded from the pieces of a stream.
pub(super) struct ResponseEvents {
    format: ApiFormat,
    /// The losses of the request.
    losses: Vec<RequestLoss>,
    /// The server state of the request.
    state: Option<ServerState>,
    events: EventStream,
    /// Whether the message may contain signed thinking.
    has_thinking: bool,
    /// The ids of the calls already returned.
    returned: HashSet<CallId>,
    /// `None` after the end of the response.
    response: Option<StreamAccumulator>,
    /// The token counts in the pieces returned so far.
    reported: Usage,
    ready: VecDeque<Result<StreamEvent, ModelError>>,
}

impl ResponseEvents {
    pub(super) fn new(
        format: ApiFormat,
        events: EventStream,
        losses: Vec<RequestLoss>,
        options: &ModelOptions,
    ) -> Self {
        Self {
            format,
            losses,
            state: options.server_state.clone(),
            events,
            has_thinking: options.thinking.is_some(),
            returned: HashSet::new(),
            response: Some(format.accumulator().with_argument_events()),
            reported: Usage::default(),
            ready: VecDeque::new(),
        }
    }

    fn take(&mut self, fragment: Fragment) {
        let Some(response) = &mut self.response else { return };
        let events = match fragment {
            Fragment::Event(event) => match response.push(&event) {
                Ok(events) => events.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            },
            Fragment::Bytes(bytes) => response.push_bytes(&bytes),
            Fragment::Response(body) => {
                let response = read_response(self.format, &body, self.state.as_ref());
                return self.end_with(response);
            }
        };
        for event in events {
            match event {
                Ok(event) => {
                    self.has_thinking |= matches!(event, StreamEvent::Reasoning(_));
                    if let StreamEvent::Call(call) = &event {
                        self.returned.insert(call.id.clone());
                        let native = self.take_native();
                        self.ready.extend(native.map(|native| Ok(StreamEvent::Native(native))));
                    }
                    self.push(event);
                }
                // An error in the middle of a stream is usually a temporary failure of the provider.
                Err(error) if error.is_blocked() => return self.end_blocked(&error),
                Err(error) => {
                    return self.end(Some(ModelError::of_wire(ModelErrorKind::Unavailable, &error)));
                }
            }
        }
        let Some(response) = &self.response else { return };
        if response.is_over() {
            return self.end(None);
        }
        let usage = response.usage();
        if usage != self.reported {
            self.reported = usage;
            self.ready.push_back(Ok(StreamEvent::Usage(usage)));
        }
    }

    /// Returns the new parts of the message, if it may contain thinking that the provider expects back.
    fn take_native(&mut self) -> Option<NativeMessages> {
        let is_signed = self.format.request_facts(Server::Own).signs_thinking;
        let response = self.response.as_mut().filter(|_| is_signed && self.has_thinking)?;
        let messages = response.take_native();
        (!messages.is_empty()).then(|| NativeMessages::new(self.format.name(), messages))
    }

    /// Ends the stream with a response that did not arrive in events, or with the error of this response.
    fn end_with(&mut self, response: Result<ModelResponse, ModelError>) {
        self.response = None;
        match response.map(|response| response.with_losses(std::mem::take(&mut self.losses))) {
            Ok(response) => self.ready.extend(response.deltas().into_iter().map(Ok)),
            Err(error) => self.ready.push_back(Err(error)),
        }
    }

    /// Returns whether a call was complete when the stream ended.
    fn is_complete(&self, call: &ToolCall) -> bool {
        let blocks_beside_calls = self.format.request_facts(Server::Own).blocks_beside_calls;
        // The arguments of a call that is cut off, or may be, are not JSON.
        let is_whole =
            || serde_json::from_str::<Value>(call.arguments.as_str()).is_ok_and(|args| args.is_object());
        self.returned.contains(&call.id) || blocks_beside_calls && is_whole()
    }

    /// Ends the stream after the provider has blocked the prompt or the answer. The response contains the parts
    /// received so far, but not a call that was incomplete. If there is nothing but reasoning, the text of the response
    /// is the provider's report.
    fn end_blocked(&mut self, error: &WireError) {
        let Some(response) = self.response.take() else { return };
        let complete = response.native();
        self.end_blocked_with(error, response.finish(), complete);
    }

    /// Ends the stream with the parts of a blocked answer. `complete` is the message without incomplete calls.
    fn end_blocked_with(&mut self, error: &WireError, end: StreamEnd, complete: Vec<Value>) {
        let begun = end.response.map(|mut begun| {
            let calls = begun.calls.len();
            begun.calls.retain(|call| self.is_complete(call));
            if begun.calls.len() < calls {
                begun.native = complete;
            }
            begun
        });
        let begun = begun.ok().filter(|begun| !is_silent(self.format, begun) || !begun.reasoning.is_empty());
        let Some(mut begun) = begun else {
            let report = blocked(error, self.format, &end.body).map(|mut report| {
                report.message.text = self.events.redacted(&report.message.text);
                report
            });
            return self.end_with(report.ok_or_else(ModelError::cut));
        };
        if is_silent(self.format, &begun) {
            begun.refusal = self.events.redacted(error.report().unwrap_or_default());
            begun.native.clear();
        }
        let is_kept =
            |event: &StreamEvent| !matches!(event, StreamEvent::Call(call) if !begun.calls.contains(call));
        end.events.into_iter().filter(is_kept).for_each(|event| self.push(event));
        let refusal = self.refusal_text(&begun);
        // The provider may not have stored a blocked response.
        let response = model_response(self.format, begun, None).map(|response| {
            let losses = std::mem::take(&mut self.losses);
            response.answered_by(&end.body).with_finish(FinishReason::Refused).with_losses(losses)
        });
        self.push_last(refusal, response);
    }

    /// Returns the refusal of a response as far as it is the end of the text.
    fn refusal_text(&self, response: &Response) -> String {
        if is_beside_text(self.format, &response.text) { String::new() } else { response.refusal.clone() }
    }

    /// Ends the response and queues the last item of the stream: the complete response or an error. If the
    /// response is incomplete, the error contains the parts received so far.
    fn end(&mut self, failure: Option<ModelError>) {
        let Some(response) = self.response.take() else { return };
        let mut end = response.finish();
        let reported = end.failure.take().filter(|_| failure.is_none());
        if let Some(error) = reported.as_ref().filter(|error| error.is_blocked()) {
            return self.end_blocked_with(error, end, Vec::new());
        }
        let reported = reported.map(|error| ModelError::of_wire(ModelErrorKind::Unavailable, &error));
        let failure = failure.or(reported);
        let response = end.response.map_err(ModelError::from);
        let failure = failure.or_else(|| (!end.is_complete).then(ModelError::cut));
        let refusal = response.as_ref().map(|response| self.refusal_text(response)).unwrap_or_default();
        // The provider may not have stored a response that broke off.
        let state = self.state.as_ref().filter(|_| failure.is_none());
        let response = response
            .and_then(|response| Ok(model_response(self.format, response, state)?.answered_by(&end.body)));
        let response = response.map(|response| response.with_losses(std::mem::take(&mut self.losses)));
        let last = match (failure, response) {
            (None, response) => {
                end.events.into_iter().for_each(|event| self.push(event));
                response
            }
            (Some(error), Ok(part)) if part.has_arrived() => {
                Err(error.with_partial(part.with_finish(FinishReason::Interrupted)))
            }
            (Some(error), _) => Err(error),
        };
        self.push_last(refusal, last);
    }

    fn push(&mut self, event: StreamEvent) {
        // The text of a refusal follows all other text, but a provider may stream it first.
        if !matches!(event, StreamEvent::Refusal(_)) {
            self.ready.push_back(Ok(event));
        }
    }

    /// Queues the last item of the stream, after the text of a refusal.
    fn push_last(&mut self, refusal: String, response: Result<ModelResponse, ModelError>) {
        if response.is_ok() && !refusal.is_empty() {
            self.ready.push_back(Ok(StreamEvent::Text(refusal)));
        }
        self.ready.push_back(response.map(|response| StreamEvent::Done(Box::new(response))));
    }
}

/// Returns whether a response has nothing but reasoning.
fn is_silent(format: ApiFormat, response: &Response) -> bool {
    response.text.is_empty()
        && response.refusal.is_empty()
        && response.calls.is_empty()
        && response.hosted.is_empty()
        && !has_media(format, &response.native)
}

impl Stream for ResponseEvents {
    type Item = Result<StreamEvent, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(piece) = self.ready.pop_front() {
                return Poll::Ready(Some(piece.map_err(|error| self.events.without_secrets(error))));
            }
            if self.response.is_none() {
                return Poll::Ready(None);
            }
            match ready!(self.events.poll_next(context)) {
                Some(Ok(fragment)) => self.take(fragment),
                Some(Err(error)) => self.end(Some(error)),
                None => self.end(None),
            }
        }
    }
}
