//! All servers of a configuration, connected.

use super::{McpConfig, ServerConfig};
use crate::client::{Following, McpClient, McpClientBuilder, McpError, McpErrorKind};
use crate::macros::debug;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;
use toolkit_core::{BuildError, LiveRegistry, ToolRegistry};

/// The longest time that a program waits for its servers.
const PATIENCE: Duration = Duration::from_secs(30);

/// The servers of a configuration, with a live registry of all their tools.
///
/// The name of each server is the namespace of its tools. The registry follows the servers until this value
/// is dropped. A server that cannot be connected is tried again with growing pauses, and its tools join the registry when
/// it is connected.
///
/// ```no_run
/// use toolkit_mcp::config::{McpConfig, McpServers};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let servers = McpServers::connect(&McpConfig::read("mcp.json")?).await?;
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
    /// The servers that cannot be used as they are configured.
    unusable: Vec<ServerFailure>,
    following: Vec<Following>,
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
    /// Starts all servers with default settings and the environment variables of the program, and waits up to 30 seconds
    /// until each server is [ready](Self::ready). Slower servers go on to start in the background.
    ///
    /// # Errors
    /// Returns a [`BuildError`] if the registry cannot be made. The tools of the servers never cause this
    /// error.
    pub async fn connect(config: &McpConfig) -> Result<Self, BuildError> {
        Self::connect_with(config, |name| std::env::var(name).ok(), |_, builder| builder).await
    }

    /// [Starts](Self::start) all servers, and waits up to 30 seconds until each server is [ready](Self::ready).
    ///
    /// # Errors
    /// Returns a [`BuildError`] if the registry cannot be made.
    pub async fn connect_with(
        config: &McpConfig,
        lookup: impl Fn(&str) -> Option<String>,
        change: impl Fn(&str, McpClientBuilder) -> McpClientBuilder,
    ) -> Result<Self, BuildError> {
        let servers = Self::start(config, lookup, change)?;
        // The servers that are not ready go on to start.
        let _ = timeout(PATIENCE, servers.ready()).await;
        Ok(servers)
    }

    /// Starts all servers in the background, and returns at once. The tools of each server join the registry when the
    /// server is connected. `lookup` returns the values of variables. `change` receives the name of each server and the
    /// builder of its client, and returns the builder with the changed settings.
    ///
    /// # Errors
    /// Returns a [`BuildError`] if the registry cannot be made. The tools of the servers never cause this
    /// error.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime.
    pub fn start(
        config: &McpConfig,
        lookup: impl Fn(&str) -> Option<String>,
        change: impl Fn(&str, McpClientBuilder) -> McpClientBuilder,
    ) -> Result<Self, BuildError> {
        let mut servers = Self {
            registry: LiveRegistry::new(ToolRegistry::new())?,
            clients: BTreeMap::new(),
            unusable: Vec::new(),
            following: Vec::new(),
        };
        for (name, error) in &config.invalid {
            servers.fail(name, error.clone());
        }
        let mut namespaces = BTreeMap::new();
        for (name, server) in config.servers.iter().filter(|(_, server)| !server.is_disabled()) {
            let builder = match builder(name, server, &lookup) {
                Ok(builder) => change(name, builder),
                Err(error) => {
                    servers.fail(name, error.of_server(name));
                    continue;
                }
            };
            let namespace = builder.legal_namespace();
            if let Some(other) = namespaces.get(&namespace).filter(|_| namespace.is_some()) {
                let text = format!(
                    "its tools collide with tools of the server `{other}`; rename one of the servers"
                );
                servers.fail(name, McpError::new(McpErrorKind::Config, text).of_server(name));
                continue;
            }
            namespaces.insert(namespace, name);
            let client = builder.start();
            servers.following.push(client.follow(&servers.registry)?);
            servers.clients.insert(name.clone(), client);
        }
        Ok(servers)
    }

    /// Waits until each server is connected, or until its first attempt to connect has failed.
    pub async fn ready(&self) {
        for (client, following) in self.clients.values().zip(&self.following) {
            client.first_attempt().await;
            following.registered(client).await;
        }
    }

    fn fail(&mut self, server: &str, error: McpError) {
        self.unusable.push(ServerFailure { server: server.to_owned(), error });
    }

    /// Returns the registry with the tools of all servers.
    #[must_use]
    pub fn registry(&self) -> &LiveRegistry {
        &self.registry
    }

    /// Returns the clients by the names of their servers, including those without a connection.
    #[must_use]
    pub fn clients(&self) -> &BTreeMap<String, McpClient> {
        &self.clients
    }

    /// Returns the servers without a connection, sorted by name. Servers that are still starting are among them.
    #[must_use]
    pub fn failures(&self) -> Vec<ServerFailure> {
        let lost = self.clients.iter().filter_map(|(name, client)| {
            Some(ServerFailure { server: name.clone(), error: client.failure()? })
        });
        let mut failures: Vec<ServerFailure> = self.unusable.iter().cloned().chain(lost).collect();
        failures.sort_by(|one, other| one.server.cmp(&other.server));
        failures
    }

    /// Returns the instructions of all connected servers as a part of a system prompt, see
    /// [`McpClient::instructions`]. The text is empty if no server gives instructions.
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

fn builder(
    name: &str,
    server: &ServerConfig,
    lookup: &impl Fn(&str) -> Option<String>,
) -> Result<McpClientBuilder, McpError> {
    let builder = McpClient::builder(server.endpoint(lookup)?).with_namespace(name).with_name(name);
    Ok(match server.timeout {
        Some(limit) => builder.with_call_timeout(Duration::from_millis(limit)),
        None => builder,
    })
}

debug!(McpServers, self, "clients": self.clients.keys(), "failures": self.failures());
