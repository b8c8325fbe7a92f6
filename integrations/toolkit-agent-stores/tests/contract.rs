//! The contract of a store; yours may be checked by a copy of this file.

use serde_json::Value;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use toolkit_agent::session::{ConversationKey, ConversationLog, ConversationStore, StateScope};

/// Checks a store, which `open` opens again like another program.
pub(crate) async fn check<S: ConversationStore>(open: impl AsyncFn() -> S) {
    let ids =
        ["1", "../1", "A", "a", "", "con", "a/b\\c:d*e?f\"g<h>i|j", "ä\u{1F600}\0", &"long ".repeat(100)];
    let store = open().await;
    assert!(store.load(ConversationKey { user: "ada", id: "1" }).await.unwrap().is_none());
    assert!(store.list("ada").await.unwrap().is_empty());
    for user in ["ada", "bob", ""] {
        for id in ids {
            let version = store
                .append(ConversationKey { user, id }, 0, &format!("\"{user} {}\"", id.escape_debug()))
                .await
                .unwrap();
            assert!(version > 0);
            assert!(
                store.append(ConversationKey { user, id }, 0, "\"again\"").await.unwrap_err().is_conflict()
            );
            store.append(ConversationKey { user, id }, version, "[2]").await.unwrap();
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
            let log = store.load(ConversationKey { user, id }).await.unwrap().unwrap();
            assert_eq!(log.entries, [format!("\"{user} {}\"", id.escape_debug()), "[2]".to_owned()]);
        }
    }
    sleep(Duration::from_millis(20)).await;
    let log = store.load(ConversationKey { user: "ada", id: "a" }).await.unwrap().unwrap();
    let latest = store.append(ConversationKey { user: "ada", id: "a" }, log.version, "[3]").await.unwrap();
    assert_eq!(store.list("ada").await.unwrap()[0].id, "a");
    let other = open().await;
    let refused =
        other.append(ConversationKey { user: "ada", id: "a" }, log.version, "[4]").await.unwrap_err();
    assert!(refused.is_conflict() && refused.to_string().contains("`a`"), "{refused}");
    assert_eq!(
        other.load(ConversationKey { user: "ada", id: "a" }).await.unwrap().unwrap().entries[2..],
        ["[3]"]
    );
    other.append(ConversationKey { user: "ada", id: "a" }, latest, "[5]").await.unwrap();
    assert!(store.delete(ConversationKey { user: "ada", id: "a" }).await.unwrap());
    assert!(!store.delete(ConversationKey { user: "ada", id: "a" }).await.unwrap());
    assert!(store.load(ConversationKey { user: "ada", id: "a" }).await.unwrap().is_none());
    assert_eq!((store.list("ada").await.unwrap().len(), store.list("bob").await.unwrap().len()), (8, 9));
    assert!(
        store
            .append(ConversationKey { user: "ada", id: "a" }, latest, "[6]")
            .await
            .unwrap_err()
            .is_conflict()
    );
    assert!(!store.delete(ConversationKey { user: "ada", id: "a" }).await.unwrap());
    let mut created = store.append(ConversationKey { user: "ada", id: "a" }, 0, "[\"new\"]").await.unwrap();
    for entry in ["[2]", "[3]", "[5]"] {
        assert!(
            store
                .append(ConversationKey { user: "ada", id: "a" }, latest, "[6]")
                .await
                .unwrap_err()
                .is_conflict()
        );
        created = store.append(ConversationKey { user: "ada", id: "a" }, created, entry).await.unwrap();
    }
    assert!(
        store
            .append(ConversationKey { user: "ada", id: "a" }, latest, "[6]")
            .await
            .unwrap_err()
            .is_conflict()
    );
    assert!(store.delete(ConversationKey { user: "ada", id: "a" }).await.unwrap());

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
    // The deepest value of sessions can be read again.
    let deep = (0..126).fold(Value::from("ü\0"), |inner, _| vec![inner].into());
    store.update_state(StateScope::App, &[("deep".to_owned(), Some(deep.clone()))].into()).await.unwrap();
    assert_eq!(open().await.load_state(StateScope::App).await.unwrap()["deep"], deep);
    let other = open().await;
    check_replacements(&store, &other).await;
    check_races(&store, &other).await;
    check_drops(&store, &other).await;
}

