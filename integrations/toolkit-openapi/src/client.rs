//! The operations of a service as tools.

mod attachments;
mod operation;
mod request;

pub use attachments::Attachments;
