//! Messages of the agents themselves.

pub(crate) use toolkit_llm::__private::store_details;

/// The text that the models of a conversation read in place of an input that a guardrail has removed.
pub(crate) const REMOVED: &str = "(This message was removed.)";
