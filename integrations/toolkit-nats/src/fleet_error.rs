//! Errors of joining a fleet.

use std::fmt;
use toolkit_core::BuildError;

/// Says why a program cannot join a fleet, or has lost it.
#[derive(Clone, PartialEq, Eq)]
pub struct FleetError {
    kind: FleetErrorKind,
    message: String,
}

/// The kinds of [`FleetError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FleetErrorKind {
    /// The address is empty or cannot be read. The message hides it, because it may contain a password.
    Address,
    /// The prefix, or the name of a caller or a worker, has other characters than letters, digits, `-` and
    /// `_`.
    Prefix,
    /// The address is outside of this machine, without TLS or without credentials.
    Insecure,
    /// No server answers, the server refuses, the connection has ended, the file with credentials cannot be
    /// read, or the system has no random numbers.
    Connection,
    /// The server's permissions do not allow a subject that the worker or the caller needs.
    Permission,
    /// A rule of the worker's dispatcher [selects no tool](toolkit_core::Dispatcher::check).
    Build,
}

impl FleetError {
    fn new(kind: FleetErrorKind, message: String) -> Self {
        Self { kind, message }
    }

    pub(crate) fn address(fault: &str) -> Self {
        let message =
            format!("the address of the fleet {fault}; write it as `nats://host:4222` or `tls://host`");
        Self::new(FleetErrorKind::Address, message)
    }

    pub(crate) fn prefix(text: &str) -> Self {
        let message = format!("`{text}` cannot be a part of a subject; use letters, digits, `-` and `_`");
        Self::new(FleetErrorKind::Prefix, message)
    }

    pub(crate) fn insecure(host: &str) -> Self {
        let message = format!(
            "the server `{host}` is outside of this machine; use TLS and credentials, or allow it with `insecure()`"
        );
        Self::new(FleetErrorKind::Insecure, message)
    }

    pub(crate) fn lost(reason: impl fmt::Display) -> Self {
        Self::new(FleetErrorKind::Connection, format!("the fleet cannot be reached: {reason}"))
    }

    pub(crate) fn refused(refusal: &str) -> Self {
        let message =
            format!("the server refuses this program: {refusal}; correct the permissions of its user");
        Self::new(FleetErrorKind::Permission, message)
    }

    /// Returns the kind of failure.
    #[must_use]
    pub fn kind(&self) -> FleetErrorKind {
        self.kind
    }
}

impl From<BuildError> for FleetError {
    fn from(error: BuildError) -> Self {
        Self::new(FleetErrorKind::Build, format!("the worker does not start: {error}"))
    }
}

impl fmt::Debug for FleetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for FleetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for FleetError {}
