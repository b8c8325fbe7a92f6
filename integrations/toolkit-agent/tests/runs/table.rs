//! What an input does, by its mode and the state of the conversation, over any store.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use toolkit_agent::runs::{InputMode, LocalRuns, RunInput, Runs as _, RunsError, Submitted};
use toolkit_agent::session::{ConversationKey, ConversationStore, EndReason, RunStatus};
use toolkit_agent::{Agent, Decision, Sessions};
use toolkit_core::{ClosureTool, ToolError, ToolRegistry};
use toolkit_llm::ScriptedModel;

const KEY: ConversationKey<'static> = ConversationKey { user: "ada", id: "1" };

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// The state of a conversation before the input.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Before {
    Ended,
    Works,
    Waits,
    /// A process has died, and nobody has taken over.
    Dead,
}

/// What becomes of the input.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Then {
    /// It begins a run at once.
    Begins,
    /// It begins a run when the other has ended with an answer.
    Follows,
    /// The other run reads it.
    Joins,
    /// The other run is cancelled, and it begins another.
    Interrupts,
    Refused,
}

const TABLE: [(InputMode, [Then; 4]); 4] = [
    (InputMode::Enqueue, [Then::Begins, Then::Follows, Then::Follows, Then::Follows]),
    (InputMode::Steer, [Then::Begins, Then::Joins, Then::Refused, Then::Joins]),
    (InputMode::Interrupt, [Then::Begins, Then::Interrupts, Then::Interrupts, Then::Interrupts]),
    (InputMode::Reject, [Then::Begins, Then::Refused, Then::Refused, Then::Refused]),
];

/// A conversation in a state, and what its tools do.
struct Case<S> {
    store: S,
    runs: LocalRuns,
    model: ScriptedModel,
    /// The tool `work` waits for a permit.
    permits: Arc<Semaphore>,
}

impl<S: ConversationStore + Clone> Case<S> {
    /// Brings the conversation into the state, in which the run `before` has asked its model once.
    async fn new(store: S, before: Before) -> Self {
        let first = match before {
            Before::Ended => ScriptedModel::new().text("Before."),
            Before::Works | Before::Dead => ScriptedModel::new().call("work", "{}"),
            Before::Waits => ScriptedModel::new().call("ask", "{}"),
        };
        // Both runs together have two answers left, whichever asks first.
        let model = first.text("One.").text("Two.");
        let permits = Arc::new(Semaphore::new(0));
        let mut case = Self { runs: owner(&store, &model, &permits), store, model, permits };
        if before == Before::Dead {
            let process = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            let runs = case.runs.clone();
            process.spawn(async move { runs.submit(KEY, RunInput::new("Go.").with_run("before")).await });
            case.until(|status| matches!(status, RunStatus::Working { .. })).await;
            case.until_called().await;
            // As when the process is killed: no task ends its run.
            process.shutdown_background();
            sleep(Duration::from_millis(20)).await;
            case.runs = owner(&case.store, &case.model, &case.permits);
            return case;
        }
        case.runs.submit(KEY, RunInput::new("Go.").with_run("before")).await.unwrap();
        case.until_asked(1).await;
        match before {
            Before::Waits => case.until(|status| matches!(status, RunStatus::Waiting { .. })).await,
            Before::Ended => case.until(|status| matches!(status, RunStatus::Ended { .. })).await,
            _ => RunStatus::Idle,
        };
        case
    }

    async fn until(&self, is_reached: impl Fn(&RunStatus) -> bool) -> RunStatus {
        let reached = async {
            loop {
                for info in self.store.list("ada").await.unwrap() {
                    if is_reached(&info.summary.status) {
                        return info.summary.status;
                    }
                }
                sleep(Duration::from_millis(2)).await;
            }
        };
        timeout(Duration::from_secs(20), reached).await.expect("the state is reached")
    }

    async fn until_asked(&self, requests: usize) {
        while self.model.requests().len() < requests {
            sleep(Duration::from_millis(1)).await;
        }
    }

    /// Waits until the tool works.
    async fn until_called(&self) {
        while !self.is_called().await {
            sleep(Duration::from_millis(10)).await;
        }
    }

