//! Deletion from the log of what its conversation lost.

use crate::support::says;
use toolkit_agent::guardrail::{Guardrail, Verdict};
use toolkit_agent::session::{ConversationKey, ConversationStore, MemoryStore};
use toolkit_agent::{Agent, Sessions};
use toolkit_llm::{ScriptedModel, UserMessage};

#[tokio::test]
async fn an_erased_log_contains_only_the_conversation() {
    let store = MemoryStore::new();
    let sessions = Sessions::new(store.clone());
    let guard = Guardrail::new("secrets", |input: &UserMessage, _| {
        if input.to_text().contains("secret") { Verdict::Block("No.".to_owned()) } else { Verdict::Pass }
    });
    let agent = Agent::builder(ScriptedModel::new()).guardrail(guard).build().unwrap();
    agent.run("my secret").on(sessions.user("ada").conversation("1")).await.unwrap();
    let log = || async {
        store.load(ConversationKey { user: "ada", id: "1" }).await.unwrap().unwrap().entries.join("\n")
    };
    assert!(log().await.contains("my secret"));
    let mut conversation = sessions.user("ada").conversation("1").open().await.unwrap();
    let mut other = sessions.user("ada").conversation("1").open().await.unwrap();
    sessions.erase(&mut conversation).await.unwrap();
    assert!(!log().await.contains("my secret"));
    // The erased conversation and one loaded from the log go on.
    says("one", "Hi.").run("Hello.").on(&mut conversation).await.unwrap();
    sessions.save(&mut conversation).await.unwrap();
    let loaded = sessions.user("ada").conversation("1").open().await.unwrap();
    assert_eq!(loaded.messages(), conversation.messages());
    says("one", "Bye.").run("Goodbye.").on(sessions.user("ada").conversation("1")).await.unwrap();
    // A program that missed the erasure brings nothing back.
    let late = sessions.erase(&mut other).await.unwrap_err();
    assert!(late.is_conflict(), "{late}");
}
