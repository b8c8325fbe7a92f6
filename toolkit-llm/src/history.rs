//! Histories: the elements of tool results, and the repair of calls without a result.

pub(crate) mod repair;
pub(crate) mod results;
