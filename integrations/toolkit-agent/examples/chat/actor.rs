//! A scripted model for a chat without a provider.

use futures_util::stream;
use std::time::Duration;
use tokio::time::sleep;
use toolkit_core::{ToolCall, ToolResult};
use toolkit_llm::{
    ChatModel, Message, ModelError, ModelRequest, ModelResponse, ModelStream, ScriptedModel, StreamEvent,
    Usage,
};

/// The time of one word.
const WORD: Duration = Duration::from_millis(25);

/// A scripted model with a delay for each word.
pub(crate) struct Actor(ScriptedModel);

impl Actor {
    pub(crate) fn new() -> Self {
        Self(ScriptedModel::new().fallback(|request| Ok(play(request))))
    }
}

impl ChatModel for Actor {
    fn name(&self) -> &str {
        "actor"
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        self.0.respond(request).await
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, ModelError> {
        let response = self.respond(request).await?;
        let words: Vec<StreamEvent> = response
            .message
            .text
            .split_inclusive(' ')
            .map(|word| StreamEvent::Text(word.to_owned()))
            .collect();
        let calls: Vec<StreamEvent> = response.message.calls.iter().cloned().map(StreamEvent::Call).collect();
        let pieces = words.into_iter().chain(calls).chain([StreamEvent::Done(Box::new(response))]);
        Ok(ModelStream::new(stream::unfold(pieces, |mut left| async {
            let piece = left.next()?;
            sleep(WORD).await;
            Some((Ok(piece), left))
        })))
    }
}

/// Returns the answer for a request.
fn play(request: &ModelRequest) -> ModelResponse {
    let turn = request.messages.len();
    let call = |index: usize, tool: &str, arguments: &str| {
        ToolCall::new(format!("call_{turn}_{index}"), tool, arguments)
    };
    let said = request.messages.last().map(Message::to_text).unwrap_or_default();
    let words = said.to_lowercase();
    let mut response = match request.messages.last() {
        Some(Message::Tool(given)) if given.results.iter().any(|result| result.outcome.is_err()) => {
            ModelResponse::calls([call(0, "divide", r#"{"dividend": 7, "divisor": 2}"#)])
        }
        Some(Message::Tool(given)) => {
            let results: Vec<_> = given.results.iter().map(ToolResult::to_text).collect();
            ModelResponse::text(format!("Here is what I have found: {}.", results.join("; ")))
        }
        _ if words.contains("weather") => {
            let cities = ["Oslo", "Rome", "Lima", "Cairo"].into_iter();
            let named: Vec<_> = cities.filter(|city| words.contains(&city.to_lowercase())).collect();
            let named = if named.is_empty() { vec!["Oslo"] } else { named };
            let calls = named.iter().enumerate();
            let calls =
                calls.map(|(index, city)| call(index, "weather", &format!(r#"{{"city": "{city}"}}"#)));
            let mut response = ModelResponse::calls(calls.collect::<Vec<_>>());
            response.message.text = "I ask the stations. ".to_owned();
            response
        }
        _ if words.contains("divide") => {
            ModelResponse::calls([call(0, "divide", r#"{"dividend": 7, "divisor": 0}"#)])
        }
        _ if words.contains("name") => {
            ModelResponse::calls([call(0, "remember", r#"{"what": "name", "value": "Ada"}"#)])
        }
        _ => ModelResponse::text(
            "I am an actor who knows three scenes: ask for the weather, have me divide, or tell me your name. With \
             --base-url and --model you speak to a real model.",
        ),
    };
    response.usage = Usage::new(120 + 40 * turn as u64, 12 + response.message.text.len() as u64 / 4);
    response
}
