//! The store in files: what is on the disk after a crash.

use crate::contract;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;
use toolkit_agent::Sessions;
use toolkit_agent::session::{ConversationKey, ConversationStore};
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
    fs::write(&other, "\"0000000000000001\"\n{\"mess\n{}\n").unwrap();
    let error = sessions.user("ada").conversation("2").open().await.unwrap_err().to_string();
    assert!(error.contains("conversation `2` cannot be read"), "{error}");
    fs::write(&other, "{}\n{}\n").unwrap();
    let error = sessions.user("ada").conversation("2").open().await.unwrap_err().to_string();
    assert!(error.contains("the first line is not the id of a log"), "{error}");
}

/// It is interrupted at each byte.
#[tokio::test]
async fn an_interrupted_first_save_leaves_no_log() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    let path = folder.path().join("conversations/ada/1.jsonl");
    store.append(ConversationKey { user: "ada", id: "1" }, 0, "[1]").await.unwrap();
    let whole = fs::read(&path).unwrap();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        assert_eq!(store.load(ConversationKey { user: "ada", id: "1" }).await.unwrap(), None);
        store.append(ConversationKey { user: "ada", id: "1" }, 0, "[2]").await.unwrap();
        assert_eq!(
            store.load(ConversationKey { user: "ada", id: "1" }).await.unwrap().unwrap().entries,
            ["[2]"]
        );
    }
}

/// The folder of the process killed while replacing a log.
const FOLDER: &str = "TOOLKIT_REPLACE_FOLDER";

#[tokio::test]
#[ignore = "started by the test that kills it"]
async fn replacing() {
    let store = FileStore::new(std::env::var_os(FOLDER).unwrap());
    for number in 0.. {
        let version =
            store.load(ConversationKey { user: "ada", id: "1" }).await.unwrap().map_or(0, |log| log.version);
        let entry = format!("[{number}, \"{}\"]", "x".repeat(300_000));
        let version = store.replace(ConversationKey { user: "ada", id: "1" }, version, &entry).await.unwrap();
        store
            .append(ConversationKey { user: "ada", id: "1" }, version, &format!("[{number}]"))
            .await
            .unwrap();
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
        while store.load(ConversationKey { user: "ada", id: "1" }).await.unwrap().is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        tokio::time::sleep(Duration::from_millis(20 + kill * 3)).await;
        child.kill().unwrap();
        child.wait().unwrap();
        let Some(log) = store.load(ConversationKey { user: "ada", id: "1" }).await.unwrap() else { continue };
        assert_eq!(log.entries[0].len(), 300_000 + log.entries[0].find('"').unwrap() + 3);
        let number = log.entries[0].split(',').next().unwrap();
        assert!(log.entries.len() == 1 || log.entries[1..] == [format!("{number}]")]);
    }
    assert_eq!(store.list("ada").await.unwrap().len(), 1);
}
