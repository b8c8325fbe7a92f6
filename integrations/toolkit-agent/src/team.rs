//! Agents together.

mod transfer;

pub(crate) use transfer::TransferTool;
