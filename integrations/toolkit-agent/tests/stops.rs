//! Runs that stop while calls wait for their turn: no further call begins.

use crate::support::{Access, Hesitant, Watched, assert_sendable, cases};
use crate::support::{Configured as _, Options};
use proptest::prelude::*;
use proptest::sample::select;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use toolkit_agent::Sessions;
use toolkit_agent::guardrail::{GuardContext, Guardrail, Verdict};
use toolkit_agent::session::{MemoryStore, StoreError};
use toolkit_agent::team::ParallelAgent;
use toolkit_agent::{Agent, AgentError, Conversation, Limits};
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{
    CancellationToken, ClosureTool, ErrorKind, ToolCall, ToolMetadata, ToolOutput, ToolRegistry,
};
use toolkit_llm::{Message, ModelResponse, ScriptedModel};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Stop {
    /// A guardrail stops at the check of this call.
    Call(usize),
    /// A guardrail stops at the check of this call's output.
    Output(usize),
    /// The program cancels after these milliseconds.
    Cancelled(u64),
    /// This call cancels.
    CancelledBy(usize),
    /// The run's limit in milliseconds.
    Duration(u64),
    /// This save is refused.
    Save { index: u32, is_conflict: bool },
}

/// A tool, and the milliseconds of its call.
type Call = (&'static str, u64);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Root,
    /// An agent called by another, which has a call of its own.
    Called,
    /// One of two parallel agents.
    Branch,
}

#[derive(Debug, Clone)]
struct Case {
    calls: Vec<Call>,
    stop: Stop,
    place: Place,
    streaming: bool,
    /// The milliseconds of a save, if the run is saved.
    save: Option<u64>,
}

#[derive(Debug, Default)]
struct Seen {
    /// Whether the run was stopped. A tool that begins afterwards is noted in `late`.
    stopped: AtomicBool,
    /// Whether the run went on after its cancellation for longer than the saves of its answers take.
    outlasted: AtomicBool,
    /// The time after which no tool may begin.
    end: Mutex<Option<Instant>>,
    begun: Mutex<Vec<usize>>,
    late: Mutex<Vec<usize>>,
    saves: AtomicU32,
    token: CancellationToken,
}

impl Seen {
    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    fn begin(&self, position: usize) {
        self.begun.lock().unwrap().push(position);
        let is_after = self.end.lock().unwrap().is_some_and(|end| Instant::now() > end);
        if is_after || self.stopped.load(Ordering::Relaxed) {
            self.late.lock().unwrap().push(position);
        }
    }
}

#[derive(Debug, serde::Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Work {
    position: usize,
    ms: u64,
    lane: String,
}

fn tool(name: &str, seen: &Arc<Seen>, stop: Stop) -> ClosureTool {
    let seen = seen.clone();
    let tool = ClosureTool::new(name, "Works.", move |Work { position, ms, lane }: Work| {
        seen.begin(position);
        if stop == Stop::CancelledBy(position) {
            seen.stop();
            seen.token.cancel();
        }
        async move {
            if ms > 0 {
                sleep(Duration::from_millis(ms)).await;
            }
            format!("{position} in {lane}")
        }
    });
    tool.unwrap()
}

/// The names of the tools, which run at once, in sequence, in lanes, or two at a time.
const TOOLS: [&str; 4] = ["free", "exclusive", "lane", "limited"];

fn tools(seen: &Arc<Seen>, stop: Stop) -> ToolRegistry {
    let order = |name: &str, metadata: ToolMetadata| match name {
        "exclusive" => metadata.with_exclusive(true),
        "lane" => metadata.with_lane("lane"),
        "limited" => metadata.with_max_concurrency(2),
        _ => metadata,
    };
    let tools = TOOLS.map(|name| tool(name, seen, stop).map_metadata(|metadata| order(name, metadata)));
    ToolRegistry::from_tools(tools).unwrap()
}

fn call(position: usize, (name, ms): Call) -> ToolCall {
    let lane = if position.is_multiple_of(3) { "one" } else { "other" };
    let arguments = serde_json::json!({"position": position, "ms": ms, "lane": lane});
    ToolCall::new(position.to_string(), name, arguments.to_string())
}

