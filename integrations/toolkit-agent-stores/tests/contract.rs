//! The contract of a store; yours may be checked by a copy of this file.

use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use toolkit_agent::session::{
    ConversationInfo, ConversationKey, ConversationLog, ConversationStore, InboxItem, Save, StateScope,
    StoreError, Summary,
};

/// Ids and texts that a store may confuse, escape or cut off.
const IDS: [&str; 9] =
    ["1", "../1", "A", "a", "", "con", "a/b\\c:d*e?f\"g<h>i|j", "ä\u{1F600}\0", "x.inbox\n\t'; --"];

/// Longer than two saves may differ in time.
const PAUSE: Duration = Duration::from_millis(20);

/// Checks an empty store, which `open` opens again like another program.
pub(crate) async fn check<S: ConversationStore>(open: impl AsyncFn() -> S) {
    check_logs(&open).await;
    check_values(&open).await;
    let (store, other) = (open().await, open().await);
    check_replacements(&store, &other).await;
    check_parts(&store, &other).await;
    check_lists(&store, &other).await;
    check_unfinished(&store, &other).await;
    check_inbox(&store, &other).await;
    check_taken(&store, &other).await;
    check_emptied(&store, &other).await;
    check_races(&store, &other).await;
    check_inbox_races(&store, &other).await;
    check_drops(&store, &other).await;
}

pub(crate) fn key<'a>(user: &'a str, id: &'a str) -> ConversationKey<'a> {
    ConversationKey { user, id }
}

/// Creates what lists tell of a conversation.
fn summary(title: &str, status: &Value) -> Summary {
    serde_json::from_value(json!({"title": title, "status": status})).unwrap()
}

/// Appends a save to the log of this version. `first` is the number of its first entry.
pub(crate) async fn append(
    store: &impl ConversationStore,
    key: ConversationKey<'_>,
    version: u64,
    first: u64,
    entries: &str,
) -> Result<u64, StoreError> {
    store.append(key, Save::new(version, entries, &Summary::default()).with_first(first)).await
}

pub(crate) async fn replace(
    store: &impl ConversationStore,
    key: ConversationKey<'_>,
    version: u64,
    entries: &str,
) -> Result<u64, StoreError> {
    store.replace(key, Save::new(version, entries, &Summary::default())).await
}

pub(crate) async fn load(store: &impl ConversationStore, key: ConversationKey<'_>) -> ConversationLog {
    store.load(key).await.unwrap().unwrap()
}

async fn is_conflict(changed: impl Future<Output = Result<u64, StoreError>>) -> bool {
    changed.await.unwrap_err().is_conflict()
}

fn ids(infos: &[ConversationInfo]) -> Vec<&str> {
    infos.iter().map(|info| info.id.as_str()).collect()
}

/// Checks that each conversation has its log, and each version of a log is there once.
async fn check_logs<S: ConversationStore>(open: &impl AsyncFn() -> S) {
    let long = "long ".repeat(100);
    let all: Vec<&str> = IDS.into_iter().chain([long.as_str()]).collect();
    let store = open().await;
    assert!(store.load(key("ada", "1")).await.unwrap().is_none());
    assert!(store.list("ada").await.unwrap().is_empty());
    for user in ["ada", "bob", ""] {
        for id in &all {
            let entries = format!("\"{user} {}\"", id.escape_debug());
            let version = append(&store, key(user, id), 0, 0, &entries).await.unwrap();
            assert!(version > 0);
            assert!(is_conflict(append(&store, key(user, id), 0, 0, "\"again\"")).await);
            append(&store, key(user, id), version, 1, "[2]").await.unwrap();
        }
    }
    let store = open().await;
    for user in ["ada", "bob", ""] {
        let infos = store.list(user).await.unwrap();
        assert!(infos.iter().all(|info| info.user == user));
        let (mut listed, mut expected) = (ids(&infos), all.clone());
        listed.sort_unstable();
        expected.sort_unstable();
        assert_eq!(listed, expected);
        for id in &all {
            let log = load(&store, key(user, id)).await;
            assert_eq!(log.entries, [format!("\"{user} {}\"", id.escape_debug()), "[2]".to_owned()]);
        }
    }
    sleep(PAUSE).await;
    let ada = key("ada", "a");
    let old = load(&store, ada).await.version;
    let latest = append(&store, ada, old, 2, "[3]").await.unwrap();
    assert_eq!(store.list("ada").await.unwrap()[0].id, "a");
    let other = open().await;
    let refused = append(&other, ada, old, 2, "[4]").await.unwrap_err();
    assert!(refused.is_conflict() && refused.to_string().contains("`a`"), "{refused}");
    assert_eq!(load(&other, ada).await.entries[2..], ["[3]"]);
    append(&other, ada, latest, 3, "[5]").await.unwrap();
    assert!(store.delete(ada).await.unwrap());
    assert!(!store.delete(ada).await.unwrap());
    assert!(store.load(ada).await.unwrap().is_none());
    assert_eq!((store.list("ada").await.unwrap().len(), store.list("bob").await.unwrap().len()), (9, 10));
    assert!(is_conflict(append(&store, ada, latest, 3, "[6]")).await);
    assert!(!store.delete(ada).await.unwrap());
    let mut created = append(&store, ada, 0, 0, "[\"new\"]").await.unwrap();
    for (first, entry) in [(1, "[2]"), (2, "[3]"), (3, "[5]")] {
        assert!(is_conflict(append(&store, ada, latest, 4, "[6]")).await);
        created = append(&store, ada, created, first, entry).await.unwrap();
    }
    assert!(is_conflict(append(&store, ada, latest, 4, "[6]")).await);
    assert!(store.delete(ada).await.unwrap());
}

