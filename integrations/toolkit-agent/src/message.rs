//! Messages of the agents themselves.

pub(crate) use toolkit_llm::__private::store_details;

/// The text that the models of a conversation read in place of an input that a guardrail has removed.
pub(crate) const REMOVED: &str = "(This message was removed.)";

/// The result of a call whose arguments are the final answer, if the answer is valid.
pub(crate) const ACCEPTED: &str = "The answer was accepted.";
