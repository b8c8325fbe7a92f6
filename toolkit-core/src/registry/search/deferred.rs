//! A call of `call_deferred`, read as the call that it stands for.

use super::DISCOVER_TOOLS;
use super::tools::Catalog;
use crate::args::with_members;
use crate::error::{ErrorKind, ToolError, Violation, ViolationKind, nearest, shorten};
use crate::tool::Tool;
use serde_json::Value;
use std::sync::Arc;

/// The argument that names the tool.
pub(super) const TARGET: &str = "_target_tool";

/// The call that a call of `call_deferred` stands for.
pub(super) struct DeferredCall {
    /// As the model spells it.
    pub(super) target: String,
    /// All others, as the model wrote them.
    pub(super) arguments: String,
}

impl DeferredCall {
    /// # Errors
    /// The arguments are not those of an object, or do not name a tool.
    pub(super) fn read(arguments: &str) -> Result<Self, ToolError> {
        let (target, arguments) = with_members(arguments, |members| {
            let target =
                members.iter().find(|(name, _)| name == TARGET).map(|(_, value)| value.get().to_owned());
            let others = members.iter().filter(|(name, _)| name != TARGET);
            let others =
                others.map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), value.get()));
            (target, format!("{{{}}}", others.collect::<Vec<_>>().join(",")))
        })?;
        let refused = |kind, message: &str| {
            Err(ToolError::invalid_arguments(vec![Violation::new(TARGET, kind, message)]))
        };
        match target.map(|target| serde_json::from_str(&target)) {
            Some(Ok(Value::String(target))) => Ok(Self { target, arguments }),
            Some(_) => refused(ViolationKind::WrongType, "expected the name of a tool as a string"),
            None => refused(ViolationKind::Missing, "required, but missing; expected the name of a tool"),
        }
    }
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
