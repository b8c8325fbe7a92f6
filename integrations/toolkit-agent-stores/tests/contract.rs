//! The contract of a store; yours may be checked by a copy of this file.

use serde_json::{Value, json};
use std::sync::LazyLock;
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

/// Creates a save of a conversation without a run. `first` is the number of its first entry.
pub(crate) fn save(version: u64, first: u64, entries: &str) -> Save<'_> {
    static IDLE: LazyLock<Summary> = LazyLock::new(Summary::default);
    Save::new(version, entries, &IDLE).with_first(first)
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
            let version = store.append(key(user, id), save(0, 0, &entries)).await.unwrap();
            assert!(version > 0);
            assert!(is_conflict(store.append(key(user, id), save(0, 0, "\"again\""))).await);
            store.append(key(user, id), save(version, 1, "[2]")).await.unwrap();
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
    let latest = store.append(ada, save(old, 2, "[\t3]")).await.unwrap();
    assert_eq!(store.list("ada").await.unwrap()[0].id, "a");
    let other = open().await;
    let refused = other.append(ada, save(old, 2, "[4]")).await.unwrap_err();
    assert!(refused.is_conflict() && refused.to_string().contains("`a`"), "{refused}");
    assert_eq!(load(&other, ada).await.entries[2..], ["[\t3]"]);
    other.append(ada, save(latest, 3, "[5]")).await.unwrap();
    assert!(store.delete(ada).await.unwrap());
    assert!(!store.delete(ada).await.unwrap());
    assert!(store.load(ada).await.unwrap().is_none());
    assert_eq!((store.list("ada").await.unwrap().len(), store.list("bob").await.unwrap().len()), (9, 10));
    assert!(is_conflict(store.append(ada, save(latest, 3, "[6]"))).await);
    assert!(!store.delete(ada).await.unwrap());
    let mut created = store.append(ada, save(0, 0, "[\"new\"]")).await.unwrap();
    for (first, entry) in [(1, "[2]"), (2, "[3]"), (3, "[5]")] {
        assert!(is_conflict(store.append(ada, save(latest, 4, "[6]"))).await);
        created = store.append(ada, save(created, first, entry)).await.unwrap();
    }
    assert!(is_conflict(store.append(ada, save(latest, 4, "[6]"))).await);
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
    let first = store.replace(log, save(0, 0, "[1]")).await.unwrap();
    assert!(first > 0);
    assert!(is_conflict(store.replace(log, save(0, 0, "[7]"))).await);
    assert!(is_conflict(store.replace(key("ada", "none"), save(first, 0, "[7]"))).await);
    let second = store.append(log, save(first, 1, "[2]")).await.unwrap();
    assert!(is_conflict(other.replace(log, save(first, 0, "[7]"))).await);
    assert_eq!(load(store, log).await.entries, ["[1]", "[2]"]);
    let third = other.replace(log, save(second, 0, "[3]")).await.unwrap();
    assert_eq!(load(store, log).await, ConversationLog::new(vec!["[3]".to_owned()], third));
    for version in [0, first, second] {
        assert!(is_conflict(store.append(log, save(version, 1, "[7]"))).await);
    }
    // The new log has the old one's length.
    let fourth = store.replace(log, save(third, 0, "[4]")).await.unwrap();
    assert!(is_conflict(other.append(log, save(third, 1, "[7]"))).await);
    other.append(log, save(fourth, 1, "[5]")).await.unwrap();
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
        version = store.append(log, save(version, first, &entries)).await.unwrap();
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
    store.replace(log, save(version, 0, "[\"new\"]")).await.unwrap();
    assert_eq!(other.load_from(log, 0).await.unwrap().unwrap().entries, ["[\"new\"]"]);
    assert!(store.delete(log).await.unwrap());
}

