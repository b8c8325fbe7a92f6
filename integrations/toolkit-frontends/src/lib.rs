//! Chat pages for agents: the protocols by which pages talk to the [runs](toolkit_agent::runs) of an agent.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(all(feature = "ag-ui", feature = "ai-sdk"), doc = include_str!("../README.md"))]

#[cfg(any(feature = "ag-ui", feature = "ai-sdk"))]
mod page_access;
#[cfg(any(feature = "ag-ui", feature = "ai-sdk"))]
mod page_error;
#[cfg(any(feature = "ag-ui", feature = "ai-sdk"))]
mod page_log;
#[cfg(any(feature = "ag-ui", feature = "ai-sdk"))]
mod page_paths;
#[cfg(any(feature = "ag-ui", feature = "ai-sdk"))]
mod page_runs;
#[cfg(any(feature = "ag-ui", feature = "ai-sdk"))]
mod run_stream;

#[cfg(feature = "ag-ui")]
pub mod ag_ui;
#[cfg(feature = "ai-sdk")]
pub mod ai_sdk;

#[cfg(any(feature = "ag-ui", feature = "ai-sdk"))]
pub use page_access::{PageAccess, PageUser};
