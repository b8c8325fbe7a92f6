//! Dropped and cancelled runs.

use crate::support::Configured as _;
use crate::support::{agent, cancelled_after, transcript};
use std::time::Duration;
use toolkit_agent::{AgentError, Conversation};
use toolkit_llm::ScriptedModel;

#[tokio::test(start_paused = true)]
async fn results_before_a_cancellation_are_kept() {
    let model =
        ScriptedModel::new().call("set", r#"{"key": "a", "value": "1"}"#).call("wait", r#"{"ms": 60000}"#);
    let agent = agent(model).build().unwrap();
    let mut conversation = Conversation::new("1");
    let options = cancelled_after(Duration::from_secs(1));
    let ended = agent.run("go").on(&mut conversation).options(options).await;
    assert_eq!(ended.map_err(AgentError::from), Err(AgentError::Cancelled));
    let results = transcript(conversation.messages()).pop().unwrap();
    assert_eq!(results, "results: remembered, Tool `wait` was cancelled before it finished");
    assert_eq!(conversation.session().get("a"), Some("1".into()));
}

#[tokio::test(start_paused = true)]
async fn a_pending_callback_is_cancelled() {
    let agent = agent(ScriptedModel::new().text("never")).before_model_async(|_| std::future::pending());
    let options = cancelled_after(Duration::from_secs(1));
    let mut conversation = Conversation::new("1");
    let ended = agent.build().unwrap().run("go").on(&mut conversation).options(options).await;
    assert_eq!(ended.map_err(AgentError::from), Err(AgentError::Cancelled));
}
