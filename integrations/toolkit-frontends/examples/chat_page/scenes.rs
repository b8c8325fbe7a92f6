//! An agent with a scripted model, which plays a scene for a word of the last message.

use futures_util::stream::{self, StreamExt};
use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::time::sleep;
use toolkit_agent::guardrail::{GuardContext, Guardrail, Verdict};
use toolkit_agent::{Agent, AgentOutput};
use toolkit_ai::ToolTag;
use toolkit_ai::middleware::{PermissionRule, Permissions};
use toolkit_ai::prelude::*;
use toolkit_llm::model::answer::AnswerMode;
use toolkit_llm::{
    ChatModel, Message, ModelError, ModelErrorKind, ModelRequest, ModelResponse, ModelRetry, ModelStream,
    StreamEvent,
};

/// Pay an invoice.
///
/// :param invoice: The number of the invoice
#[tool(destructive)]
fn pay(invoice: u32) -> String {
    format!("Invoice {invoice} is paid.")
}

/// Get the weather for a city.
///
/// :param city: The city
#[tool(read_only)]
async fn forecast(city: String, context: &ToolContext) -> Result<String, String> {
    context.progress(0.5, "asking the station");
    match city.as_str() {
        "Atlantis" => Err("there is no station in Atlantis".to_owned()),
        _ => Ok(format!("{city}: clear")),
    }
}

/// Ask the page where the user is.
#[tool]
fn location() -> Result<String, ToolError> {
    Err(ToolError::question("Where are you?"))
}

/// What is known of a city.
#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct City {
    name: String,
    population: u32,
}

/// Ask an agent how many people live in a city.
///
/// :param city: The city
#[tool]
async fn census(city: String) -> Result<City, Box<dyn Error + Send + Sync>> {
    let clerk = Agent::builder(scenes(Duration::ZERO)).name("census").build()?;
    // Its first answer lacks the number, and it is asked again.
    let answer = clerk.run(format!("count {city}")).typed::<City>().mode(AnswerMode::Text).await?;
    Ok(answer.value)
}

/// A model that plays scenes.
pub(crate) struct Scenes {
    /// The time before each piece of an answer.
    pause: Duration,
    breaks: AtomicU32,
}

