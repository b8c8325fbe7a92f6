//! The lane of a call: calls with an equal argument run in order.

use super::ToolDefinition;
use crate::schema::__private::Json;
use serde_json::Value;

/// The lane argument of an adapted tool, which may be renamed, hidden or have a default.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LaneArgument {
    /// The lane of the original tool. A tool that was given another lane ignores the rest.
    pub(super) lane: String,
    /// The argument's name for the model; `None` if it is hidden.
    pub(super) shown_as: Option<String>,
    /// The value of an absent argument.
    pub(super) default: Option<Value>,
    /// Whether `null` is a value, not an absence.
    pub(super) takes_null: bool,
}

impl LaneArgument {
    fn value<'a>(&'a self, arguments: &'a Value) -> Option<&'a Value> {
        let given = self.shown_as.as_deref().and_then(|name| arguments.get(name));
        let is_absent = |value: &Value| value.is_null() && self.default.is_some() && !self.takes_null;
        given.filter(|value| !is_absent(value)).or(self.default.as_ref())
    }
}

impl ToolDefinition {
    /// Returns the lane argument as an adapted tool finds it.
    pub(super) fn lane_argument(&self) -> Option<LaneArgument> {
        let lane = self.metadata.lane.as_ref()?;
        let adapted = self.lane.as_deref().filter(|argument| argument.lane == *lane);
        Some(adapted.cloned().unwrap_or_else(|| LaneArgument {
            lane: lane.clone(),
            shown_as: Some(lane.clone()),
            default: None,
            takes_null: true,
        }))
    }

    /// Returns the value that a call's [lane](super::ToolMetadata::lane) parameter has, if the tool has a lane.
    ///
    /// A string and the value that it spells are the same lane, as coercion makes them the same argument.
    pub(crate) fn lane_value(&self, arguments: &Value) -> Option<String> {
        let lane = self.metadata.lane.as_deref()?;
        let value = match self.lane.as_deref().filter(|argument| argument.lane == lane) {
            Some(argument) => argument.value(arguments),
            None => arguments.get(lane),
        };
        let default = || self.parameters.get("properties")?.get(lane)?.get("default");
        Some(match value.filter(|value| !value.is_null()).or_else(default) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => {
                let text = value.to_string();
                Json::parse(&text).map_or(text.clone(), |value| value.canonical())
            }
            None => "null".to_owned(),
        })
    }
}
