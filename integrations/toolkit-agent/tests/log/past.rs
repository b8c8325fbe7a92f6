//! The past of a conversation shows what its live runs showed.

use super::team::{Answer, Case, Program, case, limited};
use crate::support::{Configured as _, Options};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use toolkit_agent::session::{
    ConversationEntry, ConversationKey, ConversationStore, MemoryStore, Save, Summary,
};
use toolkit_agent::structured::AnswerEvent;
use toolkit_agent::{Agent, Conversation, Decisions, PendingCall, RunEvent, Sessions};

const KEY: ConversationKey<'_> = ConversationKey { user: "ada", id: "1" };

/// Adds the events of one attempt. Returns the calls that wait.
async fn attempt(
    case: &Case,
    agent: &Agent,
    conversation: &mut Conversation,
    decisions: Decisions,
    live: &mut Vec<RunEvent>,
) -> Vec<PendingCall> {
    let options = limited(Options::new().with_decisions(decisions));
    let is_new = conversation.messages().is_empty();
    if case.is_typed {
        let mut events = if is_new {
            agent.run("Go.").on(conversation).options(options).typed::<Answer>().stream()
        } else {
            agent.resume(conversation).options(options).typed::<Answer>().stream()
        };
        while let Some(event) = events.next().await {
            match event.unwrap() {
                AnswerEvent::Run(event) => live.push(event),
                AnswerEvent::Answer(answer) => {
                    live.push(
                        serde_json::from_value(json!({"type": "finished", "output": answer.output})).unwrap(),
                    );
                }
                _ => {}
            }
        }
    } else {
        let mut events = if is_new {
            agent.run("Go.").on(conversation).options(options).stream()
        } else {
            agent.resume(conversation).options(options).stream()
        };
        while let Some(event) = events.next().await {
            live.push(event.unwrap());
        }
    }
    match live.last() {
        Some(RunEvent::Waiting { pending, .. }) => pending.clone(),
        _ => Vec::new(),
    }
}

/// Runs the team until its answer, each attempt in another process. Returns all events.
async fn live(case: &Case, agent: &Agent, store: &MemoryStore) -> Vec<RunEvent> {
    let mut events = Vec::new();
    let mut decisions = Decisions::new();
    for _ in 0..200 {
        let sessions = Sessions::new(store.clone());
        let mut conversation = sessions.user("ada").conversation("1").open().await.unwrap();
        let pending = attempt(case, agent, &mut conversation, decisions, &mut events).await;
        if pending.is_empty() {
            return events;
        }
        decisions = case.order.decide(&pending);
    }
    panic!("the run does not end")
}

async fn entries(store: &MemoryStore, after: Option<u64>) -> Vec<ConversationEntry> {
    Sessions::new(store.clone()).user("ada").conversation("1").entries(after).await.unwrap()
}

fn events(entries: &[ConversationEntry]) -> Vec<RunEvent> {
    entries.iter().filter_map(ConversationEntry::event).cloned().collect()
}

/// What listeners must be able to rely on: for each conversation, its events in order without those that
/// are only live, and the texts of its messages.
#[derive(Debug, Default, PartialEq)]
struct Shown {
    events: BTreeMap<String, Vec<Value>>,
    texts: BTreeMap<String, String>,
    end: Value,
}

fn shown(case: &Case, events: &[RunEvent]) -> Shown {
    let mut shown = Shown::default();
    for event in events {
        let scope = serde_json::to_string(event.within()).unwrap();
        match event {
            RunEvent::Text { message_id, text, .. } => {
                shown.texts.entry(message_id.to_string()).or_default().push_str(text);
            }
            // An invalid answer ends its attempt at a typed answer.
            RunEvent::Finished { output, .. } if case.is_typed => shown.end = output.text.as_str().into(),
            RunEvent::AgentStarted { .. }
            | RunEvent::AgentEnded { .. }
            | RunEvent::Result { .. }
            | RunEvent::CallPending { .. }
            | RunEvent::Message { .. }
            | RunEvent::Transferred { .. }
            | RunEvent::BranchFailed { .. }
            | RunEvent::Waiting { .. }
            | RunEvent::Finished { .. } => {
                shown.events.entry(scope).or_default().push(serde_json::to_value(event).unwrap());
            }
            _ => {}
        }
    }
    shown
}

/// Checks that keys name the calls of the messages that have them.
fn check_keys(events: &[RunEvent]) -> Result<(), TestCaseError> {
    let mut calls = BTreeMap::new();
    for event in events {
        if let RunEvent::Message { message_id, message, .. } = event {
            for (index, call) in message.calls.iter().enumerate() {
                let key = format!("{message_id}.{index}");
                prop_assert!(calls.insert(key.clone(), call.name.clone()).is_none(), "{} twice", key);
            }
        }
    }
    for event in events {
        let (key, tool) = match event {
            RunEvent::CallStarted { key, tool, .. } => (key, tool),
            RunEvent::Result { key, result, .. } => (key, &result.name),
            _ => continue,
        };
        prop_assert_eq!(calls.get(&**key), Some(tool), "{} in {:?}", key, calls);
    }
    Ok(())
}

/// Returns a log with the first `count` entries of the saves.
async fn cut(saves: &[String], count: usize) -> MemoryStore {
    let mut left = count;
    let store = MemoryStore::new();
    let (mut version, mut number) = (0, 0_u64);
    for save in saves {
        let mut elements = Vec::new();
        let first = number;
        for element in serde_json::Deserializer::from_str(save).into_iter::<Value>().map(Result::unwrap) {
            if element.get("n").is_none() {
                if left == 0 {
                    break;
                }
                left -= 1;
                number += 1;
            }
            elements.push(element.to_string());
        }
        if number > first {
            let (text, summary) = (elements.join(" "), Summary::default());
            version = store.append(KEY, Save::new(version, &text, &summary).with_first(first)).await.unwrap();
        }
    }
    store
}

async fn check(case: &Case, repeats_ids: bool) -> Result<(), TestCaseError> {
    let store = MemoryStore::new();
    let program = Program { repeats_ids, ..Program::default() };
    let live = live(case, &program.agent(case), &store).await;
    let all = entries(&store, None).await;
    let past = events(&all);
    prop_assert_eq!(shown(case, &past), shown(case, &live));
    check_keys(&live)?;
    check_keys(&past)?;
    let saves = store.load(KEY).await.unwrap().unwrap().entries;
    let last = all.last().map_or(0, |entry| entry.number);
    for number in 0..=last {
        let count = usize::try_from(number).unwrap() + 1;
        let before = entries(&cut(&saves, count).await, None).await;
        prop_assert!(!serde_json::to_string(&before).unwrap().contains("has a secret"), "{}", number);
        let (expected, later) = all.split_at(all.partition_point(|entry| entry.number <= number));
        prop_assert_eq!(before, expected, "up to {}", number);
        if number == last / 2 {
            prop_assert_eq!(entries(&store, Some(number)).await, later, "after {}", number);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(crate::support::cases(12))]

    #[test]
    fn the_past_shows_what_live_showed(case in case(), repeats_ids in any::<bool>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(check(&case, repeats_ids))?;
    }
}
