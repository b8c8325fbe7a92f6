//! Conversion of a `call_deferred` call into a call of its target.

use crate::args::{ObjectText, given_twice};
use crate::call::ToolCall;
use crate::definition::{CALL_REASON, Tool, ToolDefinition, asks_for_call_reason};
use crate::error::{ToolError, Violation, ViolationKind};
use crate::name::CALL_DEFERRED;
use serde_json::Value;
use std::borrow::Cow;

/// The argument with the name of the target tool.
pub(super) const TARGET: &str = "_target_tool";

/// The argument with an object of the target's arguments, as many models nest them.
const NESTED: &str = "arguments";

/// The call of a target tool, parsed from `call_deferred`.
pub(crate) struct DeferredCall {
    /// The name of the target, as the model spells it.
    pub(crate) target: String,
    /// All arguments except `TARGET`, as the model wrote them.
    members: Vec<Member>,
}

type Member = (String, String);

/// Returns the name of the tool that a call means: that of a deferred tool is in the arguments.
pub(crate) fn target_of(call: &ToolCall) -> Cow<'_, str> {
    if call.name == CALL_DEFERRED
        && let Ok(deferred) = DeferredCall::read(call.arguments.as_str())
    {
        return Cow::Owned(deferred.target);
    }
    Cow::Borrowed(&call.name)
}

impl DeferredCall {
    /// Parses the arguments of `call_deferred`. Fails if they are no JSON object or name no tool.
    pub(crate) fn read(arguments: &str) -> Result<Self, ToolError> {
        let (targets, members): (Vec<Member>, Vec<Member>) =
            members(arguments)?.into_iter().partition(|(name, _)| name == TARGET);

        if targets.len() > 1 {
            return Err(ToolError::invalid_arguments(vec![given_twice(TARGET)]));
        }
        match targets.first().map(|(_, target)| target.parse()) {
            Some(Ok(Value::String(target))) => Ok(Self { target, members }),
            Some(_) => Err(refused(ViolationKind::WrongType, "expected the name of a tool as a string")),
            None => {
                Err(refused(ViolationKind::Missing, "required, but missing; expected the name of a tool"))
            }
        }
    }

    /// Returns the JSON text of the target's arguments, with the model's values.
    ///
    /// The members of an object `arguments`, if it is the only argument, become the target's arguments,
    /// unless the target has such a parameter.
    ///
    /// `by_default` tells whether the registry asks for call reasons. The reason is dropped if the target
    /// opts out.
    pub(crate) fn arguments_for(self, tool: &dyn Tool, by_default: bool) -> String {
        let definition = tool.definition();
        let asks = asks_for_call_reason(definition, by_default);
        let has_reason = (by_default || asks) && !has_parameter(definition, CALL_REASON);
        let (mut reasons, mut members): (Vec<Member>, Vec<Member>) =
            self.members.into_iter().partition(|(name, _)| has_reason && name == CALL_REASON);
        if !asks {
            reasons.clear();
        }
        if let [(name, value)] = members.as_slice()
            && name == NESTED
            && !has_parameter(definition, NESTED)
            && let Ok(nested) = self::members(value)
        {
            members = nested;
        }
        let mut written = Vec::with_capacity(reasons.len() + members.len());
        for (name, value) in reasons.iter().chain(&members) {
            written.push(format!("{}:{value}", Value::from(name.as_str())));
        }
        format!("{{{}}}", written.join(","))
    }
}

fn refused(kind: ViolationKind, message: &str) -> ToolError {
    ToolError::invalid_arguments(vec![Violation::new(TARGET, kind, message)])
}

fn has_parameter(definition: &ToolDefinition, name: &str) -> bool {
    let properties = definition.parameters.get("properties").and_then(Value::as_object);
    properties.is_some_and(|own| own.contains_key(name)) || definition.parameter_named(name).is_some()
}

fn members(text: &str) -> Result<Vec<Member>, ToolError> {
    let object = ObjectText::read(text)?;
    let members = object.members()?.into_iter();
    Ok(members.map(|(name, value)| (name.into_owned(), value.to_owned())).collect())
}
