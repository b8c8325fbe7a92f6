//! Facts about the providers' APIs, and the settings of the clients.

use std::time::Duration;
use tokio::time::Instant;

/// Limits for the duration and size of a server's answer.
///
/// A request over a time limit fails with [`TimedOut`](crate::ModelErrorKind::TimedOut), and may be retried.
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
    /// The time limit for connecting to the server. Default: 10 s.
    pub connect: Duration,
    /// The time limit for the complete answer. Default: 30 min.
    pub total: Duration,
    /// The time limit without new data: before the first part of a stream, and between two parts of any
    /// answer. Before an answer that is not streamed, the server may be silent for up to
    /// [`total`](Self::total). Default: 2 min.
    pub idle: Duration,
    /// The maximum size of an answer in bytes. Default: 64 MiB.
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
    /// Sets the time limit for connecting to the server.
    with_connect(connect: Duration) = connect;
    /// Sets the time limit for the complete answer.
    with_total(total: Duration) = total;
    /// Sets the time limit between two parts of an answer.
    with_idle(idle: Duration) = idle;
    /// Sets the maximum size of an answer in bytes.
    with_max_bytes(max_bytes: usize) = max_bytes;
}

/// Returns the instant `time` from now, but at most one year from now, to avoid an overflow.
pub(super) fn after(time: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    Instant::now() + time.min(YEAR)
}

/// The facts about a provider's API: its address, its headers and its environment variables.
pub(super) struct Service {
    pub(super) name: &'static str,
    pub(super) base_url: &'static str,
    /// The name of the header with the API key, and the prefix before the key, such as `Bearer `.
    pub(super) key_header: (&'static str, &'static str),
    /// The names and values of the headers in every request.
    pub(super) headers: &'static [(&'static str, &'static str)],
    /// The environment variables for the API key. The first set variable is used.
    pub(super) key_variables: &'static [&'static str],
    /// The environment variable for a base URL other than `base_url`.
    pub(super) url_variable: Option<&'static str>,
    /// The environment variables for further headers, each with the name of the header.
    pub(super) header_variables: &'static [(&'static str, &'static str)],
}

/// A service with empty fields. The constants of the providers replace only the fields that they need.
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

// `Debug` shows neither the key nor the headers.
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

    /// Creates settings with the values of the service's environment variables.
    #[cfg(feature = "_json")]
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

    /// Returns the URL of `path` below the base URL.
    #[cfg(feature = "_json")]
    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url.trim_end_matches('/'))
    }
}

/// Implements the constructors and setters of a client with a field `settings`.
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
            /// Sets the base URL of the API.
            with_base_url(base_url: impl Into<String>) = base_url.into();
            /// Sets the API key.
            with_key(key: impl Into<String>) = Some(key.into());
            /// Sets the limits for the duration and size of an answer.
            with_limits(limits: crate::clients::HttpLimits) = limits;
        }
    };
}
pub(super) use client_settings;
