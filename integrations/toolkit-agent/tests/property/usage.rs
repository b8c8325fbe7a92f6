//! The tokens of a run: all that its models have reported.

use super::script::{Behaviour, Step, step};
use super::tools::{self, Executions};
use crate::support::cancelled_after;
use crate::support::{Configured as _, Options};
use futures_util::StreamExt;
use proptest::prelude::*;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::sleep;
use toolkit_agent::guardrail::{Guardrail, Verdict};
use toolkit_agent::{Agent, AgentError, Conversation, Limits};
use toolkit_core::{ArgumentTransform, ToolRegistry};
use toolkit_llm::model::{BoxModel, Fallback, Priced, Retrying};
use toolkit_llm::{
    ChatModel, ModelError, ModelRequest, ModelResponse, ModelRetry, ModelStream, Price, StreamEvent, Usage,
    UserMessage,
};

/// Reported tokens and their cost.
type Reported = Arc<Mutex<(Usage, f64)>>;

/// A model that notes the tokens in answers and errors.
#[derive(Debug)]
struct Counted {
    model: Behaviour,
    price: Price,
    reported: Reported,
}

impl Counted {
    fn note(&self, usage: Usage) {
        note(&self.reported, self.price, usage);
    }
}

fn note(reported: &Reported, price: Price, usage: Usage) {
    let reported = &mut *reported.lock().unwrap();
    reported.0 += usage;
    reported.1 += price.cost(usage);
}

fn of_error(error: &ModelError) -> Usage {
    error.partial().as_ref().map(|partial| partial.usage).unwrap_or_default()
}

/// A stream's tokens, noted at the drop if it does not end with others.
struct Begun(Reported, Price, Usage);

impl Begun {
    fn note(&mut self, delta: &Result<StreamEvent, ModelError>) {
        let ended = match delta {
            Ok(StreamEvent::Usage(usage)) => {
                self.2 = *usage;
                return;
            }
            Ok(StreamEvent::Done(response)) => response.usage,
            Err(error) if !of_error(error).is_empty() => of_error(error),
            _ => return,
        };
        note(&self.0, self.1, ended);
        self.2 = Usage::default();
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        note(&self.0, self.1, self.2);
    }
}

impl ChatModel for Counted {
    fn name(&self) -> &str {
        "counted"
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        let response = self.model.respond(request).await;
        self.note(response.as_ref().map_or_else(of_error, |response| response.usage));
        response
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        match self.model.stream(request).await {
            Ok(deltas) => {
                let mut begun = Begun(self.reported.clone(), self.price, Usage::default());
                Ok(ModelStream::new(deltas.inspect(move |delta| begun.note(delta))))
            }
            Err(error) => {
                self.note(of_error(&error));
                Err(error)
            }
        }
    }
}

/// A model's script, attempts, and price if it is not the agent's.
type Asked = (Vec<Step>, u32, Option<f64>);

fn asked() -> impl Strategy<Value = Asked> {
    (prop::collection::vec(step(), 0..5), 1..4_u32, prop::option::of((1..9_u32).prop_map(f64::from)))
}

fn model(asked: Vec<Asked>, hangs: bool, reported: &Reported) -> BoxModel {
    let models = asked.into_iter().map(|(mut script, attempts, price)| {
        script.retain(|step| hangs || !matches!(step, Step::Hang));
        let model = Behaviour::new(script, false);
        let model =
            Counted { model, price: per_token(price.unwrap_or(AGENT_PRICE)), reported: reported.clone() };
        let retry = ModelRetry::new(attempts).with_longest_retry_after(Duration::from_secs(9));
        match price {
            // The price is the same inside and outside of retries.
            Some(price) if attempts == 2 => {
                Priced::new(Retrying::new(model, retry), per_token(price)).boxed()
            }
            Some(price) => Retrying::new(Priced::new(model, per_token(price)), retry).boxed(),
            None => Retrying::new(model, retry).boxed(),
        }
    });
    let mut models: Vec<BoxModel> = models.collect();
    let first = models.remove(0);
    if models.is_empty() {
        first
    } else {
        models.into_iter().fold(Fallback::new(first), Fallback::or).boxed()
    }
}

