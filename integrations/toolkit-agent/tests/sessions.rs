//! Sessions and stores.

use crate::support::{agent, assert_sendable, tools, transcript};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use toolkit_agent::session::{ConversationLog, ConversationStore, MemoryStore, StateScope, StoreError};
use toolkit_agent::{Agent, AgentError, Message, RunOptions, ScriptedModel, Sessions};
use toolkit_core::context::SessionDelta;
use toolkit_core::{ClosureTool, ToolContext};

#[tokio::test]
async fn a_save_writes_only_the_changes() {
    let store = MemoryStore::new();
    let sessions = Sessions::new(store.clone());
    let agent = |answer: &str| {
        agent(ScriptedModel::new().call("add", r#"{"a": 1, "b": 2}"#).text(answer)).build().unwrap()
    };
    for number in 0..20 {
        let user = format!("question {number}");
        let answer = format!("answer {number}");
        sessions.run(&agent(&answer), "ada", "1", user).await.unwrap();
    }
    let size = async || {
        let log = store.load("ada", "1").await.unwrap().unwrap();
        log.entries.iter().map(String::len).sum::<usize>()
    };
    let before = size().await;
    sessions.run(&agent("the last answer"), "ada", "1", "the last question").await.unwrap();
    let grown = size().await - before;
    assert!(grown * 15 < before, "{grown} bytes after {before}");
    let conversation = sessions.open("ada", "1").await.unwrap();
    assert_eq!(conversation.messages().len(), 84);
    assert_eq!(conversation.messages()[83].to_text(), "the last answer");
    // Nothing changed, so nothing is written.
    let before = size().await;
    sessions.save(&mut sessions.open("ada", "1").await.unwrap()).await.unwrap();
    assert_eq!(size().await, before);
}

#[tokio::test]
async fn two_runs_in_one_conversation_do_not_overwrite_each_other() {
    let store = MemoryStore::new();
    let one = Sessions::new(store.clone());
    let other = Sessions::new(store);
    one.run(&remembers("a", "1"), "ada", "1", "first").await.unwrap();
    let mut stale = other.open("ada", "1").await.unwrap();
    one.run(&remembers("b", "2"), "ada", "1", "second").await.unwrap();
    let options = RunOptions::new().with_autosave(&other);
    let refused = remembers("c", "3").run_with(&mut stale, "third", options).await;
    assert!(matches!(refused.unwrap_err().error, AgentError::Store(error) if error.is_conflict));
    let saved = other.open("ada", "1").await.unwrap();
    let asked: Vec<_> =
        transcript(saved.messages()).into_iter().filter(|line| line.starts_with("user")).collect();
    assert_eq!(asked, ["user: first", "user: second"]);
    assert_eq!(saved.session().get("c"), None);
    // A clone is another writer, too.
    let mut opened = other.open("ada", "1").await.unwrap();
    let mut clone = opened.clone();
    opened.push(Message::user("third"));
    clone.push(Message::user("fourth"));
    other.save(&mut opened).await.unwrap();
    assert!(other.save(&mut clone).await.unwrap_err().is_conflict);
}

fn remembers(key: &str, value: &str) -> Agent {
    let call = format!(r#"{{"key": "{key}", "value": "{value}"}}"#);
    agent(ScriptedModel::new().call("set", call).text("done")).build().unwrap()
}

#[tokio::test]
async fn user_and_app_state_is_shared_and_saved() {
    let store = MemoryStore::new();
    let sessions = Sessions::new(store.clone());
    let open = sessions.open("ada", "open").await.unwrap();
    for (key, value) in [("own", "1"), ("user:name", "Ada"), ("app:currency", "EUR"), ("temp:step", "1")] {
        sessions.run(&remembers(key, value), "ada", "1", "go").await.unwrap();
    }
    assert_eq!(open.session().get("user:name"), Some("Ada".into()));
    let again = Sessions::new(store);
    let values = async |user: &str, id: &str| {
        let session = again.open(user, id).await.unwrap().session();
        ["own", "user:name", "app:currency", "temp:step"].map(|key| session.get(key).is_some())
    };
    assert_eq!(values("ada", "1").await, [true, true, true, false]);
    assert_eq!(values("ada", "2").await, [false, true, true, false]);
    assert_eq!(values("bob", "1").await, [false, false, true, false]);
}

#[tokio::test]
async fn programs_with_a_common_store_keep_each_others_changes() {
    let store = MemoryStore::new();
    let one = Sessions::new(store.clone());
    let other = Sessions::new(store);
    let mut in_one = one.open("ada", "1").await.unwrap();
    let mut in_other = other.open("ada", "2").await.unwrap();
    in_one.session().apply(&[("user:a".to_owned(), Some(1.into()))].into());
    in_other.session().apply(&[("user:b".to_owned(), Some(2.into()))].into());
    one.save(&mut in_one).await.unwrap();
    other.save(&mut in_other).await.unwrap();
    assert_eq!(in_one.session().get("user:b"), None);
    let again = one.open("ada", "3").await.unwrap().session();
    assert_eq!((again.get("user:a"), again.get("user:b")), (Some(1.into()), Some(2.into())));
    assert_eq!(in_one.session().get("user:b"), Some(2.into()));
}

#[tokio::test(start_paused = true)]
async fn a_run_resumes_after_a_crash_within_a_turn() {
    for streaming in [true, false] {
        let store = MemoryStore::new();
        let crashed = MemoryStore::new();
        let found = Arc::new(Mutex::new(None));
        let mut tools = tools();
        let look = {
            let store = store.clone();
            let crashed = crashed.clone();
            let found = found.clone();
            move |_: crate::support::Nothing, _: ToolContext| {
                let store = store.clone();
                let crashed = crashed.clone();
                let found = found.clone();
                async move {
                    sleep(Duration::from_millis(50)).await;
                    // The state after a crash at this point.
                    let mut version = 0;
                    for entry in store.load("ada", "1").await.unwrap().unwrap().entries {
                        version = crashed.append("ada", "1", version, &entry).await.unwrap();
                    }
                    let saved = Sessions::new(crashed).open("ada", "1").await.unwrap();
                    *found.lock().unwrap() = Some(saved);
                }
            }
        };
        tools.register(ClosureTool::with_context("look", "Looks.", look).unwrap()).unwrap();
        let model = ScriptedModel::new().call("add", r#"{"a": 1, "b": 2}"#).call("look", "{}").text("done");
        let agent = Agent::builder(model).tools(tools).streaming(streaming).build().unwrap();
        Sessions::new(store).run(&agent, "ada", "1", "go").await.unwrap();

        let mut saved = found.lock().unwrap().take().unwrap();
        saved.settle();
        assert_sendable(&saved);
        let unknown = "results: 3, Tool `look` was started, but the program stopped before it had a result. It may \
            have run; find out before calling it again";
        let expected = ["user: go", "agent:  calls add, look", unknown, "agent: I go on."];
        assert_eq!(transcript(saved.messages()), expected[..3]);
        let model = ScriptedModel::new().text("I go on.");
        let agent = Agent::builder(model).build().unwrap();
        let sessions = Sessions::new(crashed);
        sessions.resume(&agent, "ada", "1").await.unwrap();
        assert_eq!(transcript(sessions.open("ada", "1").await.unwrap().messages()), expected);
    }
}

/// A store that answers one second after it has saved values.
#[derive(Clone)]
struct Late(MemoryStore);

impl ConversationStore for Late {
    async fn load(&self, user: &str, id: &str) -> Result<Option<ConversationLog>, StoreError> {
        self.0.load(user, id).await
    }

    async fn append(&self, user: &str, id: &str, version: u64, entry: &str) -> Result<u64, StoreError> {
        self.0.append(user, id, version, entry).await
    }

    async fn replace(&self, user: &str, id: &str, version: u64, entry: &str) -> Result<u64, StoreError> {
        self.0.replace(user, id, version, entry).await
    }

    async fn list(&self, user: &str) -> Result<Vec<toolkit_agent::session::ConversationInfo>, StoreError> {
        self.0.list(user).await
    }

    async fn delete(&self, user: &str, id: &str) -> Result<bool, StoreError> {
        self.0.delete(user, id).await
    }

    async fn load_state(&self, scope: StateScope<'_>) -> Result<BTreeMap<String, Value>, StoreError> {
        self.0.load_state(scope).await
    }

    async fn update_state(&self, scope: StateScope<'_>, changes: &SessionDelta) -> Result<(), StoreError> {
        self.0.update_state(scope, changes).await?;
        sleep(Duration::from_secs(1)).await;
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_save_does_not_undo_later_values_of_other_programs() {
    for key in ["app:rate", "user:rate"] {
        let store = MemoryStore::new();
        let sessions = Sessions::new(Late(store.clone()));
        let mut conversation = sessions.open("ada", "1").await.unwrap();
        conversation.session().apply(&[(key.to_owned(), Some(2.into()))].into());
        let save = timeout(Duration::from_millis(500), sessions.save(&mut conversation));
        assert!(save.await.is_err());
        let other = Sessions::new(store.clone());
        let mut later = other.open("ada", "3").await.unwrap();
        later.session().apply(&[(key.to_owned(), Some(3.into()))].into());
        other.save(&mut later).await.unwrap();
        sleep(Duration::from_secs(2)).await;
        let mut again = sessions.open("ada", "2").await.unwrap();
        assert_eq!(again.session().get(key), Some(3.into()), "{key}");
        sessions.save(&mut again).await.unwrap();
        let saved = Sessions::new(store).open("ada", "3").await.unwrap();
        assert_eq!(saved.session().get(key), Some(3.into()), "{key}");
    }
}

/// A store whose first save of values panics.
#[derive(Clone)]
struct Panicking(MemoryStore, Arc<AtomicBool>);

impl ConversationStore for Panicking {
    async fn load(&self, user: &str, id: &str) -> Result<Option<ConversationLog>, StoreError> {
        self.0.load(user, id).await
    }

    async fn append(&self, user: &str, id: &str, version: u64, entry: &str) -> Result<u64, StoreError> {
        self.0.append(user, id, version, entry).await
    }

    async fn replace(&self, user: &str, id: &str, version: u64, entry: &str) -> Result<u64, StoreError> {
        self.0.replace(user, id, version, entry).await
    }

    async fn list(&self, user: &str) -> Result<Vec<toolkit_agent::session::ConversationInfo>, StoreError> {
        self.0.list(user).await
    }

    async fn delete(&self, user: &str, id: &str) -> Result<bool, StoreError> {
        self.0.delete(user, id).await
    }

    async fn load_state(&self, scope: StateScope<'_>) -> Result<BTreeMap<String, Value>, StoreError> {
        self.0.load_state(scope).await
    }

    async fn update_state(&self, scope: StateScope<'_>, changes: &SessionDelta) -> Result<(), StoreError> {
        assert!(self.1.swap(true, Ordering::Relaxed), "the first save fails");
        self.0.update_state(scope, changes).await
    }
}

#[tokio::test]
async fn a_store_that_panics_loses_no_entry() {
    let store = MemoryStore::new();
    let sessions = Sessions::new(Panicking(store.clone(), Arc::default()));
    let mut conversation = sessions.open("ada", "1").await.unwrap();
    conversation.push(Message::user("one"));
    conversation.session().apply(&[("user:rate".to_owned(), Some(2.into()))].into());
    assert!(sessions.save(&mut conversation).await.is_err());
    conversation.push(Message::user("two"));
    sessions.save(&mut conversation).await.unwrap();
    let saved = Sessions::new(store).open("ada", "1").await.unwrap();
    assert_eq!(saved.messages(), conversation.messages());
    assert_eq!(saved.session().get("user:rate"), Some(2.into()));
}

/// A store on a full disk.
struct Full;

impl ConversationStore for Full {
    async fn load(&self, _: &str, _: &str) -> Result<Option<ConversationLog>, StoreError> {
        Ok(None)
    }

    async fn append(&self, _: &str, _: &str, _: u64, _: &str) -> Result<u64, StoreError> {
        Err(StoreError::new("the disk is full"))
    }

    async fn replace(&self, _: &str, _: &str, _: u64, _: &str) -> Result<u64, StoreError> {
        Err(StoreError::new("the disk is full"))
    }

    async fn list(&self, _: &str) -> Result<Vec<toolkit_agent::session::ConversationInfo>, StoreError> {
        Ok(Vec::new())
    }

    async fn delete(&self, _: &str, _: &str) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn load_state(&self, _: StateScope<'_>) -> Result<BTreeMap<String, Value>, StoreError> {
        Ok(BTreeMap::new())
    }

    async fn update_state(&self, _: StateScope<'_>, _: &SessionDelta) -> Result<(), StoreError> {
        Ok(())
    }
}

#[tokio::test]
async fn a_failed_save_ends_the_run() {
    let model = ScriptedModel::new().text("Hello.");
    let agent = agent(model.clone()).build().unwrap();
    let sessions = Sessions::new(Full);
    let mut conversation = sessions.open("ada", "1").await.unwrap();
    let options = RunOptions::new().with_autosave(&sessions);
    let ended = agent.run_with(&mut conversation, "go", options).await;
    assert_eq!(ended.map_err(AgentError::from), Err(AgentError::Store(StoreError::new("the disk is full"))));
    assert!(model.requests().is_empty());
}
