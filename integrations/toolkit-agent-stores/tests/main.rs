//! Integration tests of the stores.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod contract;
mod crashes;
mod files;
mod postgres;
mod sqlite;
