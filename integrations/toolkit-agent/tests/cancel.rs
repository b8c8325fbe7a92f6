//! Dropped and cancelled runs.

use crate::support::{Hesitant, agent, assert_sendable, cancelled_after, tools, transcript};
use futures_core::Stream;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;
use toolkit_agent::team::{ParallelAgent, SequentialAgent};
use toolkit_agent::{
    Agent, AgentError, ChatModel, Conversation, Limit, Limits, ModelError, ModelRequest, ModelResponse,
    ModelStream, RunOptions, ScriptedModel, StreamEvent,
};
use toolkit_core::{CancellationToken, ToolCall};

/// Polls a future a number of times. Returns `None` if it is still pending.
async fn polled<T>(future: impl Future<Output = T>, times: usize) -> Option<T> {
    let mut future = pin!(future);
    for _ in 0..times {
        let polled = poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await;
        if let Poll::Ready(done) = polled {
            return Some(done);
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    None
}

fn script() -> ScriptedModel {
    ScriptedModel::new()
        .call("add", r#"{"a": 1, "b": 2}"#)
        .call("wait", r#"{"ms": 5}"#)
        .call("set", r#"{"key": "a", "value": "1"}"#)
        .then()
        .call("fail", "{}")
        .text("done")
}

/// Creates an agent, streamed or not, or a team of it.
fn team(kind: usize) -> Agent {
    let one = |name: &str| agent(Hesitant(script())).name(name).streaming(kind != 1).build().unwrap();
    match kind {
        0 | 1 => one("one"),
        2 => SequentialAgent::new("team", [one("one"), one("other")]).into(),
        3 => ParallelAgent::new("team", [one("one"), one("other")]).into(),
        _ => {
            let mut tools = tools();
            tools.register(one("one").to_tool().unwrap()).unwrap();
            let model = ScriptedModel::new().call("one", r#"{"request": "Well?"}"#).text("done");
            Agent::builder(Hesitant(model)).tools(tools).build().unwrap()
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_may_be_dropped_at_any_await() {
    for kind in 0..5 {
        let mut has_ended = false;
        for times in 0..500 {
            let mut conversation = Conversation::new("1");
            let output = polled(team(kind).run_in(&mut conversation, "go"), times).await;
            // A restarted program loads this.
            let saved = serde_json::to_string(&conversation).unwrap();
            let saved: Conversation = serde_json::from_str(&saved).unwrap();
            for mut conversation in [conversation, saved] {
                if conversation.messages().is_empty() {
                    // The run has not begun.
                    assert_eq!(times, 0);
                    continue;
                }
                conversation.abandon();
                assert_sendable(&conversation);
                let again = agent(ScriptedModel::new().text("again")).build().unwrap();
                let resumed = again.resume(&mut conversation, RunOptions::new()).await.unwrap();
                // A conversation with its answer is finished.
                let is_answer = resumed.text.starts_with("done");
                assert_eq!(resumed.text == "again", output.is_none(), "{}", resumed.text);
                assert_eq!(is_answer, output.is_some(), "{}", resumed.text);
                assert_sendable(&conversation);
            }
            if let Some(output) = output {
                assert!(output.unwrap().text.starts_with("done"));
                has_ended = true;
                break;
            }
        }
        assert!(has_ended, "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_may_be_cancelled_at_any_await() {
    for kind in 0..5 {
        let mut has_ended = false;
        for times in 0..500 {
            let mut conversation = Conversation::new("1");
            let token = CancellationToken::new();
            let options = RunOptions::new().with_cancellation(token.clone());
            let agent = team(kind);
            let ended = {
                let mut run = pin!(agent.run_with(&mut conversation, "go", options));
                match polled(run.as_mut(), times).await {
                    Some(ended) => ended,
                    None => {
                        token.cancel();
                        let soon = tokio::time::timeout(Duration::from_millis(500), run);
                        soon.await.expect("a cancelled run ends")
                    }
                }
            };
            assert_sendable(&conversation);
            match ended {
                Err(failed) => assert_eq!(failed.error, AgentError::Cancelled),
                Ok(output) => {
                    assert!(output.text.starts_with("done"));
                    has_ended = true;
                    break;
                }
            }
        }
        assert!(has_ended, "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn results_before_a_cancellation_are_kept() {
    let model =
        ScriptedModel::new().call("set", r#"{"key": "a", "value": "1"}"#).call("wait", r#"{"ms": 60000}"#);
    let agent = agent(model).build().unwrap();
    let mut conversation = Conversation::new("1");
    let options = cancelled_after(Duration::from_secs(1));
    let ended = agent.run_with(&mut conversation, "go", options).await;
    assert_eq!(ended.map_err(AgentError::from), Err(AgentError::Cancelled));
    let results = transcript(conversation.messages()).pop().unwrap();
    assert_eq!(results, "results: remembered, Tool `wait` was cancelled before it finished");
    assert_eq!(conversation.session().get("a"), Some("1".into()));
}

/// A stream of one delta without an end.
struct Once(Option<Result<StreamEvent, ModelError>>);

impl Stream for Once {
    type Item = Result<StreamEvent, ModelError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.take().map_or(Poll::Pending, |piece| Poll::Ready(Some(piece)))
    }
}

/// A model with a tool call and no end.
struct Dozing;

impl ChatModel for Dozing {
    fn name(&self) -> &str {
        "dozing"
    }

    async fn respond(&self, _: ModelRequest) -> Result<ModelResponse, ModelError> {
        std::future::pending().await
    }

    async fn stream(&self, _: ModelRequest) -> Result<ModelStream, ModelError> {
        let call = ToolCall::new("1", "set", r#"{"key": "a", "value": "1"}"#);
        let first = Some(Ok(StreamEvent::Call(call)));
        Ok(ModelStream::new(Once(first)))
    }
}

#[tokio::test(start_paused = true)]
async fn results_during_a_stream_are_kept() {
    let agent = agent(Dozing).build().unwrap();
    let mut conversation = Conversation::new("1");
    let limits = Limits::default().with_max_duration(Duration::from_secs(1));
    let ended = agent.run_with(&mut conversation, "go", RunOptions::new().with_limits(limits)).await;
    assert!(matches!(ended.unwrap_err().error, AgentError::Limit(Limit::Duration(_))));
    assert_eq!(transcript(conversation.messages())[1..], ["agent:  calls set", "results: remembered"]);
    assert_eq!(conversation.session().get("a"), Some("1".into()));
}

#[tokio::test(start_paused = true)]
async fn a_pending_callback_is_cancelled() {
    let agent = agent(ScriptedModel::new().text("never")).before_model_async(|_| std::future::pending());
    let options = cancelled_after(Duration::from_secs(1));
    let mut conversation = Conversation::new("1");
    let ended = agent.build().unwrap().run_with(&mut conversation, "go", options).await;
    assert_eq!(ended.map_err(AgentError::from), Err(AgentError::Cancelled));
}
