//! Repairs histories.

use super::GeminiInteractions;
use super::read::{is_call, read_call};
use super::write::result;
use crate::call::id;
use crate::call::pairing::{CallKey, Entry, NO_OUTPUT};
use crate::codec::RepairCodec;
use crate::facts::result_rule::{ResultPlace, ResultRule};
use crate::json::fields::text;
use serde_json::Value;

pub(super) const RESULTS: ResultRule = ResultRule { place: ResultPlace::AfterCall, ..ResultRule::PLAIN };

impl RepairCodec for GeminiInteractions {
    fn entries<'a>(&self, step: &'a Value) -> Vec<(usize, Entry<'a>)> {
        let entry = match text(step, "type") {
            "function_result" => Entry::Result(CallKey::of_id(id(step.get("call_id"))), step),
            _ if is_call(step) => Entry::Call(CallKey::of_id(read_call(step, false).id), step),
            _ => return Vec::new(),
        };
        vec![(0, entry)]
    }

    fn placeholder(&self, call: &Value, key: &CallKey<'_>) -> Value {
        result(key.id.as_deref().unwrap_or_default(), text(call, "name"), NO_OUTPUT.into(), false)
    }
}
