//! Messages of the agents themselves.

pub(crate) use toolkit_llm::__private::store_details;

/// The text that models read in place of an input removed by a guardrail.
pub(crate) const REMOVED: &str = "(This message was removed.)";