impl Case {
    /// Returns a slow store that refuses one save.
    fn store(&self, seen: &Arc<Seen>) -> Watched {
        let seen = seen.clone();
        let case = self.clone();
        Watched::new(&MemoryStore::new(), move |access| {
            let seen = seen.clone();
            let Self { stop, place, save, .. } = case;
            async move {
                if access != Access::Append {
                    return Ok(());
                }
                sleep(Duration::from_millis(save.unwrap_or_default())).await;
                let number = seen.saves.fetch_add(1, Ordering::Relaxed);
                match stop {
                    Stop::Save { index, is_conflict } if index == number => {
                        // After other failures, only the conversation's agent stops.
                        if is_conflict || place == Place::Root {
                            *seen.end.lock().unwrap() = Some(Instant::now());
                        }
                        Err(if is_conflict { StoreError::conflict("1") } else { StoreError::new("full") })
                    }
                    _ => Ok(()),
                }
            }
        })
    }

    fn agent(&self, seen: &Arc<Seen>) -> Agent {
        let calls = self.calls.iter().enumerate().map(|(position, made)| call(position, *made));
        let model = ScriptedModel::new().response(ModelResponse::calls(calls)).text("done");
        let stop = self.stop;
        let noted = seen.clone();
        let is_at = |position: usize, call: &ToolCall| call.id.as_str() == position.to_string();
        let mut builder = Agent::builder(model.clone()).name("worker").streaming(self.streaming);
        if self.streaming {
            builder = Agent::builder(Hesitant(model)).name("worker");
        }
        builder = builder.tools(tools(seen, stop));
        match stop {
            Stop::Call(position) => {
                builder =
                    builder.guardrail(Guardrail::new("end", move |call: &ToolCall, _: &GuardContext| {
                        if !is_at(position, call) {
                            return Verdict::Pass;
                        }
                        noted.stop();
                        Verdict::End("enough".to_owned())
                    }));
            }
            Stop::Output(position) => {
                builder = builder.guardrail(Guardrail::new(
                    "end",
                    move |_: &ToolOutput, context: &GuardContext| {
                        if !context.call.as_ref().is_some_and(|call| is_at(position, call)) {
                            return Verdict::Pass;
                        }
                        noted.stop();
                        Verdict::End("enough".to_owned())
                    },
                ));
            }
            _ => {}
        }
        let worker = builder.build().unwrap();
        let beside = self.calls.len();
        match self.place {
            Place::Root => worker,
            Place::Called => {
                let model = ScriptedModel::new().response(ModelResponse::calls([
                    ToolCall::new("w", "worker", r#"{"request": "Work."}"#),
                    call(beside, ("exclusive", 15)),
                    call(beside + 1, ("exclusive", 5)),
                ]));
                let mut tools = tools(seen, stop);
                tools.register(worker.to_tool().unwrap()).unwrap();
                Agent::builder(model.text("done")).name("caller").tools(tools).build().unwrap()
            }
            Place::Branch => {
                let calls = [call(beside, ("exclusive", 15)), call(beside + 1, ("exclusive", 5))];
                let model = ScriptedModel::new().response(ModelResponse::calls(calls)).text("done");
                let other = Agent::builder(model).name("other").tools(tools(seen, stop)).build().unwrap();
                ParallelAgent::new("team", [worker, other]).into()
            }
        }
    }

    async fn run(&self) -> (Arc<Seen>, Conversation, Option<AgentError>) {
        let seen = Arc::<Seen>::default();
        let agent = self.agent(&seen);
        let mut options = Options::new().with_cancellation(seen.token.clone());
        let sessions = Sessions::new(self.store(&seen));
        let mut conversation = match self.save {
            Some(_) => sessions.user("ada").conversation("1").open().await.unwrap(),
            None => Conversation::new("1").with_user_id("ada"),
        };
        match self.stop {
            Stop::Cancelled(after) => {
                let seen = seen.clone();
                let saves = Duration::from_millis(2 * self.save.unwrap_or_default() + 1);
                drop(tokio::spawn(async move {
                    sleep(Duration::from_millis(after)).await;
                    seen.stop();
                    seen.token.cancel();
                    sleep(saves).await;
                    seen.outlasted.store(true, Ordering::Relaxed);
                }));
            }
            Stop::Duration(limit) => {
                let limit = Duration::from_millis(limit);
                *seen.end.lock().unwrap() = Some(Instant::now() + limit);
                options = options.with_limits(Limits::default().with_max_duration(limit));
            }
            _ => {}
        }
        let ended = agent.run("go").on(&mut conversation).options(options).await;
        (seen, conversation, ended.err().map(AgentError::from))
    }
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(work)
}

/// Returns the calls that have begun, and the error kinds of the others.
fn begun(case: &Case) -> (Vec<usize>, Vec<Option<ErrorKind>>) {
    let (seen, conversation, error) = block_on(case.run());
    assert!(error.is_some(), "{case:?}");
    assert_sendable(&conversation);
    let mut begun = seen.begun.lock().unwrap().clone();
    begun.sort_unstable();
    let results = conversation.messages().iter().find_map(|message| match message {
        Message::Tool(given) => Some(&given.results),
        _ => None,
    });
    let rest = results.unwrap().iter().enumerate().filter(|(position, _)| !begun.contains(position));
    let kinds = rest.map(|(_, result)| result.error().map(toolkit_core::ToolError::kind)).collect();
    (begun, kinds)
}

const CANCELLED: Option<ErrorKind> = Some(ErrorKind::Cancelled);
const DENIED: Option<ErrorKind> = Some(ErrorKind::Denied);

#[test]
fn no_call_begins_after_a_guardrail_has_ended_the_run() {
    for streaming in [false, true] {
        let calls = vec![("free", 0), ("free", 0), ("exclusive", 0)];
        let case = Case { calls, stop: Stop::Call(0), place: Place::Root, streaming, save: None };
        let expected = if streaming { vec![DENIED] } else { vec![DENIED, CANCELLED, CANCELLED] };
        let (begun, kinds) = begun(&case);
        assert_eq!(begun, [0_usize; 0], "{streaming}");
        // A stream ends with the run, before other calls.
        assert!(kinds.starts_with(&expected), "{kinds:?}");
    }
}

#[test]
fn an_answer_is_returned_although_the_run_is_cancelled_during_its_save() {
    for streaming in [false, true] {
        let case = |after| Case {
            calls: vec![("free", 10)],
            stop: Stop::Cancelled(after),
            place: Place::Root,
            streaming,
            save: Some(25),
        };
        let duration = block_on(async {
            let start = Instant::now();
            case(10_000).run().await;
            start.elapsed()
        });
        let last_save = u64::try_from(duration.as_millis()).unwrap() - 10;
        let (seen, conversation, error) = block_on(case(last_save).run());
        assert!(seen.stopped.load(Ordering::Relaxed) && error.is_none(), "{streaming}: {error:?}");
        assert!(
            matches!(conversation.messages().last(), Some(Message::Assistant(answer)) if answer.text == "done")
        );
        let (.., error) = block_on(case(last_save - 25).run());
        assert!(error.is_some(), "{streaming}");
    }
}

fn case() -> impl Strategy<Value = Case> {
    let call = (select(TOOLS.to_vec()), select(vec![0_u64, 1, 10, 30]));
    let stop = prop_oneof![
        3 => (0..6_usize).prop_map(Stop::Call),
        3 => (0..6_usize).prop_map(Stop::Output),
        2 => (0..300_u64).prop_map(Stop::Cancelled),
        1 => (0..6_usize).prop_map(Stop::CancelledBy),
        2 => (1..60_u64).prop_map(Stop::Duration),
        2 => (0..8_u32, any::<bool>()).prop_map(|(index, is_conflict)| Stop::Save { index, is_conflict }),
    ];
    let place = prop_oneof![3 => Just(Place::Root), 1 => Just(Place::Called), 1 => Just(Place::Branch)];
    let save = prop::option::of(select(vec![0_u64, 1, 25, 200]));
    (prop::collection::vec(call, 1..7), stop, place, any::<bool>(), save)
        .prop_map(|(calls, stop, place, streaming, save)| Case { calls, stop, place, streaming, save })
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn no_tool_begins_after_the_end_of_a_run(case in case()) {
        let (seen, conversation, error) = block_on(case.run());
        assert_sendable(&conversation);
        let late = seen.late.lock().unwrap().clone();
        prop_assert!(late.is_empty(), "{:?} began after the end of the run: {:?}", late, error);
        // Cancellation during the last save comes too late.
        let is_cancelled = matches!(case.stop, Stop::Cancelled(_));
        let stopped = if is_cancelled { &seen.outlasted } else { &seen.stopped };
        prop_assert!(!stopped.load(Ordering::Relaxed) || error.is_some(), "the run has not ended");
    }
}
