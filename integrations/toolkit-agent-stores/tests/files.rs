//! The store in files: what is on the disk after a crash.

use crate::contract::{self, key, load, save};
use std::fs;
use std::pin::Pin;
use std::process::{Command, Stdio};
use std::slice::from_ref;
use std::time::Duration;
use toolkit_agent::Sessions;
use toolkit_agent::session::ConversationStore;
use toolkit_agent_stores::FileStore;
use toolkit_llm::Message;

#[tokio::test]
async fn file_store_keeps_conversations() {
    let folder = tempfile::tempdir().unwrap();
    contract::check(async || FileStore::new(folder.path().join("deep/er"))).await;
}

#[tokio::test]
async fn files_contain_whole_saves() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = Sessions::new(FileStore::new(folder.path()));
    let writing = {
        let sessions = sessions.clone();
        tokio::spawn(async move {
            let mut conversation = sessions.user("ada").conversation("1").open().await.unwrap();
            for number in 0..50 {
                conversation.push(Message::user("x".repeat(number * 1_000)));
                sessions.save(&mut conversation).await.unwrap();
            }
        })
    };
    let mut latest = 0;
    while !writing.is_finished() {
        let length = sessions.user("ada").conversation("1").open().await.unwrap().messages().len();
        assert!(length >= latest);
        latest = length;
        tokio::task::yield_now().await;
    }
    writing.await.unwrap();
    let path = folder.path().join("conversations/ada/1.jsonl");
    // The next save replaces an incomplete one.
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{whole}{{\"messages\":[{{\"ro")).unwrap();
    let mut conversation = sessions.user("ada").conversation("1").open().await.unwrap();
    assert_eq!(conversation.messages().len(), 50);
    conversation.push(Message::user("after the crash"));
    sessions.save(&mut conversation).await.unwrap();
    assert_eq!(sessions.user("ada").conversation("1").open().await.unwrap().messages().len(), 51);
    let other = folder.path().join("conversations/ada/2.jsonl");
    // The second one is that of a development version.
    for text in ["{}\n{}\n", "\"0000000000000001\"\n{\"n\": 0}\n"] {
        fs::write(&other, text).unwrap();
        let error = sessions.user("ada").conversation("2").open().await.unwrap_err().to_string();
        assert!(error.contains("2.jsonl` cannot be read: the first line is not the id of a log"), "{error}");
    }
}

/// Each byte is changed, but for the last one, without which the last save counts as interrupted.
#[tokio::test]
async fn a_damaged_line_is_an_error_with_its_number() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    let path = folder.path().join("conversations/ada/1.jsonl");
    let mut version = 0;
    for first in 0..4 {
        version = store.append(key("ada", "1"), save(version, first, "[\"ä\"]")).await.unwrap();
    }
    let whole = fs::read(&path).unwrap();
    let mut line = 1;
    for position in 0..whole.len() - 1 {
        let mut damaged = whole.clone();
        damaged[position] ^= 1;
        fs::write(&path, &damaged).unwrap();
        let error = store.load(key("ada", "1")).await.unwrap_err().to_string();
        let expected = if line == 1 {
            "1.jsonl` cannot be read: the first line is not the id of a log".to_owned()
        } else {
            format!("1.jsonl` cannot be read: line {line} is damaged")
        };
        assert!(error.contains(&expected), "byte {position} of line {line}: {error}");
        if line == 5 {
            assert!(store.load_from(key("ada", "1"), 3).await.unwrap_err().to_string().contains("line 5"));
        }
        line += usize::from(whole[position] == b'\n');
    }
    fs::write(&path, &whole).unwrap();
    store.put(key("ada", "1"), "a", "[]").await.unwrap();
    let inbox = folder.path().join("conversations/ada/1.inbox");
    let text = fs::read_to_string(&inbox).unwrap();
    fs::write(&inbox, text.replace("[]", "[1]")).unwrap();
    let error = store.inbox(key("ada", "1")).await.unwrap_err().to_string();
    assert!(error.contains("1.inbox` is damaged"), "{error}");
    let error = store.append(key("ada", "1"), save(version, 4, "[]")).await.unwrap_err();
    assert!(!error.is_conflict() && error.to_string().contains("1.inbox` is damaged"), "{error}");
    fs::write(&inbox, text).unwrap();
    store.append(key("ada", "1"), save(version, 4, "[]")).await.unwrap();
}

