//! Interrupted runs, and runs whose store fails, of random teams.

use super::cuts::{is_shown, takes_new_input, with_payments};
use super::team::{Case, Program, case, limited};
use crate::support::{Access, Watched, assert_sendable, reloaded, transcript};
use crate::support::{Configured as _, Options};
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::time::Duration;
use tokio::time::timeout;
use toolkit_agent::session::{MemoryStore, StoreError};
use toolkit_agent::{
    AgentError, Conversation, Decisions, PendingCall, RunEvent, RunOutput, RunStream, Sessions,
};
use toolkit_core::CancellationToken;
use toolkit_llm::Message;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    InMemory,
    AsJson,
    AsLog,
}

/// Returns a run's output or pending calls, checking the ids in its events.
async fn ended(mut events: RunStream<'_>) -> Result<Result<RunOutput, Vec<PendingCall>>, TestCaseError> {
    let mut emitted = BTreeSet::new();
    while let Some(event) = events.next().await {
        match event {
            Ok(RunEvent::CallPending { key, .. }) => {
                prop_assert!(emitted.insert(key.to_string()), "{key} again");
            }
            Ok(RunEvent::Finished { output, .. }) => return Ok(Ok(*output)),
            Ok(RunEvent::Waiting { pending, .. }) => {
                let ids: BTreeSet<String> = pending.iter().map(|call| call.id.clone()).collect();
                prop_assert_eq!(ids.len(), pending.len(), "{:?}", pending);
                // A call that waits for an agent is not decided itself.
                emitted.retain(|id| !ids.iter().any(|inner| inner.starts_with(&format!("{id}/"))));
                prop_assert!(emitted.is_subset(&ids), "{emitted:?} {ids:?}");
                return Ok(Err(pending));
            }
            Ok(event) => {
                let event = serde_json::to_string(&event).unwrap();
                prop_assert!(!event.contains("has a secret"), "{event}");
            }
            Err(failed) => panic!("{failed}"),
        }
    }
    Err(TestCaseError::fail("no end"))
}

async fn interrupted(case: &Case, way: Way, repeats_ids: bool) -> Result<(), TestCaseError> {
    let whole = Program { interrupts: false, repeats_ids, ..Program::default() };
    let mut expected = Conversation::new("1");
    let output = case.drive(&whole.agent(case), &mut expected, Options::new()).await.unwrap();
    let program = Program { repeats_ids, ..Program::default() };
    let agent = program.agent(case);
    let sessions = Sessions::default();
    let options = || limited(Options::new());
    let saved = sessions.user("ada").conversation("1");
    let mut conversation =
        if way == Way::AsLog { saved.open().await.unwrap() } else { Conversation::new("1") };
    let mut waits = ended(agent.run("Go.").on(&mut conversation).options(options()).stream()).await?;
    let mut decided = BTreeSet::new();
    let mut late = Decisions::new();
    let resumed = loop {
        let pending = match waits {
            Ok(output) => break output,
            Err(pending) => pending,
        };
        conversation = match way {
            Way::InMemory => conversation,
            Way::AsJson => reloaded(&conversation),
            Way::AsLog => saved.open().await.unwrap(),
        };
        prop_assert_eq!(&conversation.pending(), &pending);
        let again = pending.iter().find(|call| decided.contains(&call.id));
        prop_assert!(again.is_none(), "a late decision reaches {:?}", again);
        late = case.order.decide(&pending);
        let ids = pending.iter().map(|call| &call.id).filter(|id| late.get(id).is_some());
        decided.extend(ids.cloned());
        prop_assert!(decided.len() < 500, "the run does not end");
        waits =
            ended(agent.resume(&mut conversation).options(options().with_decisions(late.clone())).stream())
                .await?;
    };
    prop_assert_eq!(transcript(conversation.messages()), transcript(expected.messages()));
    prop_assert_eq!(transcript(&resumed.messages), transcript(&output.messages));
    prop_assert_eq!((resumed.text, resumed.agent), (output.text, output.agent));
    prop_assert_eq!(
        (resumed.usage, resumed.model_calls, resumed.tool_calls),
        (output.usage, output.model_calls, output.tool_calls)
    );
    prop_assert_eq!(program.seen.paid.lock().unwrap().len(), whole.seen.paid.lock().unwrap().len());
    prop_assert!(program.seen.limits.lock().unwrap().iter().all(|limit| *limit == 1));
    assert_sendable(&conversation);
    if !decided.is_empty() {
        let refused = agent.resume(&mut conversation).options(options().with_decisions(late)).await;
        prop_assert!(matches!(refused.unwrap_err().error, AgentError::InvalidDecision(_)));
    }
    Ok(())
}

/// Returns whether a stopped run may end otherwise: without calls that had not arrived in a stream, or with a
/// model asked after a call that is the answer.
fn may_end_otherwise(case: &Case, conversation: &Conversation) -> bool {
    case.streaming
        || conversation.messages().windows(2).any(|pair| match pair {
            [Message::Tool(it), Message::Assistant(next)] => {
                it.results.iter().any(|result| result.name == "show") && it.agent == next.agent
            }
            _ => false,
        })
}

/// The errors of the failed save and of dependent ones.
const FAILURES: [&str; 2] = ["the disk is full", "an earlier save of the run has failed"];

