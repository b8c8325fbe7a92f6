//! All servers of a configuration, connected.

use super::configured_endpoint::endpoint;
use super::namespaces::namespaces;
use crate::client::{Following, McpClient, McpClientBuilder, McpError, McpErrorKind};
use crate::macros::debug;
use std::collections::BTreeMap;
use std::fmt;
use tokio::task::JoinSet;
use toolkit_core::{BuildError, LiveRegistry, ToolProvider, ToolRegistry};
use toolkit_mcp_config::{ConfigFile, ServerEntry};

/// The connected servers of a configuration, with a live registry of all their tools.
///
/// The name of each server, in a legal spelling, is the namespace of its tools. Tools that the file does not permit are
/// left out. The registry follows the servers until this value is dropped.
///
/// ```no_run
/// use toolkit_mcp::config::{ConfigFile, McpServers};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let file = ConfigFile::open("mcp.json")?;
/// for issue in file.issues() {
///     eprintln!("{issue}");
/// }
/// let servers = McpServers::connect(&file).await?;
/// for failure in servers.failures() {
///     eprintln!("{failure}");
/// }
/// let registry = servers.registry().snapshot();
/// println!("{} tools", registry.len());
/// # Ok(())
/// # }
/// ```
pub struct McpServers {
    registry: LiveRegistry,
    clients: BTreeMap<String, McpClient>,
    failures: Vec<ServerFailure>,
    _following: Vec<Following>,
}

/// A configured server without a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerFailure {
    /// The name of the server in the configuration.
    pub server: String,
    /// The reason why the server could not be connected.
    pub error: McpError,
}

impl fmt::Display for ServerFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl McpServers {
    /// Connects to all servers at once, using the environment variables of the program and default settings.
    ///
    /// If a server cannot be connected, the failure is added to [`failures`](Self::failures). The other
    /// servers are not affected.
    ///
    /// # Errors
    /// Returns a [`BuildError`] if the registry cannot be made. The tools of the servers never cause this
    /// error.
    pub async fn connect(config: &ConfigFile) -> Result<Self, BuildError> {
        Self::connect_with(config, |name| std::env::var(name).ok(), |_, builder| builder).await
    }

    /// Connects to all servers at once. `lookup` returns the values of variables, and of other references such as
    /// `input:id` for `${input:id}` of VS Code; see [`ServerEntry::resolve`]. `change` receives the name of each server
    /// and the builder of its client, and returns the builder with the changed settings.
    ///
    /// # Errors
    /// Returns a [`BuildError`] if the registry cannot be made. The tools of the servers never cause this
    /// error.
    pub async fn connect_with(
        config: &ConfigFile,
        lookup: impl Fn(&str) -> Option<String>,
        change: impl Fn(&str, McpClientBuilder) -> McpClientBuilder,
    ) -> Result<Self, BuildError> {
        let mut servers = Self {
            registry: LiveRegistry::new(ToolRegistry::new())?,
            clients: BTreeMap::new(),
            failures: Vec::new(),
            _following: Vec::new(),
        };
        for fault in config.failures() {
            servers.fail(&fault.server, McpError::new(McpErrorKind::Config, fault.to_string()));
        }
        let mut connecting = JoinSet::new();
        let namespaces = namespaces(config.servers().iter().map(|server| server.name.as_str()));
        for server in config.servers().iter().filter(|server| !server.is_disabled) {
            let name = server.name.as_str();
            match builder(server, &namespaces[name], &lookup) {
                Ok(builder) => {
                    let builder = change(name, builder);
                    let name = name.to_owned();
                    connecting.spawn(async move { (name, builder.connect().await) });
                }
                Err(error) => servers.fail(name, error),
            }
        }
        let mut connected = BTreeMap::new();
        while let Some(outcome) = connecting.join_next().await {
            match outcome {
                Ok((name, Ok(client))) => drop(connected.insert(name, client)),
                Ok((name, Err(error))) => servers.fail(&name, error),
                Err(error) => servers.fail("", McpError::new(McpErrorKind::Connection, error.to_string())),
            }
        }
        // Register the tools in the order of the names, so that the same configuration gives the same
        // registry.
        for (name, client) in connected {
            let server = config.servers().iter().find(|server| server.name == name);
            if let Some(error) = without_tools(&client, server.is_some_and(|server| !server.tools.is_open()))
            {
                servers.fail(&name, error.of_server(&name));
                client.close().await;
                continue;
            }
            match client.follow(&servers.registry) {
                Ok(following) => {
                    servers._following.push(following);
                    servers.clients.insert(name, client);
                }
                Err(error) => {
                    let text = format!("its tools collide with tools of another server: {error}");
                    servers.fail(&name, McpError::new(McpErrorKind::Config, text).of_server(&name));
                    client.close().await;
                }
            }
        }
        servers.failures.sort_by(|one, other| one.server.cmp(&other.server));
        Ok(servers)
    }

    fn fail(&mut self, server: &str, error: McpError) {
        self.failures.push(ServerFailure { server: server.to_owned(), error });
    }

    /// Returns the registry with the tools of all servers.
    #[must_use]
    pub fn registry(&self) -> &LiveRegistry {
        &self.registry
    }

    /// Returns the clients by the names of their servers.
    #[must_use]
    pub fn clients(&self) -> &BTreeMap<String, McpClient> {
        &self.clients
    }

    /// Returns the servers without a connection, sorted by name.
    #[must_use]
    pub fn failures(&self) -> &[ServerFailure] {
        &self.failures
    }

    /// Closes all connections.
    pub async fn close(self) {
        let mut closing = JoinSet::new();
        for client in self.clients.into_values() {
            closing.spawn(async move { client.close().await });
        }
        while closing.join_next().await.is_some() {}
    }
}

fn builder(
    server: &ServerEntry,
    namespace: &str,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Result<McpClientBuilder, McpError> {
    let mut builder = McpClient::builder(endpoint(server, lookup)?).with_namespace(namespace);
    builder = builder.with_name(&server.name);
    if !server.tools.is_open() {
        let tools = server.tools.clone();
        builder = builder.with_tool_filter(move |tool| tools.permits(tool));
    }
    if let Some(limit) = server.call_timeout {
        builder = builder.with_call_timeout(limit);
    }
    Ok(match server.start_timeout {
        Some(limit) => builder.with_connect_timeout(limit),
        None => builder,
    })
}

/// Returns an error if no tool of a server is left, although it has tools or a list of permitted ones.
fn without_tools(client: &McpClient, is_filtered: bool) -> Option<McpError> {
    if !client.tools().is_empty() || !client.pending().is_empty() {
        return None;
    }
    let text = match client.issues().first() {
        Some(issue) => format!("none of its tools can be used: {issue}"),
        None if is_filtered => "the file permits none of its tools; check its lists of tools".to_owned(),
        None => return None,
    };
    Some(McpError::new(McpErrorKind::Config, text))
}

debug!(McpServers, self, "clients": self.clients.keys(), "failures": self.failures);
