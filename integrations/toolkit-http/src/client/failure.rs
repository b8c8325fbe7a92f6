//! Errors of requests.

use super::address::NotPublic;
use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

/// A request without a usable answer. The message names neither the URL nor a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpError {
    kind: HttpErrorKind,
    /// What happened to the connection, followed by a colon, or nothing.
    place: String,
    reason: String,
    is_connect: bool,
    is_lasting: bool,
}

/// The kind of an [`HttpError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpErrorKind {
    /// The URL, a header or the proxy cannot be used.
    InvalidRequest,
    /// The server's address is not public, and the client allows no others.
    NotAllowed,
    /// There is no connection, or it broke.
    Connection,
    /// A time limit was exceeded.
    TimedOut,
    /// The response is larger than the limit.
    TooLarge,
    /// The response cannot be read.
    InvalidResponse,
}

impl HttpError {
    pub(super) fn new(kind: HttpErrorKind, reason: impl Into<String>) -> Self {
        Self { kind, place: String::new(), reason: reason.into(), is_connect: false, is_lasting: false }
    }

    pub(super) fn lasting(self) -> Self {
        Self { is_lasting: true, ..self }
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> HttpErrorKind {
        self.kind
    }

    /// Returns the message without what happened to the connection.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Returns whether the server has got nothing of the request.
    #[must_use]
    pub fn is_unsent(&self) -> bool {
        self.is_connect || matches!(self.kind, HttpErrorKind::InvalidRequest | HttpErrorKind::NotAllowed)
    }

    /// Returns whether the same request would fail again, for example because of an invalid certificate.
    #[must_use]
    pub fn is_lasting(&self) -> bool {
        self.is_lasting
    }

    /// Converts an error of a connection, which could not be opened if `is_connect`, and broke later
    /// otherwise.
    ///
    /// `server` is the words for the server.
    #[must_use]
    pub fn of_connection(error: &(dyn Error + 'static), is_connect: bool, server: &str) -> Self {
        let own = causes(error).find_map(|cause| cause.downcast_ref::<Self>());
        let kind = if let Some(own) = own {
            own.kind
        } else if causes(error).any(<dyn Error>::is::<NotPublic>) {
            HttpErrorKind::NotAllowed
        } else if causes(error).any(is_timeout) {
            HttpErrorKind::TimedOut
        } else {
            HttpErrorKind::Connection
        };
        let place = if is_connect {
            format!("no connection to {server}: ")
        } else {
            format!("the connection to {server} broke: ")
        };
        let is_lasting = kind == HttpErrorKind::NotAllowed || causes(error).any(is_lasting);
        Self { kind, place, reason: root_cause(error), is_connect, is_lasting }
    }

    /// Returns the error of a time limit.
    ///
    /// `server` is the words for the server, and `what` those for what it has not done, such as `has not
    /// answered`.
    #[must_use]
    pub fn timed_out(server: &str, what: &str, limit: Duration) -> Self {
        Self::new(HttpErrorKind::TimedOut, format!("{server} {what} within {} s", limit.as_secs_f64()))
    }
}

impl fmt::Debug for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.place, self.reason)
    }
}

impl Error for HttpError {}

fn is_lasting(error: &(dyn Error + 'static)) -> bool {
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    let is_certificate = matches!(
        inner.and_then(|inner| inner.downcast_ref()),
        Some(rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented)
    );
    // The method of hyper for this error belongs to its server.
    let is_head = error.is::<hyper::Error>() && error.to_string().contains("message head is too large");
    is_certificate || is_head
}

fn is_timeout(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::TimedOut)
}

/// Begins with `error` itself.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (*error).source())
}

/// Returns the message of the innermost cause. The outer messages only describe where it happened.
#[must_use]
pub fn root_cause(error: &(dyn Error + 'static)) -> String {
    causes(error).last().unwrap_or(error).to_string()
}
