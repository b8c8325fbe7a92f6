//! Reading: the operations of a document as definitions of tools, and as what their calls need.

mod arguments;
mod choice;
mod described_answers;
mod found_operation;
mod members;
mod names;
mod parameters;
mod reader;
mod reduction;
mod request_body;

pub use choice::{Namespaces, OperationInfo};
pub(crate) use reader::{OperationTool, Reader, ReaderSettings};