/// Checks that a log is replaced only at its version, and old versions are gone.
async fn check_replacements<S: ConversationStore>(store: &S, other: &S) {
    let first = store.replace(ConversationKey { user: "ada", id: "r" }, 0, "[1]").await.unwrap();
    assert!(first > 0);
    assert!(
        store.replace(ConversationKey { user: "ada", id: "r" }, 0, "[7]").await.unwrap_err().is_conflict()
    );
    assert!(
        store
            .replace(ConversationKey { user: "ada", id: "none" }, first, "[7]")
            .await
            .unwrap_err()
            .is_conflict()
    );
    let second = store.append(ConversationKey { user: "ada", id: "r" }, first, "[2]").await.unwrap();
    assert!(
        other
            .replace(ConversationKey { user: "ada", id: "r" }, first, "[7]")
            .await
            .unwrap_err()
            .is_conflict()
    );
    assert_eq!(
        store.load(ConversationKey { user: "ada", id: "r" }).await.unwrap().unwrap().entries,
        ["[1]", "[2]"]
    );
    let third = other.replace(ConversationKey { user: "ada", id: "r" }, second, "[3]").await.unwrap();
    assert_eq!(
        store.load(ConversationKey { user: "ada", id: "r" }).await.unwrap(),
        Some(ConversationLog::new(vec!["[3]".to_owned()], third))
    );
    for version in [0, first, second] {
        assert!(
            store
                .append(ConversationKey { user: "ada", id: "r" }, version, "[7]")
                .await
                .unwrap_err()
                .is_conflict()
        );
    }
    // The new log has the old one's length.
    let fourth = store.replace(ConversationKey { user: "ada", id: "r" }, third, "[4]").await.unwrap();
    assert!(
        other.append(ConversationKey { user: "ada", id: "r" }, third, "[7]").await.unwrap_err().is_conflict()
    );
    other.append(ConversationKey { user: "ada", id: "r" }, fourth, "[5]").await.unwrap();
    assert_eq!(
        store.load(ConversationKey { user: "ada", id: "r" }).await.unwrap().unwrap().entries,
        ["[4]", "[5]"]
    );
    assert!(store.delete(ConversationKey { user: "ada", id: "r" }).await.unwrap());
}

/// Checks that one of two writers with the same version is told.
async fn check_races<S: ConversationStore>(store: &S, other: &S) {
    let mut version = 0;
    for _ in 0..50 {
        let (one, two) = tokio::join!(
            store.append(ConversationKey { user: "ada", id: "race" }, version, "[1]"),
            other.append(ConversationKey { user: "ada", id: "race" }, version, "[2]")
        );
        version = match (one, two) {
            (Ok(version), Err(error)) | (Err(error), Ok(version)) if error.is_conflict() => version,
            both => panic!("one of two appends at version {version} must be a conflict: {both:?}"),
        };
    }
    assert_eq!(
        store.load(ConversationKey { user: "ada", id: "race" }).await.unwrap().unwrap().entries.len(),
        50
    );
}

/// Checks that a dropped save is whole or missing, and blocks nothing.
async fn check_drops<S: ConversationStore>(store: &S, other: &S) {
    let mut version = store.append(ConversationKey { user: "ada", id: "drop" }, 0, "[0]").await.unwrap();
    for micros in 0..50 {
        let append = store.append(ConversationKey { user: "ada", id: "drop" }, version, "[1]");
        drop(timeout(Duration::from_micros(micros * 20), append).await);
        // An append in the background precedes this one or conflicts.
        version = match other.append(ConversationKey { user: "ada", id: "drop" }, version, "[2]").await {
            Ok(version) => version,
            Err(error) if error.is_conflict() => {
                other.load(ConversationKey { user: "ada", id: "drop" }).await.unwrap().unwrap().version
            }
            Err(error) => panic!("{error}"),
        };
        let log = store.load(ConversationKey { user: "ada", id: "drop" }).await.unwrap().unwrap();
        assert!(log.entries.iter().all(|entry| ["[0]", "[1]", "[2]"].contains(&entry.as_str())));
    }
}
