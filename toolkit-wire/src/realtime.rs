//! Tool calls in realtime APIs, which exchange events over a socket.
//!
//! The module writes and reads the events for tools. The program owns the socket, and handles all other
//! events, such as audio.

use crate::error::{Report, failed};
use crate::fields::{Fields, list, set, text};
use crate::results::{output_text, unsendable};
use crate::{
    ApiFormat, ConfiguredFormat, DefinitionOptions, Definitions, EncodedToolConfig, WireError, standard,
};
use serde_json::{Value, json};
use std::collections::HashMap;
use toolkit_core::ToolResult;
use toolkit_core::call::{ToolCall, ToolChoice, ToolConfig};
use toolkit_core::name::WireNames;

/// A realtime API.
///
/// ```
/// use serde_json::json;
/// use toolkit::name::WireNames;
/// use toolkit::wire::realtime::{RealtimeApi, RealtimeEvent};
/// use toolkit::{ToolConfig, ToolRegistry, ToolResult};
///
/// # let registry = ToolRegistry::new();
/// let api = RealtimeApi::OpenAi;
/// let tools = registry.definitions(api.format());
/// let names = registry.wire_names(&api.format());
/// let session = api.encode_session(&tools, &ToolConfig::default(), &names).fields;
/// // Send `session`, then pass each received event on:
/// let mut calls = api.calls();
/// let item = json!({"type": "function_call", "call_id": "call_1", "name": "now", "arguments": "{}",
///     "status": "completed"});
/// for event in calls.push(&json!({"type": "response.output_item.done", "item": item}))? {
///     if let RealtimeEvent::Call(call) = event {
///         let result = ToolResult::of(&call, Ok("12:00".into()));
///         for event in api.encode_results(&[result], &names) {
///             // Send `event`.
///             # assert!(event["type"].is_string());
///         }
///     }
/// }
/// # Ok::<(), toolkit::WireError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RealtimeApi {
    /// OpenAI's Realtime API.
    OpenAi,
    /// Gemini's Live API.
    GeminiLive,
}

/// An event about tool calls.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RealtimeEvent {
    /// The model has started to write a tool call.
    CallStarted {
        /// The id of the call.
        id: String,
        /// The tool name, as the model wrote it.
        name: String,
    },
    /// A complete call, ready to be dispatched.
    Call(ToolCall),
    /// The service has cancelled the calls with these ids, because the user interrupted the model. Stop these
    /// calls if they are still running, and send no results for them.
    Cancelled(Vec<String>),
}

impl RealtimeApi {
    /// Returns the format in which the definitions of a session are rendered.
    #[must_use]
    pub fn format(self) -> ConfiguredFormat {
        match self {
            // The tools of an OpenAI session accept only the standard fields.
            Self::OpenAi => ApiFormat::OpenAiResponses
                .with_options(DefinitionOptions::default().with_standard_fields(true)),
            Self::GeminiLive => ApiFormat::Gemini.with_options(DefinitionOptions::default()),
        }
    }

    /// Encodes the event that sets the tools and the tool choice of a session, and reports the settings that were lost.
    ///
    /// Render the definitions with [`format`](Self::format). For OpenAI, the event is a `session.update`. For
    /// Gemini, it is a `setup`. Merge it with the other settings of the session, because the service accepts
    /// only one `setup`, as the first event.
    #[must_use]
    pub fn encode_session(
        self,
        tools: &Definitions,
        wanted: &ToolConfig,
        names: &WireNames,
    ) -> EncodedToolConfig {
        let mut tools = tools.to_value();
        match self {
            Self::OpenAi => {
                for tool in tools.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
                    tool.shift_remove("strict");
                }
                let (mut config, mut losses) = standard::tool_config(wanted);
                losses.retain(|loss| loss.path != "/parallel");
                config.parallel = wanted.parallel;
                let mut session = ApiFormat::OpenAiResponses.encode_tool_config(&config, names).fields;
                set(&mut session, "type", "realtime");
                set(&mut session, "tools", tools);
                let fields =
                    [("type".to_owned(), "session.update".into()), ("session".to_owned(), session.into())];
                EncodedToolConfig { fields: Fields::from_iter(fields), losses }
            }
            Self::GeminiLive => {
                let fields = Fields::from_iter([("setup".to_owned(), json!({"tools": tools}))]);
                let mut encoded = EncodedToolConfig::new(fields);
                if wanted.choice != ToolChoice::Auto {
                    encoded =
                        encoded.lose("/choice", "choice", "the API has no tool choice: the model decides");
                }
                match wanted.parallel {
                    Some(false) => {
                        encoded.lose("/parallel", "parallel", "the API does not limit the number of calls")
                    }
                    _ => encoded,
                }
            }
        }
    }

    /// Encodes the events for sending results to the model. Send them in the returned order.
    ///
    /// For OpenAI, the last event is a `response.create`, which lets the model answer.
    #[must_use]
    pub fn encode_results(self, results: &[ToolResult], names: &WireNames) -> Vec<Value> {
        match self {
            _ if results.is_empty() => Vec::new(),
            Self::OpenAi => {
                let item = |result: &ToolResult| {
                    let output = match &result.outcome {
                        Ok(output) => output_text(output, unsendable),
                        Err(error) => error.message().into(),
                    };
                    let id = result.call_id.as_str();
                    let item = json!({"type": "function_call_output", "call_id": id, "output": output});
                    json!({"type": "conversation.item.create", "item": item})
                };
                results.iter().map(item).chain([json!({"type": "response.create"})]).collect()
            }
            Self::GeminiLive => {
                let contents = ApiFormat::Gemini.history(names).encode_results(results);
                let parts = contents.iter().flat_map(|content| list(content, "parts"));
                let responses: Vec<&Value> = parts.filter_map(|part| part.get("functionResponse")).collect();
                vec![json!({"toolResponse": {"functionResponses": responses}})]
            }
        }
    }

    /// Returns a reader for the calls of one session.
    #[must_use]
    pub fn calls(self) -> RealtimeCalls {
        RealtimeCalls { api: self, open: HashMap::new() }
    }
}

