//! The limits for the messages, tools and schemas of a server.

use crate::macros::setters;

/// The limits for the messages, tools and schemas of a server.
///
/// If a tool exceeds a limit, the client shortens the description or leaves the tool out. In both cases, the
/// client adds an [issue](crate::client::McpClient::issues).
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
    /// The maximum number of tools of one server. Further tools are left out. The default is 1,000.
    pub tools: usize,
    /// The maximum length of a description and of the server's instructions, in characters. A longer
    /// description is cut. The default is 8,192.
    pub description: usize,
    /// The maximum size of a schema, in bytes of compact JSON. A tool with a larger schema, or with a list
    /// entry of more than four times this size, is left out. The default is 65,536.
    pub schema_bytes: usize,
    /// The maximum nesting of a schema, in levels of JSON. A tool with a deeper schema is left out. The
    /// default is 64.
    pub schema_depth: usize,
    /// The maximum size of one message, in bytes. A call with a larger result ends with an error. Over streams, so do
    /// all pending calls. The default is 16 MiB.
    pub message_bytes: usize,
    /// The maximum number of pages of one list, also of empty pages. Further pages of tools are left out; other lists
    /// end with an error. The default is 1,000.
    pub pages: usize,
    /// The maximum size of the cursor of a page, in bytes. A page with a larger cursor is the last one of the tools; other
    /// lists end with an error. The default is 4,096.
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
    /// Sets the maximum size of the cursor of a page, in bytes.
    with_cursor_bytes(cursor_bytes: usize) = cursor_bytes;
}
