//! Evals: agents with different models answer the same tasks, and a report compares their scores.
//!
//! An [`Eval`] asks every model every [`Task`], once or several times. Each run is a [`Trial`] with a new
//! agent. A [`Score`] rates it. The [`Report`] prints tables of the models and the tasks.
//!
//! ```
//! use toolkit_ai::prelude::*;
//! use toolkit_evals::{Eval, Task, Trial};
//! use toolkit_ai::agent::{Agent, AgentError};
//! use toolkit_ai::llm::ScriptedModel;
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
//!     .with_call("weather", toolkit_ai::serde_json::json!({"city": "Oslo"}))
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
//! [`Task::from_json_lines`] reads tasks from JSON, usually one per line:
//!
//! ```
//! use toolkit_evals::Task;
//!
//! let tasks = Task::from_json_lines(
//!     r#"{"id": "sum", "question": "What is 17 + 25?", "calls": [{"name": "add", "arguments": {"a": 17, "b": 25}}],
//!         "answer": {"contains": ["42"]}}"#,
//! )?;
//! assert_eq!(tasks[0].id, "sum");
//! # Ok::<(), toolkit_evals::TaskError>(())
//! ```
//!
//! # In `cargo test`
//!
//! Use a [`ScriptedModel`](toolkit_llm::ScriptedModel), or record models with a
//! [`Recorder`](toolkit_llm::record::Recorder) and replay them with a
//! [`Replay`](toolkit_llm::record::Replay). Then assert on the report: [`Report::all_solved`],
//! [`Summary::solved`](Summary), or the trials themselves.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod expected;
mod judge;
mod observed_model;
mod report;
mod score;
mod score_error;
mod scorer;
mod task;
mod transcript;
mod trial;
mod trials_file;

pub use expected::{CallMatch, ExpectedAnswer, ExpectedCall};
pub use judge::Judge;
pub use report::{Report, Summary, TrialReport};
pub use score::Score;
pub use score_error::ScoreError;
pub use scorer::Scorer;
pub use task::{Task, TaskError};
pub use transcript::{CalledTool, Transcript};
pub use trial::Trial;
pub use trials_file::TrialsFileError;

use scorer::DynScorer;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use tokio::task::JoinSet;
use toolkit_agent::{Agent, AgentError};
use toolkit_llm::ChatModel;
use toolkit_llm::model::BoxModel;
use trials_file::TrialsFile;

#[derive(Debug, Clone)]
struct Candidate {
    name: Arc<str>,
    model: BoxModel,
}

/// Tasks, the models to ask, and scorers.
///
/// By default, each task is asked once per model, one trial at a time. See the [example](self).
///
/// ```
/// use toolkit_ai::agent::{Agent, AgentError};
/// use toolkit_ai::llm::ScriptedModel;
/// use toolkit_evals::{Eval, Task, Trial};
///
/// fn agent(trial: Trial) -> Result<Agent, AgentError> {
///     Ok(Agent::builder(trial.model).build()?)
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let task = Task::new("capital", "What is the capital of Norway?").with_answer_containing(["Oslo"]);
/// let model = ScriptedModel::new().text("Oslo.").text("Bergen.");
/// let report = Eval::new([task]).model("mine", model).repetitions(2).run(agent).await;
/// assert!(!report.all_solved());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub struct Eval {
    tasks: Vec<Arc<Task>>,
    candidates: Vec<Candidate>,
    scorers: Vec<Arc<dyn DynScorer>>,
    repetitions: u32,
    concurrency: usize,
    file: Option<Arc<TrialsFile>>,
}

impl fmt::Debug for Eval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Eval")
            .field("tasks", &self.tasks.len())
            .field("models", &self.candidates)
            .field("repetitions", &self.repetitions)
            .finish_non_exhaustive()
    }
}

impl Eval {
    /// Creates an eval of these tasks, without models.
    #[must_use]
    pub fn new(tasks: impl IntoIterator<Item = Task>) -> Self {
        Self {
            tasks: tasks.into_iter().map(Arc::new).collect(),
            candidates: Vec::new(),
            scorers: Vec::new(),
            repetitions: 1,
            concurrency: 1,
            file: None,
        }
    }