/// Checks the session values of users and the application.
async fn check_values<S: ConversationStore>(open: &impl AsyncFn() -> S) {
    let store = open().await;
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
}

/// Checks that a log is replaced only at its version, and old versions are gone.
async fn check_replacements<S: ConversationStore>(store: &S, other: &S) {
    let log = key("ada", "r");
    let first = replace(store, log, 0, "[1]").await.unwrap();
    assert!(first > 0);
    assert!(is_conflict(replace(store, log, 0, "[7]")).await);
    assert!(is_conflict(replace(store, key("ada", "none"), first, "[7]")).await);
    let second = append(store, log, first, 1, "[2]").await.unwrap();
    assert!(is_conflict(replace(other, log, first, "[7]")).await);
    assert_eq!(load(store, log).await.entries, ["[1]", "[2]"]);
    let third = replace(other, log, second, "[3]").await.unwrap();
    assert_eq!(load(store, log).await, ConversationLog::new(vec!["[3]".to_owned()], third));
    for version in [0, first, second] {
        assert!(is_conflict(append(store, log, version, 1, "[7]")).await);
    }
    // The new log has the old one's length.
    let fourth = replace(store, log, third, "[4]").await.unwrap();
    assert!(is_conflict(append(other, log, third, 1, "[7]")).await);
    append(other, log, fourth, 1, "[5]").await.unwrap();
    assert_eq!(load(store, log).await.entries, ["[4]", "[5]"]);
    assert!(store.delete(log).await.unwrap());
}

/// The numbers of the first entries of the saves that [`check_parts`] loads.
pub(crate) const FIRST: [u64; 6] = [0, 1, 4, 5, 9, 20];

/// Appends saves that begin with the entries [`FIRST`].
pub(crate) async fn append_parts(store: &impl ConversationStore, log: ConversationKey<'_>) -> u64 {
    let mut version = 0;
    for first in FIRST {
        let entries = format!("[{first}, \"{}\"]", "x".repeat(usize::try_from(first).unwrap() * 1_000));
        version = append(store, log, version, first, &entries).await.unwrap();
    }
    version
}

/// Checks that a log loads from each entry on.
async fn check_parts<S: ConversationStore>(store: &S, other: &S) {
    let log = key("ada", "parts");
    assert!(store.load_from(log, 0).await.unwrap().is_none());
    let version = append_parts(store, log).await;
    let whole = load(other, log).await;
    for entry in 0..25 {
        let part = other.load_from(log, entry).await.unwrap().unwrap();
        assert_eq!(part.version, version);
        assert!(whole.entries.ends_with(&part.entries), "entry {entry}: {part:?}");
        let expected = FIRST.iter().filter(|first| **first > entry).count() + usize::from(entry <= 20);
        assert!(part.entries.len() >= expected, "entry {entry}: {part:?}");
    }
    replace(store, log, version, "[\"new\"]").await.unwrap();
    assert_eq!(other.load_from(log, 0).await.unwrap().unwrap().entries, ["[\"new\"]"]);
    assert!(store.delete(log).await.unwrap());
}

