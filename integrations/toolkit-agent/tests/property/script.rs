//! Models with arbitrary behaviour.

use super::tools::NAMES;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::sleep;
use toolkit_core::ToolCall;
use toolkit_llm::{
    AssistantMessage, ChatModel, FinishReason, ModelError, ModelErrorKind, ModelRequest, ModelResponse,
    ModelStream, NativeMessages, StreamEvent, Usage,
};

#[derive(Debug, Clone)]
pub(super) enum Step {
    Respond(Box<ModelResponse>),
    Fail(ModelError),
    /// A stream's deltas, and milliseconds before each.
    Deltas(Vec<Result<StreamEvent, ModelError>>, u64),
    /// No answer.
    Hang,
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => response().prop_map(|response| Step::Respond(Box::new(response))),
        2 => error().prop_map(Step::Fail),
        4 => (prop::collection::vec(delta(), 0..8), select(&[0_u64, 1, 40][..]))
            .prop_map(|(deltas, pause)| Step::Deltas(deltas, pause)),
        // A correct stream has calls, then the response.
        4 => (response(), select(&[0_u64, 1, 40][..])).prop_map(|(response, pause)| {
            let calls = response.message.calls.clone().into_iter().map(StreamEvent::Call);
            let deltas = calls.chain([StreamEvent::Done(Box::new(response))]).map(Ok).collect();
            Step::Deltas(deltas, pause)
        }),
        // A slow stream that reports tokens first.
        2 => (usage(), prop::collection::vec(delta(), 0..4)).prop_map(|(usage, deltas)| {
            Step::Deltas(std::iter::once(Ok(usage)).chain(deltas).collect(), 40)
        }),
        1 => Just(Step::Hang),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), Just(" \n".to_owned()), "\\PC{0,12}"]
}

fn call() -> impl Strategy<Value = ToolCall> {
    let id = prop_oneof![
        3 => select(&["a", "b"][..]).prop_map(str::to_owned),
        1 => select(&["call 1/ü", ""][..]).prop_map(str::to_owned),
        1 => "[a-z0-9]{8}",
    ];
    let name = prop_oneof![1 => Just("ok"), 1 => select(NAMES)];
    let arguments = prop_oneof![
        3 => Just("{}".to_owned()),
        2 => (0..3_i64).prop_map(|n| format!(r#"{{"n": {n}}}"#)),
        1 => select(&["", "null", "{", "[1]", r#"{"m": 1}"#, r#"{"n": "x"}"#, r#""{}""#, "\u{0}"][..])
            .prop_map(str::to_owned),
        1 => text(),
    ];
    (id, name, arguments).prop_map(|(id, name, arguments)| ToolCall::new(id, name, arguments))
}

fn response() -> impl Strategy<Value = ModelResponse> {
    let finish = prop_oneof![
        Just(FinishReason::Stop),
        Just(FinishReason::ToolCalls),
        Just(FinishReason::Length),
        Just(FinishReason::Refused),
        Just(FinishReason::Other("odd".to_owned())),
        Just(FinishReason::parse("pause_turn")),
    ];
    (text(), prop::collection::vec(call(), 0..5), finish, 0..20_u64).prop_map(
        |(text, calls, finish, tokens)| {
            let mut response = ModelResponse::default().with_finish(finish).with_usage(Usage::new(tokens, 1));
            response.message = AssistantMessage::text(text).with_calls(calls);
            response
        },
    )
}

fn error() -> impl Strategy<Value = ModelError> {
    let kinds = [
        ModelErrorKind::RateLimited,
        ModelErrorKind::Connection,
        ModelErrorKind::InvalidRequest,
        ModelErrorKind::InvalidResponse,
    ];
    (select(kinds.to_vec()), prop::option::of(0..5_000_u64), prop::option::of(response())).prop_map(
        |(kind, wait, partial)| {
            let mut error = ModelError::new(kind, "it broke");
            if let Some(wait) = wait {
                error = error.with_retry_after(Duration::from_millis(wait));
            }
            match partial {
                Some(partial) => error.with_partial(partial),
                None => error,
            }
        },
    )
}

fn delta() -> impl Strategy<Value = Result<StreamEvent, ModelError>> {
    prop_oneof![
        3 => text().prop_map(|text| Ok(StreamEvent::Text(text))),
        1 => text().prop_map(|text| Ok(StreamEvent::Reasoning(text))),
        1 => (0..3_usize).prop_map(|parts| {
            // Of no API, so it is never sent.
            let content: Vec<usize> = (0..parts).collect();
            Ok(StreamEvent::Native(NativeMessages::new("own", vec![json!({"content": content})])))
        }),
        1 => call().prop_map(|call| Ok(StreamEvent::call_started(call.id, call.name))),
        4 => call().prop_map(|call| Ok(StreamEvent::Call(call))),
        1 => response().prop_map(|response| Ok(StreamEvent::Done(Box::new(response)))),
        1 => error().prop_map(Err),
        1 => usage().prop_map(Ok),
    ]
}

fn usage() -> impl Strategy<Value = StreamEvent> {
    (0..20_u64, 0..9_u64).prop_map(|(input, output)| StreamEvent::Usage(Usage::new(input, output)))
}

#[derive(Debug)]
pub(super) struct Behaviour {
    script: Mutex<VecDeque<Step>>,
    forever: bool,
    requests: Mutex<Vec<ModelRequest>>,
}

impl Behaviour {
    pub(super) fn new(script: Vec<Step>, forever: bool) -> Self {
        Self { script: Mutex::new(script.into()), forever, requests: Mutex::default() }
    }

    pub(super) fn requests(&self) -> Vec<ModelRequest> {
        self.requests.lock().unwrap().clone()
    }

    fn next(&self, request: ModelRequest) -> Step {
        self.requests.lock().unwrap().push(request);
        let mut script = self.script.lock().unwrap();
        match script.pop_front() {
            Some(step) => {
                if self.forever {
                    script.push_back(step.clone());
                }
                step
            }
            None => Step::Respond(Box::new(ModelResponse::text("Done."))),
        }
    }
}

impl ChatModel for Behaviour {
    fn name(&self) -> &str {
        "behaviour"
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        self.stream(request).await?.collect().await
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        match self.next(request) {
            Step::Respond(response) => Ok((*response).into()),
            Step::Fail(error) => Err(error),
            Step::Hang => std::future::pending().await,
            Step::Deltas(deltas, 0) => Ok(ModelStream::from_pieces(deltas)),
            Step::Deltas(deltas, pause) => {
                let deltas =
                    futures_util::stream::unfold(VecDeque::from(deltas), move |mut left| async move {
                        let piece = left.pop_front()?;
                        sleep(Duration::from_millis(pause)).await;
                        Some((piece, left))
                    });
                Ok(ModelStream::new(deltas))
            }
        }
    }
}
