//! Lanes: calls with an equal lane argument run one after another.

use super::ToolDefinition;
use crate::schema::canonical_json;
use serde_json::Value;
use std::fmt;

/// The lane argument of an adapted tool.
#[derive(Clone, PartialEq)]
pub(super) struct LaneArgument {
    /// The lane parameter of the wrapped tool. If the adapted tool names another lane, the other fields are
    /// ignored.
    pub(super) lane: String,
    /// The argument's name for the model; `None` if it is hidden.
    pub(super) shown_as: Option<String>,
    /// The value of an omitted argument.
    pub(super) default: Option<Value>,
}

/// Shows only the lane: a hidden value may be a secret.
impl fmt::Debug for LaneArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaneArgument").field("lane", &self.lane).finish_non_exhaustive()
    }
}

impl LaneArgument {
    fn value<'a>(&'a self, arguments: &'a Value) -> Option<&'a Value> {
        let given = self.shown_as.as_deref().and_then(|name| arguments.get(name));
        given.or(self.default.as_ref())
    }
}

impl ToolDefinition {
    /// Returns the lane argument, adapted or not; `None` without a lane.
    pub(super) fn lane_argument(&self) -> Option<LaneArgument> {
        let lane = self.metadata.lane.as_ref()?;
        let adapted = self.lane.as_deref().filter(|argument| argument.lane == *lane);
        Some(adapted.cloned().unwrap_or_else(|| LaneArgument {
            lane: lane.clone(),
            shown_as: Some(lane.clone()),
            default: None,
        }))
    }

    /// Returns the value of the [lane](super::ToolMetadata::lane) parameter in the normal form of the
    /// arguments; `None` without a lane.
    ///
    /// As coercion makes them equal, `"5"` and 5 are one lane, and so are structs with a default omitted or
    /// given.
    pub(crate) fn lane_value(&self, arguments: &Value) -> Option<String> {
        let lane = self.metadata.lane.as_deref()?;
        let adapted = self.lane.as_deref().filter(|argument| argument.lane == lane);
        let name = adapted.map_or(Some(lane), |argument| argument.shown_as.as_deref());
        let value = match adapted {
            Some(argument) => argument.value(arguments),
            None => arguments.get(lane),
        };
        let default = || self.parameters.get("properties")?.get(name?)?.get("default");
        Some(match value.filter(|value| !value.is_null()).or_else(default) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => {
                let text = value.to_string();
                canonical_json(&text).unwrap_or(text)
            }
            None => "null".to_owned(),
        })
    }
}
