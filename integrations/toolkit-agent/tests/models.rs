//! Boxed models, and fallback to other models.

use std::time::Duration;
use toolkit_agent::Agent;
use toolkit_llm::ModelStream;
use toolkit_llm::model::{BoxModel, Fallback};
use toolkit_llm::{
    ChatModel, Message, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelRetry, ScriptedModel,
    StreamEvent,
};

const KINDS: [ModelErrorKind; 10] = [
    ModelErrorKind::RateLimited,
    ModelErrorKind::Unavailable,
    ModelErrorKind::Connection,
    ModelErrorKind::TimedOut,
    ModelErrorKind::Unauthorized,
    ModelErrorKind::InvalidRequest,
    ModelErrorKind::ContextTooLong,
    ModelErrorKind::InvalidResponse,
    ModelErrorKind::Empty,
    ModelErrorKind::Other,
];

fn request() -> ModelRequest {
    ModelRequest::new([Message::user("hi")])
}

fn failing(kind: ModelErrorKind) -> ScriptedModel {
    ScriptedModel::new().fallback(move |_| Err(ModelError::new(kind, "no")))
}

fn answering() -> ScriptedModel {
    ScriptedModel::new().fallback(|_| Ok(ModelResponse::text("second")))
}

async fn ask(model: &impl ChatModel) -> [Result<String, ModelErrorKind>; 2] {
    let whole = model.respond(request()).await;
    let streamed = match model.stream(request()).await {
        Ok(stream) => stream.collect().await,
        Err(error) => Err(error),
    };
    [whole, streamed].map(|answer| answer.map(|it| it.message.text).map_err(|error| error.kind()))
}

#[tokio::test]
async fn retryable_errors_lead_to_the_next_model() {
    for kind in KINDS {
        let moves_on = ModelError::new(kind, "").is_retryable();
        let expected = if moves_on { Ok("second".to_owned()) } else { Err(kind) };
        let model = Fallback::new(failing(kind)).or(answering());
        assert_eq!(ask(&model).await, [expected.clone(), expected], "{kind:?}");
    }
}

#[tokio::test]
async fn the_kinds_are_configurable() {
    for chosen in KINDS {
        for kind in KINDS {
            let expected = if kind == chosen { Ok("second".to_owned()) } else { Err(kind) };
            let model = Fallback::new(failing(kind)).or(answering()).with_kinds([chosen]);
            assert_eq!(ask(&model).await, [expected.clone(), expected], "{chosen:?}, {kind:?}");
        }
    }
}

#[tokio::test]
async fn each_request_begins_with_the_first_model() {
    let first = ScriptedModel::new().error(ModelError::from_status(503, "busy")).text("first");
    let second = answering();
    let model = Fallback::new(first.clone()).or(second.clone());
    assert_eq!(model.respond(request()).await.unwrap().message.text, "second");
    assert_eq!(model.respond(request()).await.unwrap().message.text, "first");
    assert_eq!((first.requests().len(), second.requests().len()), (2, 1));
}

#[tokio::test]
async fn a_stream_moves_on_only_before_its_first_piece() {
    let busy = || Err(ModelError::from_status(503, "busy"));
    let silent = ScriptedModel::new().deltas([busy()]);
    let stream = Fallback::new(silent).or(answering()).stream(request()).await.unwrap();
    assert_eq!(stream.collect().await.unwrap().message.text, "second");

    let empty = ScriptedModel::new().deltas([]);
    let stream = Fallback::new(empty).or(answering()).stream(request()).await.unwrap();
    assert_eq!(stream.collect().await.unwrap().message.text, "second");

    let second = answering();
    let begun = ScriptedModel::new().deltas([Ok(StreamEvent::Text("fir".to_owned())), busy()]);
    let mut stream = Fallback::new(begun).or(second.clone()).stream(request()).await.unwrap();
    assert_eq!(stream.next().await, Some(Ok(StreamEvent::Text("fir".to_owned()))));
    assert_eq!(stream.next().await, Some(busy()));
    assert_eq!(second.requests().len(), 0);
}

/// Streams without a script keep their order, too.
#[tokio::test]
async fn no_piece_is_lost_or_repeated() {
    struct Running(ScriptedModel);
    impl ChatModel for Running {
        fn name(&self) -> &str {
            "running"
        }

        async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
            self.0.respond(request).await
        }

        async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
            Ok(ModelStream::new(self.0.stream(request).await?))
        }
    }
    let pieces = |model: BoxModel| async move {
        let mut stream = model.stream(request()).await.unwrap();
        let mut pieces = Vec::new();
        while let Some(piece) = stream.next().await {
            pieces.push(piece.unwrap());
        }
        pieces
    };
    let script = || ScriptedModel::new().call("a", "{}").call("b", "{}");
    let expected = pieces(script().boxed()).await;
    assert_eq!(expected.len(), 3);
    assert_eq!(pieces(Fallback::new(script()).boxed()).await, expected);
    assert_eq!(pieces(Fallback::new(Running(script())).or(answering()).boxed()).await, expected);
}

#[tokio::test]
async fn if_all_fail_the_error_lists_them() {
    let wait = Duration::from_secs(7);
    let last = ModelError::from_status(429, "slow down").with_retry_after(wait);
    let model = Fallback::new(failing(ModelErrorKind::Connection))
        .or(failing(ModelErrorKind::Empty))
        .or(ScriptedModel::new().error(last));
    let error = model.respond(request()).await.unwrap_err();
    assert_eq!((error.kind(), error.retry_after()), (ModelErrorKind::RateLimited, Some(wait)));
    assert_eq!(error.message(), "slow down (before: `scripted`: no; `scripted`: no)");
}

#[tokio::test]
async fn an_agent_moves_on_without_a_pause_and_runs_the_calls_once() {
    let first = ScriptedModel::new().error(ModelError::from_status(503, "busy")).text("done");
    let second = ScriptedModel::new().call("add", "{\"a\": 1, \"b\": 2}");
    let model = Fallback::new(first).or(second);
    let agent = Agent::builder(model).tools(crate::support::tools()).retry(ModelRetry::never());
    let output = agent.build().unwrap().run("hi").await.unwrap();
    assert_eq!((output.text.as_str(), output.model_calls, output.tool_calls), ("done", 2, 1));
}

#[tokio::test]
async fn boxed_models_are_the_same_models() {
    let scripted = ScriptedModel::new().text("one").text("two");
    let model: BoxModel = scripted.clone().boxed().boxed();
    assert_eq!(model.name(), "scripted");
    let models: Vec<BoxModel> = vec![model.clone(), model];
    assert_eq!(models[0].respond(request()).await.unwrap().message.text, "one");
    assert_eq!(models[1].stream(request()).await.unwrap().collect().await.unwrap().message.text, "two");
    assert_eq!(scripted.requests().len(), 2);
}
