//! Decisions, cancellations, listeners and deadlines of runs with an owner.

use crate::support::{Nothing, question};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use toolkit_agent::guardrail::{Guardrail, Verdict};
use toolkit_agent::runs::{Cursor, InputMode, LocalRuns, RunInput, RunUpdate, Runs as _, RunsError};
use toolkit_agent::session::{ConversationKey, ConversationStore, EndReason, MemoryStore, RunStatus};
use toolkit_agent::{Agent, Decision, RunEvent, Sessions};
use toolkit_core::middleware::{Permission, PermissionRule, Permissions};
use toolkit_core::{ClosureTool, ToolCall, ToolRegistry};
use toolkit_llm::{ModelResponse, ScriptedModel, UserMessage};

pub(super) const KEY: ConversationKey<'static> = ConversationKey { user: "ada", id: "1" };

/// A store, and runs whose tool `ask` waits for an answer, `pay` for an approval and `work` for a permit.
pub(super) struct Program {
    pub(super) store: MemoryStore,
    pub(super) runs: LocalRuns,
    pub(super) paid: Arc<AtomicU32>,
    pub(super) permits: Arc<Semaphore>,
}

impl Program {
    pub(super) fn new(model: ScriptedModel) -> Self {
        let store = MemoryStore::new();
        let (paid, permits) = (Arc::<AtomicU32>::default(), Arc::new(Semaphore::new(0)));
        let agent = agent(model, &paid, &permits).build().unwrap();
        Self { runs: local(agent, &store), store, paid, permits }
    }

    pub(super) async fn begin(&self, text: &str, run: &str) {
        self.runs.submit(KEY, RunInput::new(text).with_run(run)).await.unwrap();
    }

    pub(super) async fn status(&self, is_reached: impl Fn(&RunStatus) -> bool) -> RunStatus {
        let reached = async {
            loop {
                let listed = self.runs.list("ada").await.unwrap();
                if let Some(info) = listed.into_iter().find(|info| is_reached(&info.summary.status)) {
                    return info.summary.status;
                }
                sleep(Duration::from_millis(2)).await;
            }
        };
        timeout(Duration::from_secs(20), reached).await.expect("the status is reached")
    }