/// The process dies between the log and the inbox, or before both.
#[tokio::test]
async fn an_item_is_taken_with_its_save_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    let log = key("ada", "1");
    let [path, inbox] =
        ["jsonl", "inbox"].map(|ending| folder.path().join(format!("conversations/ada/1.{ending}")));
    let version = store.append(log, save(0, 0, &format!("[\"{}\"]", "x".repeat(10_000)))).await.unwrap();
    let kept = store.put(log, "b", "1").await.unwrap();
    let item = store.put(log, "a", "1").await.unwrap();
    let (log_before, inbox_before) = (fs::read(&path).unwrap(), fs::read(&inbox).unwrap());
    let taken = [item.number];
    let taking = save(version, 1, "[2]").with_taken(&taken);
    let next = store.append(log, taking).await.unwrap();
    let log_after = fs::read(&path).unwrap();
    // Before the log has the save.
    for length in log_before.len()..log_after.len() {
        fs::write(&path, &log_after[..length]).unwrap();
        fs::write(&inbox, &inbox_before).unwrap();
        assert_eq!(store.inbox(log).await.unwrap(), [kept.clone(), item.clone()]);
    }
    assert_eq!(store.append(log, taking).await.unwrap(), next);
    // After it, whatever comes next.
    let after: [AsyncStep; 4] = [
        |store| Box::pin(async move { store.append(key("ada", "1"), save(0, 0, "[7]")).await.is_err() }),
        |store| Box::pin(async move { !store.take(key("ada", "1"), 1).await.unwrap() }),
        |store| Box::pin(async move { store.put(key("ada", "1"), "b", "2").await.unwrap().content == "1" }),
        |store| Box::pin(async move { store.unfinished(None).await.unwrap()[0].inbox == 1 }),
    ];
    for step in after {
        fs::write(&path, &log_after).unwrap();
        fs::write(&inbox, &inbox_before).unwrap();
        assert!(step(&store).await);
        assert_eq!(store.inbox(log).await.unwrap(), from_ref(&kept));
        assert!(!store.take(log, item.number).await.unwrap());
        store.append(log, save(next, 2, "[3]")).await.unwrap();
        assert_eq!(store.inbox(log).await.unwrap(), from_ref(&kept));
    }
    // Of an erased log, all items are gone.
    let version = load(&store, log).await.version;
    let inbox_before = fs::read(&inbox).unwrap();
    store.replace(log, save(version, 0, "[4]")).await.unwrap();
    fs::write(&inbox, &inbox_before).unwrap();
    assert!(store.inbox(log).await.unwrap().is_empty());
}

type AsyncStep = fn(&FileStore) -> Pin<Box<dyn Future<Output = bool> + '_>>;

/// It is interrupted at each byte.
#[tokio::test]
async fn an_interrupted_first_save_leaves_no_log() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    let path = folder.path().join("conversations/ada/1.jsonl");
    store.append(key("ada", "1"), save(0, 0, "[1]")).await.unwrap();
    let whole = fs::read(&path).unwrap();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        assert_eq!(store.load(key("ada", "1")).await.unwrap(), None);
        store.append(key("ada", "1"), save(0, 0, "[2]")).await.unwrap();
        assert_eq!(load(&store, key("ada", "1")).await.entries, ["[2]"]);
    }
}

/// The folder of the process killed while replacing a log.
const FOLDER: &str = "TOOLKIT_REPLACE_FOLDER";

#[tokio::test]
#[ignore = "started by the test that kills it"]
async fn replacing() {
    let store = FileStore::new(std::env::var_os(FOLDER).unwrap());
    for number in 0.. {
        let version = store.load(key("ada", "1")).await.unwrap().map_or(0, |log| log.version);
        let entry = format!("[{number}, \"{}\"]", "x".repeat(300_000));
        let version = store.replace(key("ada", "1"), save(version, 0, &entry)).await.unwrap();
        store.append(key("ada", "1"), save(version, 0, &format!("[{number}]"))).await.unwrap();
    }
}

#[tokio::test]
async fn a_log_whose_replacement_is_killed_is_the_old_one_or_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    for kill in 0..30 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "files::replacing"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // A later process may be killed before it has started.
        while store.load(key("ada", "1")).await.unwrap().is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::sleep(Duration::from_millis(20 + kill * 3)).await;
        child.kill().unwrap();
        child.wait().unwrap();
        let Some(log) = store.load(key("ada", "1")).await.unwrap() else { continue };
        assert_eq!(log.entries[0].len(), 300_000 + log.entries[0].find('"').unwrap() + 3);
        let number = log.entries[0].split(',').next().unwrap();
        assert!(log.entries.len() == 1 || log.entries[1..] == [format!("{number}]")]);
    }
    assert_eq!(store.list("ada").await.unwrap().len(), 1);
}
