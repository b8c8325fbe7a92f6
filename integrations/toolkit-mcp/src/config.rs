//! The servers of configuration files of other programs, connected.
//!
//! The crate `toolkit-mcp-config` reads the files; its types are here as well.
//!
//! ```
//! use toolkit_ai::mcp::config::ConfigFile;
//!
//! let file = ConfigFile::read(r#"{
//!     "mcpServers": {
//!         "files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/srv"]},
//!         "issues": {
//!             "url": "https://example.com/mcp",
//!             "headers": {"Authorization": "Bearer ${ISSUES_TOKEN:-none}"}
//!         }
//!     }
//! }"#)?;
//! let names: Vec<&str> = file.servers().iter().map(|server| server.name.as_str()).collect();
//! assert_eq!(names, ["files", "issues"]);
//! # Ok::<(), toolkit_ai::mcp::config::ConfigError>(())
//! ```

mod configured_endpoint;
mod namespaces;
mod servers;

pub use servers::{McpServers, ServerFailure, client_builder};
pub use toolkit_mcp_config::{
    ConfigError, ConfigFile, Dialect, Place, ServerEntry, ServerToolFilter, ServerTransport, remove_entry,
    write_entry,
};
