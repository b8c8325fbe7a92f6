//! The client: the operations of a document are tools.

mod address;
mod arguments;
mod builder;
mod choice;
mod document;
mod error;
mod issue;
mod json_path;
mod limits;
mod members;
mod names;
mod operation;
mod overlay;
mod parameters;
mod parse;
mod readable;
mod reader;
mod request_body;
mod schema;
mod schema_parts;
mod service;
mod tool;
mod toolset;

pub use builder::OpenApiToolsetBuilder;
pub use choice::{Namespaces, OperationInfo};
pub use error::OpenApiError;
pub use issue::OpenApiIssue;
pub use limits::OpenApiLimits;
pub use toolset::OpenApiToolset;
