//! The instructions of servers for the system prompt of a model.

use super::McpClient;

impl McpClient {
    /// Returns the server's instructions as a part of a system prompt; `None` if there are none.
    ///
    /// The text names the server and quotes each line, so that it cannot speak for another server or for the
    /// program. Show it to a model only if the program trusts the server.
    #[must_use]
    pub fn instructions(&self) -> Option<String> {
        let text = self.server_info().instructions.filter(|text| !text.trim().is_empty())?;
        let quoted: Vec<String> = text.trim().lines().map(|line| format!("> {line}")).collect();
        Some(format!(
            "Instructions of the MCP server `{}` for its tools:\n\n{}",
            self.name(),
            quoted.join("\n")
        ))
    }
}
