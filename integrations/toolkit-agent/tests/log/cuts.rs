//! Logs that are cut after any entry.

use super::team::{Case, Program, case};
use crate::property::sendable;
use crate::support::Options;
use crate::support::{assert_sendable, entries_of, store_of, transcript};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use toolkit_agent::session::{ConversationKey, ConversationStore, MemoryStore};
use toolkit_agent::{Agent, AgentError, Conversation, Decisions, RunOutput, Sessions};
use toolkit_core::{ToolCall, ToolRegistry};
use toolkit_llm::{Message, ModelResponse, ScriptedModel};

async fn open(store: &MemoryStore) -> Conversation {
    Sessions::new(store.clone()).user("ada").conversation("1").open().await.unwrap()
}

/// Runs or resumes the team until its answer, and returns it with the calls that waited.
async fn finish(case: &Case, agent: &Agent, store: &MemoryStore) -> (RunOutput, BTreeSet<String>) {
    let sessions = Sessions::new(store.clone());
    let mut decisions = Decisions::new();
    let mut waited = BTreeSet::new();
    for _ in 0..200 {
        let mut conversation = sessions.user("ada").conversation("1").open().await.unwrap();
        let options = Options::new().with_decisions(decisions);
        match case.drive(agent, &mut conversation, options).await {
            Ok(output) => return (output, waited),
            Err(AgentError::Interrupted { pending, .. }) => {
                waited.extend(pending.iter().map(|call| call.call.id.to_string()));
                decisions = case.order.decide(&pending);
            }
            Err(error) => panic!("{error}"),
        }
    }
    panic!("the run does not end")
}

async fn saves(store: &MemoryStore) -> Vec<Vec<Value>> {
    let log = store.load(ConversationKey { user: "ada", id: "1" }).await.unwrap().unwrap();
    log.entries.iter().map(|save| entries_of(save)).collect()
}

/// Returns a store with these entries, each in a save of its own.
async fn stored(entries: &[Value]) -> MemoryStore {
    let mut saves = Vec::new();
    for entry in entries {
        let mut header = entry.clone();
        let entry = header.as_object_mut().unwrap().remove("entry").unwrap();
        saves.push(format!("{header} {entry}"));
    }
    store_of(&saves).await
}

/// What a log tells of calls, by id.
#[derive(Debug, Default)]
struct Known {
    paid: BTreeSet<String>,
    open: BTreeSet<String>,
    decided: BTreeSet<String>,
}

fn known(entries: &[Value]) -> Known {
    let mut known = Known::default();
    let mut calls = BTreeMap::<String, Vec<(String, bool)>>::new();
    for line in entries {
        let entry = &line["entry"];
        let turn = calls.entry(line["node"].as_str().unwrap_or_default().to_owned()).or_default();
        let call = |call: &Value| (call["id"].as_str().unwrap().to_owned(), call["name"] == "pay");
        let at = |turn: &[(String, bool)], index: &Value| {
            turn[usize::try_from(index.as_u64().unwrap()).unwrap()].clone()
        };
        if entry.get("turn_began").is_some() {
            turn.clear();
        } else if let Some(arrived) = entry.get("call") {
            turn.extend(arrived.get("call").map(call));
        } else if let Some(end) = entry.get("model_ended") {
            if end["continues"] != true {
                turn.clear();
            }
            turn.extend(end["message"]["calls"].as_array().into_iter().flatten().map(call));
        } else if let Some(started) = entry.get("started") {
            for index in started.as_array().unwrap() {
                let (id, is_payment) = at(turn, index);
                known.paid.extend(is_payment.then(|| id.clone()));
                known.open.insert(id);
            }
        } else if let Some(result) = entry.get("result") {
            let (id, _) = at(turn, &result["position"]);
            known.open.remove(&id);
            known.decided.insert(id);
        } else if let Some(decided) = entry.get("decided").filter(|decided| decided.get("decision").is_some())
        {
            known.decided.insert(at(turn, &decided["call"]).0);
        } else if let Some(pending) = entry.get("pending") {
            known.open.remove(&at(turn, &pending["call"]).0);
        }
    }
    known
}

const MAY_HAVE_RUN: &str = "Tool `pay` was started, but the program stopped before it had a result. It may have run; find \
    out before calling it again";

