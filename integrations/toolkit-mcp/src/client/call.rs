//! One call of a server's tool.

mod call_errors;
mod remote_call;

pub(super) use remote_call::{RemoteCall, unreachable};
