//! Tests of `toolkit-frontends`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod ag_scenes;
mod chat_refusals;
mod chat_scenes;
mod chunk_table;
mod page_support;

#[path = "../examples/chat_page/scenes.rs"]
mod scenes;