/// Checks the summary and the times of a conversation in lists.
async fn check_lists<S: ConversationStore>(store: &S, other: &S) {
    let [one, two] = ["one", "two"].map(|id| key("lists", id));
    let failed = json!({"ended": {"run": "r", "reason": {"failed": {"kind": "limit", "message": "\t"}}}});
    let ended = summary("ä\u{1F600}\0\n\t'\"", &failed);
    let version = store.append(one, Save::new(0, "[1]", &ended)).await.unwrap();
    let created = other.list("lists").await.unwrap().remove(0);
    assert_eq!((created.user.as_str(), created.id.as_str(), &created.summary), ("lists", "one", &ended));
    assert!(created.created_at <= created.saved_at && created.inbox == 0);
    sleep(PAUSE).await;
    store.append(two, save(0, 0, "[1]")).await.unwrap();
    assert_eq!(ids(&other.list("lists").await.unwrap()), ["two", "one"]);
    sleep(PAUSE).await;
    let idle = summary(&"long ".repeat(1_000), &json!("idle"));
    let version = store.append(one, Save::new(version, "[2]", &idle)).await.unwrap();
    let saved = other.list("lists").await.unwrap().remove(0);
    assert_eq!((saved.id.as_str(), &saved.summary), ("one", &idle));
    assert_eq!(saved.created_at, created.created_at);
    assert!(saved.saved_at > created.saved_at);
    other.replace(one, Save::new(version, "[3]", &ended)).await.unwrap();
    let replaced = store.list("lists").await.unwrap().remove(0);
    assert_eq!((&replaced.summary, replaced.created_at), (&ended, created.created_at));
    store.put(one, "a", "1").await.unwrap();
    store.put(one, "b", "2").await.unwrap();
    let with_inbox = other.list("lists").await.unwrap();
    assert_eq!(with_inbox.iter().map(|info| info.inbox).collect::<Vec<_>>(), [2, 0]);
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
    for user in ["una", "ugo"] {
        for (id, status) in [("works", &working), ("idle", &idle), ("waits", &waiting), ("ended", &ended)] {
            store.append(key(user, id), Save::new(0, "[1]", &summary(id, status))).await.unwrap();
            sleep(PAUSE).await;
        }
        store.put(key(user, "inbox"), "a", "1").await.unwrap();
        store.put(key(user, "ended"), "a", "1").await.unwrap();
    }
    // Without a log, the time of the last save is 1970.
    let unfinished = other.unfinished(Some("una")).await.unwrap();
    assert_eq!(ids(&unfinished), ["inbox", "works", "waits", "ended"]);
    assert_eq!(unfinished.iter().map(|info| info.inbox).collect::<Vec<_>>(), [1, 0, 0, 1]);
    assert_eq!(unfinished[0].summary, Summary::default());
    assert_eq!(unfinished[2].summary, summary("waits", &waiting));
    assert_eq!(ids(&other.list("una").await.unwrap()), ["ended", "waits", "idle", "works"]);
    let all = other.unfinished(None).await.unwrap();
    for user in ["una", "ugo"] {
        let of_user: Vec<ConversationInfo> = all.iter().filter(|info| info.user == user).cloned().collect();
        assert_eq!(of_user, other.unfinished(Some(user)).await.unwrap());
        assert_eq!(of_user.len(), 4);
    }
    // It ends, and the inboxes are read.
    let version = load(other, key("una", "works")).await.version;
    other.append(key("una", "works"), Save::new(version, "[2]", &summary("works", &ended))).await.unwrap();
    for id in ["inbox", "ended"] {
        let number = other.inbox(key("una", id)).await.unwrap()[0].number;
        assert!(other.take(key("una", id), number).await.unwrap());
    }
    assert_eq!(ids(&store.unfinished(Some("una")).await.unwrap()), ["waits"]);
    assert!(store.delete(key("una", "waits")).await.unwrap());
    assert!(store.unfinished(Some("una")).await.unwrap().is_empty());
}

/// Checks that an inbox has each name once, in order, and needs no log.
async fn check_inbox<S: ConversationStore>(store: &S, other: &S) {
    let long = "long ".repeat(10_000);
    for id in IDS {
        let inbox = key("inbox", id);
        assert!(store.inbox(inbox).await.unwrap().is_empty());
        assert!(!store.take(inbox, 1).await.unwrap());
        let mut items: Vec<InboxItem> = Vec::new();
        for (name, content) in [("b", "[1]"), ("a", &long), ("", ""), ("ä\0\n\t'\"", "\"ä\0\n\t'")] {
            let item = store.put(inbox, name, content).await.unwrap();
            assert_eq!((item.name.as_str(), item.content.as_str()), (name, content));
            assert!(items.last().is_none_or(|last| last.number < item.number));
            items.push(item);
        }
        // The first of a name stays.
        assert_eq!(other.put(inbox, "b", "[2]").await.unwrap(), items[0]);
        assert_eq!(other.inbox(inbox).await.unwrap(), items);
        assert!(store.load(inbox).await.unwrap().is_none());
        // Numbers belong to one conversation.
        assert!(!store.take(key("inbox", "none"), items[0].number).await.unwrap());
        assert!(!store.take(key("none", id), items[0].number).await.unwrap());
        assert!(other.take(inbox, items[1].number).await.unwrap());
        assert!(!store.take(inbox, items[1].number).await.unwrap());
        items.remove(1);
        assert_eq!(store.inbox(inbox).await.unwrap(), items);
    }
    assert!(store.list("inbox").await.unwrap().is_empty());
    assert_eq!(store.unfinished(Some("inbox")).await.unwrap().len(), IDS.len());
}

