//! The entry of one server.

use crate::config_error::Place;
use crate::tool_filter::ServerToolFilter;
use crate::variables::Variables;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The entry of one server.
///
/// ```
/// use toolkit_mcp_config::{Dialect, ServerEntry, ServerTransport, write_entry};
///
/// let entry = ServerEntry::new("docs", ServerTransport::url("https://example.com/mcp"));
/// let text = write_entry("", Dialect::McpServers, &entry)?;
/// assert!(text.contains("https://example.com/mcp"));
/// # Ok::<(), toolkit_mcp_config::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerEntry {
    /// Its name in the file.
    pub name: String,
    /// How to reach the server, with variables as written; see [`resolve`](Self::resolve).
    pub transport: ServerTransport,
    /// Whether the program does not use it.
    pub is_disabled: bool,
    /// The tools that the file permits.
    pub tools: ServerToolFilter,
    /// The time limit for a call.
    pub call_timeout: Option<Duration>,
    /// The time limit for its start.
    pub start_timeout: Option<Duration>,
    /// Its place in the file.
    pub place: Option<Place>,
    pub(crate) variables: Variables,
}

/// How to reach a server.
///
/// ```
/// use toolkit_mcp_config::ServerTransport;
///
/// let command = ServerTransport::command("npx", ["-y", "weather-server"]);
/// assert!(matches!(&command, ServerTransport::Command { program, .. } if program == "npx"));
/// assert!(!format!("{command:?}").contains("weather-server")); // arguments may be secrets
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServerTransport {
    /// A child process, with messages over standard input and output.
    #[non_exhaustive]
    Command {
        /// The program.
        program: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment variables, beside the inherited ones.
        env: BTreeMap<String, String>,
        /// Its working directory.
        cwd: Option<String>,
    },
    /// A URL, with streamable HTTP.
    #[non_exhaustive]
    Http {
        /// The URL.
        url: String,
        /// The headers of every request.
        headers: BTreeMap<String, String>,
    },
}

impl ServerTransport {
    /// Creates a child process.
    pub fn command<T: Into<String>>(program: impl Into<String>, args: impl IntoIterator<Item = T>) -> Self {
        let args = args.into_iter().map(Into::into).collect();
        Self::Command { program: program.into(), args, env: BTreeMap::new(), cwd: None }
    }

    /// Creates a URL.
    pub fn url(url: impl Into<String>) -> Self {
        Self::Http { url: url.into(), headers: BTreeMap::new() }
    }
}

// Arguments, URLs and values may be secrets.
impl fmt::Debug for ServerTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command { program, env, .. } => {
                let mut shown = f.debug_struct("Command");
                shown.field("program", program).field("env", &env.keys()).finish_non_exhaustive()
            }
            Self::Http { headers, .. } => {
                f.debug_struct("Http").field("headers", &headers.keys()).finish_non_exhaustive()
            }
        }
    }
}

impl ServerEntry {
    /// Creates an entry, to [write](crate::write_entry) it into a file.
    pub fn new(name: impl Into<String>, transport: ServerTransport) -> Self {
        Self {
            name: name.into(),
            transport,
            is_disabled: false,
            tools: ServerToolFilter::default(),
            call_timeout: None,
            start_timeout: None,
            place: None,
            variables: Variables::default(),
        }
    }
}
