//! The limits for a server's messages, tools and schemas.

use crate::macros::setters;

/// The limits for a server's messages, tools and schemas.
///
/// If a tool exceeds a limit, the client shortens the description or leaves the tool out, and adds an
/// [issue](crate::client::McpClient::issues).
///
/// ```
/// use toolkit_ai::mcp::client::McpLimits;
///
/// let limits = McpLimits::default().with_tools(50);
/// assert_eq!((limits.tools, limits.schema_depth), (50, 64));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct McpLimits {
    /// The maximum number of tools of one server, 1,000 by default. Further tools are left out.
    pub tools: usize,
    /// The maximum length of descriptions and of the server's instructions, 8,192 characters by default.
    /// Longer texts are cut.
    pub description: usize,
    /// The maximum size of a schema, 65,536 bytes of compact JSON by default.
    ///
    /// A tool with a larger schema, or with a list entry of more than four times this size, is left out.
    pub schema_bytes: usize,
    /// The maximum nesting of a schema, 64 levels of JSON by default.
    ///
    /// A tool with a deeper schema is left out.
    pub schema_depth: usize,
    /// The maximum size of one message, 16 MiB by default.
    ///
    /// A call with a larger result ends with an error. Over streams, so do all pending calls.
    pub message_bytes: usize,
    /// The maximum number of pages of one list, 1,000 by default, also of empty ones.
    ///
    /// Further pages of tools are left out; other lists end with an error.
    pub pages: usize,
    /// The maximum size of the cursor of a page, 4,096 bytes by default.
    ///
    /// A page with a larger cursor is the last one of the tools; other lists end with an error.
    pub cursor_bytes: usize,
}

impl Default for McpLimits {
    fn default() -> Self {
        Self {
            tools: 1_000,
            description: 8_192,
            schema_bytes: 64 << 10,
            schema_depth: 64,
            message_bytes: 16 << 20,
            pages: 1_000,
            cursor_bytes: 4 << 10,
        }
    }
}

setters! { McpLimits:
    /// Sets the maximum number of tools.
    with_tools(tools: usize) = tools;
    /// Sets the maximum length of a description, in characters.
    with_description(description: usize) = description;
    /// Sets the maximum size of a schema, in bytes.
    with_schema_bytes(schema_bytes: usize) = schema_bytes;
    /// Sets the maximum nesting of a schema.
    with_schema_depth(schema_depth: usize) = schema_depth;
    /// Sets the maximum size of a message, in bytes.
    with_message_bytes(message_bytes: usize) = message_bytes;
    /// Sets the maximum number of pages of one list.
    with_pages(pages: usize) = pages;
    /// Sets the maximum size of the cursor, in bytes.
    with_cursor_bytes(cursor_bytes: usize) = cursor_bytes;
}