/// Checks that a save takes items up, and a conflict takes none.
async fn check_taken<S: ConversationStore>(store: &S, other: &S) {
    let log = key("taken", "1");
    let mut numbers = Vec::new();
    for name in ["a", "b", "c"] {
        numbers.push(store.put(log, name, name).await.unwrap().number);
    }
    let version = other.append(log, save(0, 0, "[1]").with_taken(&numbers[1..2])).await.unwrap();
    let names: Vec<String> = store.inbox(log).await.unwrap().into_iter().map(|item| item.name).collect();
    assert_eq!(names, ["a", "c"]);
    assert_eq!(store.list("taken").await.unwrap()[0].inbox, 2);
    for old in [0, version + 1] {
        assert!(is_conflict(store.append(log, save(old, 0, "[7]").with_taken(&numbers))).await);
        assert!(is_conflict(store.replace(log, save(old, 0, "[7]").with_taken(&numbers))).await);
    }
    assert_eq!(other.inbox(log).await.unwrap().len(), 2);
    assert!(!store.take(log, numbers[1]).await.unwrap());
    // An item that is no longer there changes nothing.
    let version = store.append(log, save(version, 1, "[2]").with_taken(&numbers)).await.unwrap();
    assert!(other.inbox(log).await.unwrap().is_empty());
    let again = other.put(log, "b", "again").await.unwrap();
    assert!(again.number > numbers[2] && again.content == "again");
    let version = store.append(log, save(version, 2, "[3]")).await.unwrap();
    // Each conversation has an inbox of its own.
    let taken = [again.number];
    store.append(key("taken", "2"), save(0, 0, "[1]").with_taken(&taken)).await.unwrap();
    store.append(log, save(version, 3, "[4]")).await.unwrap();
    assert_eq!(store.inbox(log).await.unwrap(), [again]);
    assert_eq!(load(store, log).await.entries, ["[1]", "[2]", "[3]", "[4]"]);
}

/// Checks that a log that is replaced or deleted loses its inbox, and numbers still grow.
async fn check_emptied<S: ConversationStore>(store: &S, other: &S) {
    let log = key("emptied", "1");
    let mut latest = 0;
    for _ in 0..3 {
        let version = store.append(log, save(0, 0, "[1]")).await.unwrap();
        for step in ["replace", "delete", "delete without a log"] {
            let number = store.put(log, "a", "1").await.unwrap().number;
            assert!(number > latest, "before {step}");
            latest = number;
            match step {
                "replace" => assert!(other.replace(log, save(version, 0, "[2]")).await.unwrap() > 0),
                _ => assert_eq!(other.delete(log).await.unwrap(), step == "delete"),
            }
            assert!(store.inbox(log).await.unwrap().is_empty(), "after {step}");
            assert!(store.unfinished(Some("emptied")).await.unwrap().is_empty());
        }
    }
}

/// Checks that one of two writers with the same version is told.
async fn check_races<S: ConversationStore>(store: &S, other: &S) {
    let log = key("ada", "race");
    let mut version = 0;
    for round in 0..50 {
        let one = store.append(log, save(version, round, "[1]"));
        let two = other.append(log, save(version, round, "[2]"));
        version = match tokio::join!(one, two) {
            (Ok(version), Err(error)) | (Err(error), Ok(version)) if error.is_conflict() => version,
            both => panic!("one of two appends at version {version} must be a conflict: {both:?}"),
        };
    }
    assert_eq!(load(store, log).await.entries.len(), 50);
}

/// Checks that of two items with the same name, one is there, and that a save loses none beside it.
async fn check_inbox_races<S: ConversationStore>(store: &S, other: &S) {
    let log = key("ada", "put");
    let mut version = 0;
    for round in 0..30 {
        let (one, two) = tokio::join!(store.put(log, "a", "1"), other.put(log, "a", "2"));
        let item = one.unwrap();
        assert_eq!(two.unwrap(), item, "round {round}");
        let taken = [item.number];
        let taking = save(version, round, "[1]").with_taken(&taken);
        let (appended, put) = tokio::join!(store.append(log, taking), other.put(log, "b", "3"));
        version = appended.unwrap();
        let number = put.unwrap().number;
        let inbox = other.inbox(log).await.unwrap();
        assert!(inbox.len() == 1 && inbox[0].number == number, "round {round}: {inbox:?}");
        let taken = tokio::join!(store.take(log, number), other.take(log, number));
        assert_ne!(taken.0.unwrap(), taken.1.unwrap(), "round {round}");
    }
}

/// Checks that a dropped save is whole or missing, and blocks nothing.
async fn check_drops<S: ConversationStore>(store: &S, other: &S) {
    let log = key("ada", "drop");
    let mut version = store.append(log, save(0, 0, "[0]")).await.unwrap();
    for micros in 0..50 {
        let first = micros + 1;
        let wait = Duration::from_micros(micros * 20);
        drop(timeout(wait, store.append(log, save(version, first, "[1]"))).await);
        drop(timeout(wait, store.put(log, "a", "1")).await);
        // An append in the background precedes this one or conflicts.
        version = match other.append(log, save(version, first, "[2]")).await {
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
