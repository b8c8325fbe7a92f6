//! What the clients know about their services, and what programs set.

use super::http::Http;
use crate::model::{ModelError, ModelErrorKind};
use std::time::Duration;
use tokio::time::Instant;

/// The limits of time and size of a server's answer.
///
/// A request that takes longer ends with [`TimedOut`](crate::ModelErrorKind::TimedOut), and may be retried.
///
/// ```
/// use std::time::Duration;
/// use toolkit_agent::clients::HttpLimits;
///
/// let limits = HttpLimits::default().with_idle(Duration::from_secs(20));
/// assert_eq!(limits.connect, Duration::from_secs(10));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpLimits {
    /// The limit for making a connection. Default: 10 s.
    pub connect: Duration,
    /// The limit for a whole answer. Default: 30 min.
    pub total: Duration,
    /// The limit for the silence between two parts of an answer, and before the first part of a stream. Before an
    /// answer that comes whole, the server may be silent until [`total`](Self::total). Default: 2 min.
    pub idle: Duration,
    /// The limit for the bytes of an answer. Default: 64 MiB.
    pub max_bytes: usize,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            total: Duration::from_secs(30 * 60),
            idle: Duration::from_secs(2 * 60),
            max_bytes: 64 << 20,
        }
    }
}

setters! { HttpLimits:
    /// Sets the limit for making a connection.
    with_connect(connect: Duration) = connect;
    /// Sets the limit for a whole answer.
    with_total(total: Duration) = total;
    /// Sets the limit for the silence between two parts of an answer.
    with_idle(idle: Duration) = idle;
    /// Sets the limit for the bytes of an answer.
    with_max_bytes(max_bytes: usize) = max_bytes;
}

/// Returns the instant after a duration; in a year if clocks cannot count it.
pub(super) fn after(time: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    Instant::now() + time.min(YEAR)
}

/// The facts about a provider's API.
pub(super) struct Service {
    pub(super) name: &'static str,
    pub(super) base_url: &'static str,
    /// The header with the key, and the text before the key in it.
    pub(super) key_header: (&'static str, &'static str),
    /// The headers of every request.
    pub(super) headers: &'static [(&'static str, &'static str)],
    /// The environment variables with the key; the first that is set counts.
    pub(super) key_variables: &'static [&'static str],
    /// The environment variable with another base URL.
    pub(super) url_variable: Option<&'static str>,
    /// The environment variables with values of headers.
    pub(super) header_variables: &'static [(&'static str, &'static str)],
}

/// A service without facts.
pub(super) const PLAIN: Service = Service {
    name: "",
    base_url: "",
    key_header: ("", ""),
    headers: &[],
    key_variables: &[],
    url_variable: None,
    header_variables: &[],
};

/// The settings of a client.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) service: &'static Service,
    pub(super) base_url: String,
    pub(super) key: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) limits: HttpLimits,
}

// Hides the key and the values of headers.
debug!(Settings, self, "base_url": self.base_url, "has_key": self.key.is_some(), "limits": self.limits);

impl Settings {
    pub(super) fn of(service: &'static Service) -> Self {
        let headers = service.headers.iter();
        Self {
            service,
            base_url: service.base_url.to_owned(),
            key: None,
            headers: headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            limits: HttpLimits::default(),
        }
    }

    /// Reads the settings in the environment.
    #[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
    pub(super) fn from_env(service: &'static Service) -> Self {
        let read = |name: &str| {
            let value = std::env::var(name).ok()?.trim().to_owned();
            (!value.is_empty()).then_some(value)
        };
        let mut settings = Self::of(service);
        settings.key = service.key_variables.iter().find_map(|name| read(name));
        for (variable, header) in service.header_variables {
            settings.headers.extend(read(variable).map(|value| ((*header).to_owned(), value)));
        }
        if let Some(url) = service.url_variable.and_then(read) {
            settings.base_url = url;
        }
        settings
    }

    /// Returns the address of a path below the base URL.
    #[cfg(any(feature = "anthropic", feature = "gemini"))]
    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url.trim_end_matches('/'))
    }

    /// Creates the HTTP client.
    ///
    /// # Errors
    /// [`ModelError`] for a key that is missing at the provider's own address, or an illegal header.
    #[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
    pub(super) fn http(&self) -> Result<Http, ModelError> {
        let Service { name, base_url, key_header: (header, before), key_variables, .. } = self.service;
        match &self.key {
            Some(key) => Http::new(self, Some((header, format!("{before}{key}")))),
            None if self.base_url == *base_url => {
                let variable = key_variables.first().unwrap_or(name);
                let text = format!("there is no key for {name}; set `{variable}` or use `with_key`");
                Err(ModelError::new(ModelErrorKind::Unauthorized, text))
            }
            None => Http::new(self, None),
        }
    }
}

/// Implements the settings of a client with a field `settings`.
macro_rules! client_settings {
    ($client:ident, $service:expr, $(#[$new:meta])*) => {
        impl Default for $client {
            fn default() -> Self {
                Self { settings: $crate::clients::settings::Settings::of(&$service) }
            }
        }

        impl $client {
            $(#[$new])*
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }

            /// Adds a header to every request.
            #[must_use]
            pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
                self.settings.headers.push((name.into(), value.into()));
                self
            }
        }

        setters! { $client.settings:
            /// Sets the address below which the API lies.
            with_base_url(base_url: impl Into<String>) = base_url.into();
            /// Sets the key.
            with_key(key: impl Into<String>) = Some(key.into());
            /// Sets the limits of time and size of an answer.
            with_limits(limits: crate::clients::HttpLimits) = limits;
        }
    };
}
pub(super) use client_settings;
