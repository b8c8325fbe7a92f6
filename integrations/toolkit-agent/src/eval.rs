//! Evals: agents with different models answer the same tasks, and a report compares their scores.
//!
//! An [`Eval`] asks every model every [`Task`], once or several times. Each run is a [`Trial`] with a new
//! agent. A [`Score`] says, for example, whether the trial had the expected tool calls or the expected
//! answer. The [`Report`] prints a table of the models and a table of the tasks, and serializes all trials.
//!
//! ```
//! use toolkit::prelude::*;
//! use toolkit_agent::eval::{Eval, Task, Trial};
//! use toolkit_agent::{Agent, AgentError, ScriptedModel};
//!
//! /// Get the weather for a city.
//! #[tool]
//! async fn weather(city: String) -> String {
//!     format!("{city}: clear, 21 °C")
//! }
//!
//! fn agent(trial: Trial) -> Result<Agent, AgentError> {
//!     let tools = ToolRegistry::from_tools(tools![weather])?; // fresh tools for each trial
//!     Ok(Agent::builder(trial.model).tools(tools).build()?)
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let task = Task::new("oslo", "What is the weather in Oslo?")
//!     .with_call("weather", toolkit::serde_json::json!({"city": "Oslo"}))
//!     .with_answer_containing(["21"]);
//! let good = ScriptedModel::new().call("weather", r#"{"city": "Oslo"}"#).text("Clear, 21 °C.");
//! let lazy = ScriptedModel::new().text("Clear, 21 °C.");
//!
//! let report = Eval::new([task]).model("good", good).model("lazy", lazy).run(agent).await;
//! assert_eq!((report.summary("good").unwrap().solved, report.summary("lazy").unwrap().solved), (1, 0));
//! assert!(report.to_string().starts_with("| model | trials | solved | calls | answer |"));
//! # });
//! ```
//!
//! # Tasks as data
//!
//! [`Task::from_json_lines`] reads tasks from JSON, usually one task per line:
//!
//! ```
//! use toolkit_agent::eval::Task;
//!
//! let tasks = Task::from_json_lines(
//!     r#"{"id": "sum", "question": "What is 17 + 25?", "calls": [{"name": "add", "arguments": {"a": 17, "b": 25}}],
//!         "answer": {"contains": ["42"]}}"#,
//! )?;
//! assert_eq!(tasks[0].id, "sum");
//! # Ok::<(), toolkit_agent::eval::TaskError>(())
//! ```
//!
//! # In `cargo test`
//!
//! Use a [`ScriptedModel`](crate::ScriptedModel), or record the models once with a
//! [`Recorder`](crate::record::Recorder) and replay them in every test with a
//! [`Replay`](crate::record::Replay). Then assert on the report: [`Report::all_solved`],
//! [`Summary::solved`](Summary), or the trials themselves.

mod expected;
mod judge;
mod observed;
mod report;
mod score;
mod scorer;
mod task;
mod transcript;

pub use expected::{CallMatch, ExpectedAnswer, ExpectedCall};
pub use judge::Judge;
pub use report::{Report, Summary, TrialReport};
pub use score::Score;
pub use scorer::Scorer;
pub use task::{Task, TaskError};
pub use transcript::{CalledTool, Transcript};

use crate::agent::Agent;
use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::helpers::lock;
use crate::options::RunOptions;
use crate::span::in_current;
use observed::{Observed, Seen};
use scorer::DynScorer;
use std::collections::HashMap;
use std::mem::take;
use std::sync::{Arc, Mutex};
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use toolkit_llm::model::{BoxModel, ChatModel, Price};

/// One run of a task with a model. The function that builds the agent receives the trial as its argument.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Trial {
    /// The task.
    pub task: Arc<Task>,
    /// The name of the model in the report.
    pub model_name: Arc<str>,
    /// The model of the trial, to pass to [`Agent::builder`]. The eval counts the calls and tokens of this
    /// model.
    pub model: BoxModel,
    /// The number of the repetition. The first repetition has the number 1.
    pub repetition: u32,
}

/// A model that the eval compares with others.
#[derive(Debug, Clone)]
struct Candidate {
    name: Arc<str>,
    model: BoxModel,
}

/// A set of tasks, the models to ask, and the scorers.
///
/// By default, each task is asked once per model, and one trial runs at a time. See the
/// [module documentation](self) for an example.
pub struct Eval {
    tasks: Vec<Arc<Task>>,
    candidates: Vec<Candidate>,
    scorers: Vec<Arc<dyn DynScorer>>,
    repetitions: u32,
    concurrency: usize,
}

debug!(Eval, self, "tasks": self.tasks.len(), "models": self.candidates, "repetitions": self.repetitions);

setters! { Eval:
    /// Sets how often each model runs each task, at least once.
    repetitions(repetitions: u32) = repetitions.max(1);
    /// Sets the maximum number of trials that run at the same time, at least 1.
    ///
    /// With one trial at a time, the trials run in the order of the models, then the repetitions, then the
    /// tasks. A [`ScriptedModel`](crate::ScriptedModel) needs this order.
    concurrency(concurrency: usize) = concurrency.max(1);
}

impl Eval {
    /// Creates an eval of these tasks, still without models.
    #[must_use]
    pub fn new(tasks: impl IntoIterator<Item = Task>) -> Self {
        Self {
            tasks: tasks.into_iter().map(Arc::new).collect(),
            candidates: Vec::new(),
            scorers: Vec::new(),
            repetitions: 1,
            concurrency: 1,
        }
    }