/// Reads the tool calls from the events of a session. Each call is returned once.
#[derive(Debug, Clone)]
pub struct RealtimeCalls {
    api: RealtimeApi,
    /// The states of the calls in unfinished responses, by the id of the call.
    open: HashMap<String, State>,
}

/// The state of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The model is writing the call.
    Started,
    /// The call was returned.
    Returned,
}

impl RealtimeCalls {
    /// Processes an event of the service. Returns an empty list if the event is not about tool calls.
    ///
    /// # Errors
    /// [`WireError`] if the event reports an error of the service. The session can continue after the error.
    pub fn push(&mut self, event: &Value) -> Result<Vec<RealtimeEvent>, WireError> {
        match self.api {
            RealtimeApi::OpenAi => self.push_openai(event),
            RealtimeApi::GeminiLive => push_gemini(event),
        }
    }

    fn push_openai(&mut self, event: &Value) -> Result<Vec<RealtimeEvent>, WireError> {
        let mut found = Vec::new();
        let item = event.get("item").unwrap_or(&Value::Null);
        match text(event, "type") {
            "error" => {
                let error = event.get("error").map(Report::of);
                return Err(failed("error", "an event of the session", error));
            }
            "response.output_item.added" => self.start(item, &mut found),
            // The service also sends this event for interrupted calls. Their status is not `completed`.
            "response.output_item.done" if text(item, "status") == "completed" => {
                self.finish(item, &mut found)?;
            }
            "response.done" => {
                let response = event.get("response").unwrap_or(&Value::Null);
                let is_whole = text(response, "status") == "completed";
                for item in list(response, "output") {
                    if is_whole || text(item, "status") == "completed" {
                        self.finish(item, &mut found)?;
                    }
                }
                let open = std::mem::take(&mut self.open).into_iter();
                let mut lost: Vec<String> =
                    open.filter(|(_, state)| *state == State::Started).map(|(id, _)| id).collect();
                if !lost.is_empty() {
                    lost.sort();
                    found.push(RealtimeEvent::Cancelled(lost));
                }
            }
            _ => {}
        }
        Ok(found)
    }

    /// Adds [`RealtimeEvent::CallStarted`] to `found`, unless the call was announced before.
    fn start(&mut self, item: &Value, found: &mut Vec<RealtimeEvent>) {
        let (id, name) = (text(item, "call_id"), text(item, "name"));
        if text(item, "type") == "function_call" && !id.is_empty() && !self.open.contains_key(id) {
            self.open.insert(id.to_owned(), State::Started);
            found.push(RealtimeEvent::CallStarted { id: id.to_owned(), name: name.to_owned() });
        }
    }

    /// Adds [`RealtimeEvent::Call`] to `found`, unless the call was returned before.
    fn finish(&mut self, item: &Value, found: &mut Vec<RealtimeEvent>) -> Result<(), WireError> {
        self.start(item, found);
        let id = text(item, "call_id");
        if text(item, "type") == "function_call"
            && self.open.insert(id.to_owned(), State::Returned) != Some(State::Returned)
        {
            found.extend(ApiFormat::OpenAiResponses.parse_calls(item)?.into_iter().map(RealtimeEvent::Call));
        }
        Ok(())
    }
}

/// Reads an event of Gemini's Live API. Calls arrive complete.
fn push_gemini(event: &Value) -> Result<Vec<RealtimeEvent>, WireError> {
    let field = |value: &Value, names: [&str; 2]| names.iter().find_map(|name| value.get(name).cloned());
    let mut found = Vec::new();
    if let Some(called) = field(event, ["toolCall", "tool_call"]) {
        let calls = field(&called, ["functionCalls", "function_calls"]);
        let calls = calls.as_ref().and_then(Value::as_array).into_iter().flatten();
        let parts: Value = calls.map(|call| json!({"functionCall": call})).collect();
        for call in ApiFormat::Gemini.parse_calls(&parts)? {
            let (id, name) = (call.id.as_str().to_owned(), call.name.clone());
            found.extend([RealtimeEvent::CallStarted { id, name }, RealtimeEvent::Call(call)]);
        }
    }
    if let Some(cancelled) = field(event, ["toolCallCancellation", "tool_call_cancellation"]) {
        let ids = list(&cancelled, "ids").iter().filter_map(Value::as_str).map(ToOwned::to_owned);
        found.push(RealtimeEvent::Cancelled(ids.collect()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
