//! Limits of a run.

use crate::support::{agent, assert_sendable, transcript};
use std::time::Duration;
use toolkit_agent::{
    AgentError, ChatModel, Conversation, Limit, Limits, ModelError, ModelErrorKind, ModelRequest,
    ModelResponse, ModelRetry, RunOptions, ScriptedModel, Usage,
};
use toolkit_core::ToolCall;

/// Creates a model with a tool call in every answer.
fn restless(tool: &'static str, arguments: &'static str) -> ScriptedModel {
    let next = std::sync::atomic::AtomicUsize::new(0);
    ScriptedModel::new().fallback(move |_| {
        let id = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let call = ToolCall::new(format!("call_{id}"), tool, arguments);
        Ok(ModelResponse::calls([call]).with_usage(Usage::new(60, 40)))
    })
}

async fn limited(model: impl ChatModel, limits: Limits) -> (Result<String, AgentError>, Conversation) {
    let agent = agent(model).build().unwrap();
    let mut conversation = Conversation::new("1");
    let options = RunOptions::new().with_limits(limits);
    let output = agent.run_with(&mut conversation, "go", options).await;
    assert_sendable(&conversation);
    (output.map(|output| output.text).map_err(AgentError::from), conversation)
}

#[tokio::test]
async fn model_calls_are_limited() {
    let model = restless("add", r#"{"a": 1, "b": 2}"#);
    let (ended, conversation) = limited(model.clone(), Limits::default().with_max_model_calls(3)).await;
    assert_eq!(ended, Err(AgentError::Limit(Limit::ModelCalls(3))));
    assert_eq!((model.requests().len(), conversation.messages().len()), (3, 7));
}

#[tokio::test]
async fn tool_calls_are_limited() {
    let model = ScriptedModel::new()
        .call("add", r#"{"a": 1, "b": 2}"#)
        .call("add", r#"{"a": 2, "b": 2}"#)
        .call("add", r#"{"a": 3, "b": 2}"#)
        .text("So be it.");
    let (ended, conversation) = limited(model, Limits::default().with_max_tool_calls(2)).await;
    assert_eq!(ended.unwrap(), "So be it.");
    let results = &transcript(conversation.messages())[2];
    assert!(results.starts_with("results: 3, 4, The limit of tool calls is reached"), "{results}");
}

#[tokio::test]
async fn tokens_are_limited() {
    let limits = Limits::default().with_max_tokens(250);
    let (ended, _) = limited(restless("add", r#"{"a": 1, "b": 2}"#), limits).await;
    assert_eq!(ended, Err(AgentError::Limit(Limit::Tokens(250))));
}

#[tokio::test(start_paused = true)]
async fn the_duration_of_a_run_is_limited() {
    let most = Duration::from_secs(2);
    let limits = Limits::default().with_max_duration(most);
    let over = Err(AgentError::Limit(Limit::Duration(most)));
    for ms in ["{\"ms\": 900}", "{\"ms\": 100000}"] {
        let started = tokio::time::Instant::now();
        let (ended, conversation) = limited(restless("wait", ms), limits.clone()).await;
        assert_eq!((ended, started.elapsed()), (over.clone(), most));
        let last = transcript(conversation.messages()).pop().unwrap();
        assert_eq!(last, "results: Tool `wait` was cancelled before it finished");
    }
    // The limit applies to a retry pause as well.
    let later =
        ModelError::new(ModelErrorKind::RateLimited, "later").with_retry_after(Duration::from_secs(30));
    let agent = agent(ScriptedModel::new().error(later)).retry(ModelRetry::new(3)).limits(limits);
    let started = tokio::time::Instant::now();
    assert_eq!(agent.run("go").await.map_err(AgentError::from), over.map(|_: String| unreachable!()));
    assert_eq!(started.elapsed(), most);
}

struct Silent;

impl ChatModel for Silent {
    fn name(&self) -> &str {
        "silent"
    }

    async fn respond(&self, _: ModelRequest) -> Result<ModelResponse, ModelError> {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn model_calls_time_out() {
    let (ended, _) = limited(Silent, Limits::default().with_model_timeout(Duration::from_millis(500))).await;
    let Err(AgentError::Model(error)) = ended else { panic!() };
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ModelErrorKind::TimedOut, "LLM call timed out after 0.5s")
    );
}
