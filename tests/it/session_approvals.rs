//! Concurrent calls with the same approval: each question is asked once.

use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::time::sleep;
use toolkit_ai::middleware::{Approval, ApprovalRequest, PermissionRule, Permissions};
use toolkit_ai::prelude::*;
use toolkit_ai::{ClosureTool, RunContext, Session};

/// Answers in order with `answers`, after a moment, the last repeatedly.
fn permissions(answers: Vec<Approval>, asked: &Arc<Mutex<Vec<String>>>) -> Permissions {
    let asked = asked.clone();
    let at = AtomicUsize::new(0);
    let for_pay = PermissionRule::ask("money").for_tool("pay").unwrap();
    Permissions::new().rule(for_pay).rule(PermissionRule::ask("other")).with_handler(
        move |question: ApprovalRequest| {
            let at = at.fetch_add(1, Ordering::Relaxed).min(answers.len() - 1);
            asked.lock().unwrap().push(question.request.definition().name.to_string());
            let answer = answers[at].clone();
            async move {
                sleep(Duration::from_millis(10)).await;
                answer
            }
        },
    )
}

fn dispatcher(answers: Vec<Approval>, asked: &Arc<Mutex<Vec<String>>>) -> Dispatcher {
    let tools = ["pay", "send"].map(|name| ClosureTool::without_arguments(name, "", || "done").unwrap());
    let registry = ToolRegistry::from_tools(tools).unwrap();
    Dispatcher::new(registry).unwrap().with_middleware(permissions(answers, asked))
}

fn refused() -> Approval {
    Approval::Deny("no".to_owned())
}

fn calls(tools: &[&str]) -> Vec<ToolCall> {
    tools.iter().enumerate().map(|(at, tool)| ToolCall::new(at.to_string(), *tool, "{}")).collect()
}

#[tokio::test(start_paused = true)]
async fn concurrent_calls_wait_for_an_approval_of_the_session() {
    for run in [None, Some(RunContext::new()), Some(RunContext::new().with_session(Session::new("1")))] {
        let asked = Arc::default();
        let mut dispatcher = dispatcher(vec![Approval::ApproveForSession], &asked);
        if let Some(run) = run {
            dispatcher = dispatcher.with_run(run);
        }
        let results = dispatcher.dispatch(calls(&["pay", "pay", "send", "pay", "send", "pay"])).await;
        assert!(results.iter().all(|result| result.to_text() == "done"), "{results:?}");
        let mut asked = asked.lock().unwrap().clone();
        asked.sort_unstable();
        assert_eq!(asked, ["pay", "send"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_question_passes_the_turn_on() {
    let asked = Arc::default();
    let dispatcher = dispatcher(vec![Approval::ApproveForSession], &asked);
    let mut batch = dispatcher.batch(calls(&["pay", "pay", "pay"]));
    sleep(Duration::from_millis(5)).await;
    assert_eq!(asked.lock().unwrap().len(), 1);
    batch.cancel_call("0");
    let results = batch.finish().await;
    assert_eq!(results.iter().filter(|result| result.is_error()).count(), 1);
    assert_eq!(asked.lock().unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn unrelated_batches_do_not_wait_for_each_other() {
    let asked = Arc::default();
    let dispatcher = dispatcher(vec![Approval::Approve], &asked);
    let [one, two] = [(); 2].map(|()| dispatcher.batch(calls(&["pay"])));
    sleep(Duration::from_millis(5)).await;
    assert_eq!(asked.lock().unwrap().len(), 2);
    for batch in [one, two] {
        assert!(!batch.finish().await[0].is_error());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The calls of one tool are judged one after another, until an answer holds for the session.
    #[test]
    fn as_many_questions_are_asked_as_there_are_answers_for_single_calls(
        answers in prop::collection::vec(0_u8..3, 1..6),
        count in 1_usize..7,
    ) {
        let meaning = |answer: &u8| [Approval::Approve, Approval::ApproveForSession, refused()][usize::from(*answer)].clone();
        let answers: Vec<Approval> = answers.iter().map(meaning).collect();
        let asked = Arc::default();
        let runtime = Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let results = runtime.block_on(dispatcher(answers.clone(), &asked).dispatch(calls(&vec!["pay"; count])));
        let given = (0..count).map(|at| answers[at.min(answers.len() - 1)].clone());
        let mut expected: Vec<Approval> = Vec::new();
        for answer in given {
            expected.push(answer.clone());
            if answer == Approval::ApproveForSession {
                break;
            }
        }
        prop_assert_eq!(asked.lock().unwrap().len(), expected.len());
        let refusals = expected.iter().filter(|answer| **answer == refused()).count();
        prop_assert_eq!(results.iter().filter(|result| result.is_error()).count(), refusals);
    }
}
