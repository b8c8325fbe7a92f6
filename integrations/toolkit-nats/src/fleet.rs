//! The connection to a fleet, and what makes it secure.

use crate::fleet_error::FleetError;
use crate::subjects::is_token;
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event, ServerAddr};
use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use toolkit_core::redaction::Redactor;

/// The time between two pings. A connection that has lost one direction is noticed after three.
const PING_INTERVAL: Duration = Duration::from_secs(2);

const REFUSALS_KEPT: usize = 64;

/// Connects to the workers and callers with one prefix.
///
/// Clones share the connection.
///
/// ```no_run
/// use toolkit_nats::Fleet;
///
/// # async fn connect() -> Result<(), toolkit_nats::FleetError> {
/// let local = Fleet::connect("nats://127.0.0.1:4222").await?;
/// let shop = Fleet::builder("tls://nats.example.com").prefix("shop").credentials_file("shop.creds");
/// let shop = shop.connect().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Fleet {
    pub(crate) client: Client,
    pub(crate) prefix: std::sync::Arc<str>,
    /// The secrets of the connection, which other programs may repeat.
    pub(crate) redactor: Redactor,
    /// The server's refusals, in its words.
    refusals: broadcast::Sender<String>,
}

impl Fleet {
    /// Connects to a server on this machine, with the prefix `fleet` and without credentials.
    ///
    /// `address` is one such as `nats://127.0.0.1:4222`, or several with commas between them.
    ///
    /// # Errors
    /// See [`FleetBuilder::connect`].
    pub async fn connect(address: &str) -> Result<Self, FleetError> {
        Self::builder(address).connect().await
    }

    /// Begins the settings of a connection.
    pub fn builder(address: impl Into<String>) -> FleetBuilder {
        FleetBuilder {
            address: address.into(),
            prefix: "fleet".to_owned(),
            options: ConnectOptions::new(),
            redactor: Redactor::new(),
            credentials_file: None,
            has_credentials: false,
            requires_tls: false,
            is_insecure: false,
        }
    }

    /// Returns whether the server is connected now.
    ///
    /// A lost connection is restored without end.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == async_nats::connection::State::Connected
    }

    pub(crate) fn subject(&self, rest: impl fmt::Display) -> String {
        format!("{}.{rest}", self.prefix)
    }

    /// Returns later refusals about this fleet's subjects or the replies to `inbox`.
    pub(crate) fn refusals(&self, inbox: &str) -> Refusals {
        let parts = [format!("\"{}.", self.prefix), format!("\"{inbox}.")];
        Refusals { receiver: self.refusals.subscribe(), parts }
    }

    pub(crate) fn unique_id(&self) -> String {
        let inbox = self.client.new_inbox();
        inbox.rsplit('.').next().unwrap_or_default().to_owned()
    }
}

pub(crate) struct Refusals {
    receiver: broadcast::Receiver<String>,
    /// The beginnings of its subjects, as the server quotes them.
    parts: [String; 2],
}

impl Refusals {
    pub(crate) async fn next(&mut self) -> String {
        loop {
            match self.receiver.recv().await {
                Ok(refusal) if self.parts.iter().any(|part| refusal.contains(part)) => return refusal,
                Err(RecvError::Closed) => std::future::pending().await,
                Ok(_) | Err(RecvError::Lagged(_)) => {}
            }
        }
    }
}

/// The settings of a connection.
///
/// ```no_run
/// use toolkit_nats::Fleet;
///
/// # async fn join() -> Result<(), toolkit_nats::FleetError> {
/// let fleet = Fleet::builder("tls://fleet.example.com")
///     .prefix("shop")
///     .credentials_file("worker.creds")
///     .connect()
///     .await?;
/// assert!(fleet.is_connected());
/// # Ok(())
/// # }
/// ```
#[must_use = "settings do nothing before `connect`"]
pub struct FleetBuilder {
    address: String,
    prefix: String,
    options: ConnectOptions,
    redactor: Redactor,
    credentials_file: Option<PathBuf>,
    has_credentials: bool,
    requires_tls: bool,
    is_insecure: bool,
}

impl FleetBuilder {
    fn with(mut self, change: impl FnOnce(ConnectOptions) -> ConnectOptions) -> Self {
        self.options = change(self.options);
        self
    }

    fn with_proof(mut self, change: impl FnOnce(ConnectOptions) -> ConnectOptions) -> Self {
        self.has_credentials = true;
        self.with(change)
    }

    fn with_secret(
        mut self,
        secret: String,
        change: impl FnOnce(ConnectOptions, String) -> ConnectOptions,
    ) -> Self {
        self.redactor.add(&secret);
        self.with_proof(|options| change(options, secret))
    }

    /// Sets the prefix of all subjects: letters, digits, `-` and `_`.
    ///
    /// Fleets with different prefixes do not see each other. The default is `fleet`.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets a user name and password.
    pub fn user_and_password(self, user: impl Into<String>, password: impl Into<String>) -> Self {
        let user = user.into();
        self.with_secret(password.into(), |options, password| options.user_and_password(user, password))
    }

    /// Sets a token of the server.
    pub fn token(self, token: impl Into<String>) -> Self {
        self.with_secret(token.into(), ConnectOptions::token)
    }

