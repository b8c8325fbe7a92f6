//! Tools of MCP servers as a tool provider.