    async fn is_called(&self) -> bool {
        let log = self.store.load(KEY).await.unwrap().unwrap();
        log.entries.iter().any(|save| save.contains(r#""model_ended""#))
    }

    async fn submit(&self, mode: InputMode) -> Result<Submitted, RunsError> {
        self.runs.submit(KEY, RunInput::new("New.").with_mode(mode).with_run("new")).await
    }

    /// Lets the first run end as it would: its tool returns, or its question is answered.
    async fn go_on(&self, before: Before) {
        match before {
            Before::Ended => {}
            Before::Works => self.permits.add_permits(1),
            Before::Dead => {
                self.permits.add_permits(1);
                self.runs.take_over().await.unwrap();
            }
            Before::Waits => {
                let waiting = self.runs.waiting(Some("ada")).await.unwrap();
                let Some(RunStatus::Waiting { calls, .. }) = waiting.first().map(|info| &info.summary.status)
                else {
                    return;
                };
                self.runs.decide(KEY, &calls[0].id, Decision::Answer("yes".into()), "bob").await.unwrap();
            }
        }
    }

    async fn texts(&self) -> Vec<String> {
        let sessions = Sessions::new(self.store.clone());
        let conversation = sessions.user("ada").conversation("1").open().await.unwrap();
        conversation.messages().iter().map(toolkit_llm::Message::to_text).collect()
    }
}

fn owner(
    store: &(impl ConversationStore + Clone),
    model: &ScriptedModel,
    permits: &Arc<Semaphore>,
) -> LocalRuns {
    let permits = permits.clone();
    let work = ClosureTool::new("work", "Works.", move |_: Nothing| {
        let permits = permits.clone();
        async move {
            permits.acquire().await.unwrap().forget();
            "worked"
        }
    });
    let ask = ClosureTool::new("ask", "Asks.", |_: Nothing| -> Result<String, ToolError> {
        Err(ToolError::question("Which?"))
    });
    let tools = ToolRegistry::from_tools([work.unwrap(), ask.unwrap()]).unwrap();
    let agent = Agent::builder(model.clone()).tools(tools).build().unwrap();
    LocalRuns::new(agent, Sessions::new(store.clone())).with_poll(Duration::from_millis(5))
}

/// Checks the 16 cases, each in a store of its own.
pub(crate) async fn check<S: ConversationStore + Clone>(store: impl AsyncFn() -> S) {
    let states = [Before::Ended, Before::Works, Before::Waits, Before::Dead];
    for (mode, outcomes) in TABLE {
        for (before, then) in states.into_iter().zip(outcomes) {
            check_case(store().await, mode, before, then).await;
        }
    }
}

async fn check_case<S: ConversationStore + Clone>(store: S, mode: InputMode, before: Before, then: Then) {
    let name = format!("{mode:?} while the conversation {before:?}");
    let case = Case::new(store, before).await;
    let submitted = case.submit(mode).await;
    if then == Then::Refused {
        assert!(matches!(submitted, Err(RunsError::Refused(_))), "{name}: {submitted:?}");
        assert!(case.store.inbox(KEY).await.unwrap().is_empty(), "{name}");
    } else {
        let submitted = submitted.unwrap();
        assert_eq!((submitted.run.as_str(), submitted.is_new), ("new", true), "{name}");
        assert_eq!(submitted.behind.is_some(), then != Then::Begins, "{name}");
        if matches!(then, Then::Begins | Then::Interrupts) && before != Before::Dead {
            case.until(|status| status.run() == Some("new")).await;
        }
        // The same input again changes nothing.
        assert!(!case.submit(mode).await.unwrap().is_new, "{name}");
    }
    if matches!(then, Then::Follows | Then::Joins | Then::Refused) || before == Before::Dead {
        case.go_on(before).await;
    }
    let last = if matches!(then, Then::Begins | Then::Follows | Then::Interrupts) { "new" } else { "before" };
    let ended = case
        .until(|status| matches!(status, RunStatus::Ended { run, reason: EndReason::Answered, .. } if **run == *last))
        .await;
    assert_eq!(ended.run(), Some(last), "{name}");
    let texts = case.texts().await;
    let new = texts.iter().position(|text| text == "New.");
    assert_eq!(
        texts.iter().filter(|text| *text == "New.").count(),
        usize::from(then != Then::Refused),
        "{name}"
    );
    // Where the answers stand tells which run has read the input.
    let answered = |text: &str| texts.iter().position(|known| known == text);
    match then {
        Then::Begins => assert!(answered("Before.") < new && new < answered("One."), "{name}: {texts:?}"),
        Then::Follows => assert!(answered("One.") < new && new < answered("Two."), "{name}: {texts:?}"),
        Then::Joins => assert!(new < answered("One.") && answered("Two.").is_none(), "{name}: {texts:?}"),
        Then::Interrupts => assert!(new < answered("One."), "{name}: {texts:?}"),
        Then::Refused => assert!(answered("One.").is_some() && new.is_none(), "{name}: {texts:?}"),
    }
    let conversation = Sessions::new(case.store.clone()).user("ada").conversation("1").open().await.unwrap();
    let spent = conversation.spent();
    assert_eq!(spent.model_calls as usize, case.model.requests().len(), "{name}");
    assert_eq!(spent.lost_attempts, u32::from(before == Before::Dead), "{name}");
    assert!(case.store.inbox(KEY).await.unwrap().is_empty(), "{name}");
    assert!(case.store.unfinished(None).await.unwrap().is_empty(), "{name}");
}
