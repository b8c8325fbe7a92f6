//! A model whose provider pauses the turn.

use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::sleep;
use toolkit_agent::{
    AssistantMessage, ChatModel, FinishReason, ModelError, ModelErrorKind, ModelRequest, ModelResponse,
    ModelStream, StreamEvent,
};
use toolkit_core::ToolCall;

/// What the model does with one request.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Pause,
    /// Calls these tools.
    Calls(Vec<&'static str>),
    Answer,
    /// Fails before the answer begins.
    Fail,
}

pub(super) fn part() -> impl Strategy<Value = Part> {
    let tool = prop_oneof![2 => Just("work"), 1 => Just("ask")];
    prop_oneof![
        4 => Just(Part::Pause),
        2 => prop::collection::vec(tool, 1..3).prop_map(Part::Calls),
        3 => Just(Part::Answer),
        1 => Just(Part::Fail),
    ]
}

/// Returns the pieces of a text that the model has written. The text of each answer is unique.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('>').filter_map(|piece| piece.find('<').and_then(|begin| piece.get(begin..)))
}

#[derive(Debug)]
pub(super) struct Pausing {
    script: Vec<Part>,
    requests: Mutex<Vec<ModelRequest>>,
}

impl Pausing {
    pub(super) fn new(script: &[Part]) -> Arc<Self> {
        Arc::new(Self { script: script.to_vec(), requests: Mutex::default() })
    }

    pub(super) fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().unwrap().clone()
    }

    fn next(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        let number = {
            let mut requests = self.requests.lock().unwrap();
            requests.push(request);
            requests.len()
        };
        let text = format!("<{number}>");
        let response = ModelResponse::text(text.as_str());
        Ok(match &self.script[number % self.script.len()] {
            Part::Pause if number < 30 => response.with_finish(FinishReason::parse("pause_turn")),
            Part::Calls(tools) if number < 30 => {
                // Some providers use the same ids in each turn.
                let call =
                    |(index, tool): (usize, &&str)| ToolCall::new(format!("call_{index}"), *tool, "{}");
                let calls = tools.iter().enumerate().map(call);
                let message = AssistantMessage::text(text).with_calls(calls);
                let mut response = response.with_finish(FinishReason::ToolCalls);
                response.message = message;
                response
            }
            Part::Fail if number < 30 => {
                return Err(ModelError::new(ModelErrorKind::InvalidRequest, "no"));
            }
            _ => response.with_finish(FinishReason::Stop),
        })
    }
}

impl ChatModel for Pausing {
    fn name(&self) -> &str {
        "pausing"
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        let response = self.next(request);
        sleep(Duration::from_millis(2)).await;
        response
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let response = self.next(request)?;
        let text = response.message.text.split_inclusive(char::is_numeric).map(str::to_owned);
        let mut deltas: VecDeque<StreamEvent> = text.map(StreamEvent::Text).collect();
        deltas.extend(response.message.calls.iter().cloned().map(StreamEvent::Call));
        deltas.push_back(StreamEvent::Done(Box::new(response)));
        let deltas = futures_util::stream::unfold(deltas, |mut left| async move {
            let piece = left.pop_front()?;
            sleep(Duration::from_millis(1)).await;
            Some((Ok(piece), left))
        });
        Ok(ModelStream::new(deltas))
    }
}
