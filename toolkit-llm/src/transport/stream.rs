//! The events of a streamed answer, for a model.

use super::fragment::{EventStream, ReceivedPiece};
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

enum Ending {
    Over,
    Failed(ModelError),
    Blocked(WireError),
    /// The answer is one response instead of events.
    Whole(Box<Result<ModelResponse, ModelError>>),
}

/// The events of an answer, decoded from a stream.
pub(super) struct ResponseEvents {
    format: ApiFormat,
    losses: Vec<RequestLoss>,
    state: Option<ServerState>,
    events: EventStream,
    /// Whether the message may contain signed thinking.
    has_thinking: bool,
    returned: HashSet<CallId>,
    /// `None` after the end of the response.
    response: Option<StreamAccumulator>,
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

    fn take(&mut self, piece: ReceivedPiece) {
        let Some(response) = &mut self.response else { return };
        let events = match piece {
            ReceivedPiece::Event(event) => match response.push(&event) {
                Ok(events) => events.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            },
            ReceivedPiece::Bytes(bytes) => response.push_bytes(&bytes),
            ReceivedPiece::Response(body) => {
                let response = read_response(self.format, &body, self.state.as_ref());
                return self.end(Ending::Whole(Box::new(response)));
            }
        };
        for event in events {
            match event {
                Ok(event) => self.take_event(event),
                Err(error) if error.is_blocked() => return self.end(Ending::Blocked(error)),
                Err(error) => return self.end(Ending::Failed(unavailable(&error))),
            }
        }
        let Some(response) = &self.response else { return };
        if response.is_over() {
            return self.end(Ending::Over);
        }
        let usage = response.usage();
        if usage != self.reported {
            self.reported = usage;
            self.ready.push_back(Ok(StreamEvent::Usage(usage)));
        }
    }

    fn take_event(&mut self, event: StreamEvent) {
        self.has_thinking |= matches!(event, StreamEvent::Reasoning(_));
        if let StreamEvent::Call(call) = &event {
            self.returned.insert(call.id.clone());
            if let Some(native) = self.take_native() {
                self.ready.push_back(Ok(StreamEvent::Native(native)));
            }
        }
        self.push(event);
    }

    /// Returns the new parts of the message, if the provider may expect thinking back.
    fn take_native(&mut self) -> Option<NativeMessages> {
        let is_signed = self.format.request_facts(Server::Own).answers.signs_thinking;
        if !is_signed || !self.has_thinking {
            return None;
        }
        let messages = self.response.as_mut()?.take_native();
        if messages.is_empty() { None } else { Some(NativeMessages::new(self.format.name(), messages)) }
    }

    /// Queues the rest of the response and the last item.
    fn end(&mut self, ending: Ending) {
        let Some(response) = self.response.take() else { return };
        match ending {
            Ending::Whole(response) => self.push_whole(*response),
            Ending::Blocked(error) => {
                let complete = response.native();
                self.push_blocked(&error, response.finish(), complete);
            }
            Ending::Failed(failure) => self.push_failed(failure, response.finish()),
            Ending::Over => {
                let mut end = response.finish();
                match end.failure.take() {
                    Some(error) if error.is_blocked() => self.push_blocked(&error, end, Vec::new()),
                    Some(error) => self.push_failed(unavailable(&error), end),
                    None if !end.is_complete => self.push_failed(ModelError::cut(), end),
                    None => self.push_complete(end),
                }
            }
        }
    }

    /// Queues a response outside of events, or its error.
    fn push_whole(&mut self, response: Result<ModelResponse, ModelError>) {
        match response {
            Ok(response) => {
                let response = response.with_losses(std::mem::take(&mut self.losses));
                self.ready.extend(response.deltas().into_iter().map(Ok));
            }
            Err(error) => self.ready.push_back(Err(error)),
        }
    }

    fn push_complete(&mut self, end: StreamEnd) {
        for event in end.events {
            self.push(event);
        }
        let received = match end.response {
            Ok(received) => received,
            Err(error) => return self.ready.push_back(Err(error.into())),
        };
        let refusal = self.refusal_text(&received);
        let response = model_response(self.format, received, self.state.as_ref());
        self.push_last(refusal, response.map(|response| response.answered_by(&end.body)));
    }

