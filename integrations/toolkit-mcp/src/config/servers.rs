//! All servers of a configuration, connected.

use super::configured_endpoint::endpoint;
use super::namespaces::namespaces;
use crate::client::{Following, McpClient, McpClientBuilder, ToolTotal};
use crate::macros::debug;
use crate::mcp_error::{McpError, McpErrorKind};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;
use toolkit_core::{BuildError, LiveRegistry, ToolProvider, ToolRegistry};
use toolkit_mcp_config::{ConfigFile, ServerEntry};

/// The longest time that a program waits for its servers.
const PATIENCE: Duration = Duration::from_secs(30);

/// The servers of a configuration, with a live registry of all their tools.
///
/// The name of each server, in a legal spelling, is the namespace of its tools. Tools that the file
/// does not permit are left out. If all servers together have [many
/// tools](McpClientBuilder::tool_search_above), these are deferred, and the registry has tool
/// search. The registry follows the servers until this value is dropped. A server without a
/// connection is tried again with growing pauses, and its tools join the registry later.
///
/// ```no_run
/// use toolkit_ai::mcp::config::{ConfigFile, McpServers};
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
#[doc(alias("MultiServerMCPClient", "mcpServers"))]
pub struct McpServers {
    registry: LiveRegistry,
    clients: BTreeMap<String, McpClient>,
    /// The servers that cannot be used as they are configured.
    unusable: Vec<ServerFailure>,
    filtered: BTreeSet<String>,
    following: BTreeMap<String, Following>,
}

/// A configured server without a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerFailure {
    /// Its name in the configuration.
    pub server: String,
    /// The reason.
    pub error: McpError,
}

impl fmt::Display for ServerFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl McpServers {
    /// Starts all servers with default settings and the program's environment variables, and waits up to 30
    /// seconds until they are [ready](Self::ready).
    ///
    /// Slower servers start in the background.
    ///
    /// # Errors
    /// Returns a [`BuildError`] if the registry cannot be made. The tools of the servers never cause this
    /// error.
    pub async fn connect(config: &ConfigFile) -> Result<Self, BuildError> {
        Self::connect_with(config, |name| std::env::var(name).ok(), |_, builder| builder).await
    }

    /// [Starts](Self::start) all servers, and waits up to 30 seconds until they are
    /// [ready](Self::ready).
    ///
    /// # Errors
    /// Returns a [`BuildError`] if the registry cannot be made.
    pub async fn connect_with(
        config: &ConfigFile,
        lookup: impl Fn(&str) -> Option<String>,
        change: impl Fn(&str, McpClientBuilder) -> McpClientBuilder,
    ) -> Result<Self, BuildError> {
        let servers = Self::start(config, lookup, change)?;
        // The servers that are not ready go on to start.
        let _ = timeout(PATIENCE, servers.ready()).await;
        Ok(servers)
    }

    /// Starts all servers in the background.
    ///
    /// The tools of each server join the registry when it is connected. `lookup` returns the values of
    /// variables, and of other references such as `input:id` for `${input:id}` of VS Code; see
    /// [`ServerEntry::resolve`]. `change` receives the name of each server and the builder of its client, and
    /// returns the changed builder.
    ///
    /// # Errors
    /// Returns a [`BuildError`] if the registry cannot be made. The tools of the servers never cause this
    /// error.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime.
    pub fn start(
        config: &ConfigFile,
        lookup: impl Fn(&str) -> Option<String>,
        change: impl Fn(&str, McpClientBuilder) -> McpClientBuilder,
    ) -> Result<Self, BuildError> {
        let mut servers = Self {
            registry: LiveRegistry::new(ToolRegistry::new())?,
            clients: BTreeMap::new(),
            unusable: Vec::new(),
            filtered: BTreeSet::new(),
            following: BTreeMap::new(),
        };
        for fault in config.failures() {
            servers.fail(fault.server(), McpError::new(McpErrorKind::Config, fault.to_string()));
        }
        let total = ToolTotal::default();
        let namespaces = namespaces(config.servers().iter().map(|server| server.name.as_str()));
        for server in config.servers().iter().filter(|server| !server.is_disabled) {
            let name = server.name.as_str();
            let started = match client_builder(server, &lookup) {
                Ok(builder) => {
                    let counted = builder.namespace(namespaces[name].as_str()).counted_in(total.clone());
                    change(name, counted).start()
                }
                Err(error) => {
                    servers.fail(name, error);
                    continue;
                }
            };
            let client = match started {
                Ok(client) => client,
                Err(error) => {
                    servers.fail(name, error.of_server(name));
                    continue;
                }
            };
            servers.following.insert(name.to_owned(), client.follow_with_search(&servers.registry)?);
            servers.clients.insert(name.to_owned(), client);
            if !server.tools.is_open() {
                servers.filtered.insert(name.to_owned());
            }
        }
        Ok(servers)
    }

