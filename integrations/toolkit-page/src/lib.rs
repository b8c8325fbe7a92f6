#![cfg_attr(feature = "agent", doc = include_str!("../README.md"))]
#![cfg_attr(
    not(feature = "agent"),
    doc = "A page over a dispatcher: its tools, and why each call took its time."
)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "agent")]
mod approvals;
mod call_record;
mod call_routes;
mod call_timeline;
mod page_answer;
mod page_files;
mod page_guard;
mod page_logins;
mod page_rights;
mod page_routes;
mod served_page;
mod text_cut;
mod tool_page;
mod tool_routes;

pub use page_logins::PageLogins;
pub use page_rights::PageRights;
pub use tool_page::{BoundPage, ToolPage};
