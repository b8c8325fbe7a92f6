//! Input from the client during a call: questions to the user, and approvals.
//!
//! With earlier protocol versions, the server sends a request and waits. Since version 2026-07-28,
//! a call that needs input ends with `input_required`; the client repeats it with the answers and
//! the signed state.

use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, ElicitRequest, ErrorData, InputRequest, InputRequests, InputRequiredResult,
    InputResponses, ProtocolVersion, RequestStateCodec, SealOptions, ServerRequest,
};
#[expect(deprecated, reason = "sampling and roots are still part of the protocol")]
use rmcp::model::{CreateMessageRequest, ListRootsRequest};
use rmcp::service::RequestContext;
use serde::{Deserialize, Serialize};
use serde_json::{Value, from_value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use toolkit_core::__private::lock;
use toolkit_core::ToolError;
use toolkit_core::schema::{canonical_json, violations};

/// The time to repeat a call with its state.
const STATE_LIFETIME: Duration = Duration::from_secs(3_600);

/// The key of the question for approval.
pub(super) const APPROVAL: &str = "toolkit.approval";

/// The answer of the user to a form.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Elicited {
    /// The user sent this content.
    Accepted(Value),
    /// The user declined.
    Declined,
    /// The user closed the form.
    Cancelled,
}

impl Elicited {
    pub(crate) fn from_answer(mut answer: Value) -> Self {
        match answer.get("action").and_then(Value::as_str) {
            Some("accept") => Self::Accepted(answer.get_mut("content").map(Value::take).unwrap_or_default()),
            Some("decline") => Self::Declined,
            _ => Self::Cancelled,
        }
    }
}

/// The input of one call: the answers in the request, and the questions asked before its response.
#[derive(Default)]
pub(crate) struct Inputs {
    name: Box<str>,
    arguments: Arc<str>,
    /// The identity of the client, which alone may continue the call.
    principal: Option<String>,
    answers: BTreeMap<String, Value>,
    questions: Mutex<Questions>,
    has_question: Notify,
}

#[derive(Default)]
struct Questions {
    requests: InputRequests,
    /// The capabilities that the questions need but the client lacks.
    missing: Option<ClientCapabilities>,
}

/// The state of an interrupted call, signed by the server and kept by the client.
#[derive(Serialize, Deserialize)]
struct State {
    answers: BTreeMap<String, Value>,
    /// The questions of the last round.
    keys: BTreeSet<String>,
}

impl Inputs {
    /// Creates the input of a call from the answers and the state of the request.
    ///
    /// A client may answer a tool's questions in advance. An answer to the question for approval
    /// counts only if the signed state shows that it was asked.
    ///
    /// # Errors
    /// The state is not from this server, belongs to another call or client, or is too old.
    pub(crate) fn new(
        secret: &RequestStateCodec,
        name: &str,
        arguments: Arc<str>,
        responses: Option<InputResponses>,
        state: Option<String>,
        principal: Option<String>,
    ) -> Result<Self, ErrorData> {
        let mut answers = BTreeMap::new();
        let mut keys = BTreeSet::new();
        if let Some(state) = state {
            let call = bound_to(name, &arguments, principal.as_deref());
            let Ok(opened) = secret.open_json_with::<State>(&state, call.as_bytes()) else {
                return Err(ErrorData::invalid_params("`requestState` is not valid for this call", None));
            };
            answers = opened.answers;
            keys = opened.keys;
        }
        let responses = responses.unwrap_or_default().into_iter();
        answers.extend(responses.filter(|(key, _)| key != APPROVAL || keys.contains(key)));
        Ok(Self {
            name: name.into(),
            arguments,
            principal,
            answers,
            questions: Mutex::default(),
            has_question: Notify::new(),
        })
    }

    pub(crate) async fn suspended(&self) {
        self.has_question.notified().await;
    }

    /// Returns the response that asks for missing answers.
    pub(crate) fn suspension(
        &self,
        secret: &RequestStateCodec,
    ) -> Option<Result<InputRequiredResult, ErrorData>> {
        let Questions { requests, missing } = std::mem::take(&mut *lock(&self.questions));
        if let Some(missing) = missing {
            return Some(Err(ErrorData::missing_required_client_capability(missing)));
        }
        if requests.is_empty() {
            return None;
        }
        let state = State { answers: self.answers.clone(), keys: requests.keys().cloned().collect() };
        let call = bound_to(&self.name, &self.arguments, self.principal.as_deref());
        let options = SealOptions::new().associated_data(call.as_bytes()).ttl(STATE_LIFETIME);
        Some(match secret.seal_json_with(&state, &options) {
            Ok(sealed) => Ok(InputRequiredResult::new(Some(requests), Some(sealed))),
            Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
        })
    }