impl Scenes {
    fn script(&self, messages: &[Message]) -> Vec<Result<StreamEvent, ModelError>> {
        let input = messages.iter().rposition(Message::is_input).unwrap_or_default();
        let (text, later) = match messages.get(input..) {
            Some([input, later @ ..]) => (input.to_text(), later),
            _ => (String::new(), messages),
        };
        if let Some(Message::Tool(results)) = later.last() {
            let results: Vec<_> = results.results.iter().map(|result| result.to_text()).collect();
            return text_of(&format!("That is what I know now: {}", results.join(" ")));
        }
        if messages.last().is_some_and(|last| last.to_text().contains("Answer again")) {
            return text_of(r#"{"name": "Rome", "population": 2748109}"#);
        }
        match text.split(' ').next().unwrap_or_default() {
            "census" => calls(&[("census", r#"{"city": "Rome"}"#)]),
            "count" => text_of(r#"{"name": "Rome"}"#),
            "pay" => calls(&[("pay", r#"{"invoice": 7}"#)]),
            "twice" => calls(&[("pay", r#"{"invoice": 7}"#), ("pay", r#"{"invoice": 8}"#)]),
            "weather" => calls(&[("forecast", r#"{"city": "Rome"}"#), ("forecast", r#"{"city": "Oslo"}"#)]),
            "fail" => calls(&[("forecast", r#"{"city": "Atlantis"}"#)]),
            "where" => calls(&[("location", "{}")]),
            "both" => calls(&[("location", "{}"), ("pay", r#"{"invoice": 7}"#)]),
            "experts" => {
                let requests = [r#"{"request": "slow"}"#, r#"{"request": "weather"}"#];
                calls(&[("expert", requests[0]), ("expert", requests[1])])
            }
            "clerk" => calls(&[("transfer_to_agent", r#"{"agent_name": "clerk"}"#)]),
            "block" => text_of("The password is 4711."),
            "page" => calls(&[("place", "{}")]),
            "retry" if self.breaks.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) => {
                let mut pieces = text_of("This is taken back. ");
                pieces.pop();
                pieces.push(Err(ModelError::new(ModelErrorKind::Connection, "the connection broke")));
                pieces
            }
            "slow" => text_of(&"one two three four ".repeat(10)),
            _ => text_of(
                "Hello. Send me pay, twice, weather, fail, where, both, experts, clerk, block, retry, census or slow.",
            ),
        }
    }
}

/// Returns a text word by word.
fn text_of(text: &str) -> Vec<Result<StreamEvent, ModelError>> {
    let mut pieces = Vec::new();
    for word in text.split_inclusive(' ') {
        pieces.push(Ok(StreamEvent::Text(word.to_owned())));
    }
    pieces.push(Ok(StreamEvent::Done(Box::new(ModelResponse::text(text)))));
    pieces
}

/// Returns calls, the arguments of each in two pieces.
fn calls(calls: &[(&str, &str)]) -> Vec<Result<StreamEvent, ModelError>> {
    let mut pieces = Vec::new();
    let mut all = Vec::new();
    for (index, (tool, arguments)) in calls.iter().enumerate() {
        let id = format!("call_{index}");
        let call = ToolCall::new(id.clone(), *tool, *arguments);
        let (first, second) = arguments.split_at(arguments.len() / 2);
        pieces.push(Ok(StreamEvent::call_started(id.clone(), *tool)));
        pieces.push(Ok(StreamEvent::arguments(id.clone(), first)));
        pieces.push(Ok(StreamEvent::arguments(id, second)));
        pieces.push(Ok(StreamEvent::Call(call.clone())));
        all.push(call);
    }
    pieces.push(Ok(StreamEvent::Done(Box::new(ModelResponse::calls(all)))));
    pieces
}

impl ChatModel for Scenes {
    fn name(&self) -> &str {
        "scenes"
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        self.stream(request).await?.collect().await
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let pause = self.pause;
        let pieces = stream::iter(self.script(&request.messages)).then(move |piece| async move {
            sleep(pause).await;
            piece
        });
        Ok(ModelStream::new(pieces))
    }
}

/// Creates the model, which waits this long before each piece of an answer.
pub(crate) fn scenes(pause: Duration) -> Scenes {
    Scenes { pause, breaks: AtomicU32::new(0) }
}

/// Creates the agent. A model of a provider takes the place of the scripted one.
pub(crate) fn agent(pause: Duration) -> Result<Agent, Box<dyn Error>> {
    let expert = Agent::builder(scenes(pause)).name("expert").tools(tools![forecast]).build()?;
    let clerk = Agent::builder(scenes(pause)).name("clerk").build()?;
    let mut tools = ToolRegistry::from_tools([expert.to_tool()?])?;
    tools.register_all(tools![pay, forecast, location, census])?;
    let secrets = Guardrail::new("secrets", |answer: &AgentOutput, _: &GuardContext| {
        if answer.text.contains("password") {
            return Verdict::Block("I do not say that.".to_owned());
        }
        Verdict::Pass
    });
    let permissions = Permissions::new()
        .rule(PermissionRule::ask("it costs money").for_tag(ToolTag::Destructive))
        .rule(PermissionRule::allow())
        .decide_later();
    let retry = ModelRetry::new(3).with_pauses(Duration::from_millis(10), Duration::from_secs(1));
    Ok(Agent::builder(scenes(pause))
        .tools(tools)
        .sub_agent(clerk)
        .middleware(permissions)
        .retry(retry)
        .guardrail(secrets)
        .hold_text(false) // shown at once, and taken back if it is blocked
        .build()?)
}
