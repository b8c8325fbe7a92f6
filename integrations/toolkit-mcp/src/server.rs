//! Serves a registry to MCP clients.
