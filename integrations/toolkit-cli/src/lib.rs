//! A command line for a program with tools, and the program `toolkit` for MCP servers of others.
//!
//! ```no_run
//! use std::process::ExitCode;
//! use toolkit_ai::prelude::*;
//!
//! /// Get the weather for a city.
//! #[tool(read_only)]
//! fn weather(city: String, #[param(default = 3, range = 1..=14)] days: u8) -> String {
//!     format!("{city}: clear for {days} days")
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<ExitCode, BuildError> {
//!     Ok(toolkit_cli::run(Dispatcher::new(tools![weather])?).await)
//! }
//! ```
//!
//! The program then has the commands `list`, `show`, `call` and `check`:
//!
//! ```text
//! $ weather call weather --city Rome --days 5
//! Rome: clear for 5 days
//! ```
//!
//! # Features
//!
//! Only `aws-lc-rs` is on by default.
//!
//! | feature | adds |
//! | --- | --- |
//! | `serve` | `serve mcp`: an MCP server over standard input and output |
//! | `serve-http` | `serve http`: an MCP server over HTTP |
//! | `install` | `install` and `uninstall`: the program in the configuration files of clients |
//! | `chat` | `chat`, for a program with an agent |
//! | `progress` | bars for calls that report progress |
//! | `program` | the program `toolkit` |
//! | `aws-lc-rs`, `ring` | cryptography of encrypted connections |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod apis;
mod command_line;
mod commands;
#[cfg(feature = "install")]
mod config_text;
mod desk;
mod exit;
mod facts;
mod flags;
mod input;
mod outcome;
#[cfg(feature = "progress")]
mod progress;
mod screen;
#[cfg(feature = "program")]
mod servers;

pub use command_line::{CommandLine, run};
#[cfg(feature = "program")]
#[doc(hidden)]
pub use servers::run as __toolkit;

/// The examples of the README, compiled as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
