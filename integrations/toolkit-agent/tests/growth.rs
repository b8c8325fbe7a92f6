//! Work of an agent that grows in proportion to its turns, calls and messages.
//!
//! No time limit decides. The duration of late steps of a kind of work is compared with that of early steps, so the
//! speed of the machine does not matter. The duration of a step is the lower quartile of many, so its load does not
//! matter much either.

mod linear;
mod runs;
mod streams;

use crate::support::{says, tools};
use serde::Deserialize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use toolkit_agent::compaction::Compaction;
use toolkit_agent::guardrail::{GuardContext, Guardrail, Verdict};
use toolkit_agent::session::{ConversationStore, MemoryStore};
use toolkit_agent::team::{LoopAgent, SequentialAgent};
use toolkit_agent::{
    Agent, AgentBuilder, AgentOutput, Conversation, Limits, RunOptions, Sessions,
    structured::StructuredOptions,
};
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{ToolCall, ToolOutput, ToolRegistry};
use toolkit_llm::FinishReason;
use toolkit_llm::model::{OutputFormat, OutputLosses};
use toolkit_llm::{ChatModel, Message, ModelError, ModelRequest, ModelResponse, ScriptedModel, UserMessage};

/// How much longer a late step may take.
const ALLOWED: f64 = 1.5;

/// How often a kind of work is measured. One round with steps of equal duration suffices, because load only adds time.
const ROUNDS: usize = 4;

/// Fails if late steps take longer than early ones in all rounds. `measure` returns the duration of each step.
async fn assert_level<F: Future<Output = [Vec<Duration>; 2]>>(kind: &str, measure: impl Fn() -> F) {
    let mut measured = Vec::new();
    for _ in 0..ROUNDS {
        let quartile = |mut steps: Vec<Duration>| {
            steps.sort_unstable();
            steps[steps.len() / 4].as_secs_f64() * 1e6
        };
        let [early, late] = measure().await.map(quartile);
        if late <= ALLOWED * early {
            return;
        }
        measured.push((early, late));
    }
    panic!("{kind}: early and late steps took {measured:.1?} us");
}

/// The times at which a kind of work has reached its steps.
#[derive(Clone, Default)]
struct Clock(Arc<Mutex<Vec<Instant>>>);

impl Clock {
    fn tick(&self) {
        self.0.lock().unwrap().push(Instant::now());
    }

    /// Returns the durations of the steps after the first tenth, and of the last steps.
    fn steps(&self) -> [Vec<Duration>; 2] {
        let times = self.0.lock().unwrap();
        let steps: Vec<Duration> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let part = steps.len() / 10;
        [steps[part..2 * part].to_vec(), steps[steps.len() - part..].to_vec()]
    }
}

/// A model that answers by the number of its call, and keeps no request.
struct Steps<F> {
    respond: F,
    clock: Clock,
    count: AtomicUsize,
}

fn steps<F>(clock: &Clock, respond: F) -> Steps<F> {
    Steps { respond, clock: clock.clone(), count: AtomicUsize::new(0) }
}

impl<F: Fn(usize) -> ModelResponse + Send + Sync + 'static> ChatModel for Steps<F> {
    fn name(&self) -> &str {
        "steps"
    }

    async fn respond(&self, _: ModelRequest) -> Result<ModelResponse, ModelError> {
        self.clock.tick();
        Ok((self.respond)(self.count.fetch_add(1, Ordering::Relaxed)))
    }

    fn output_losses(&self, _: &OutputFormat) -> OutputLosses {
        OutputLosses::default()
    }
}

fn call(number: usize, tool: &str, arguments: &str) -> ModelResponse {
    ModelResponse::calls([ToolCall::new(format!("call_{number}"), tool, arguments)])
}