    /// Adds a model, with a name for the report.
    ///
    /// One model may have several names, to compare instructions, options or tools: the function that
    /// builds the agent reads [`Trial::model_name`]. The report has the cost of
    /// [priced](toolkit_llm::model::Priced) models.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>, model: impl ChatModel) -> Self {
        let name: String = name.into();
        self.candidates.push(Candidate { name: name.into(), model: model.boxed() });
        self
    }

    /// Adds a scorer for all tasks, such as a [`Judge`]. Expected calls and answers are always scored.
    #[must_use]
    pub fn scorer(mut self, scorer: impl Scorer) -> Self {
        self.scorers.push(Arc::new(scorer));
        self
    }

    /// Sets how often each model runs each task, at least once.
    #[must_use]
    pub fn repetitions(mut self, repetitions: u32) -> Self {
        self.repetitions = repetitions.max(1);
        self
    }

    /// Sets the maximum number of simultaneous trials, at least 1.
    ///
    /// A single trial at a time gives the order that a [`ScriptedModel`](toolkit_llm::ScriptedModel) needs:
    /// by model, then repetition, then task.
    #[must_use]
    pub fn concurrency(mut self, concurrency: usize) -> Self {
        self.concurrency = concurrency.max(1);
        self
    }

    /// Keeps each ended trial as a line of JSON in the file at `path`, which may be new.
    ///
    /// These trials are not run and paid again, so a stopped eval continues with the others. The report has
    /// them all.
    ///
    /// A trial is found by its task, the name of its model and its repetition. It runs again if the data of
    /// the task have changed, or if it ended with an error. Use another file when the agent, a model, a
    /// scorer or the function of a task has changed: the file knows nothing of them.
    ///
    /// ```
    /// use toolkit_ai::agent::{Agent, AgentError};
    /// use toolkit_ai::llm::ScriptedModel;
    /// use toolkit_evals::{Eval, Task, Trial};
    ///
    /// fn agent(trial: Trial) -> Result<Agent, AgentError> {
    ///     Ok(Agent::builder(trial.model).build()?)
    /// }
    ///
    /// # let path = std::env::temp_dir().join(format!("toolkit-evals-{}.jsonl", std::process::id()));
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let model = ScriptedModel::new().text("Oslo."); // one answer for two evals
    /// for _ in 0..2 {
    ///     let task = Task::new("capital", "What is the capital of Norway?").with_answer_containing(["Oslo"]);
    ///     let report = Eval::new([task]).model("mine", model.clone()).trials_file(&path)?.run(agent).await;
    ///     assert!(report.all_solved());
    /// }
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`TrialsFileError`] if the file cannot be opened, or has other lines than trials.
    pub fn trials_file(mut self, path: impl AsRef<Path>) -> Result<Self, TrialsFileError> {
        self.file = Some(Arc::new(TrialsFile::open(path.as_ref())?));
        Ok(self)
    }

    /// Runs all trials and returns the report.
    ///
    /// `agent` builds a new agent for each trial.
    ///
    /// No trial runs if the eval has no tasks or no models, if two of them have the same name, or if a task
    /// has [criteria](Task::criteria) and the eval has no scorer. The report's [problems](Report::problems)
    /// say so.
    ///
    /// If a trial fails or panics, the report contains its error, and the others go on. Dropping the future
    /// stops all trials. A [file](Self::trials_file) keeps those that have ended.
    pub async fn run<F, E>(&self, agent: F) -> Report
    where
        F: Fn(Trial) -> Result<Agent, E> + Send + Sync + 'static,
        E: Into<AgentError>,
    {
        let build = Arc::new(move |trial| agent(trial).map_err(Into::into));
        let problems = self.problems();
        let trials = if problems.is_empty() { self.trials() } else { Vec::new() };
        let mut ended: Vec<(usize, TrialReport)> = Vec::new();
        let mut left = VecDeque::new();
        for (index, trial) in trials.into_iter().enumerate() {
            match self.file.as_ref().and_then(|file| file.earlier(&trial)) {
                Some(report) => ended.push((index, report)),
                None => left.push_back((index, trial)),
            }
        }
        let mut running = JoinSet::new();
        loop {
            while running.len() < self.concurrency
                && let Some((index, trial)) = left.pop_front()
            {
                let build = build.clone();
                let scorers = self.scorers.clone();
                let file = self.file.clone();
                running.spawn(async move {
                    let task = trial.task.clone();
                    let report = trial::conduct(trial, &*build, &scorers).await;
                    // Before the eval hears of it, because it may have been dropped.
                    if let Some(file) = file {
                        file.add(&task, &report);
                    }
                    (index, report)
                });
            }
            let Some(joined) = running.join_next().await else { break };
            // Trials catch their panics, so only the end of the runtime leaves no report.
            ended.extend(joined);
        }
        ended.sort_by_key(|(index, _)| *index);
        let reports = ended.into_iter().map(|(_, report)| report).collect();
        let names = self.candidates.iter().map(|candidate| candidate.name.to_string());
        let mut report = Report::new(names.collect(), reports);
        report.file_error = self.file.as_ref().and_then(|file| file.failure());
        report.problems = problems;
        report
    }

    /// Returns why the eval cannot run, each with its cure.
    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.tasks.is_empty() {
            problems.push("the eval has no tasks; give them to `Eval::new`".to_owned());
        }
        if self.candidates.is_empty() {
            problems.push("the eval has no models; add one with `Eval::model`".to_owned());
        }
        for id in repeated(self.tasks.iter().map(|task| task.id.as_str())) {
            problems.push(format!("task `{id}` is there twice; rename one"));
        }
        for name in repeated(self.candidates.iter().map(|candidate| &*candidate.name)) {
            problems.push(format!("model `{name}` is there twice; rename one"));
        }
        if self.scorers.is_empty() {
            for task in self.tasks.iter().filter(|task| task.criteria.is_some()) {
                let id = &task.id;
                problems.push(format!(
                    "task `{id}` has criteria, and the eval has no judge; add one with `Eval::scorer`"
                ));
            }
        }
        problems
    }

    fn trials(&self) -> Vec<Trial> {
        let mut trials = Vec::new();
        for Candidate { name, model } in &self.candidates {
            for repetition in 1..=self.repetitions {
                for task in &self.tasks {
                    trials.push(Trial {
                        task: task.clone(),
                        model_name: name.clone(),
                        model: model.clone(),
                        repetition,
                    });
                }
            }
        }
        trials
    }
}

/// Returns each name that occurs more than once.
fn repeated<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut counts: HashMap<&str, u32> = HashMap::new();
    let mut repeated = Vec::new();
    for name in names {
        let count = counts.entry(name).or_default();
        *count += 1;
        if *count == 2 {
            repeated.push(name);
        }
    }
    repeated
}

/// The examples of the README, run as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
