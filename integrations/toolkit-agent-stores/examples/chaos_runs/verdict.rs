//! What must hold at the end of a course.

use crate::script::{EFFECTS, REQUESTS};
use crate::workers::{USER, key};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use toolkit_agent::runs::{LocalRuns, Runs as _};
use toolkit_agent::session::{ConversationEntry, ConversationStore, EntryKind};
use toolkit_agent::{Decision, RunEvent, Sessions};

/// What became of an input, as a process has told.
pub(crate) struct Outcome {
    pub(crate) conversation: String,
    pub(crate) id: String,
    pub(crate) is_accepted: bool,
    /// Whether it may have been taken back.
    pub(crate) is_cancelled: bool,
}

/// The events of a conversation, as a listener in another process has heard them.
pub(crate) struct Heard {
    pub(crate) conversation: String,
    pub(crate) events: Vec<String>,
}

pub(crate) struct Course {
    pub(crate) outcomes: Vec<Outcome>,
    /// The decisions that were accepted.
    pub(crate) decided: Vec<(String, String, Decision)>,
    pub(crate) heard: Vec<Heard>,
    /// Whether all runs have ended.
    pub(crate) is_quiet: bool,
}

/// Returns what is wrong.
pub(crate) async fn judge<S: ConversationStore + Clone>(
    store: &S,
    folder: &Path,
    course: &Course,
) -> Vec<String> {
    let mut faults = Vec::new();
    if !course.is_quiet {
        for info in store.unfinished(None).await.unwrap() {
            faults.push(format!("{} has not ended: {:?}", info.id, info.summary.status));
        }
    }
    for (effect, times) in counts(folder, EFFECTS) {
        if times > 1 && !effect.starts_with("look ") {
            faults.push(format!("`{effect}` ran {times} times"));
        }
    }
    let mut chosen: HashMap<(&str, &str), &Decision> = HashMap::new();
    for (conversation, call, decision) in &course.decided {
        let first = chosen.entry((conversation, call)).or_insert(decision);
        if *first != decision {
            faults.push(format!("call `{call}` of {conversation} was decided twice"));
        }
    }
    let sessions = Sessions::new(store.clone());
    let requests = counts(folder, REQUESTS);
    for info in store.list(USER).await.unwrap() {
        let saved = sessions.user(USER).conversation(&info.id);
        let entries = match saved.entries(None).await {
            Ok(entries) => entries,
            Err(error) => {
                faults.push(error.to_string());
                continue;
            }
        };
        faults.extend(ended_once(&info.id, &entries));
        let spent = saved.open().await.unwrap().spent();
        let (counted, lost) = (u64::from(spent.model_calls), u64::from(spent.lost_attempts));
        let asked = requests.get(&info.id).copied().unwrap_or(0);
        if counted > asked || asked > counted + lost {
            faults.push(format!("{}: {asked} requests, {counted} billed, {lost} attempts lost", info.id));
        }
        for outcome in course.outcomes.iter().filter(|outcome| outcome.conversation == info.id) {
            faults.extend(taken_once(outcome, &entries));
        }
    }
    faults.extend(heard_once(store, folder, course).await);
    faults
}

/// Counts the equal lines of a file.
fn counts(folder: &Path, name: &str) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for line in fs::read_to_string(folder.join(name)).unwrap_or_default().lines() {
        *counts.entry(line.to_owned()).or_default() += 1;
    }
    counts
}

fn ended_once(conversation: &str, entries: &[ConversationEntry]) -> Vec<String> {
    let mut ends: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| entry.path.is_empty() && !entry.run.is_empty()) {
        let ends = ends.entry(&entry.run).or_default();
        match &entry.kind {
            EntryKind::Event(RunEvent::Finished { .. }) => ends.push("finished".to_owned()),
            EntryKind::Event(RunEvent::Stopped { reason, .. }) => ends.push(format!("{reason:?}")),
            EntryKind::Abandoned => ends.push("abandoned".to_owned()),
            _ => {}
        }
    }
    let mut faults = Vec::new();
    for (run, ends) in ends {
        if ends.len() != 1 {
            faults.push(format!(
                "run `{run}` of {conversation} has {} ends: {}",
                ends.len(),
                ends.join(", ")
            ));
        }
    }
    faults
}

fn taken_once(outcome: &Outcome, entries: &[ConversationEntry]) -> Option<String> {
    let mut times = 0;
    for entry in entries {
        if let EntryKind::Input { message_id, .. } = &entry.kind
            && *message_id == outcome.id
            && entry.path.is_empty()
        {
            times += 1;
        }
    }
    let is_right = match outcome.is_accepted {
        true => times == 1 || times == 0 && outcome.is_cancelled,
        false => times == 0,
    };
    let Outcome { id, is_accepted, .. } = outcome;
    (!is_right).then(|| format!("input `{id}`, accepted: {is_accepted}, is {times} times in the log"))
}

/// Compares what listeners have heard with what the log shows.
async fn heard_once<S: ConversationStore + Clone>(store: &S, folder: &Path, course: &Course) -> Vec<String> {
    let runs = LocalRuns::new(crate::script::agent(folder), Sessions::new(store.clone()));
    let mut faults = Vec::new();
    for Heard { conversation, events } in &course.heard {
        let mut shown = Vec::new();
        let mut updates = runs.attach(key(conversation), None).await.unwrap();
        while let Some(update) = updates.next().await {
            if let Some(event) = update.event() {
                shown.push(serde_json::to_string(event).unwrap());
            }
        }
        if shown != *events {
            let at = shown.iter().zip(events).take_while(|(shown, heard)| shown == heard).count();
            faults.push(format!(
                "{conversation}: heard {} events, the log shows {}; they differ at {at}: {:?} / {:?}",
                events.len(),
                shown.len(),
                events.get(at),
                shown.get(at)
            ));
        }
    }
    faults
}
