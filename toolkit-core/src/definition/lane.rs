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
        match &self.lane {
            Some(adapted) if adapted.lane == *lane => Some((**adapted).clone()),
            _ => Some(LaneArgument { lane: lane.clone(), shown_as: Some(lane.clone()), default: None }),
        }
    }

    /// Returns the value of the [lane](super::ToolMetadata::lane) parameter in the normal form of the
    /// arguments; `None` without a lane.
    ///
    /// As coercion makes them equal, `"5"` and 5 are one lane, and so are structs with a default omitted or
    /// given.
    pub(crate) fn lane_value(&self, arguments: &Value) -> Option<String> {
        let lane = self.metadata.lane.as_deref()?;
        let adapted = self.lane.as_deref().filter(|argument| argument.lane == lane);
        let name = match adapted {
            Some(argument) => argument.shown_as.as_deref(),
            None => Some(lane),
        };
        let given = match adapted {
            Some(argument) => argument.value(arguments),
            None => arguments.get(lane),
        };
        let value = match given {
            Some(value) if !value.is_null() => Some(value),
            _ => name.and_then(|name| self.published_default(name)),
        };
        Some(match value {
            Some(Value::String(text)) => text.clone(),
            Some(value) => {
                let text = value.to_string();
                canonical_json(&text).unwrap_or(text)
            }
            None => "null".to_owned(),
        })
    }

    fn published_default(&self, argument: &str) -> Option<&Value> {
        self.parameters.get("properties")?.get(argument)?.get("default")
    }
}