    /// Waits until the first attempt to connect to each server has ended.
    pub async fn ready(&self) {
        for client in self.clients.values() {
            client.first_attempt().await;
        }
        // The tools of all servers decide whether they are deferred.
        for (client, following) in self.clients.values().zip(self.following.values()) {
            following.registered(client).await;
        }
    }

    fn fail(&mut self, server: &str, error: McpError) {
        self.unusable.push(ServerFailure { server: server.to_owned(), error });
    }

    /// Returns the registry with all tools.
    #[must_use]
    pub fn registry(&self) -> &LiveRegistry {
        &self.registry
    }

    /// Returns the clients by the names of their servers, also those without a connection.
    #[must_use]
    pub fn clients(&self) -> &BTreeMap<String, McpClient> {
        &self.clients
    }

    /// Returns the servers without a connection or without tools, sorted by name.
    ///
    /// Servers that are still starting are among them.
    #[must_use]
    pub fn failures(&self) -> Vec<ServerFailure> {
        let mut failures = self.unusable.clone();
        for (name, client) in &self.clients {
            if let Some(error) = client.failure() {
                failures.push(ServerFailure { server: name.clone(), error });
            } else if let Some(error) = without_tools(client, self.filtered.contains(name)) {
                failures.push(ServerFailure { server: name.clone(), error: error.of_server(name) });
            }
        }
        failures.sort_by(|one, other| one.server.cmp(&other.server));
        failures
    }

    /// Returns the instructions of all connected servers for a system prompt, see
    /// [`McpClient::instructions`]. The text may be empty.
    #[must_use]
    pub fn instructions(&self) -> String {
        let connected = self.clients.values().filter(|client| client.is_connected());
        connected.filter_map(McpClient::instructions).collect::<Vec<_>>().join("\n\n")
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

/// Returns the builder of a client for one server of a configuration.
///
/// It has the time limits of the entry, and leaves out the tools that the entry does not permit. `lookup`
/// returns the values of variables, as for [`McpServers::start`].
///
/// ```
/// use toolkit_ai::mcp::config::{ServerEntry, ServerTransport, client_builder};
///
/// let server = ServerEntry::new("weather", ServerTransport::command("weather-server", ["--fast"]));
/// let builder = client_builder(&server, |name| std::env::var(name).ok())?;
/// # Ok::<(), toolkit_ai::mcp::McpError>(())
/// ```
///
/// # Errors
/// [`McpError`] if a variable has no value, or if the transport is not supported.
pub fn client_builder(
    server: &ServerEntry,
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<McpClientBuilder, McpError> {
    let mut builder = McpClient::builder(endpoint(server, &lookup)?).name(&server.name);
    if !server.tools.is_open() {
        let tools = server.tools.clone();
        builder = builder.tool_filter(move |tool| tools.permits(tool));
    }
    if let Some(limit) = server.call_timeout {
        builder = builder.call_timeout(limit);
    }
    Ok(match server.start_timeout {
        Some(limit) => builder.connect_timeout(limit),
        None => builder,
    })
}

/// Returns an error if no tool is left, although the server has tools or a list of permitted ones.
fn without_tools(client: &McpClient, is_filtered: bool) -> Option<McpError> {
    if !client.is_connected() || !client.tools().is_empty() || !client.pending().is_empty() {
        return None;
    }
    let text = match client.issues().first() {
        Some(issue) => format!("none of its tools can be used: {issue}"),
        None if is_filtered => "the file permits none of its tools; check its lists of tools".to_owned(),
        None => return None,
    };
    Some(McpError::new(McpErrorKind::Config, text))
}

debug!(McpServers, self, "clients": self.clients.keys(), "failures": self.failures());
