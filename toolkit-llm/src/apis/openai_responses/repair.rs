//! Repairs histories, so that every call has a result.

use super::client::{self, is_result};
use super::{CUSTOM, CUSTOM_OUTPUT, FACTS, FUNCTION, FUNCTION_OUTPUT, OpenAiResponses, read};
use crate::call::WireCall;
use crate::call::pairing::{CallKey, Entry, NO_OUTPUT};
use crate::codec::RepairCodec;
use crate::facts::result_rule::{RequiredIds, ResultPlace, ResultRule};
use crate::json::fields::{Fields, copy, kind, set, set_at, text};
use serde_json::Value;
use std::collections::HashSet;
use toolkit_core::{ErrorKind, ToolError, ToolResult};
use toolkit_schema::SchemaLoss;

/// Results stay at their positions.
///
/// A missing result follows all calls of the turn, so that parallel calls stay together.
///
/// The service requires ids, but not all servers send them.
pub(super) const RESULTS: ResultRule =
    ResultRule { place: ResultPlace::AfterCall, in_call_order: false, ids: RequiredIds::Required };

impl RepairCodec for OpenAiResponses {
    fn entries<'a>(&self, item: &'a Value) -> Vec<(usize, Entry<'a>)> {
        let given = Some(client::answered(item)).filter(|id| !id.is_empty());
        let name = if given.is_none() { Some("") } else { None };
        if let Some(call) = read_call(item) {
            return vec![(0, Entry::Call(CallKey { id: call.id, name }, item))];
        }
        if is_result(item) {
            return vec![(0, Entry::Result(CallKey { id: given.map(Into::into), name }, item))];
        }
        Vec::new()
    }

    /// Creates a result without `status`, unless the service requires one.
    fn placeholder(&self, item: &Value, key: &CallKey<'_>) -> Value {
        let Some(call) = item.as_object() else { return Value::Null };
        if let (Some(client), Some(read)) = (client::of_call(call), read_call(item)) {
            let id = key.id.as_deref().unwrap_or_default();
            let error = ToolError::new(ErrorKind::Failed, NO_OUTPUT);
            let result = ToolResult::of(&read.into_call(id.into()), Err(error));
            if let Some(written) = client.write_result(&result, id).into_iter().next() {
                return written;
            }
        }
        let is_custom = kind(call) == Some(CUSTOM);
        let mut result = Fields::new();
        set(&mut result, "type", if is_custom { CUSTOM_OUTPUT } else { FUNCTION_OUTPUT });
        copy(call, &mut result, &["call_id"]);
        set(&mut result, "output", NO_OUTPUT);
        copy(call, &mut result, if is_custom { &["caller"] } else { &["namespace", "caller"] });
        result.into()
    }

    fn set_id(&self, item: &mut Value, id: &str) {
        if client::answered(item).is_empty() {
            set_at(item, &["call_id"], id);
        }
    }

    /// The referenced item may be a call, so the history keeps all results.
    fn is_reference(&self, item: &Value) -> bool {
        text(item, "type") == "item_reference"
    }

    /// The service may have the calls of tools that it defines itself.
    fn may_be_alone(&self, result: &Value) -> bool {
        client::of_output(result).is_some()
    }

    /// Removes reasoning that nothing of the model follows.
    ///
    /// Also removes the `caller` of a call and its result if the program that made the call is missing.
    fn complete_repair(
        &self,
        mut history: Vec<Value>,
        request: Option<&Fields>,
        losses: &mut Vec<SchemaLoss>,
    ) -> Vec<Value> {
        remove_lone_reasoning(&mut history);
        let is_continued = request.is_some_and(|request| FACTS.is_continued(request));
        if is_continued || history.iter().any(|item| self.is_reference(item)) {
            return history;
        }
        let mut programs: HashSet<String> = HashSet::new();
        for item in &history {
            if text(item, "type") == "program" {
                programs.insert(text(item, "call_id").to_owned());
            }
        }
        let mut direct: HashSet<String> = HashSet::new();
        for (index, item) in history.iter_mut().enumerate() {
            let caller = item.get("caller").map_or("", |caller| text(caller, "caller_id"));
            let is_known = caller.is_empty() || programs.contains(caller);
            if is_known || is_result(item) && !direct.contains(client::answered(item)) {
                continue;
            }
            if !is_result(item) {
                direct.insert(client::answered(item).to_owned());
                let reason =
                    "the program that made this call is missing, so it is sent as a call of the model";
                losses.push(SchemaLoss::new(format!("/{index}"), "caller", reason));
            }
            if let Some(fields) = item.as_object_mut() {
                fields.shift_remove("caller");
            }
        }
        history
    }
}

/// Removes each reasoning item that no item of the model follows.
///
/// The service refuses it: "Item 'rs_1' of type 'reasoning' was provided without its required following
/// item."
fn remove_lone_reasoning(history: &mut Vec<Value>) {
    let mut is_followed = false;
    for index in (0..history.len()).rev() {
        if text(&history[index], "type") != "reasoning" {
            is_followed = is_of_model(&history[index]);
        } else if !is_followed {
            history.remove(index);
        }
    }
}

/// Returns whether the model wrote an item.
///
/// A reference may stand for such an item.
fn is_of_model(item: &Value) -> bool {
    let is_answer = is_result(item) || text(item, "type") == "mcp_approval_response";
    !is_answer && matches!(text(item, "role"), "" | "assistant")
}

fn read_call(item: &Value) -> Option<WireCall<'_>> {
    let is_own = matches!(text(item, "type"), FUNCTION | CUSTOM);
    if is_own || client::of_call(item.as_object()?).is_some() { read::read_call(item, false) } else { None }
}
