//! Chat pages for agents: the protocols by which pages talk to the [runs](toolkit_agent::runs) of an agent.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(feature = "ai-sdk", doc = include_str!("../README.md"))]

#[cfg(feature = "ai-sdk")]
mod page_access;
#[cfg(feature = "ai-sdk")]
mod page_error;

#[cfg(feature = "ai-sdk")]
pub mod ai_sdk;

#[cfg(feature = "ai-sdk")]
pub use page_access::{PageAccess, PageUser};