/// Checks the summary and the times of a conversation in lists.
async fn check_lists<S: ConversationStore>(store: &S, other: &S) {
    let [one, two] = ["one", "two"].map(|id| key("lists", id));
    let title = "ä\u{1F600}\0\n\t'\"";
    let ended = summary(
        title,
        &json!({"ended": {"run": "r1", "reason": {"failed": {"kind": "limit", "message": "\t"}}}}),
    );
    let version = store.append(one, Save::new(0, "[1]", &ended)).await.unwrap();
    let created = other.list("lists").await.unwrap().remove(0);
    assert_eq!((created.user.as_str(), created.id.as_str(), &created.summary), ("lists", "one", &ended));
    assert!(created.created_at <= created.saved_at && created.inbox == 0);
    sleep(PAUSE).await;
    append(store, two, 0, 0, "[1]").await.unwrap();
    assert_eq!(ids(&other.list("lists").await.unwrap()), ["two", "one"]);
    sleep(PAUSE).await;
    let idle = summary(&"long ".repeat(1_000), &json!("idle"));
    let version = store.append(one, Save::new(version, "[2]", &idle).with_first(1)).await.unwrap();
    let saved = other.list("lists").await.unwrap().remove(0);
    assert_eq!((saved.id.as_str(), &saved.summary), ("one", &idle));
    assert_eq!(saved.created_at, created.created_at);
    assert!(saved.saved_at > created.saved_at);
    sleep(PAUSE).await;
    other.replace(one, Save::new(version, "[3]", &ended)).await.unwrap();
    let replaced = store.list("lists").await.unwrap().remove(0);
    assert_eq!((&replaced.summary, replaced.created_at), (&ended, created.created_at));
    assert!(replaced.saved_at > saved.saved_at);
    store.put(one, "a", "1").await.unwrap();
    store.put(one, "b", "2").await.unwrap();
    let with_inbox = other.list("lists").await.unwrap();
    assert_eq!(with_inbox.iter().map(|info| info.inbox).collect::<Vec<_>>(), [2, 0]);
    assert_eq!(with_inbox[0].clone().with_inbox(0), replaced);
}

/// Checks which conversations are unfinished, of a user and of all.
async fn check_unfinished<S: ConversationStore>(store: &S, other: &S) {
    let call = json!({
        "id": "1.1.0", "agent": "cashier", "call": {"id": "c", "name": "pay", "arguments": "{\"€\": 3}"},
        "reason": {"type": "approval", "reason": "it costs money"},
    });
    let waiting = json!({"waiting": {"run": "r", "since": 1_795_763_229, "calls": [call]}});
    let working = json!({"working": {"run": "r", "attempt": 2}});
    let ended = json!({"ended": {"run": "r", "reason": "answered"}});
    let idle = json!("idle");
    let runs = [("works", &working), ("idle", &idle), ("waits", &waiting), ("ended", &ended)];
    for user in ["una", "ugo"] {
        for (id, status) in runs {
            let save = summary(id, status);
            store.append(key(user, id), Save::new(0, "[1]", &save)).await.unwrap();
            sleep(PAUSE).await;
        }
        store.put(key(user, "inbox"), "a", "1").await.unwrap();
        store.put(key(user, "ended"), "a", "1").await.unwrap();
    }
    let unfinished = other.unfinished(Some("una")).await.unwrap();
    let logs: Vec<&ConversationInfo> = unfinished.iter().filter(|info| info.id != "inbox").collect();
    let logs: Vec<(&str, usize)> = logs.iter().map(|info| (info.id.as_str(), info.inbox)).collect();
    assert_eq!(logs, [("works", 0), ("waits", 0), ("ended", 1)]);
    assert_eq!(
        unfinished.iter().find(|info| info.id == "waits").unwrap().summary,
        summary("waits", &waiting)
    );
    let only = unfinished.iter().find(|info| info.id == "inbox").unwrap();
    assert_eq!((only.user.as_str(), only.inbox, &only.summary), ("una", 1, &Summary::default()));
    assert_eq!(ids(&other.list("una").await.unwrap()), ["ended", "waits", "idle", "works"]);
    let all = other.unfinished(None).await.unwrap();
    for user in ["una", "ugo"] {
        let of_user: Vec<ConversationInfo> = all.iter().filter(|info| info.user == user).cloned().collect();
        assert_eq!(of_user, other.unfinished(Some(user)).await.unwrap());
        assert_eq!(of_user.len(), 4);
    }
    // It ends, and the inboxes are read.
    let version = load(other, key("una", "works")).await.version;
    let save = summary("works", &ended);
    other.append(key("una", "works"), Save::new(version, "[2]", &save).with_first(1)).await.unwrap();
    for id in ["inbox", "ended"] {
        let number = other.inbox(key("una", id)).await.unwrap()[0].number;
        assert!(other.take(key("una", id), number).await.unwrap());
    }
    assert_eq!(ids(&store.unfinished(Some("una")).await.unwrap()), ["waits"]);
    assert!(store.delete(key("una", "waits")).await.unwrap());
    assert!(store.unfinished(Some("una")).await.unwrap().is_empty());
    assert!(store.unfinished(Some("nobody")).await.unwrap().is_empty());
}