    /// Waits until calls wait, and returns their ids.
    pub(super) async fn waiting(&self) -> Vec<String> {
        match self.status(|status| matches!(status, RunStatus::Waiting { .. })).await {
            RunStatus::Waiting { calls, .. } => calls.into_iter().map(|call| call.id).collect(),
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn ended(&self) -> EndReason {
        match self.status(|status| matches!(status, RunStatus::Ended { .. })).await {
            RunStatus::Ended { reason, .. } => reason,
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn texts(&self) -> Vec<String> {
        let sessions = Sessions::new(self.store.clone());
        let conversation = sessions.user("ada").conversation("1").open().await.unwrap();
        conversation.messages().iter().map(toolkit_llm::Message::to_text).collect()
    }
}

pub(super) fn agent(
    model: ScriptedModel,
    paid: &Arc<AtomicU32>,
    permits: &Arc<Semaphore>,
) -> toolkit_agent::AgentBuilder {
    let (paid, permits) = (paid.clone(), permits.clone());
    let pay = ClosureTool::new("pay", "Pays.", move |_: Nothing| {
        paid.fetch_add(1, Ordering::Relaxed);
        "paid"
    });
    let work = ClosureTool::new("work", "Works.", move |_: Nothing| {
        let permits = permits.clone();
        async move {
            permits.acquire().await.unwrap().forget();
            "worked"
        }
    });
    let tools = ToolRegistry::from_tools([question("ask"), pay.unwrap(), work.unwrap()]).unwrap();
    let permissions = Permissions::new()
        .rule(PermissionRule::ask("it costs money").for_tool("pay").unwrap())
        .otherwise(Permission::Allow)
        .decide_later();
    Agent::builder(model).tools(tools).middleware(permissions)
}

pub(super) fn local(agent: Agent, store: &MemoryStore) -> LocalRuns {
    LocalRuns::new(agent, Sessions::new(store.clone())).with_poll(Duration::from_millis(5))
}

pub(super) fn calls<const N: usize>(names: [&str; N]) -> ModelResponse {
    ModelResponse::calls(names.map(|name| ToolCall::new(name, name, "{}")))
}

#[tokio::test]
async fn the_first_decision_wins_and_an_equal_one_is_a_success() {
    let program = Program::new(ScriptedModel::new().response(calls(["pay", "ask"])).text("Done."));
    program.begin("Pay.", "r").await;
    let [pay, ask] = program.waiting().await.try_into().unwrap();
    let refused = program.runs.decide(KEY, &ask, Decision::Approve, "eve").await.unwrap_err();
    assert!(matches!(refused, RunsError::NotPending(_)), "{refused}");
    let refused = program.runs.decide(KEY, "9.9.9", Decision::Approve, "eve").await.unwrap_err();
    assert!(matches!(refused, RunsError::NotPending(_)), "{refused}");
    assert!(program.store.inbox(KEY).await.unwrap().is_empty());

    program.runs.decide(KEY, &pay, Decision::Approve, "bob").await.unwrap();
    program.runs.decide(KEY, &pay, Decision::Approve, "eve").await.unwrap();
    let denial = Decision::Deny("too expensive".to_owned());
    let late = program.runs.decide(KEY, &pay, denial.clone(), "eve").await.unwrap_err();
    assert_eq!(late.to_string(), format!("call `{pay}` was already decided by bob"));
    program.runs.decide(KEY, &ask, Decision::Answer("blue".into()), "ada").await.unwrap();
    assert_eq!(program.ended().await, EndReason::Answered);
    assert_eq!(program.paid.load(Ordering::Relaxed), 1);
    // Also when only the log knows it.
    let late = program.runs.decide(KEY, &pay, denial, "eve").await.unwrap_err();
    assert_eq!(late.to_string(), format!("call `{pay}` was already decided by bob"));
    program.runs.decide(KEY, &pay, Decision::Approve, "eve").await.unwrap();
    assert!(program.store.inbox(KEY).await.unwrap().is_empty());
}

/// The person decides while another call of the turn works.
#[tokio::test]
async fn a_decision_is_kept_while_the_run_works() {
    let program = Program::new(ScriptedModel::new().response(calls(["ask", "work"])).text("Done."));
    program.begin("Go.", "r").await;
    let call = timeout(Duration::from_secs(20), async {
        loop {
            let conversation =
                Sessions::new(program.store.clone()).user("ada").conversation("1").open().await.unwrap();
            if let Some(call) = conversation.pending().first() {
                return call.id.clone();
            }
            sleep(Duration::from_millis(2)).await;
        }
    });
    // The pending call is saved with the next save, at the latest when the run waits.
    program.permits.add_permits(1);
    let call = call.await.unwrap();
    let other = local(
        agent(ScriptedModel::new(), &program.paid, &program.permits).build().unwrap(),
        &MemoryStore::new(),
    );
    assert!(matches!(
        other.decide(KEY, &call, Decision::Answer("red".into()), "eve").await,
        Err(RunsError::NotPending(_))
    ));
    program.runs.decide(KEY, &call, Decision::Answer("blue".into()), "bob").await.unwrap();
    assert_eq!(program.ended().await, EndReason::Answered);
    assert!(program.texts().await.iter().any(|text| text.contains("blue")), "{:?}", program.texts().await);
}

#[tokio::test]
async fn a_cancelled_run_ends_and_a_waiting_input_is_taken_back() {
    let program = Program::new(ScriptedModel::new().response(calls(["work"])).text("Done."));
    program.begin("One.", "one").await;
    program.status(|status| matches!(status, RunStatus::Working { .. })).await;
    program.begin("Two.", "two").await;
    assert!(program.runs.cancel(KEY, "two").await.unwrap());
    assert!(!program.runs.cancel(KEY, "two").await.unwrap());
    assert!(!program.runs.cancel(KEY, "none").await.unwrap());
    // By another program on the same store.
    let other =
        local(agent(ScriptedModel::new(), &program.paid, &program.permits).build().unwrap(), &program.store);
    assert!(other.cancel(KEY, "one").await.unwrap());
    assert_eq!(program.ended().await, EndReason::Cancelled);
    assert!(!program.texts().await.contains(&"Two.".to_owned()));
    assert!(program.store.unfinished(None).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_waiting_run_is_cancelled() {
    let program = Program::new(ScriptedModel::new().response(calls(["ask"])));
    program.begin("One.", "one").await;
    program.waiting().await;
    assert!(program.runs.cancel(KEY, "one").await.unwrap());
    assert_eq!(program.ended().await, EndReason::Cancelled);
    assert!(program.runs.waiting(None).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_call_is_decided_at_its_deadline() {
    let mut program = Program::new(ScriptedModel::new().response(calls(["pay"])).text("Not paid."));
    program.runs = program.runs.clone().with_deadline(|call| {
        assert_eq!(call.call.name, "pay");
        Some((Duration::from_secs(1), Decision::Deny("nobody has answered".to_owned())))
    });
    program.begin("Pay.", "r").await;
    assert_eq!(program.ended().await, EndReason::Answered);
    assert_eq!(program.paid.load(Ordering::Relaxed), 0);
    assert!(program.texts().await.iter().any(|text| text.contains("nobody has answered")));
}

#[tokio::test]
async fn an_input_is_not_read_before_its_time() {
    let program = Program::new(ScriptedModel::new().text("Good morning."));
    let before = SystemTime::now();
    let input = RunInput::new("Wake up.").with_not_before(before + Duration::from_secs(1));
    program.runs.submit(KEY, input).await.unwrap();
    assert_eq!(program.ended().await, EndReason::Answered);
    assert!(before.elapsed().unwrap() >= Duration::from_secs(1));
}

/// A steered input passes the guardrails for inputs, as each one.
#[tokio::test]
async fn a_steered_input_is_checked() {
    let store = MemoryStore::new();
    let (paid, permits) = (Arc::default(), Arc::new(Semaphore::new(0)));
    let guard = Guardrail::new("polite", |input: &UserMessage, _| match input.to_text().contains("damn") {
        true => Verdict::Block("Please be polite.".to_owned()),
        false => Verdict::Pass,
    });
    let model = ScriptedModel::new().response(calls(["work"])).text("Done.");
    let agent = agent(model.clone(), &paid, &permits).guardrail(guard).build().unwrap();
    let program = Program { runs: local(agent, &store), store, paid, permits };
    program.begin("Work.", "r").await;
    program.status(|status| matches!(status, RunStatus::Working { .. })).await;
    let input = RunInput::new("Hurry, damn it.").with_mode(InputMode::Steer);
    program.runs.submit(KEY, input).await.unwrap();
    program.permits.add_permits(1);
    assert_eq!(program.ended().await, EndReason::Answered);
    let texts = program.texts().await;
    assert!(!texts.iter().any(|text| text.contains("damn")), "{texts:?}");
    assert_eq!(texts.last().unwrap(), "Please be polite.");
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn an_input_that_is_submitted_again_while_it_is_read_is_read_once() {
    let model = ScriptedModel::new().response(calls(["work"])).response(calls(["work"])).text("Done.");
    let program = Program::new(model.clone());
    program.begin("Work.", "r").await;
    program.status(|status| matches!(status, RunStatus::Working { .. })).await;
    let input = RunInput::new("Hurry.").with_mode(InputMode::Steer).with_run("s");
    program.runs.submit(KEY, input).await.unwrap();
    let submitted = program.store.inbox(KEY).await.unwrap().remove(0);
    program.permits.add_permits(1);
    while model.requests().len() < 2 {
        sleep(Duration::from_millis(2)).await;
    }
    // What another process puts there if it has looked at the log before.
    program.store.put(KEY, &submitted.name, &submitted.content).await.unwrap();
    sleep(Duration::from_millis(50)).await;
    program.permits.add_permits(1);
    assert_eq!(program.ended().await, EndReason::Answered);
    assert_eq!(program.texts().await.iter().filter(|text| *text == "Hurry.").count(), 1);
    assert!(program.store.inbox(KEY).await.unwrap().is_empty());
}

/// The text that a page shows, and its last cursor.
#[derive(Default)]
pub(super) struct Page {
    pub(super) shown: Vec<(Cursor, RunEvent)>,
    pub(super) cursor: Option<Cursor>,
}

impl Page {
    /// Reads `most` updates, as a page that is then reloaded or loses its connection.
    pub(super) async fn read(&mut self, runs: &LocalRuns, most: usize) -> bool {
        let mut updates = runs.attach(KEY, self.cursor.clone()).await.unwrap();
        for _ in 0..most {
            match timeout(Duration::from_secs(20), updates.next()).await.expect("an update comes") {
                Some(RunUpdate::Event { cursor, event, .. }) => {
                    self.shown.push((cursor.clone(), (*event).clone()));
                    self.cursor = Some(cursor.to_string().parse().unwrap());
                }
                Some(RunUpdate::Back { cursor: back, .. }) => {
                    self.shown.retain(|(cursor, _)| !cursor.is_after(&back));
                    self.cursor = Some(back);
                }
                Some(RunUpdate::Reset { .. }) => self.shown.clear(),
                Some(other) => panic!("{other:?}"),
                None => return false,
            }
        }
        true
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (_, event) in &self.shown {
            if let RunEvent::Text { text: piece, .. } = event {
                text.push_str(piece);
            }
        }
        text
    }
}

/// A page sees each piece once, wherever its connection breaks.
#[tokio::test]
async fn a_reloaded_page_shows_each_piece_once() {
    for most in 1..20 {
        let program =
            Program::new(ScriptedModel::new().response(calls(["work"])).text("One two three four."));
        program.begin("Count.", "r").await;
        // A page that is new, and one whose connection breaks again and again.
        let mut page = Page::default();
        page.read(&program.runs, most.min(4)).await;
        program.permits.add_permits(1);
        while page.read(&program.runs, most).await {}
        assert_eq!(page.text(), "One two three four.", "after {most}");
        // After the end, all comes from the log.
        let mut page = Page::default();
        page.read(&program.runs, 1_000).await;
        assert_eq!(page.text(), "One two three four.");
        assert!(matches!(page.shown.last(), Some((_, RunEvent::Finished { .. }))));
    }
}

#[tokio::test]
async fn a_listener_that_leaves_ends_no_run() {
    let program = Program::new(ScriptedModel::new().response(calls(["work"])).text("Done."));
    program.begin("Go.", "r").await;
    Page::default().read(&program.runs, 1).await;
    program.permits.add_permits(1);
    assert_eq!(program.ended().await, EndReason::Answered);
}

/// What waits for a listener is bounded.
#[tokio::test]
async fn a_listener_that_reads_nothing_is_cut_off() {
    let large = "x".repeat(100_000);
    let mut model = ScriptedModel::new().response(calls(["work"]));
    for _ in 0..8 {
        model = model.text(&*large);
    }
    let program = Program::new(model);
    for run in 1..9 {
        program.begin(&run.to_string(), &run.to_string()).await;
    }
    let mut updates = program.runs.attach(KEY, None).await.unwrap();
    program.permits.add_permits(1);
    program.status(|status| matches!(status, RunStatus::Ended { run, .. } if &**run == "8")).await;
    let mut bytes = 0;
    let mut last = None;
    while let Some(update) = updates.next().await {
        bytes += update.event().map_or(0, |event| serde_json::to_string(event).unwrap().len());
        last = Some(update);
    }
    assert_eq!(last, Some(RunUpdate::CutOff));
    assert!(bytes <= 256 * 1024 + 210_000, "{bytes}");
}

#[tokio::test]
async fn each_event_names_its_run_live_and_from_the_log() {
    let program = Program::new(ScriptedModel::new().response(calls(["pay"])).text("Paid.").text("Hello."));
    assert_eq!(program.runs.status(KEY).await.unwrap(), RunStatus::Idle);
    assert!(program.runs.entries(KEY).await.unwrap().is_empty());
    program.begin("Pay.", "first").await;
    program.begin("Hello.", "second").await;
    let [pay] = program.waiting().await.try_into().unwrap();
    assert_eq!(program.runs.status(KEY).await.unwrap().run(), Some("first"));
    program.runs.decide(KEY, &pay, Decision::Approve, "bob").await.unwrap();
    let mut live = program.runs.attach(KEY, None).await.unwrap();
    let mut last = Vec::new();
    while let Some(update) = live.next().await {
        if let RunUpdate::Event { run, event, .. } = update
            && matches!(&*event, RunEvent::Waiting { .. } | RunEvent::Finished { .. })
        {
            last.push(run.to_string());
        }
    }
    assert_eq!(last, ["first", "first", "second"]);
    program.ended().await;

    let mut past = program.runs.attach(KEY, None).await.unwrap();
    let mut texts = Vec::new();
    while let Some(update) = past.next().await {
        if let RunUpdate::Event { run, event, .. } = update
            && let RunEvent::Text { text, .. } = &*event
        {
            texts.push(format!("{run}: {text}"));
        }
    }
    assert_eq!(texts, ["first: Paid.", "second: Hello."]);
    assert_eq!(program.runs.entries(KEY).await.unwrap().last().unwrap().run.as_ref(), "second");
}
