//! The MCP servers of configuration files, as plain data.
//!
//! [`ConfigFile`] reads the files of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Zed, Gemini CLI,
//! Codex, opencode, Amp, Cline, Roo Code, Copilot CLI, Goose and LangChain. [`write_entry`] adds a server to a file,
//! and [`remove_entry`] removes it. This crate starts and connects nothing.
//!
//! ```
//! use toolkit_mcp_config::{ConfigFile, Dialect};
//!
//! let file = ConfigFile::read(r#"{
//!     "servers": {
//!         // Comments are allowed.
//!         "files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/srv"]},
//!     },
//! }"#)?;
//! assert_eq!(file.dialect(), Dialect::VsCode);
//! assert_eq!(file.servers()[0].name, "files");
//! # Ok::<(), toolkit_mcp_config::ConfigError>(())
//! ```
//!
//! What a file says about a server is read, reported or refused:
//!
//! - **Read**: command or URL, variables, time limits, and the lists of tools, as a [`ServerToolFilter`].
//! - **Reported** by [`ConfigFile::issues`]: unknown keys, and what is not supported, such as a login.
//! - **Refused**: a server is one of the [`ConfigFile::failures`] if its entry is malformed or has an
//!   unsupported restriction, such as a sandbox. A restriction is never dropped.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod config_error;
mod config_syntax;
mod dialect;
mod entry;
mod entry_reader;
mod file;
mod file_rules;
mod keys;
mod location;
mod node;
mod remove;
mod resolve;
mod tool_filter;
mod variables;
mod write;
mod written_entry;
mod yaml_lines;
mod yaml_node;

pub use config_error::{ConfigError, Place};
pub use dialect::Dialect;
pub use entry::{ServerEntry, ServerTransport};
pub use file::ConfigFile;
pub use remove::remove_entry;
pub use tool_filter::ServerToolFilter;
pub use write::write_entry;

/// The examples of the README, compiled as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
