//! Sessions and stores.

use crate::support::{agent, assert_sendable, tools, transcript};
use std::sync::{Arc, Mutex};
use toolkit_agent::session::{ConversationStore, MemoryStore, StateScope, StoreError};
use toolkit_agent::{Agent, AgentError, Conversation, Message, RunOptions, ScriptedModel, Sessions};
use toolkit_core::{ClosureTool, ToolContext};

/// Checks the contract of a store. `open` opens the same store again, like another program.
async fn check<S: ConversationStore>(open: impl AsyncFn() -> S) {
    let ids =
        ["1", "../1", "A", "a", "", "con", "a/b\\c:d*e?f\"g<h>i|j", "ä\u{1F600}\0", &"long ".repeat(100)];
    let store = open().await;
    assert!(store.load("ada", "1").await.unwrap().is_none());
    assert!(store.list("ada").await.unwrap().is_empty());
    for user in ["ada", "bob", ""] {
        for id in ids {
            let mut conversation = Conversation::new(id).with_user_id(user);
            conversation.push(Message::user(format!("{user} {id}")));
            conversation.session().apply(&[("key".to_owned(), Some(id.into()))].into());
            store.save(&conversation).await.unwrap();
        }
    }
    let store = open().await;
    for user in ["ada", "bob", ""] {
        let mut listed: Vec<String> =
            store.list(user).await.unwrap().into_iter().map(|info| info.id).collect();
        let mut expected: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        listed.sort();
        expected.sort();
        assert_eq!(listed, expected);
        for id in ids {
            let conversation = store.load(user, id).await.unwrap().unwrap();
            assert_eq!((conversation.user_id(), conversation.id()), (user, id));
            assert_eq!(conversation.messages()[0].to_text(), format!("{user} {id}"));
            assert_eq!(conversation.session().get("key"), Some(id.into()));
        }
    }
    // The latest comes first.
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    store.save(&Conversation::new("a").with_user_id("ada")).await.unwrap();
    assert_eq!(store.list("ada").await.unwrap()[0].id, "a");
    assert!(store.load("ada", "a").await.unwrap().unwrap().messages().is_empty());
    assert!(store.delete("ada", "a").await.unwrap());
    assert!(!store.delete("ada", "a").await.unwrap());
    assert!(store.load("ada", "a").await.unwrap().is_none());
    assert_eq!((store.list("ada").await.unwrap().len(), store.list("bob").await.unwrap().len()), (8, 9));

    let owners = [StateScope::App, StateScope::User("ada"), StateScope::User("")];
    for (number, owner) in owners.into_iter().enumerate() {
        let set = [("n".to_owned(), Some(number.into())), ("gone".to_owned(), Some("soon".into()))];
        store.update_state(owner, &set.into()).await.unwrap();
        let change = [("gone".to_owned(), None), ("s".to_owned(), Some("ü".into()))];
        store.update_state(owner, &change.into()).await.unwrap();
    }
    let store = open().await;
    for (number, owner) in owners.into_iter().enumerate() {
        let expected = [("n".to_owned(), number.into()), ("s".to_owned(), "ü".into())];
        assert_eq!(store.load_state(owner).await.unwrap(), expected.into());
    }
    assert!(store.load_state(StateScope::User("bob")).await.unwrap().is_empty());
}

#[tokio::test]
async fn memory_store_keeps_conversations() {
    let store = MemoryStore::new();
    check(async || store.clone()).await;
}

