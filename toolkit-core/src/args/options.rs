//! The rules for decoding the arguments of one tool.

use crate::context::ToolContext;
use serde_json::Value;

/// The options for decoding the arguments of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DecodeOptions<'a> {
    /// The schema of the parameters.
    pub(crate) schema: &'a Value,
    /// For each parameter, whether the schema constrains values more than the Rust type does.
    pub(crate) has_constraints: &'a [bool],
    /// Whether unknown arguments are refused.
    pub(crate) refuse_unknown: bool,
    /// Whether near misses, such as `"5"` for an integer, are coerced.
    pub(crate) coerce: bool,
    /// The context of the call. If set, each coercion is emitted as an event.
    pub(crate) context: Option<&'a ToolContext>,
}

impl<'a> DecodeOptions<'a> {
    /// Returns the default options of tools: unknown arguments are refused, and near misses are coerced.
    pub(crate) fn strict(schema: &'a Value, context: Option<&'a ToolContext>) -> Self {
        Self { schema, has_constraints: &[], refuse_unknown: true, coerce: true, context }
    }

    #[inline]
    pub(super) fn is_constrained(&self, index: usize) -> bool {
        self.has_constraints.get(index).is_some_and(|constrained| *constrained)
    }
}