/// Returns a run's text as if each payment that may have run were made.
pub(super) fn with_payments(text: &str) -> String {
    text.replace(MAY_HAVE_RUN, "paid")
}

async fn check(case: &Case) -> Result<(), TestCaseError> {
    let whole = MemoryStore::new();
    let first = Program::default();
    let (output, _) = finish(case, &first.agent(case), &whole).await;
    let paid: BTreeSet<String> = first.seen.paid.lock().unwrap().iter().cloned().collect();
    let lengths = saves(&whole).await;
    let all = lengths.concat();
    let saves: BTreeSet<usize> = lengths
        .iter()
        .scan(0, |sum, save| {
            *sum += save.len();
            Some(*sum)
        })
        .collect();
    let before = open(&whole).await;
    let expected = transcript(before.messages());
    for cut in 3..=all.len() {
        let known = known(&all[..cut]);
        let name = format!("after {cut} of {}: {}", all.len(), all[cut - 1]);
        takes_new_input(open(&stored(&all[..cut]).await).await, &name).await?;
        let store = stored(&all[..cut]).await;
        if all[cut - 1]["entry"].get("stopped").is_some() {
            refuses_others(case, &store, &name).await?;
        }
        if cut % 4 == 0 {
            one_continues(case, &all[..cut], &name).await?;
            refuses_others(case, &stored(&all[..cut]).await, &name).await?;
        }
        let program = Program::default();
        let (resumed, waited) = finish(case, &program.agent(case), &store).await;
        let conversation = open(&store).await;
        assert_sendable(&conversation);
        prop_assert_eq!(conversation.latest_run(), Some(resumed.clone()), "{}", &name);
        // Started payments are not repeated, and no decided call waits again.
        let payments = program.seen.paid.lock().unwrap().clone();
        let again: BTreeSet<String> = payments.iter().cloned().collect();
        prop_assert_eq!(again.len(), payments.len(), "{}: {:?}", &name, payments);
        prop_assert!(again.is_disjoint(&known.paid), "{}: {:?} again", &name, again);
        prop_assert!(waited.is_disjoint(&known.decided), "{}: {:?} of {:?}", &name, waited, known);
        let limits = program.seen.limits.lock().unwrap().clone();
        prop_assert!(limits.iter().all(|limit| *limit == 1), "{}: {:?}", &name, limits);
        let lines = transcript(conversation.messages()).join("\n");
        let lost = lines.matches("was started, but the program stopped before it had a result").count();
        prop_assert!(lost <= known.open.len(), "{}: {} lost", name, lost);
        // Values and feedback to an invalid answer end their save.
        let is_save = saves.contains(&cut);
        prop_assert!(!lines.contains("Tool `expert` was started"), "{}: {}", &name, lines);
        if case.streaming || case.is_typed && !is_save {
            // A streamed message goes on without calls that had not arrived.
            continue;
        }
        // Only payments that may have run can differ.
        prop_assert_eq!(with_payments(&resumed.text), output.text.as_str(), "{}", name);
        prop_assert_eq!(&resumed.agent, &output.agent, "{}", name);
        prop_assert_eq!(with_payments(&lines), expected.join("\n"), "{}", &name);
        prop_assert_eq!(&again | &known.paid, paid.clone(), "{}", &name);
        prop_assert!(resumed.model_calls >= output.model_calls, "{} {:?} {:?}", &name, resumed, output);
        prop_assert!(resumed.tool_calls >= output.tool_calls, "{} {:?} {:?}", &name, resumed, output);
        let asked =
            |log: &[Value]| log.iter().filter(|line| line["entry"].get("model_ended").is_some()).count();
        prop_assert_eq!(asked(&self::saves(&store).await.concat()), asked(&all), "{} asks again", &name);
        for number in (1..9).filter(|_| is_save) {
            let key = format!("agent_{number}");
            prop_assert_eq!(
                conversation.session().get(&key),
                before.session().get(&key),
                "{} {}",
                &name,
                key
            );
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_agent_without_an_entry_runs_after_a_crash() {
    let team = || {
        let expert = Agent::builder(ScriptedModel::new().text("42")).name("expert").build().unwrap();
        let model = ScriptedModel::new().fallback(|request| {
            Ok(match request.messages.last() {
                Some(Message::Tool(given)) => ModelResponse::text(given.results[0].to_text()),
                _ => ModelResponse::calls([ToolCall::new("x", "expert", r#"{"request": "?"}"#)]),
            })
        });
        let tools = ToolRegistry::from_tools([expert.to_tool().unwrap()]).unwrap();
        Agent::builder(model).name("lead").tools(tools).build().unwrap()
    };
    let whole = MemoryStore::new();
    team().run("Go.").on(Sessions::new(whole.clone()).user("ada").conversation("1")).await.unwrap();
    let entries = saves(&whole).await.concat();
    let first = entries.iter().position(|line| line.get("node").is_some()).unwrap();
    for cut in [first, first + 1, first + 2] {
        let store = stored(&entries[..cut]).await;
        let output = team().resume(Sessions::new(store).user("ada").conversation("1")).await.unwrap();
        assert_eq!(output.text, r#"{"response":"42"}"#, "after {}", entries[cut - 1]);
    }
}

/// Checks that after a new message each call has a result, and no unchecked answer is shown, also not to a
/// model.
pub(super) async fn takes_new_input(mut conversation: Conversation, name: &str) -> Result<(), TestCaseError> {
    prop_assert!(!is_shown(conversation.messages()), "{}", name);
    conversation.push(Message::user("Stop."));
    prop_assert!(!is_shown(conversation.messages()), "{}", name);
    assert_sendable(&conversation);
    prop_assert_eq!(conversation.pending(), [], "{}", name);
    let model = ScriptedModel::new().text("Hello.");
    let later = Agent::builder(model.clone()).name("later").build().unwrap();
    later.run("Hi.").on(&mut conversation).await.unwrap();
    let request = &model.requests()[0];
    prop_assert!(!is_shown(&request.messages), "{}", name);
    sendable(request)
}

pub(super) fn is_shown(messages: &[Message]) -> bool {
    serde_json::to_string(messages).unwrap().contains("has a secret")
}

async fn resumed(case: &Case, program: &Program, store: &MemoryStore) -> Result<RunOutput, AgentError> {
    let sessions = Sessions::new(store.clone());
    let mut conversation = sessions.user("ada").conversation("1").open().await.unwrap();
    // The others load the conversation before this one continues.
    tokio::task::yield_now().await;
    let options = Options::new();
    case.drive(&program.agent(case), &mut conversation, options).await
}

/// Checks that of two processes, one conflicts before it asks a model.
async fn one_continues(case: &Case, cut: &[Value], name: &str) -> Result<(), TestCaseError> {
    let requests = |program: &Program| program.seen.requests.load(Ordering::Relaxed);
    let alone = Program::default();
    let store = stored(cut).await;
    let _ = resumed(case, &alone, &store).await;
    let is_changed = saves(&store).await.len() > cut.len();
    let both = Program::default();
    let store = stored(cut).await;
    let ended = tokio::join!(resumed(case, &both, &store), resumed(case, &both, &store));
    let is_conflict = |ended: &&Result<RunOutput, AgentError>| matches!(ended, Err(AgentError::Store(error)) if error.is_conflict());
    let conflicts = [&ended.0, &ended.1].into_iter().filter(is_conflict).count();
    prop_assert_eq!(conflicts, usize::from(is_changed), "{}: {:?}", name, ended);
    prop_assert_eq!(requests(&both), requests(&alone), "{}", name);
    Ok(())
}

/// Checks that other agents do not continue an unfinished run, and ask no model.
async fn refuses_others(case: &Case, store: &MemoryStore, name: &str) -> Result<(), TestCaseError> {
    let pending = open(store).await.pending();
    let other = Program { prefix: "other", ..Program::default() };
    let ended = resumed(case, &other, store).await;
    prop_assert!(matches!(ended, Ok(_) | Err(AgentError::TeamChanged(_))), "{}: {:?}", name, ended);
    prop_assert_eq!(other.seen.requests.load(Ordering::Relaxed), 0, "{}", name);
    prop_assert_eq!(open(store).await.pending(), pending, "{}", name);
    Ok(())
}

proptest! {
    #![proptest_config(crate::support::cases(10))]

    #[test]
    fn a_run_continues_from_each_of_its_entries(case in case()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(check(&case))?;
    }
}
