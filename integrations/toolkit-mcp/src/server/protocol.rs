//! Values in the form of the protocol.

mod client_lines;
mod completion;
mod definitions;
mod raw_arguments;
mod results;
mod uri_template;

pub(super) use client_lines::MAX_MESSAGE;
pub(super) use completion::complete;
pub(super) use definitions::{McpFormat, ToolList, icons, is_wrapped, page, published_meta};
pub(super) use raw_arguments::RawArguments;
pub(super) use results::{block, failure, resource_contents, success};
pub(super) use uri_template::{expand, is_template};
