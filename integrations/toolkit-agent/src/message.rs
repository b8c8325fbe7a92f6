//! Messages of the agents themselves.

pub(crate) use toolkit_llm::__private::store_details;

/// The result of a call whose arguments are the final answer, if the answer is valid.
pub(crate) const ACCEPTED: &str = "The answer was accepted.";
