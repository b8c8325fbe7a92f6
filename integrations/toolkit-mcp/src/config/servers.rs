//! All servers of a configuration, connected.

use super::{McpConfig, ServerConfig};
use crate::client::{Following, McpClient, McpClientBuilder, McpError, McpErrorKind};
use crate::macros::debug;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;
use tokio::task::JoinSet;
use toolkit_core::{BuildError, LiveRegistry, ToolRegistry};

/// The connected servers of a configuration, with a live registry of all their tools.
///
/// The name of each server is the namespace of its tools. The registry follows the servers until this value
/// is dropped.
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
    pub async fn connect(config: &McpConfig) -> Result<Self, BuildError> {
        Self::connect_with(config, |name| std::env::var(name).ok(), |_, builder| builder).await
    }

    /// Connects to all servers at once. `lookup` returns the values of variables. `change` receives the name
    /// of each server and the builder of its client, and returns the builder with the changed settings.
    ///
    /// # Errors
    /// Returns a [`BuildError`] if the registry cannot be made. The tools of the servers never cause this
    /// error.
    pub async fn connect_with(
        config: &McpConfig,
        lookup: impl Fn(&str) -> Option<String>,
        change: impl Fn(&str, McpClientBuilder) -> McpClientBuilder,
    ) -> Result<Self, BuildError> {
        let mut servers = Self {
            registry: LiveRegistry::new(ToolRegistry::new())?,
            clients: BTreeMap::new(),
            failures: Vec::new(),
            _following: Vec::new(),
        };
        for (name, error) in &config.invalid {
            servers.fail(name, error.clone());
        }
        let mut connecting = JoinSet::new();
        for (name, server) in config.servers.iter().filter(|(_, server)| !server.is_disabled()) {
            match builder(name, server, &lookup) {
                Ok(builder) => {
                    let builder = change(name, builder);
                    let name = name.clone();
                    connecting.spawn(async move { (name, builder.connect().await) });
                }
                Err(error) => servers.fail(name, error.of_server(name)),
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

debug!(McpServers, self, "clients": self.clients.keys(), "failures": self.failures);