    /// Sets the seed of a key pair (nkey).
    pub fn nkey(self, seed: impl Into<String>) -> Self {
        self.with_secret(seed.into(), ConnectOptions::nkey)
    }

    /// Sets a file with credentials (`.creds`): a JSON Web Token and a seed.
    pub fn credentials_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.credentials_file = Some(path.into());
        self.has_credentials = true;
        self
    }

    /// Adds a PEM file with certificates of authorities to those of the system.
    pub fn root_certificates(self, path: impl Into<PathBuf>) -> Self {
        self.with(|options| options.add_root_certificates(path.into()))
    }

    /// Sets the PEM files of a client's certificate and key, which count as credentials.
    pub fn client_certificate(self, certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.with_proof(|options| options.add_client_certificate(certificate.into(), key.into()))
    }

    /// Refuses a server without TLS, as an address with `tls://` does.
    pub fn require_tls(mut self) -> Self {
        self.requires_tls = true;
        self.with(|options| options.require_tls(true))
    }

    /// Sets the prefix of reply subjects; `_INBOX` by default.
    ///
    /// Give each user its own, to which only this user may subscribe: a subscriber to all reply subjects
    /// reads all results.
    pub fn inbox_prefix(self, prefix: impl Into<String>) -> Self {
        self.with(|options| options.custom_inbox_prefix(prefix.into()))
    }

    /// Allows an address outside of this machine without TLS or without credentials.
    pub fn insecure(mut self) -> Self {
        self.is_insecure = true;
        self
    }

    /// Connects to the server.
    ///
    /// # Errors
    /// [`Address`](crate::FleetErrorKind::Address) and [`Prefix`](crate::FleetErrorKind::Prefix) for illegal
    /// settings, [`Insecure`](crate::FleetErrorKind::Insecure) for an address outside of this machine without
    /// TLS and credentials, and [`Connection`](crate::FleetErrorKind::Connection) if no server answers or the
    /// server refuses the credentials.
    pub async fn connect(self) -> Result<Fleet, FleetError> {
        let Self { address, prefix, mut options, mut redactor, credentials_file, .. } = self;
        if !is_token(&prefix) {
            return Err(FleetError::prefix(&prefix));
        }
        let mut servers = Vec::new();
        for server in address.split(',') {
            if server.trim().is_empty() {
                return Err(FleetError::address("is empty, or empty between two commas"));
            }
            let server: ServerAddr = server.trim().parse().map_err(|_| FleetError::address("is invalid"))?;
            if server.host().is_empty() {
                return Err(FleetError::address("has no host"));
            }
            // A name without a password is a token.
            redactor.add_encoded(server.password().or(server.username()).unwrap_or_default());
            servers.push(server);
        }
        let wants_tls = self.requires_tls || servers.iter().any(ServerAddr::tls_required);
        let is_local = servers.iter().all(|server| is_loopback(server.host()));
        for server in &servers {
            let has_tls = self.requires_tls || server.tls_required();
            let has_credentials = self.has_credentials || server.has_user_pass();
            let is_secure = is_loopback(server.host()) || (has_tls && has_credentials);
            if !is_secure && !self.is_insecure {
                return Err(FleetError::insecure(server.host()));
            }
        }
        if let Some(path) = credentials_file {
            let credentials = tokio::fs::read_to_string(path).await.map_err(FleetError::lost)?;
            // Without the lines of dashes: a token and a seed.
            for line in credentials.lines().filter(|line| !line.starts_with('-')) {
                redactor.add(line.trim());
            }
            options = options.credentials(&credentials).map_err(FleetError::lost)?;
        }
        if is_local {
            // A server on this machine may name others in its cluster, to which the rule above would not
            // apply.
            options = options.ignore_discovered_servers();
        }
        choose_cryptography();
        let refusals = broadcast::Sender::new(REFUSALS_KEPT);
        let (told, secrets) = (refusals.clone(), redactor.clone());
        options = options.ping_interval(PING_INTERVAL).max_reconnects(None).name("toolkit");
        options = options.event_callback(move |event| {
            tell(&event, &told, &secrets);
            std::future::ready(())
        });
        match options.connect(servers).await {
            Ok(client) => Ok(Fleet { client, prefix: prefix.into(), redactor, refusals }),
            // A server without TLS answers with text.
            Err(error) if wants_tls && error.kind() == ConnectErrorKind::Io => {
                let reason = redactor.redact(&error.to_string());
                Err(FleetError::lost(format_args!("{reason}; check that the server uses TLS")))
            }
            Err(error) => Err(FleetError::lost(redactor.redact(&error.to_string()))),
        }
    }
}

fn tell(event: &Event, listeners: &broadcast::Sender<String>, redactor: &Redactor) {
    if let Event::ServerError(error) = event {
        // An error means that nobody listens.
        let _ = listeners.send(redactor.redact(error.to_string().trim_start_matches("nats: ")));
    }
}

/// Chooses the cryptography of the process, unless the program has. If two are compiled in, `rustls` would
/// panic.
fn choose_cryptography() {
    // An error means that the program has chosen.
    #[cfg(feature = "aws-lc-rs")]
    let _ = async_nats::rustls::crypto::aws_lc_rs::default_provider().install_default();
    #[cfg(all(feature = "ring", not(feature = "aws-lc-rs")))]
    let _ = async_nats::rustls::crypto::ring::default_provider().install_default();
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
