//! The report of an eval.

use crate::score::Score;
use crate::transcript::Transcript;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::time::Duration;
use toolkit_llm::Usage;

/// The trials of an eval, summarized by model.
///
/// `Display` writes Markdown: tables of the models and the tasks, and the reasons of all failures, or the
/// [problems](Self::problems) if no trial has run.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// A summary for each model, in the order of addition.
    pub models: Vec<Summary>,
    /// All trials, by model, then by repetition, then by task.
    pub trials: Vec<TrialReport>,
    /// Why the [file of trials](crate::Eval::trials_file) lacks a trial of this report, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_error: Option<String>,
    /// Why no trial has run, such as two models with the same name, or empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// One trial in a [`Report`].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TrialReport {
    /// The id of the task.
    pub task: String,
    /// The name of the model.
    pub model: String,
    /// The number of the repetition, from 1.
    pub repetition: u32,
    /// The scores for the task's expectations, then one from each scorer.
    pub scores: Vec<Score>,
    /// The error of the run or of a scorer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The number of model calls.
    pub model_calls: u32,
    /// The tokens of all model calls, even of failed runs.
    pub usage: Usage,
    /// The tokens of the scorers, even of failed ones. `usage` and `cost` exclude them.
    #[serde(skip_serializing_if = "Usage::is_empty")]
    pub scorer_usage: Usage,
    /// The cost of the tokens, 0 without a price.
    pub cost: f64,
    /// The time for building and running the agent. In JSON, seconds.
    #[serde(rename = "seconds", serialize_with = "seconds", deserialize_with = "duration")]
    pub duration: Duration,
    /// The messages and tool calls of the trial.
    pub transcript: Transcript,
}

/// Sums over all trials with one model.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// The name of the model.
    pub model: String,
    /// The number of trials.
    pub trials: usize,
    /// The number of [solved](TrialReport::is_solved) trials.
    pub solved: usize,
    /// The number of trials with an error.
    pub errors: usize,
    /// For each scorer: its name, the number of trials that passed, and the number that it has scored.
    pub scores: Vec<(String, usize, usize)>,
    /// The number of model calls.
    pub model_calls: u32,
    /// The number of tool calls.
    pub tool_calls: usize,
    /// The tokens of all model calls.
    pub usage: Usage,
    /// The tokens of the scorers.
    #[serde(skip_serializing_if = "Usage::is_empty")]
    pub scorer_usage: Usage,
    /// The cost of the tokens, 0 without a price.
    pub cost: f64,
    /// The sum of the trials' durations. In JSON, seconds.
    #[serde(rename = "seconds", serialize_with = "seconds")]
    pub duration: Duration,
}

fn seconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    Duration::try_from_secs_f64(f64::deserialize(deserializer)?).map_err(D::Error::custom)
}

impl TrialReport {
    /// Returns whether the trial has no error, at least one score, and passes all of them.
    #[must_use]
    pub fn is_solved(&self) -> bool {
        self.error.is_none() && !self.scores.is_empty() && self.scores.iter().all(|score| score.passed)
    }
}

impl Summary {
    fn add(&mut self, trial: &TrialReport) {
        self.trials += 1;
        self.solved += usize::from(trial.is_solved());
        self.errors += usize::from(trial.error.is_some());
        for score in &trial.scores {
            let at = match self.scores.iter().position(|(name, ..)| *name == score.scorer) {
                Some(at) => at,
                None => {
                    self.scores.push((score.scorer.clone(), 0, 0));
                    self.scores.len() - 1
                }
            };
            if let Some((_, passed, scored)) = self.scores.get_mut(at) {
                *passed += usize::from(score.passed);
                *scored += 1;
            }
        }
        self.model_calls += trial.model_calls;
        self.tool_calls += trial.transcript.calls.len();
        self.usage += trial.usage;
        self.scorer_usage += trial.scorer_usage;
        self.cost += trial.cost;
        self.duration += trial.duration;
    }
}

impl Report {
    pub(crate) fn new(models: Vec<String>, trials: Vec<TrialReport>) -> Self {
        let mut summaries = Vec::with_capacity(models.len());
        for model in models {
            let mut summary = Summary { model, ..Summary::default() };
            for trial in &trials {
                if trial.model == summary.model {
                    summary.add(trial);
                }
            }
            summaries.push(summary);
        }
        Self { models: summaries, trials, file_error: None, problems: Vec::new() }
    }