#[cfg(feature = "files")]
#[tokio::test]
async fn file_store_keeps_conversations() {
    let folder = tempfile::tempdir().unwrap();
    check(async || toolkit_agent::session::FileStore::new(folder.path().join("deep/er"))).await;
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn sqlite_store_keeps_conversations() {
    let folder = tempfile::tempdir().unwrap();
    check(async || toolkit_agent::session::SqliteStore::open(folder.path().join("a.db")).await.unwrap())
        .await;
}

#[cfg(feature = "files")]
#[tokio::test]
async fn files_are_replaced_atomically() {
    let folder = tempfile::tempdir().unwrap();
    let store = toolkit_agent::session::FileStore::new(folder.path());
    let writing = {
        let store = store.clone();
        tokio::spawn(async move {
            for number in 0..50 {
                let mut conversation = Conversation::new("1").with_user_id("ada");
                conversation.push(Message::user("x".repeat(number * 1_000)));
                store.save(&conversation).await.unwrap();
            }
        })
    };
    while !writing.is_finished() {
        if let Some(conversation) = store.load("ada", "1").await.unwrap() {
            assert_eq!(conversation.messages().len(), 1);
        }
        tokio::task::yield_now().await;
    }
    writing.await.unwrap();
    // No temporary file is left, and an invalid file is an error.
    let files = || std::fs::read_dir(folder.path().join("conversations/ada")).unwrap().count();
    assert_eq!(files(), 1);
    std::fs::write(folder.path().join("conversations/ada/2.json"), "{\"id\": \"2\", \"mess").unwrap();
    let error = store.load("ada", "2").await.unwrap_err().message;
    assert!(error.contains("2.json` cannot be parsed"), "{error}");
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
    let (one, other) = (Sessions::new(store.clone()), Sessions::new(store));
    let (in_one, in_other) = (one.open("ada", "1").await.unwrap(), other.open("ada", "2").await.unwrap());
    in_one.session().apply(&[("user:a".to_owned(), Some(1.into()))].into());
    in_other.session().apply(&[("user:b".to_owned(), Some(2.into()))].into());
    one.save(&in_one).await.unwrap();
    other.save(&in_other).await.unwrap();
    assert_eq!(in_one.session().get("user:b"), None);
    let again = one.open("ada", "3").await.unwrap().session();
    assert_eq!((again.get("user:a"), again.get("user:b")), (Some(1.into()), Some(2.into())));
    assert_eq!(in_one.session().get("user:b"), Some(2.into()));
}

#[tokio::test(start_paused = true)]
async fn a_run_resumes_after_a_crash_within_a_turn() {
    for streaming in [true, false] {
        let (store, crashed) = (MemoryStore::new(), MemoryStore::new());
        let found = Arc::new(Mutex::new(None));
        let mut tools = tools();
        let look = {
            let (store, crashed, found) = (store.clone(), crashed.clone(), found.clone());
            move |_: crate::support::Nothing, _: ToolContext| {
                let (store, crashed, found) = (store.clone(), crashed.clone(), found.clone());
                async move {
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                    // The state after a crash at this point.
                    let saved = store.load("ada", "1").await.unwrap().unwrap();
                    crashed.save(&saved).await.unwrap();
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
        let expected = [
            "user: go",
            "agent:  calls add, look",
            "results: 3, Tool `look` was cancelled before it finished",
            "agent: I go on.",
        ];
        assert_eq!(transcript(saved.messages()), expected[..3]);
        let model = ScriptedModel::new().text("I go on.");
        let agent = Agent::builder(model).build().unwrap();
        let sessions = Sessions::new(crashed);
        sessions.resume(&agent, "ada", "1").await.unwrap();
        assert_eq!(transcript(sessions.open("ada", "1").await.unwrap().messages()), expected);
    }
}

/// A store on a full disk.
struct Full;

impl ConversationStore for Full {
    async fn load(&self, _: &str, _: &str) -> Result<Option<Conversation>, StoreError> {
        Ok(None)
    }

    async fn save(&self, _: &Conversation) -> Result<(), StoreError> {
        Err(StoreError::new("the disk is full"))
    }

    async fn list(&self, _: &str) -> Result<Vec<toolkit_agent::session::ConversationInfo>, StoreError> {
        Ok(Vec::new())
    }

    async fn delete(&self, _: &str, _: &str) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn load_state(
        &self,
        _: StateScope<'_>,
    ) -> Result<std::collections::BTreeMap<String, serde_json::Value>, StoreError> {
        Ok(std::collections::BTreeMap::new())
    }

    async fn update_state(
        &self,
        _: StateScope<'_>,
        _: &toolkit_core::context::SessionDelta,
    ) -> Result<(), StoreError> {
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
    assert_eq!(ended, Err(AgentError::Store(StoreError::new("the disk is full"))));
    assert!(model.requests().is_empty());
}