/// Calls `add` in each of `turns` turns, and then answers. The next run begins again.
fn adds(turns: usize) -> impl Fn(usize) -> ModelResponse {
    move |number| match number % turns {
        last if last + 1 == turns => ModelResponse::text("Done."),
        other => call(number, "add", &format!(r#"{{"a": {other}, "b": 1}}"#)),
    }
}

fn agent(model: impl ChatModel) -> AgentBuilder {
    let limits = Limits::default().with_max_model_calls(u32::MAX).with_max_repeated_calls(u32::MAX);
    Agent::builder(model).tools(tools()).limits(limits)
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Sum {
    #[allow(dead_code, reason = "only the form of the answer matters")]
    sum: i64,
}

fn guarded(builder: AgentBuilder) -> AgentBuilder {
    fn pass<T>(_: &T, context: &GuardContext) -> Verdict<T> {
        assert_eq!(context.session.get("unknown"), None);
        Verdict::Pass
    }
    builder
        .guardrail(Guardrail::new("input", pass::<UserMessage>))
        .guardrail(Guardrail::new("beside", pass::<UserMessage>).beside_model())
        .guardrail(Guardrail::new("call", pass::<ToolCall>))
        .guardrail(Guardrail::new("result", pass::<ToolOutput>))
        .guardrail(Guardrail::new("response", pass::<ModelResponse>))
        .guardrail(Guardrail::new("answer", pass::<AgentOutput>))
}

/// A team of `root`, which transfers the first turn of each run to `helper`. The helper works for `turns` turns.
fn hand_over(clock: &Clock, turns: usize) -> Agent {
    let helper = agent(steps(clock, adds(turns))).name("helper").build().unwrap();
    let transfer = |number| call(number, "transfer_to_agent", r#"{"agent_name": "helper"}"#);
    agent(steps(&Clock::default(), transfer)).name("root").sub_agent(helper).build().unwrap()
}

/// An agent that calls another agent as a tool in each of `turns` turns.
fn calling(clock: &Clock, turns: usize) -> Agent {
    let helper = agent(steps(&Clock::default(), |_| ModelResponse::text("I see.")));
    let helper = helper.name("helper").build().unwrap().to_tool().unwrap();
    let asks = move |number: usize| match number % turns {
        last if last + 1 == turns => ModelResponse::text("Done."),
        _ => call(number, "helper", r#"{"request": "Help."}"#),
    };
    agent(steps(clock, asks)).tools(ToolRegistry::from_tools([helper]).unwrap()).build().unwrap()
}

/// A loop of two agents. Each agent reads the answers of the other.
fn discussion(clock: &Clock, rounds: u32) -> Agent {
    let says = |clock: &Clock, name: &str| {
        let respond = |_| ModelResponse::text("I see.");
        agent(steps(clock, respond)).name(name).build().unwrap()
    };
    let agents = [says(clock, "writer"), says(&Clock::default(), "critic")];
    let limits = Limits::default().with_max_model_calls(u32::MAX);
    LoopAgent::new("team", agents).with_max_iterations(rounds).with_limits(limits).into()
}

/// The kinds of agents, for runs of `turns` turns.
fn kinds(clock: &Clock, turns: usize) -> Vec<(&'static str, Agent)> {
    let adding = || agent(steps(clock, adds(turns)));
    let pauses = move |number: usize| match number % turns {
        last if last + 1 == turns => ModelResponse::text("Done."),
        _ => ModelResponse::text("And").with_finish(FinishReason::Other("pause_turn".to_owned())),
    };
    let alone =
        LoopAgent::new("loop", [agent(steps(clock, |_| ModelResponse::text("More."))).build().unwrap()]);
    let rounds = u32::try_from(turns).unwrap();
    let endless = Limits::default().with_max_model_calls(u32::MAX);
    vec![
        ("plain", adding().build().unwrap()),
        ("limited history", adding().history_limit(10).build().unwrap()),
        ("large window", adding().compaction(Compaction::new(100_000_000)).build().unwrap()),
        ("small window", adding().compaction(Compaction::new(1_000)).build().unwrap()),
        ("guardrails", guarded(adding()).build().unwrap()),
        ("pauses", agent(steps(clock, pauses)).build().unwrap()),
        ("guarded pauses", guarded(agent(steps(clock, pauses))).build().unwrap()),
        ("agent as a tool", calling(clock, turns)),
        ("hand-over", hand_over(clock, turns)),
        ("discussion", discussion(clock, rounds)),
        (
            "sequence",
            SequentialAgent::new("outer", [discussion(clock, rounds)]).with_limits(endless.clone()).into(),
        ),
        ("loop of one", alone.with_max_iterations(rounds).with_limits(endless).into()),
    ]
}

/// Returns the number of the kinds.
fn count() -> usize {
    kinds(&Clock::default(), 2).len()
}

#[tokio::test]
async fn a_late_turn_of_a_run_takes_as_long_as_an_early_one() {
    const TURNS: usize = 600;
    for index in 0..count() {
        for is_saved in [false, true] {
            let kind = format!("{}, saved: {is_saved}", kinds(&Clock::default(), 2)[index].0);
            assert_level(&kind, || async move {
                let clock = Clock::default();
                let (_, agent) = kinds(&clock, TURNS).swap_remove(index);
                let options = RunOptions::new();
                let options = if is_saved { options.with_autosave(&Sessions::default()) } else { options };
                agent.run_with(&mut Conversation::new("1"), "Go.", options).await.unwrap();
                clock.steps()
            })
            .await;
        }
    }
}

/// Asks `agent` once. If `is_structured` is `true`, the run asks for a structured answer.
async fn ask(
    agent: &Agent,
    conversation: &mut Conversation,
    sessions: Option<&Sessions>,
    is_structured: bool,
) {
    let options = || sessions.iter().fold(RunOptions::new(), |options, it| options.with_autosave(it));
    if is_structured {
        let structured = StructuredOptions::default();
        agent.run_as_with::<Sum>(conversation, "Go.", options(), structured).await.unwrap();
    }
    agent.run_with(conversation, "Go.", options()).await.unwrap();
}

#[tokio::test]
async fn a_run_in_a_long_conversation_takes_as_long_as_in_a_short_one() {
    const RUNS: usize = 40;
    let answers = |number: usize| match number % 2 {
        0 => call(number, "final_answer", r#"{"sum": 42}"#),
        _ => ModelResponse::text("It is 42."),
    };
    let kinds = || {
        let mut kinds = kinds(&Clock::default(), 3);
        // Without token counts of the provider, each run estimates the messages in its window once.
        kinds.retain(|(kind, _)| *kind != "large window");
        kinds.push(("structured answers", agent(steps(&Clock::default(), answers)).build().unwrap()));
        kinds
    };
    for index in 0..kinds().len() {
        for is_saved in [false, true] {
            let kind = kinds()[index].0;
            let is_structured = kind == "structured answers";
            assert_level(&format!("{kind}, saved: {is_saved}"), || async move {
                let mut durations = [Vec::new(), Vec::new()];
                for (len, durations) in [200, 6_000].into_iter().zip(&mut durations) {
                    let agent = kinds()[index].1.clone();
                    let sessions = Sessions::default();
                    let sessions = is_saved.then_some(&sessions);
                    let mut conversation = Conversation::new("1");
                    ask(&agent, &mut conversation, sessions, is_structured).await;
                    let messages: Vec<Message> = conversation.messages().to_vec();
                    while conversation.messages().len() < len {
                        messages.iter().cloned().for_each(|message| conversation.push(message));
                    }
                    ask(&agent, &mut conversation, sessions, is_structured).await;
                    for _ in 0..RUNS {
                        let begin = Instant::now();
                        ask(&agent, &mut conversation, sessions, is_structured).await;
                        durations.push(begin.elapsed());
                    }
                }
                durations
            })
            .await;
        }
    }
}

/// Saves after a long answer write it no more, although it is the output of a step of the team.
#[tokio::test]
async fn the_log_of_a_sequence_contains_a_long_answer_a_few_times() {
    let log_of = async |turns: usize| {
        let model = (0..turns).fold(ScriptedModel::new(), |model, number| {
            model.call("add", format!(r#"{{"a": 1, "b": {number}}}"#)).then()
        });
        let second = agent(model.text("Done.")).name("second").build().unwrap();
        let team = SequentialAgent::new("team", [says("first", &"long ".repeat(20_000)), second]);
        let store = MemoryStore::new();
        Sessions::new(store.clone()).run(&team.into(), "ada", "1", "Go.").await.unwrap();
        let log = store.load("ada", "1").await.unwrap().unwrap();
        assert!(log.entries.len() > turns);
        log.entries.iter().map(String::len).sum::<usize>()
    };
    let short = log_of(1).await;
    let long = log_of(30).await;
    assert!(short < 250_000 && long < short + 50_000, "{short} and {long} bytes");
}
