//! The rules for decoding the arguments of one tool.

use crate::context::ToolContext;
use serde_json::Value;

/// How the arguments of a call are decoded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DecodeOptions<'a> {
    /// The schema of the parameters.
    pub(crate) schema: &'a Value,
    /// For each parameter, whether its schema constrains more than its type does.
    pub(crate) has_constraints: &'a [bool],
    /// Whether unknown arguments are refused.
    pub(crate) refuse_unknown: bool,
    /// Whether near misses are coerced.
    pub(crate) coerce: bool,
    /// The context of the call, if coercions are emitted as events.
    pub(crate) context: Option<&'a ToolContext>,
}

impl<'a> DecodeOptions<'a> {
    /// Returns options with the defaults of tools: unknown arguments are refused, near misses coerced.
    pub(crate) fn strict(schema: &'a Value, context: Option<&'a ToolContext>) -> Self {
        Self { schema, has_constraints: &[], refuse_unknown: true, coerce: true, context }
    }

    #[inline]
    pub(super) fn is_constrained(&self, index: usize) -> bool {
        self.has_constraints.get(index).is_some_and(|constrained| *constrained)
    }
}