/// Checks that an inbox has each name once, in order, and needs no log.
async fn check_inbox<S: ConversationStore>(store: &S, other: &S) {
    let long = "long ".repeat(10_000);
    for id in IDS {
        let inbox = key("inbox", id);
        assert!(store.inbox(inbox).await.unwrap().is_empty());
        assert!(!store.take(inbox, 1).await.unwrap());
        let mut items: Vec<InboxItem> = Vec::new();
        for (name, content) in [("b", "[1]"), ("a", long.as_str()), ("", ""), ("ä\0\n\t'\"", "\"ä\0\n\t'")]
        {
            let item = store.put(inbox, name, content).await.unwrap();
            assert_eq!((item.name.as_str(), item.content.as_str()), (name, content));
            assert!(items.last().is_none_or(|last| last.number < item.number));
            items.push(item);
        }
        // The first of a name stays.
        assert_eq!(other.put(inbox, "b", "[2]").await.unwrap(), items[0]);
        assert_eq!(other.inbox(inbox).await.unwrap(), items);
        assert!(store.load(inbox).await.unwrap().is_none());
        assert!(store.load_from(inbox, 0).await.unwrap().is_none());
        // Numbers belong to one conversation.
        assert!(!store.take(key("inbox", "none"), items[0].number).await.unwrap());
        assert!(!store.take(key("none", id), items[0].number).await.unwrap());
        assert!(other.take(inbox, items[1].number).await.unwrap());
        assert!(!store.take(inbox, items[1].number).await.unwrap());
        items.remove(1);
        assert_eq!(store.inbox(inbox).await.unwrap(), items);
        let again = store.put(inbox, "a", "[3]").await.unwrap();
        assert!(again.number > items[2].number && again.content == "[3]");
    }
    assert!(store.list("inbox").await.unwrap().is_empty());
    assert_eq!(store.unfinished(Some("inbox")).await.unwrap().len(), IDS.len());
}

/// Checks that a save takes items up, and a conflict takes none.
async fn check_taken<S: ConversationStore>(store: &S, other: &S) {
    let log = key("taken", "1");
    let idle = Summary::default();
    let mut items = Vec::new();
    for name in ["a", "b", "c"] {
        items.push(store.put(log, name, name).await.unwrap());
    }
    let numbers: Vec<u64> = items.iter().map(|item| item.number).collect();
    let first = Save::new(0, "[1]", &idle).with_taken(&numbers[1..2]);
    let version = other.append(log, first).await.unwrap();
    assert_eq!(store.inbox(log).await.unwrap(), [items[0].clone(), items[2].clone()]);
    assert_eq!(store.list("taken").await.unwrap()[0].inbox, 2);
    for old in [0, version + 1] {
        assert!(is_conflict(store.append(log, Save::new(old, "[7]", &idle).with_taken(&numbers))).await);
        assert!(is_conflict(store.replace(log, Save::new(old, "[7]", &idle).with_taken(&numbers))).await);
    }
    assert_eq!(other.inbox(log).await.unwrap().len(), 2);
    assert!(!store.take(log, numbers[1]).await.unwrap());
    // An item that is no longer there changes nothing.
    let version =
        store.append(log, Save::new(version, "[2]", &idle).with_first(1).with_taken(&numbers)).await;
    assert!(other.inbox(log).await.unwrap().is_empty());
    let again = other.put(log, "b", "again").await.unwrap();
    assert!(again.number > numbers[2] && again.content == "again");
    let version = append(store, log, version.unwrap(), 2, "[3]").await.unwrap();
    assert_eq!(store.inbox(log).await.unwrap(), [again.clone()]);
    // Each conversation has an inbox of its own.
    let taken = [again.number];
    store.append(key("taken", "2"), Save::new(0, "[1]", &idle).with_taken(&taken)).await.unwrap();
    append(store, log, version, 3, "[4]").await.unwrap();
    assert_eq!(store.inbox(log).await.unwrap(), [again]);
    assert_eq!(load(store, log).await.entries, ["[1]", "[2]", "[3]", "[4]"]);
}

