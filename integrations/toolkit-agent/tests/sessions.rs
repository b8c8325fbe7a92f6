//! Sessions and stores.

use crate::support::{Access, Nothing, Watched, agent, transcript};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};
use toolkit_agent::session::{ConversationKey, ConversationStore, MemoryStore, StoreError};
use toolkit_agent::{Agent, AgentError, Sessions};
use toolkit_core::{ClosureTool, ToolRegistry};
use toolkit_llm::{Message, ScriptedModel};

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
        agent(&answer).run(user).on(sessions.user("ada").conversation("1")).await.unwrap();
    }
    let size = async || {
        let log = store.load(ConversationKey { user: "ada", id: "1" }).await.unwrap().unwrap();
        log.entries.iter().map(String::len).sum::<usize>()
    };
    let before = size().await;
    agent("the last answer")
        .run("the last question")
        .on(sessions.user("ada").conversation("1"))
        .await
        .unwrap();
    let grown = size().await - before;
    assert!(grown * 15 < before, "{grown} bytes after {before}");
    let conversation = sessions.user("ada").conversation("1").open().await.unwrap();
    assert_eq!(conversation.messages().len(), 84);
    assert_eq!(conversation.messages()[83].to_text(), "the last answer");
    // Without changes, nothing is written.
    let before = size().await;
    sessions.save(&mut sessions.user("ada").conversation("1").open().await.unwrap()).await.unwrap();
    assert_eq!(size().await, before);
}

#[tokio::test]
async fn two_runs_in_one_conversation_do_not_overwrite_each_other() {
    let store = MemoryStore::new();
    let one = Sessions::new(store.clone());
    let other = Sessions::new(store);
    remembers("a", "1").run("first").on(one.user("ada").conversation("1")).await.unwrap();
    let mut stale = other.user("ada").conversation("1").open().await.unwrap();
    remembers("b", "2").run("second").on(one.user("ada").conversation("1")).await.unwrap();
    let refused = remembers("c", "3").run("third").on(&mut stale).await;
    assert!(matches!(refused.unwrap_err().error, AgentError::Store(error) if error.is_conflict()));
    let saved = other.user("ada").conversation("1").open().await.unwrap();
    let asked: Vec<_> =
        transcript(saved.messages()).into_iter().filter(|line| line.starts_with("user")).collect();
    assert_eq!(asked, ["user: first", "user: second"]);
    assert_eq!(saved.session().get("c"), None);
    // A clone is another writer.
    let mut opened = other.user("ada").conversation("1").open().await.unwrap();
    let mut clone = opened.clone();
    opened.push(Message::user("third"));
    clone.push(Message::user("fourth"));
    other.save(&mut opened).await.unwrap();
    assert!(other.save(&mut clone).await.unwrap_err().is_conflict());
}

