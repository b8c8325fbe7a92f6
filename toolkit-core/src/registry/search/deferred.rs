//! A call of `call_deferred`, read as the call that it stands for.

use super::DISCOVER_TOOLS;
use super::tools::Catalog;
use crate::args::with_members;
use crate::error::{ErrorKind, ToolError, Violation, ViolationKind, nearest, shorten};
use crate::tool::{CALL_REASON, Tool, asks_for_call_reason};
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;

/// The argument that names the tool.
pub(super) const TARGET: &str = "_target_tool";

/// The member into which many models put the arguments of the tool, for other protocols have it.
const NESTED: &str = "arguments";

/// The call that a call of `call_deferred` stands for.
pub(super) struct DeferredCall {
    /// As the model spells it.
    pub(super) target: String,
    /// All others, as the model wrote them.
    members: Vec<Member>,
}

/// A name and the JSON text of its value.
type Member = (String, String);

impl DeferredCall {
    /// # Errors
    /// The arguments are not those of an object, or do not name a tool.
    pub(super) fn read(arguments: &str) -> Result<Self, ToolError> {
        let (targets, members): (Vec<Member>, Vec<Member>) =
            members(arguments)?.into_iter().partition(|(name, _)| name == TARGET);
        let refused = |kind, message: &str| {
            Err(ToolError::invalid_arguments(vec![Violation::new(TARGET, kind, message)]))
        };
        match targets.first().map(|(_, target)| serde_json::from_str(target)) {
            Some(Ok(Value::String(target))) => Ok(Self { target, members }),
            Some(_) => refused(ViolationKind::WrongType, "expected the name of a tool as a string"),
            None => refused(ViolationKind::Missing, "required, but missing; expected the name of a tool"),
        }
    }

    /// The arguments for the tool, as the model wrote them. If it wrote them as one object `arguments`, and the tool
    /// has no parameter of that name, they are those of the object.
    ///
    /// `asked` says whether the model was asked for its reason. A tool that does not ask for one does not get it.
    pub(super) fn arguments_for(self, tool: &dyn Tool, asked: bool) -> String {
        let definition = tool.definition();
        let has = |name: &str| {
            let properties = definition.parameters.get("properties").and_then(Value::as_object);
            properties.is_some_and(|own| own.contains_key(name)) || definition.parameter_named(name).is_some()
        };
        let asks = asks_for_call_reason(definition, asked);
        let is_reason = |name: &str| (asked || asks) && name == CALL_REASON && !has(CALL_REASON);
        let (mut reasons, mut members): (Vec<Member>, Vec<Member>) =
            self.members.into_iter().partition(|(name, _)| is_reason(name));
        if !asks {
            reasons.clear();
        }
        if let [(name, value)] = members.as_slice()
            && name == NESTED
            && !has(NESTED)
            && let Ok(nested) = self::members(value)
        {
            members = nested;
        }
        let written = |(name, value): &Member| format!("{}:{value}", Value::from(name.as_str()));
        let written: Vec<String> = reasons.iter().chain(&members).map(written).collect();
        format!("{{{}}}", written.join(","))
    }
}

/// # Errors
/// The text is not that of an object.
fn members(text: &str) -> Result<Vec<Member>, ToolError> {
    let owned = |(name, value): &(String, &RawValue)| (name.clone(), value.get().to_owned());
    with_members(text, |members| members.iter().map(owned).collect())
}

impl Catalog {
    /// The deferred tool that a model means.
    ///
    /// # Errors
    /// There is none of this name, or the tool is not deferred.
    pub(super) fn deferred(&self, target: &str) -> Result<&Arc<dyn Tool>, ToolError> {
        let is_deferred = |tool: &Arc<dyn Tool>| tool.definition().metadata.defer;
        match self.index.named(self.names.unspell(target)).as_slice() {
            [tool] if is_deferred(tool) => Ok(tool),
            [_] => Err(not_deferred(target)),
            _ if super::NAMES.contains(&target) => Err(not_deferred(target)),
            _ => Err(self.unknown(target)),
        }
    }

    fn unknown(&self, target: &str) -> ToolError {
        let names = self.index.tools().map(|tool| self.names.spell(tool.definition().name.as_str()));
        let nearest = nearest(target, names);
        let target = shorten(target);
        let more = match nearest.as_slice() {
            [] => format!("Find tools with {DISCOVER_TOOLS}."),
            names => format!("Did you mean: {}?", names.join(", ")),
        };
        ToolError::new(ErrorKind::NotFound, format!("tool '{target}' not found in registry. {more}"))
            .with_brief(format!("Tool `{target}` not found"))
    }
}

fn not_deferred(target: &str) -> ToolError {
    let message =
        format!("'{target}' is not a deferred tool — call it directly instead of using call_deferred.");
    ToolError::new(ErrorKind::InvalidArguments, message)
}
