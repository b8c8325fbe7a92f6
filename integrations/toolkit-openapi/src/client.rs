//! The client: the operations of a document are tools.

mod answer;
mod document;
mod operation;
mod reading;
mod request;
mod schema;
mod security;
mod service;
mod toolset;

pub use document::{OpenApiIssue, OpenApiLimits};
pub use reading::{Namespaces, OperationInfo};
pub use request::Attachments;
pub use security::{CallerCredentials, ClientCredentials, Credentials};
pub use toolkit_http::client::HttpLimits;
pub use toolset::{OpenApiTools, OpenApiToolsBuilder};