    /// Adds a model, with a name for the report.
    ///
    /// The same model may be added under several names, to compare instructions, options or tools. The
    /// function that builds the agent reads the name from [`Trial::model_name`] and chooses between them.
    ///
    /// The report contains the cost of [priced](crate::model::Priced) models.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>, model: impl ChatModel) -> Self {
        let name: String = name.into();
        self.candidates.push(Candidate { name: name.into(), model: model.boxed() });
        self
    }

    /// Adds a scorer for all tasks, such as a [`Judge`]. The expected calls and answer of a task are always
    /// scored.
    #[must_use]
    pub fn scorer(mut self, scorer: impl Scorer) -> Self {
        self.scorers.push(Arc::new(scorer));
        self
    }

    /// Runs all trials and returns the report.
    ///
    /// `agent` is a function that builds an agent for a trial. The eval calls it once for each trial, so each
    /// trial can have new tools with initial state.
    ///
    /// If a trial fails or panics, the report contains its error, and the other trials go on. If the returned
    /// future is dropped, all trials stop.
    pub async fn run<F, E>(&self, agent: F) -> Report
    where
        F: Fn(Trial) -> Result<Agent, E> + Send + Sync + 'static,
        E: Into<AgentError>,
    {
        let build = Arc::new(move |trial| agent(trial).map_err(Into::into));
        let mut waiting = self.trials().into_iter();
        let mut reports: Vec<TrialReport> = Vec::new();
        let mut running = JoinSet::new();
        let mut begun = HashMap::new();
        loop {
            while running.len() < self.concurrency
                && let Some(trial) = waiting.next()
            {
                let build = build.clone();
                let scorers = self.scorers.clone();
                let conducted = Arc::new(Mutex::new(TrialReport::new(&trial)));
                let index = reports.len();
                let ended = conducted.clone();
                reports.push(TrialReport::default());
                let conduct = async move { conduct(trial, &*build, &scorers, &conducted).await };
                begun.insert(running.spawn(in_current(conduct)).id(), (index, ended));
            }
            let Some(ended) = running.join_next_with_id().await else { break };
            let id = ended.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
            let Some((index, conducted)) = begun.remove(&id) else { continue };
            let mut report = take(&mut *lock(&conducted));
            if let Err(panicked) = ended {
                report.error = Some(format!("the trial has panicked: {panicked}"));
            }
            if let Some(place) = reports.get_mut(index) {
                *place = report;
            }
        }
        let names = self.candidates.iter().map(|candidate| candidate.name.to_string());
        Report::new(names.collect(), reports)
    }

    /// Returns all trials in their order.
    fn trials(&self) -> Vec<Trial> {
        let mut trials = Vec::new();
        for Candidate { name, model } in &self.candidates {
            for repetition in 1..=self.repetitions {
                trials.extend(self.tasks.iter().map(|task| {
                    let task = task.clone();
                    let model_name = name.clone();
                    let model = model.clone();
                    Trial { task, model_name, model, repetition }
                }));
            }
        }
        trials
    }
}

/// A trial in progress. Its end writes the report, also if the trial panics.
struct Conducted<'a> {
    report: TrialReport,
    /// Counts the calls of the trial's model. They are the calls of the report unless the run has counted as much.
    seen: Seen,
    is_counted: bool,
    started: Instant,
    place: &'a Mutex<TrialReport>,
}

impl Drop for Conducted<'_> {
    fn drop(&mut self) {
        let Self { report, seen, is_counted, started, place } = self;
        if !*is_counted {
            let (bill, model_calls) = seen.counts();
            (report.usage, report.cost, report.model_calls) =
                (bill.usage, bill.cost(&Price::default()), model_calls);
        }
        if report.duration.is_zero() {
            report.duration = started.elapsed();
        }
        *lock(place) = take(report);
    }
}

/// Runs and scores one trial, and writes its report to `place`.
async fn conduct(
    mut trial: Trial,
    build: &(dyn Fn(Trial) -> Result<Agent, AgentError> + Send + Sync),
    scorers: &[Arc<dyn DynScorer>],
    place: &Mutex<TrialReport>,
) {
    let (observed, seen) = Observed::new(trial.model);
    trial.model = observed.boxed();
    let task = trial.task.clone();
    let started = Instant::now();
    // Created first: it is dropped after everything that counts tokens.
    let report = TrialReport::new(&trial);
    let mut conducted = Conducted { report, seen: seen.clone(), is_counted: false, started, place };
    let mut conversation = Conversation::default();
    let ended = match build(trial) {
        Ok(agent) => {
            let question = task.question.as_str();
            agent.run_with(&mut conversation, question, RunOptions::default()).await
        }
        Err(error) => Err(error.into()),
    };
    let counted = ended.as_ref().unwrap_or_else(|failed| &failed.output);
    // An agent may also ask the model of the trial outside of its run, as in a step that runs another agent.
    conducted.is_counted = seen.counts().0.usage.total() <= counted.usage.total();
    let report = &mut conducted.report;
    report.duration = started.elapsed();
    (report.usage, report.cost, report.model_calls) = (counted.usage, counted.cost, counted.model_calls);
    report.error = ended.as_ref().err().map(ToString::to_string);
    report.transcript = Transcript::new(conversation.messages(), ended.ok(), seen.tools()).await;
    report.scores = task.score(&report.transcript).await;
    // After an error, there is no answer that the scorers of the eval could rate.
    if report.error.is_none() {
        for scorer in scorers {
            match scorer.score(&task, &report.transcript).await {
                Ok(score) => {
                    report.scorer_usage += score.usage;
                    report.scores.push(score.named(scorer.name()));
                }
                Err(error) => {
                    report.scorer_usage += error.output.usage;
                    report.error = Some(format!("scorer `{}` failed: {error}", scorer.name()));
                }
            }
        }
    }
}
