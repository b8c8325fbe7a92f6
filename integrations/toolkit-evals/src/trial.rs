//! Trials: one run of a task with a model, and its scores.

use crate::observed_model::{ObservedModel, Registries};
use crate::report::TrialReport;
use crate::scorer::DynScorer;
use crate::task::Task;
use crate::transcript::Transcript;
use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use tokio::time::Instant;
use toolkit_agent::{Agent, AgentError, Conversation};
use toolkit_llm::ChatModel;
use toolkit_llm::model::BoxModel;

/// One run of a task with a model, for the function that builds the agent.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Trial {
    /// The task.
    pub task: Arc<Task>,
    /// The name of the model.
    pub model_name: Arc<str>,
    /// The model, to pass to [`Agent::builder`]. The eval compares calls by the tools in its requests.
    pub model: BoxModel,
    /// The number of the repetition, from 1.
    pub repetition: u32,
}

pub(crate) async fn conduct(
    mut trial: Trial,
    build: &(dyn Fn(Trial) -> Result<Agent, AgentError> + Send + Sync),
    scorers: &[Arc<dyn DynScorer>],
) -> TrialReport {
    let mut report = TrialReport {
        task: trial.task.id.clone(),
        model: trial.model_name.to_string(),
        repetition: trial.repetition,
        ..TrialReport::default()
    };
    let task = trial.task.clone();
    let registries = Registries::default();
    trial.model = ObservedModel { model: trial.model, registries: registries.clone() }.boxed();
    let mut conversation = Conversation::default();
    let started = Instant::now();
    let run = async {
        let agent = build(trial)?;
        let question = task.question.as_str();
        agent.run(question).on(&mut conversation).await
    };
    let ended = match caught(run).await {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(error)) => Err(error.to_string()),
        Err(panic) => Err(panic),
    };
    report.duration = started.elapsed();
    // The conversation knows the amounts even after an error or a panic.
    let counted = conversation.latest_run().unwrap_or_default();
    report.usage = counted.usage;
    report.cost = counted.cost;
    report.model_calls = counted.model_calls;
    report.error = ended.as_ref().err().cloned();
    report.transcript = Transcript::new(conversation.messages(), ended.ok(), registries.list()).await;
    if let Err(panic) = caught(score(&mut report, &task, scorers)).await {
        report.error = Some(panic);
    }
    report
}

async fn score(report: &mut TrialReport, task: &Task, scorers: &[Arc<dyn DynScorer>]) {
    report.scores = task.score(&report.transcript).await;
    if report.error.is_some() {
        // There is no answer to rate.
        return;
    }
    for scorer in scorers {
        match scorer.score(task, &report.transcript).await {
            Ok(score) => {
                report.scorer_usage += score.usage;
                report.scores.push(score.named(scorer.name()));
            }
            Err(error) => {
                report.scorer_usage += error.usage();
                report.error = Some(format!("scorer `{}` failed: {error}", scorer.name()));
            }
        }
    }
}

/// Runs `work` to its end. The error describes a panic.
async fn caught<T>(work: impl Future<Output = T>) -> Result<T, String> {
    let mut work = pin!(work);
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
        Ok(polled) => polled.map(Ok),
        Err(panic) => Poll::Ready(Err(format!("the trial has panicked: {}", panic_text(&*panic)))),
    })
    .await
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}
