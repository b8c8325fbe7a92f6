//! What users complain about in other frameworks, tried here. Each test names a report.

use super::owned::{KEY, Page, Program, agent, calls, local};
use crate::support::Nothing;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::sleep;
use toolkit_agent::runs::{InputMode, RunInput, Runs as _};
use toolkit_agent::session::{ConversationStore, EndReason, MemoryStore, RunStatus};
use toolkit_agent::{Agent, Decision, RunEvent};
use toolkit_core::{ClosureTool, ToolRegistry};
use toolkit_llm::{Message, ModelError, ModelErrorKind, ModelRequest, ScriptedModel};

/// Returns the calls of a request that have no result, and would make a provider refuse it.
fn unanswered(request: &ModelRequest) -> Vec<String> {
    let mut open = Vec::new();
    for message in &*request.messages {
        match message {
            Message::Assistant(said) => open.extend(said.calls.iter().map(|call| call.id.to_string())),
            Message::Tool(given) => {
                open.retain(|id| !given.results.iter().any(|result| result.call_id == id.as_str()));
            }
            _ => {}
        }
    }
    open
}

/// Returns an agent that may pay without approval, and works as long as it has no permit.
fn payer(model: &ScriptedModel, paid: &Arc<AtomicU32>, permits: &Arc<Semaphore>) -> Agent {
    let paid = paid.clone();
    let pay = ClosureTool::new("pay_now", "Pays.", move |_: Nothing| {
        paid.fetch_add(1, Ordering::Relaxed);
        "paid"
    });
    let tools = ToolRegistry::from_tools([pay.unwrap()]).unwrap();
    agent(model.clone(), &Arc::default(), permits).tools(tools).build().unwrap()
}

/// EvoScientist 463: after Ctrl+C during a tool, the next message runs the whole interrupted batch again.
#[tokio::test]
async fn a_batch_that_was_cut_is_not_run_again() {
    let store = MemoryStore::new();
    let model = ScriptedModel::new().response(calls(["pay_now", "work"])).text("Sorry.").text("Two.");
    let (paid, permits) = (Arc::<AtomicU32>::default(), Arc::new(Semaphore::new(0)));
    let process = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let runs = local(payer(&model, &paid, &permits), &store);
    process.spawn(async move { runs.submit(KEY, RunInput::new("Go.").with_run("1")).await });
    while paid.load(Ordering::Relaxed) == 0 {
        sleep(Duration::from_millis(2)).await;
    }
    process.shutdown_background();
    let runs = local(payer(&model, &paid, &permits), &store);
    let program = Program { store, runs, paid: paid.clone(), permits: permits.clone() };
    program.runs.submit(KEY, RunInput::new("And now?").with_run("2")).await.unwrap();
    program.runs.take_over().await.unwrap();
    program.status(|status| matches!(status, RunStatus::Ended { run, .. } if &**run == "2")).await;
    assert_eq!(paid.load(Ordering::Relaxed), 1);
    for request in model.requests() {
        assert_eq!(unanswered(&request), Vec::<String>::new());
    }
}

/// vercel/eve 785: a message sent while an approval is pending kills the turn, and is parked for ever.
#[tokio::test]
async fn a_message_behind_an_approval_is_answered_after_it() {
    let program =
        Program::new(ScriptedModel::new().response(calls(["pay"])).text("Paid.").text("It was 7 euros."));
    program.begin("Pay.", "1").await;
    let [pay] = program.waiting().await.try_into().unwrap();
    let submitted = program.runs.submit(KEY, RunInput::new("How much?").with_run("2")).await.unwrap();
    assert!(matches!(submitted.behind, Some(RunStatus::Waiting { .. })), "{submitted:?}");
    program.runs.decide(KEY, &pay, Decision::Approve, "bob").await.unwrap();
    program.status(|status| matches!(status, RunStatus::Ended { run, .. } if &**run == "2")).await;
    assert_eq!(program.texts().await.last().unwrap(), "It was 7 euros.");
}

/// vercel/ai 12709: a message during an approval ends in an error of the provider, because a call has no result.
/// lemma-platform 94: the approval stays in the list for ever.
#[tokio::test]
async fn a_message_in_place_of_an_approval_gives_the_call_a_result() {
    let model = ScriptedModel::new().response(calls(["pay"])).text("Then not.");
    let program = Program::new(model.clone());
    program.begin("Pay.", "1").await;
    program.waiting().await;
    let input = RunInput::new("Do not pay.").with_run("2").with_mode(InputMode::Interrupt);
    program.runs.submit(KEY, input).await.unwrap();
    program.status(|status| matches!(status, RunStatus::Ended { run, .. } if &**run == "2")).await;
    assert_eq!(unanswered(model.requests().last().unwrap()), Vec::<String>::new());
    assert!(program.runs.waiting(None).await.unwrap().is_empty());
    assert_eq!(program.paid.load(Ordering::Relaxed), 0);
}

/// vercel/ai 18457: a page that is loaded while an answer is written shows the answer before it twice.
#[tokio::test]
async fn a_page_loaded_during_the_second_answer_shows_the_first_one_once() {
    let program = Program::new(ScriptedModel::new().text("First.").response(calls(["work"])).text("Second."));
    program.begin("One.", "1").await;
    program.ended().await;
    program.begin("Two.", "2").await;
    program.status(|status| matches!(status, RunStatus::Working { run, .. } if &**run == "2")).await;
    let mut page = Page::default();
    page.read(&program.runs, 2).await;
    program.permits.add_permits(1);
    while page.read(&program.runs, 1).await {}
    assert_eq!(page.text(), "First.Second.");
}