const AGENT_PRICE: f64 = 100.0;

fn per_token(price: f64) -> Price {
    Price::per_million(price * 1e6, price * 2e6)
}

/// What stops a run, after milliseconds.
#[derive(Debug, Clone, Copy)]
enum Stop {
    Cancelled(u64),
    Late(u64),
    Ended(u64),
}

fn stop() -> impl Strategy<Value = Stop> {
    prop_oneof![
        (0..200_u64).prop_map(Stop::Cancelled),
        (0..200_u64).prop_map(Stop::Late),
        (0..200_u64).prop_map(Stop::Ended),
    ]
}

fn ending(after: u64) -> Guardrail {
    let check = move |_: UserMessage, _| async move {
        sleep(Duration::from_millis(after)).await;
        Verdict::End("enough".to_owned())
    };
    Guardrail::new_async("end", check).beside_model()
}

proptest! {
    #![proptest_config(crate::support::cases(256))]

    #[test]
    fn a_run_counts_all_tokens_that_its_models_have_reported(
        asked in prop::collection::vec(asked(), 1..4),
        // The models of an agent called as a tool, and its time limit.
        called in prop::option::of((prop::collection::vec(asked(), 1..3), prop::option::of(1..100_u64))),
        attempts in 1..4_u32,
        streaming in any::<bool>(),
        // What stops the run, and the timeout of a model call.
        stop in prop::option::of((stop(), prop::option::of(1..100_u64))),
    ) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let mut limits = Limits::default().with_max_duration(Duration::from_secs(900));
            if let Some((stop, model_timeout)) = stop {
                limits.model_timeout = model_timeout.map(Duration::from_millis);
                if let Stop::Late(after) = stop {
                    limits.max_duration = Some(Duration::from_millis(after));
                }
            }
            let retry = ModelRetry::new(attempts).with_longest_retry_after(Duration::from_secs(9));
            let build = move |model: BoxModel, tools: ToolRegistry| {
                let agent = Agent::builder(model).name("ok").tools(tools);
                let agent = agent.retry(retry.clone()).streaming(streaming).price(per_token(AGENT_PRICE));
                let agent = match stop {
                    Some((Stop::Ended(after), _)) => agent.guardrail(ending(after)),
                    _ => agent,
                };
                agent.limits(limits.clone()).build().map_err(AgentError::from)
            };
            let team = move |model: BoxModel, reported: &Reported| {
                let mut tools = tools::registry(&Arc::<Executions>::default());
                if let Some((asked, timeout)) = called.clone() {
                    let called = build(self::model(asked, stop.is_some(), reported), tools.clone())?.to_tool()?;
                    let called = called.with_arguments([ArgumentTransform::new("request").fixed("Help.")])?;
                    tools.replace(match timeout {
                        Some(limit) => called.with_timeout(Duration::from_millis(limit)),
                        None => called,
                    })?;
                }
                build(model, tools)
            };
            let reported = Reported::default();
            let agent = team(model(asked.clone(), stop.is_some(), &reported), &reported).unwrap();
            let mut conversation = Conversation::new("1");
            let options = match stop {
                Some((Stop::Cancelled(after), _)) => cancelled_after(Duration::from_millis(after)),
                _ => Options::new(),
            };
            let counted = match agent.run("Go.").on(&mut conversation).options(options).await {
                Ok(output) => (output.usage, output.cost),
                Err(failed) => (failed.output.usage, failed.output.cost),
            };
            let same = |(usage, cost): (Usage, f64), reported: &Reported| {
                let (all, price) = *reported.lock().unwrap();
                prop_assert_eq!(usage, all);
                prop_assert!((cost - price).abs() < 1e-3, "{cost} instead of {price}");
                Ok(())
            };
            same(counted, &reported)?;
            Ok::<(), TestCaseError>(())
        })?;
    }
}