/// Checks that a log that is replaced or deleted loses its inbox, and numbers still grow.
async fn check_emptied<S: ConversationStore>(store: &S, other: &S) {
    let log = key("emptied", "1");
    let mut latest = store.put(log, "a", "1").await.unwrap().number;
    let mut version = append(store, log, 0, 0, "[1]").await.unwrap();
    for round in 0..6 {
        let item = store.put(log, "b", "2").await.unwrap();
        assert!(item.number > latest, "round {round}");
        latest = item.number;
        version = if round % 2 == 0 {
            replace(other, log, version, "[2]").await.unwrap()
        } else {
            assert!(other.delete(log).await.unwrap());
            assert!(other.inbox(log).await.unwrap().is_empty());
            // An inbox is no log.
            let item = store.put(log, "a", "1").await.unwrap();
            assert!(item.number > latest, "round {round}");
            latest = item.number;
            assert!(!other.delete(log).await.unwrap());
            append(store, log, 0, 0, "[1]").await.unwrap()
        };
        assert!(store.inbox(log).await.unwrap().is_empty(), "round {round}");
        assert!(store.unfinished(Some("emptied")).await.unwrap().is_empty());
    }
}

/// Checks that one of two writers with the same version is told.
async fn check_races<S: ConversationStore>(store: &S, other: &S) {
    let log = key("ada", "race");
    let mut version = 0;
    for round in 0..50 {
        let both = tokio::join!(
            append(store, log, version, round, "[1]"),
            append(other, log, version, round, "[2]")
        );
        version = match both {
            (Ok(version), Err(error)) | (Err(error), Ok(version)) if error.is_conflict() => version,
            both => panic!("one of two appends at version {version} must be a conflict: {both:?}"),
        };
    }
    assert_eq!(load(store, log).await.entries.len(), 50);
}

/// Checks that of two items with the same name, one is there, and that a save loses none beside it.
async fn check_inbox_races<S: ConversationStore>(store: &S, other: &S) {
    let log = key("ada", "put");
    let idle = Summary::default();
    let mut version = 0;
    for round in 0..30 {
        let (one, two) = tokio::join!(store.put(log, "a", "1"), other.put(log, "a", "2"));
        let item = one.unwrap();
        assert_eq!(two.unwrap(), item, "round {round}");
        let taken = [item.number];
        let save = Save::new(version, "[1]", &idle).with_first(round).with_taken(&taken);
        let (appended, put) = tokio::join!(store.append(log, save), other.put(log, "b", "3"));
        version = appended.unwrap();
        let put = put.unwrap();
        assert_eq!(other.inbox(log).await.unwrap(), [put.clone()], "round {round}");
        let taken = tokio::join!(store.take(log, put.number), other.take(log, put.number));
        assert_ne!(taken.0.unwrap(), taken.1.unwrap(), "round {round}");
    }
}

/// Checks that a dropped save is whole or missing, and blocks nothing.
async fn check_drops<S: ConversationStore>(store: &S, other: &S) {
    let log = key("ada", "drop");
    let mut version = append(store, log, 0, 0, "[0]").await.unwrap();
    for micros in 0..50 {
        let first = micros + 1;
        let wait = Duration::from_micros(micros * 20);
        drop(timeout(wait, append(store, log, version, first, "[1]")).await);
        drop(timeout(wait, store.put(log, "a", "1")).await);
        // An append in the background precedes this one or conflicts.
        version = match append(other, log, version, first, "[2]").await {
            Ok(version) => version,
            Err(error) if error.is_conflict() => load(other, log).await.version,
            Err(error) => panic!("{error}"),
        };
        let entries = load(store, log).await.entries;
        assert!(entries.iter().all(|entry| ["[0]", "[1]", "[2]"].contains(&entry.as_str())));
        other.put(log, "a", "2").await.unwrap();
        assert_eq!(other.inbox(log).await.unwrap().len(), 1);
    }
}