/// n8n 37754: a run ends with the connection of its page, and the reason of its failure is gone.
#[tokio::test]
async fn the_reason_of_a_failure_is_heard_after_the_page_has_left() {
    let model = ScriptedModel::new()
        .response(calls(["work"]))
        .error(ModelError::new(ModelErrorKind::InvalidRequest, "no credit left"));
    let program = Program::new(model);
    program.begin("Go.", "1").await;
    Page::default().read(&program.runs, 1).await;
    program.permits.add_permits(1);
    assert!(matches!(program.ended().await, EndReason::Failed { .. }));
    let mut page = Page::default();
    page.read(&program.runs, 1_000).await;
    let Some((_, RunEvent::Stopped { reason, .. })) = page.shown.last() else {
        panic!("{:?}", page.shown.last())
    };
    assert!(matches!(reason, EndReason::Failed { message, .. } if message.contains("no credit left")));
}

/// agno 9079: a run that is cancelled before it has begun is listed as pending for ever.
#[tokio::test]
async fn an_input_that_is_taken_back_is_in_no_list() {
    let program = Program::new(ScriptedModel::new().response(calls(["work"])).text("Done."));
    program.begin("One.", "1").await;
    program.status(|status| matches!(status, RunStatus::Working { .. })).await;
    program.begin("Two.", "2").await;
    assert!(program.runs.cancel(KEY, "2").await.unwrap());
    program.permits.add_permits(1);
    assert_eq!(program.ended().await, EndReason::Answered);
    assert!(program.store.inbox(KEY).await.unwrap().is_empty());
    assert!(!program.texts().await.contains(&"Two.".to_owned()));
}

/// Psycheros 46: a page that lost the response sends its message again, and gets two answers.
#[tokio::test]
async fn a_message_that_is_sent_again_is_answered_once() {
    let model = ScriptedModel::new().response(calls(["work"])).text("Done.");
    let program = Program::new(model.clone());
    let input = || RunInput::new("Go.").with_run("1");
    assert!(program.runs.submit(KEY, input()).await.unwrap().is_new);
    program.status(|status| matches!(status, RunStatus::Working { .. })).await;
    assert!(!program.runs.submit(KEY, input()).await.unwrap().is_new);
    program.permits.add_permits(1);
    program.ended().await;
    assert!(!program.runs.submit(KEY, input()).await.unwrap().is_new);
    assert_eq!(program.texts().await.iter().filter(|text| *text == "Go.").count(), 1);
    assert_eq!(model.requests().len(), 2);
}

/// deepagentsjs 725: an approval inside a called agent counts only if its model repeats all its steps.
#[tokio::test]
async fn a_called_agent_goes_on_where_it_waited() {
    let store = MemoryStore::new();
    let (paid, permits) = (Arc::default(), Arc::new(Semaphore::new(1)));
    // A model that would take other steps if it were asked again.
    let inner = ScriptedModel::new().response(calls(["work"])).response(calls(["pay"])).text("Paid.");
    let expert = agent(inner.clone(), &paid, &permits).name("expert").description("Pays.").build().unwrap();
    let outer = ScriptedModel::new().call("expert", r#"{"request": "Pay."}"#).text("It is done.");
    let tools = ToolRegistry::from_tools([expert.to_tool().unwrap()]).unwrap();
    let outer = Agent::builder(outer).tools(tools).build().unwrap();
    let program = Program { runs: local(outer, &store), store, paid, permits };
    program.begin("Pay.", "1").await;
    let [pay] = program.waiting().await.try_into().unwrap();
    program.runs.decide(KEY, &pay, Decision::Approve, "bob").await.unwrap();
    assert_eq!(program.ended().await, EndReason::Answered);
    assert_eq!((program.paid.load(Ordering::Relaxed), inner.requests().len()), (1, 3));
}

/// frontman 643: a page that connects again dispatches the calls that still run.
#[tokio::test]
async fn attaching_again_starts_no_call() {
    let model = ScriptedModel::new().response(calls(["work"])).text("Done.");
    let program = Program::new(model.clone());
    program.begin("Go.", "1").await;
    program.status(|status| matches!(status, RunStatus::Working { .. })).await;
    let mut page = Page::default();
    for _ in 0..5 {
        page.read(&program.runs, 1).await;
        page.cursor = None;
    }
    program.permits.add_permits(1);
    assert_eq!(program.ended().await, EndReason::Answered);
    // A second call would wait for another permit.
    assert_eq!((program.permits.available_permits(), model.requests().len()), (0, 2));
}

/// langfuse 15558: a second press of the stop button does nothing, because the page has forgotten the run.
#[tokio::test]
async fn a_run_can_be_stopped_twice() {
    let program = Program::new(ScriptedModel::new().response(calls(["work"])).text("Not this."));
    program.begin("Go.", "1").await;
    program.status(|status| matches!(status, RunStatus::Working { .. })).await;
    assert!(program.runs.cancel(KEY, "1").await.unwrap());
    program.runs.cancel(KEY, "1").await.unwrap();
    assert_eq!(program.ended().await, EndReason::Cancelled);
    assert!(!program.runs.cancel(KEY, "1").await.unwrap());
}