    /// Queues the error of a broken response, with the parts received so far.
    fn push_failed(&mut self, failure: ModelError, end: StreamEnd) {
        // The provider may not have stored it, so there is no server state.
        let part = match end.response {
            Ok(received) => model_response(self.format, received, None),
            Err(error) => Err(error.into()),
        };
        let error = match part {
            Ok(part) if part.has_arrived() => {
                let losses = std::mem::take(&mut self.losses);
                let part = part.answered_by(&end.body).with_losses(losses);
                failure.with_partial(part.with_finish(FinishReason::Interrupted))
            }
            _ => failure,
        };
        self.ready.push_back(Err(error));
    }

    fn is_complete(&self, call: &ToolCall) -> bool {
        if self.returned.contains(&call.id) {
            return true;
        }
        // Arguments that are cut off, or may be, are not JSON.
        let arguments = serde_json::from_str::<Value>(call.arguments.as_str());
        self.format.request_facts(Server::Own).answers.blocks_beside_calls
            && arguments.is_ok_and(|args| args.is_object())
    }

    /// Queues the rest of a blocked answer, without incomplete calls.
    ///
    /// `complete` is the native message without these. After reasoning alone, the text of the response is the
    /// provider's report; after nothing at all, the response is this report.
    fn push_blocked(&mut self, error: &WireError, end: StreamEnd, complete: Vec<Value>) {
        let Some(mut begun) = end.response.ok() else { return self.push_report(error, &end.body) };
        let calls = begun.calls.len();
        begun.calls.retain(|call| self.is_complete(call));
        if begun.calls.len() < calls {
            begun.native = complete;
        }
        if is_silent(self.format, &begun) {
            if begun.reasoning.is_empty() {
                return self.push_report(error, &end.body);
            }
            begun.refusal = self.events.redacted(error.report().unwrap_or_default());
            begun.native.clear();
        }
        for event in end.events {
            if !matches!(&event, StreamEvent::Call(call) if !begun.calls.contains(call)) {
                self.push(event);
            }
        }
        let refusal = self.refusal_text(&begun);
        // The provider may not have stored a blocked response.
        let response = model_response(self.format, begun, None)
            .map(|response| response.answered_by(&end.body).with_finish(FinishReason::Refused));
        self.push_last(refusal, response);
    }

    /// Queues the provider's report as the response, or an error if there is none.
    fn push_report(&mut self, error: &WireError, body: &Value) {
        let Some(mut report) = blocked(error, self.format, body) else {
            return self.ready.push_back(Err(ModelError::cut()));
        };
        report.message.text = self.events.redacted(&report.message.text);
        self.push_whole(Ok(report));
    }

    /// Returns the refusal that ends the text.
    fn refusal_text(&self, response: &Response) -> String {
        if is_beside_text(self.format, &response.text) { String::new() } else { response.refusal.clone() }
    }

    fn push(&mut self, event: StreamEvent) {
        // A refusal follows all other text, but a provider may stream it first.
        if !matches!(event, StreamEvent::Refusal(_)) {
            self.ready.push_back(Ok(event));
        }
    }

    fn push_last(&mut self, refusal: String, response: Result<ModelResponse, ModelError>) {
        if response.is_ok() && !refusal.is_empty() {
            self.ready.push_back(Ok(StreamEvent::Text(refusal)));
        }
        let losses = std::mem::take(&mut self.losses);
        let done = response.map(|response| StreamEvent::Done(Box::new(response.with_losses(losses))));
        self.ready.push_back(done);
    }
}

/// An error within a stream is usually a temporary failure.
fn unavailable(error: &WireError) -> ModelError {
    ModelError::of_wire(ModelErrorKind::Unavailable, error)
}

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
                Some(Ok(piece)) => self.take(piece),
                Some(Err(error)) => self.end(Ending::Failed(error)),
                None => self.end(Ending::Over),
            }
        }
    }
}
