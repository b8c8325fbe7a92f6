//! The tokens of a run: everything that its models have reported.

use super::script::{Behaviour, Step, step};
use super::tools::{self, Executions};
use crate::support::cancelled_after;
use futures_util::StreamExt;
use proptest::prelude::*;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolkit_agent::model::{BoxModel, Fallback, Retrying};
use toolkit_agent::{
    Agent, ChatModel, Conversation, ModelDelta, ModelError, ModelRequest, ModelResponse, ModelRetry,
    ModelStream, RunOptions, Usage,
};

/// A model that notes the tokens in its answers and errors.
#[derive(Debug)]
struct Counted {
    model: Behaviour,
    reported: Arc<Mutex<Usage>>,
}

fn note(reported: &Mutex<Usage>, response: Option<&ModelResponse>) {
    if let Some(response) = response {
        let mut reported = reported.lock().unwrap();
        *reported += response.usage;
        *reported += response.failed_usage;
    }
}

fn note_error(reported: &Mutex<Usage>, error: &ModelError) {
    note(reported, error.partial.as_deref());
}

/// The tokens that a stream has reported. If the stream has no end with other tokens, they are noted when it is
/// dropped.
struct Begun(Arc<Mutex<Usage>>, Usage);

impl Begun {
    fn note(&mut self, delta: &Result<ModelDelta, ModelError>) {
        let Self(reported, last) = self;
        match delta {
            Ok(ModelDelta::Usage(usage)) => *last = *usage,
            Ok(ModelDelta::Done(response)) => {
                note(reported, Some(response));
                *last = Usage::default();
            }
            Err(error) => {
                note_error(reported, error);
                let has_tokens = |partial: &ModelResponse| partial.usage != Usage::default();
                if error.partial.as_deref().is_some_and(has_tokens) {
                    *last = Usage::default();
                }
            }
            Ok(_) => {}
        }
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        *self.0.lock().unwrap() += self.1;
    }
}

impl ChatModel for Counted {
    fn name(&self) -> &str {
        "counted"
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        let response = self.model.respond(request).await;
        match &response {
            Ok(response) => note(&self.reported, Some(response)),
            Err(error) => note_error(&self.reported, error),
        }
        response
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let reported = self.reported.clone();
        match self.model.stream(request).await {
            Ok(deltas) => {
                let mut begun = Begun(reported, Usage::default());
                Ok(ModelStream::new(deltas.inspect(move |delta| begun.note(delta))))
            }
            Err(error) => {
                note_error(&reported, &error);
                Err(error)
            }
        }
    }
}

proptest! {
    #![proptest_config(crate::support::cases(256))]

    #[test]
    fn a_run_counts_all_tokens_that_its_models_have_reported(
        scripts in prop::collection::vec((prop::collection::vec(step(), 0..5), 1..4_u32), 1..4),
        attempts in 1..4_u32,
        streaming in any::<bool>(),
        // The run itself stops model calls: milliseconds until its cancellation, and the timeout of a model call.
        stop in prop::option::of((0..200_u64, prop::option::of(1..100_u64))),
    ) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let reported = Arc::<Mutex<Usage>>::default();
            let retry = |attempts| ModelRetry::new(attempts).with_longest_retry_after(Duration::from_secs(9));
            // A stop drops the failed attempts of a model that is still asking again.
            let count = if stop.is_some() { 1 } else { scripts.len() };
            let models = scripts.into_iter().take(count).map(|(mut script, attempts)| {
                script.retain(|step| stop.is_some() || !matches!(step, Step::Hang));
                let model = Counted { model: Behaviour::new(script, false), reported: reported.clone() };
                match attempts {
                    _ if stop.is_some() => model.boxed(),
                    1 => model.boxed(),
                    _ => Retrying::new(model, retry(attempts)).boxed(),
                }
            });
            let mut models: Vec<BoxModel> = models.collect();
            let first = models.remove(0);
            let model = match models.is_empty() {
                true => first,
                false => models.into_iter().fold(Fallback::new(first), Fallback::or).boxed(),
            };
            let agent = Agent::builder(model).tools(tools::registry(&Arc::<Executions>::default()));
            let agent = agent.retry(retry(attempts)).streaming(streaming).build().unwrap();
            let mut conversation = Conversation::new("1");
            let mut limits = toolkit_agent::Limits::default().with_max_duration(Duration::from_secs(900));
            let mut options = RunOptions::new();
            if let Some((after, model_timeout)) = stop {
                limits.model_timeout = model_timeout.map(Duration::from_millis);
                options = cancelled_after(Duration::from_millis(after));
            }
            let options = options.with_limits(limits);
            let counted = match agent.run_with(&mut conversation, "Go.", options).await {
                Ok(output) => output.usage,
                Err(failed) => failed.output.usage,
            };
            let reported = *reported.lock().unwrap();
            prop_assert_eq!(counted, reported);
            Ok(())
        })?;
    }
}
