//! The client: the operations of a document are tools.

mod address;
mod answer;
mod arguments;
mod attachments;
mod budget;
mod builder;
mod choice;
mod credential_names;
mod definitions;
mod described_answers;
mod document;
mod found;
mod hidden;
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
mod reduction;
mod request;
mod request_body;
mod request_settings;
mod schema;
mod schema_parts;
mod security;
mod service;
mod tool;
mod toolset;
#[cfg(feature = "yaml")]
mod yaml_nesting;

pub use attachments::Attachments;
pub use builder::OpenApiToolsBuilder;
pub use choice::{Namespaces, OperationInfo};
pub use issue::OpenApiIssue;
pub use limits::OpenApiLimits;
pub use security::{CallerCredentials, ClientCredentials, Credentials};
pub use toolkit_http::client::HttpLimits;
pub use toolset::OpenApiTools;