    /// Sends a request to the client and returns the result. Without sessions, the call is
    /// suspended until the client has the answer.
    pub(crate) async fn request(
        &self,
        context: &RequestContext<RoleServer>,
        key: &str,
        method: &str,
        params: Value,
    ) -> Result<Value, ToolError> {
        let question = match question(method, params.clone()) {
            Ok(question) => question,
            Err(reason) => {
                let text = format!("`{method}` is not a valid request to the client: {reason}");
                return Err(ToolError::failed(text));
            }
        };
        let can_suspend = is_stateless(context);
        let capabilities = context.client_capabilities().unwrap_or_default();
        if let Some(missing) = missing(&question, &capabilities) {
            if can_suspend {
                self.suspend(|questions| questions.missing = Some(missing)).await;
            }
            return Err(ToolError::failed(format!("the client does not support `{method}`")));
        }
        if can_suspend {
            if let Some(answer) = self.answers.get(key).filter(|answer| is_answer(method, &params, answer)) {
                return Ok(answer.clone());
            }
            self.suspend(|questions| drop(questions.requests.insert(key.to_owned(), question))).await;
        }
        let request: ServerRequest = match question {
            InputRequest::Elicitation(request) => request.into(),
            InputRequest::CreateMessage(request) => request.into(),
            InputRequest::ListRoots(request) => request.into(),
            _ => return Err(ToolError::failed(format!("`{method}` cannot be sent to the client"))),
        };
        let result = match context.peer.send_request(request).await {
            Ok(result) => result,
            Err(error) => return Err(ToolError::failed(format!("the client did not answer: {error}"))),
        };
        let answer = serde_json::to_value(result).unwrap_or_default();
        if is_answer(method, &params, &answer) {
            Ok(answer)
        } else {
            Err(ToolError::failed(format!("the client's answer to `{method}` is not valid")))
        }
    }

    /// Records a question and waits forever. The server then drops the call with this future.
    async fn suspend(&self, change: impl FnOnce(&mut Questions)) -> ! {
        change(&mut lock(&self.questions));
        self.has_question.notify_one();
        pending().await
    }
}

/// Returns the text of the call that a state belongs to. The order of arguments does not matter.
/// Numbers are compared exactly, because a `Value` would round them.
fn bound_to(name: &str, arguments: &str, principal: Option<&str>) -> String {
    let arguments = canonical_json(arguments).unwrap_or_else(|_| arguments.to_owned());
    let principal = principal.map(|principal| format!("\n{principal}")).unwrap_or_default();
    format!("{name}\n{arguments}{principal}")
}

/// Returns whether the protocol version has no sessions.
pub(crate) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

#[expect(deprecated, reason = "sampling and roots are still part of the protocol")]
fn question(method: &str, params: Value) -> Result<InputRequest, String> {
    let question = match method {
        "elicitation/create" => from_value(params).map(ElicitRequest::new).map(InputRequest::Elicitation),
        "sampling/createMessage" => {
            from_value(params).map(CreateMessageRequest::new).map(InputRequest::CreateMessage)
        }
        "roots/list" => Ok(InputRequest::ListRoots(ListRootsRequest::default())),
        _ => {
            let known = "servers send `elicitation/create`, `sampling/createMessage` and `roots/list`";
            return Err(known.to_owned());
        }
    };
    question.map_err(|error| error.to_string())
}

/// Returns the needed capability that the client lacks.
fn missing(question: &InputRequest, capabilities: &ClientCapabilities) -> Option<ClientCapabilities> {
    let mut missing = ClientCapabilities::default();
    match question {
        InputRequest::Elicitation(_) if capabilities.elicitation.is_none() => {
            missing.elicitation = Some(Default::default());
        }
        InputRequest::CreateMessage(_) if capabilities.sampling.is_none() => {
            missing.sampling = Some(Default::default());
        }
        InputRequest::ListRoots(_) if capabilities.roots.is_none() => {
            missing.roots = Some(Default::default());
        }
        _ => return None,
    }
    Some(missing)
}

/// Returns whether `answer` is a valid result of this request. A form's content must fit its
/// schema.
fn is_answer(method: &str, params: &Value, answer: &Value) -> bool {
    match method {
        "elicitation/create" => match answer.get("action").and_then(Value::as_str) {
            Some("decline" | "cancel") => true,
            Some("accept") => match (params.get("requestedSchema"), answer.get("content")) {
                (Some(schema), Some(content)) => violations(schema, content).is_empty(),
                (Some(schema), None) => violations(schema, &json!({})).is_empty(),
                (None, _) => true,
            },
            _ => false,
        },
        "sampling/createMessage" => answer.get("content").is_some(),
        _ => answer.get("roots").is_some_and(Value::is_array),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::ElicitRequestParams;

    fn inputs(principal: Option<&str>, state: Option<String>) -> Result<Inputs, ErrorData> {
        let secret = RequestStateCodec::new_unchecked(b"a secret of thirty-two bytes....");
        let arguments = Arc::from(r#"{"path": "/tmp"}"#);
        Inputs::new(&secret, "delete", arguments, None, state, principal.map(str::to_owned))
    }

    /// Another user who has seen the state cannot repeat the call with it.
    #[test]
    fn a_state_belongs_to_one_client() {
        let secret = RequestStateCodec::new_unchecked(b"a secret of thirty-two bytes....");
        for (owner, others) in [(Some("ann"), [Some("mallory"), None]), (None, [Some("ann"), Some("")])] {
            let call = inputs(owner, None).unwrap();
            let form = json!({"message": "Delete?", "requestedSchema": {"type": "object", "properties": {}}});
            let form: ElicitRequestParams = from_value(form).unwrap();
            let question = InputRequest::Elicitation(ElicitRequest::new(form));
            lock(&call.questions).requests.insert(APPROVAL.to_owned(), question);
            let asked = call.suspension(&secret).unwrap().unwrap();
            let state = asked.request_state.unwrap();
            assert!(inputs(owner, Some(state.clone())).is_ok(), "{owner:?}");
            for other in others {
                assert!(inputs(other, Some(state.clone())).is_err(), "{owner:?} {other:?}");
            }
        }
    }
}