    /// Returns the summary of this model.
    #[must_use]
    pub fn summary(&self, model: &str) -> Option<&Summary> {
        self.models.iter().find(|summary| summary.model == model)
    }

    /// Returns whether every trial, and at least one, is solved.
    #[must_use]
    pub fn all_solved(&self) -> bool {
        !self.trials.is_empty() && self.trials.iter().all(TrialReport::is_solved)
    }

    fn write_models(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut scorers: Vec<&str> = Vec::new();
        for (name, ..) in self.models.iter().flat_map(|model| &model.scores) {
            if !scorers.contains(&name.as_str()) {
                scorers.push(name);
            }
        }
        let mut names = vec!["model", "trials", "solved"];
        names.extend(&scorers);
        names.extend([
            "errors",
            "model calls",
            "tool calls",
            "input tokens",
            "output tokens",
            "cost",
            "seconds",
        ]);
        write_row(f, &names)?;
        write_row(f, &vec!["---"; names.len()])?;
        for model in &self.models {
            let mut cells = vec![cell(&model.model), model.trials.to_string(), model.solved.to_string()];
            for scorer in &scorers {
                cells.push(match model.scores.iter().find(|(name, ..)| name == scorer) {
                    Some((_, passed, scored)) => format!("{passed} of {scored}"),
                    None => "-".to_owned(),
                });
            }
            let counts = [
                model.errors as u64,
                model.model_calls.into(),
                model.tool_calls as u64,
                model.usage.input_tokens,
                model.usage.output_tokens,
            ];
            cells.extend(counts.map(|count| count.to_string()));
            cells.push(format!("{:.4}", model.cost));
            cells.push(format!("{:.1}", model.duration.as_secs_f64()));
            write_row(f, &cells)?;
        }
        Ok(())
    }

    /// Writes the table of the tasks, with the repetitions that each model has solved.
    fn write_tasks(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tasks: Vec<&str> = Vec::new();
        for trial in &self.trials {
            if !tasks.contains(&trial.task.as_str()) {
                tasks.push(&trial.task);
            }
        }
        let mut names = vec!["solved".to_owned()];
        names.extend(self.models.iter().map(|model| cell(&model.model)));
        write_row(f, &names)?;
        write_row(f, &vec!["---"; names.len()])?;
        for task in tasks {
            let mut cells = vec![cell(task)];
            for model in &self.models {
                let mut trials = 0;
                let mut solved = 0;
                for trial in &self.trials {
                    if trial.task == task && trial.model == model.model {
                        trials += 1;
                        solved += usize::from(trial.is_solved());
                    }
                }
                cells.push(format!("{solved} of {trials}"));
            }
            write_row(f, &cells)?;
        }
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.problems.is_empty() {
            for problem in &self.problems {
                writeln!(f, "- {problem}")?;
            }
            return Ok(());
        }
        self.write_models(f)?;
        writeln!(f)?;
        self.write_tasks(f)?;
        if let Some(error) = &self.file_error {
            writeln!(f, "\n{error}")?;
        }
        let mut is_first = true;
        for trial in self.trials.iter().filter(|trial| !trial.is_solved()) {
            if std::mem::take(&mut is_first) {
                writeln!(f)?;
            }
            let mut reasons: Vec<String> = trial.error.iter().cloned().collect();
            for score in &trial.scores {
                match score.reason.as_str() {
                    _ if score.passed => {}
                    "" => reasons.push(format!("`{}` failed", score.scorer)),
                    reason => reasons.push(format!("`{}`: {reason}", score.scorer)),
                }
            }
            if reasons.is_empty() {
                reasons.push("nothing was checked; the task has no expectations".to_owned());
            }
            let line = reasons.join("; ").replace('\n', " ");
            writeln!(f, "- `{}`, {}, repetition {}: {line}", trial.task, trial.model, trial.repetition)?;
        }
        Ok(())
    }
}

fn write_row<S: AsRef<str>>(f: &mut fmt::Formatter<'_>, cells: &[S]) -> fmt::Result {
    f.write_str("|")?;
    for cell in cells {
        write!(f, " {} |", cell.as_ref())?;
    }
    writeln!(f)
}

/// Escapes `name` for a cell of a Markdown table.
fn cell(name: &str) -> String {
    name.replace('|', "\\|").replace('\n', " ")
}