fn remembers(key: &str, value: &str) -> Agent {
    let call = format!(r#"{{"key": "{key}", "value": "{value}"}}"#);
    agent(ScriptedModel::new().call("set", call).text("done")).build().unwrap()
}

#[tokio::test]
async fn user_and_app_state_is_shared_and_saved() {
    let store = MemoryStore::new();
    let sessions = Sessions::new(store.clone());
    let open = sessions.user("ada").conversation("open").open().await.unwrap();
    for (key, value) in [("own", "1"), ("user:name", "Ada"), ("app:currency", "EUR"), ("temp:step", "1")] {
        remembers(key, value).run("go").on(sessions.user("ada").conversation("1")).await.unwrap();
    }
    assert_eq!(open.session().get("user:name"), Some("Ada".into()));
    let again = Sessions::new(store);
    let values = async |user: &str, id: &str| {
        let session = again.user(user).conversation(id).open().await.unwrap().session();
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
    let mut in_one = one.user("ada").conversation("1").open().await.unwrap();
    let mut in_other = other.user("ada").conversation("2").open().await.unwrap();
    in_one.session().apply(&[("user:a".to_owned(), Some(1.into()))].into());
    in_other.session().apply(&[("user:b".to_owned(), Some(2.into()))].into());
    one.save(&mut in_one).await.unwrap();
    other.save(&mut in_other).await.unwrap();
    assert_eq!(in_one.session().get("user:b"), None);
    let again = one.user("ada").conversation("3").open().await.unwrap().session();
    assert_eq!((again.get("user:a"), again.get("user:b")), (Some(1.into()), Some(2.into())));
    assert_eq!(in_one.session().get("user:b"), Some(2.into()));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_save_does_not_undo_later_values_of_other_programs() {
    for key in ["app:rate", "user:rate"] {
        let store = MemoryStore::new();
        // The store answers a second after saving.
        let sessions = Sessions::new(Watched::new(&store, async |access| {
            if access == Access::ValuesSaved {
                sleep(Duration::from_secs(1)).await;
            }
            Ok(())
        }));
        let mut conversation = sessions.user("ada").conversation("1").open().await.unwrap();
        conversation.session().apply(&[(key.to_owned(), Some(2.into()))].into());
        let save = timeout(Duration::from_millis(500), sessions.save(&mut conversation));
        assert!(save.await.is_err());
        let other = Sessions::new(store.clone());
        let mut later = other.user("ada").conversation("3").open().await.unwrap();
        later.session().apply(&[(key.to_owned(), Some(3.into()))].into());
        other.save(&mut later).await.unwrap();
        sleep(Duration::from_secs(2)).await;
        let mut again = sessions.user("ada").conversation("2").open().await.unwrap();
        assert_eq!(again.session().get(key), Some(3.into()), "{key}");
        sessions.save(&mut again).await.unwrap();
        let saved = Sessions::new(store).user("ada").conversation("3").open().await.unwrap();
        assert_eq!(saved.session().get(key), Some(3.into()), "{key}");
    }
}

#[tokio::test]
async fn a_store_that_panics_loses_no_entry() {
    let store = MemoryStore::new();
    let has_failed = Arc::<AtomicBool>::default();
    let sessions = Sessions::new(Watched::new(&store, move |access| {
        let is_first = access == Access::SaveValues && !has_failed.swap(true, Ordering::Relaxed);
        async move {
            assert!(!is_first, "the first save fails");
            Ok(())
        }
    }));
    let mut conversation = sessions.user("ada").conversation("1").open().await.unwrap();
    conversation.push(Message::user("one"));
    conversation.session().apply(&[("user:rate".to_owned(), Some(2.into()))].into());
    assert!(sessions.save(&mut conversation).await.is_err());
    conversation.push(Message::user("two"));
    sessions.save(&mut conversation).await.unwrap();
    let saved = Sessions::new(store).user("ada").conversation("1").open().await.unwrap();
    assert_eq!(saved.messages(), conversation.messages());
    assert_eq!(saved.session().get("user:rate"), Some(2.into()));
}

#[tokio::test]
async fn a_failed_save_ends_the_run() {
    let model = ScriptedModel::new().text("Hello.");
    let agent = agent(model.clone()).build().unwrap();
    let full = |_| async { Err(StoreError::new("the disk is full")) };
    let sessions = Sessions::new(Watched::new(&MemoryStore::new(), full));
    let mut conversation = sessions.user("ada").conversation("1").open().await.unwrap();
    let ended = agent.run("go").on(&mut conversation).await;
    assert_eq!(ended.map_err(AgentError::from), Err(AgentError::Store(StoreError::new("the disk is full"))));
    assert!(model.requests().is_empty());
}

/// Runs an agent that pays once, drops the run after `polls` polls, and returns whether it had ended. The
/// store waits this often in each append.
async fn dropped_after(polls: usize, waits: usize) -> bool {
    let store = MemoryStore::new();
    let begun = Arc::<AtomicUsize>::default();
    let counted = begun.clone();
    let watched = Watched::new(&store, move |access| {
        if access == Access::Append {
            counted.fetch_add(1, Ordering::Relaxed);
        }
        async move {
            for _ in 0..waits {
                yield_now().await;
            }
            Ok(())
        }
    });
    let paid = Arc::<AtomicUsize>::default();
    let counted = paid.clone();
    let pay = ClosureTool::new("pay", "Pays.", move |_: Nothing| {
        counted.fetch_add(1, Ordering::Relaxed);
        async { yield_now().await }
    });
    let tools = ToolRegistry::from_tools([pay.unwrap()]).unwrap();
    let model = ScriptedModel::new().call("pay", "{}").fallback(|_| Ok("Done.".into()));
    let agent = Agent::builder(model.clone()).tools(tools).build().unwrap();
    let mut is_ended = false;
    {
        let mut run =
            pin!(agent.run("Pay.").on(Sessions::new(watched).user("ada").conversation("1")).into_future());
        for _ in 0..polls {
            is_ended = poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx))).await.is_ready();
            if is_ended {
                break;
            }
            yield_now().await;
        }
    }
    // Begun saves, and that of the run's end, go on in tasks.
    for _ in 0..50 {
        yield_now().await;
    }
    let log = store.load(ConversationKey { user: "ada", id: "1" }).await.unwrap();
    let appends = log.as_ref().map_or(0, |log| log.entries.len());
    let name = format!("{waits} waits, dropped after {polls} polls");
    assert_eq!(appends, begun.load(Ordering::Relaxed), "{name}");
    if log.is_some() && !is_ended {
        let saved = Sessions::new(store).user("ada").conversation("1");
        assert_eq!(agent.resume(saved).await.unwrap().text, "Done.", "{name}");
        assert!(paid.load(Ordering::Relaxed) <= 1, "{name}: paid twice");
        assert_eq!(model.requests().len().min(2), 2, "{name}");
    }
    is_ended
}

#[tokio::test]
async fn a_save_that_has_begun_finishes_at_whichever_poll_its_run_is_dropped() {
    // The store may be ready at the first poll.
    for waits in [0, 1, 3] {
        let mut polls = 0;
        while !dropped_after(polls, waits).await {
            polls += 1;
            assert!(polls < 200, "the run does not end");
        }
        assert!(polls > 1, "the run was dropped within its work");
    }
}
