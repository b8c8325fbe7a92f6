//! Tests of `toolkit-frontends`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod ag_histories;
mod ag_scenes;
mod ag_subagents;
mod chat_forks;
mod chat_refusals;
mod chat_scenes;
mod chunk_table;
mod page_complaints;
mod page_guards;
mod page_support;
mod page_values;

#[path = "../examples/chat_page/scenes.rs"]
mod scenes;