/// Runs to the end although this save fails.
async fn unsaved(case: &Case, failure: u32, is_reloaded: bool) -> Result<(), TestCaseError> {
    let whole = Program { interrupts: false, ..Program::default() };
    let output = case.drive(&whole.agent(case), &mut Conversation::new("1"), Options::new()).await.unwrap();
    let appends = Arc::new(AtomicU32::new(0));
    let store = Watched::new(&MemoryStore::new(), move |access| {
        let fails = access == Access::Append && appends.fetch_add(1, Ordering::Relaxed) == failure;
        async move { if fails { Err(StoreError::new("the disk is full")) } else { Ok(()) } }
    });
    let sessions = Sessions::new(store);
    let program = Program::default();
    let agent = program.agent(case);
    let mut conversation = sessions.user("ada").conversation("1").open().await.unwrap();
    let mut decisions = Decisions::new();
    let text = loop {
        let options = Options::new().with_decisions(decisions);
        decisions = match case.drive(&agent, &mut conversation, options).await {
            Ok(output) => break output.text,
            Err(AgentError::Interrupted { pending, .. }) => case.order.decide(&pending),
            Err(AgentError::Store(error)) if FAILURES.contains(&error.to_string().as_str()) => {
                Decisions::new()
            }
            Err(error) => panic!("{error}"),
        };
        if is_reloaded {
            conversation = sessions.user("ada").conversation("1").open().await.unwrap();
        }
    };
    // An unsaved agent's caller has this error as its result.
    if !may_end_otherwise(case, &conversation) && !text.contains(FAILURES[0]) {
        prop_assert_eq!(with_payments(&text), output.text);
    }
    let paid = program.seen.paid.lock().unwrap().clone();
    prop_assert_eq!(paid.iter().collect::<BTreeSet<_>>().len(), paid.len(), "{:?}", paid);
    assert_sendable(&conversation);
    let saved = sessions.user("ada").conversation("1").open().await.unwrap();
    prop_assert_eq!(saved.messages(), conversation.messages());
    prop_assert_eq!(saved.session().get("agent_1"), conversation.session().get("agent_1"));
    Ok(())
}

/// Stops after this many polls, and continues.
async fn stopped(case: &Case, stop: Stop, is_reloaded: bool) -> Result<(), TestCaseError> {
    let whole = Program { interrupts: false, ..Program::default() };
    let output = case.drive(&whole.agent(case), &mut Conversation::new("1"), Options::new()).await.unwrap();
    let fails_at = if let Stop::Failed(request) = stop { Some(request) } else { None };
    let program = Program { fails_at, ..Program::default() };
    let agent = program.agent(case);
    let mut conversation = Conversation::new("1");
    let mut ended = {
        let token = CancellationToken::new();
        let options = Options::new().with_cancellation(token.clone());
        let mut run = pin!(case.drive(&agent, &mut conversation, options));
        match stop {
            Stop::Failed(_) => Some(run.await),
            Stop::Dropped(times) => polled(run, times).await,
            Stop::Cancelled(times) => match polled(run.as_mut(), times).await {
                Some(ended) => Some(ended),
                None => {
                    token.cancel();
                    Some(timeout(Duration::from_secs(9), run).await.expect("a cancelled run ends"))
                }
            },
        }
    };
    let text = loop {
        let decisions = match ended {
            Some(Ok(output)) => break output.text,
            Some(Err(AgentError::Interrupted { pending, .. })) => case.order.decide(&pending),
            Some(Err(AgentError::Cancelled | AgentError::Model(_) | AgentError::Branches(_))) | None => {
                Decisions::new()
            }
            Some(Err(error)) => panic!("{error}"),
        };
        if is_reloaded {
            conversation = reloaded(&conversation);
        }
        prop_assert!(!is_shown(conversation.messages()));
        takes_new_input(conversation.clone(), "stopped").await?;
        let options = Options::new().with_decisions(decisions);
        ended = Some(case.drive(&agent, &mut conversation, options).await);
    };
    // A group goes on without an agent whose model fails.
    if fails_at.is_none() && !may_end_otherwise(case, &conversation) {
        prop_assert_eq!(with_payments(&text), output.text);
    }
    let paid = program.seen.paid.lock().unwrap().clone();
    prop_assert_eq!(paid.iter().collect::<BTreeSet<_>>().len(), paid.len(), "{:?}", paid);
    assert_sendable(&conversation);
    Ok(())
}

#[derive(Debug, Clone, Copy)]
enum Stop {
    Dropped(usize),
    Cancelled(usize),
    Failed(usize),
}

async fn polled<F: Future>(future: F, times: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    for _ in 0..times {
        if let Poll::Ready(done) = poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await {
            return Some(done);
        }
        tokio::task::yield_now().await;
    }
    None
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
}

proptest! {
    #![proptest_config(crate::support::cases(96))]

    #[test]
    fn an_interrupted_run_ends_like_an_uninterrupted_one(
        case in case(),
        way in select(vec![Way::InMemory, Way::AsJson, Way::AsLog]),
        repeats_ids in any::<bool>(),
    ) {
        let case = Case { is_typed: false, ..case };
        block_on(interrupted(&case, way, repeats_ids))?;
    }

    #[test]
    fn a_stopped_run_continues(
        case in case(),
        stop in prop_oneof![
            (0..40_usize).prop_map(Stop::Dropped),
            (0..40_usize).prop_map(Stop::Cancelled),
            (0..12_usize).prop_map(Stop::Failed),
        ],
        is_reloaded in any::<bool>(),
    ) {
        block_on(stopped(&case, stop, is_reloaded))?;
    }

    /// The run ends with an error, and continues from the store or from memory. No payment is made twice.
    #[test]
    fn a_failed_save_loses_no_work(case in case(), failure in 0..60_u32, is_reloaded in any::<bool>()) {
        block_on(unsaved(&case, failure, is_reloaded))?;
    }
}
