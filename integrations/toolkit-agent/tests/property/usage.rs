//! The tokens of a run: everything that its models have reported.

use super::script::{Behaviour, Step, step};
use super::tools::{self, Executions};
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
            Ok(deltas) => Ok(ModelStream::new(deltas.inspect(move |delta| match delta {
                Ok(ModelDelta::Done(response)) => note(&reported, Some(response)),
                Err(error) => note_error(&reported, error),
                Ok(_) => {}
            }))),
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
    ) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let reported = Arc::<Mutex<Usage>>::default();
            let retry = |attempts| ModelRetry::new(attempts).with_longest_retry_after(Duration::from_secs(9));
            let models = scripts.into_iter().map(|(mut script, attempts)| {
                script.retain(|step| !matches!(step, Step::Hang));
                let model = Counted { model: Behaviour::new(script, false), reported: reported.clone() };
                match attempts {
                    1 => model.boxed(),
                    _ => Retrying::new(model, retry(attempts)).boxed(),
                }
            });
            let mut models: Vec<BoxModel> = models.collect();
            let first = Fallback::new(models.remove(0));
            let model = models.into_iter().fold(first, Fallback::or);
            let agent = Agent::builder(model).tools(tools::registry(&Arc::<Executions>::default()));
            let agent = agent.retry(retry(attempts)).streaming(streaming).build().unwrap();
            let mut conversation = Conversation::new("1");
            let limits = toolkit_agent::Limits::default().with_max_duration(Duration::from_secs(900));
            let options = RunOptions::new().with_limits(limits);
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
