//! The configuration file of MCP servers, as other programs write it.
