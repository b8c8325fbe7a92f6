//! Facts about the providers' APIs, and the settings of the clients.

use crate::auth::Auth;
use std::sync::{Arc, OnceLock};
use toolkit_http::client::{HttpLimits, url_secrets};

/// A provider's API: its address, its headers and its environment variables.
pub(super) struct Service {
    pub(super) name: &'static str,
    /// The base URL. Empty if the URL depends on a resource, a location or a region.
    pub(super) base_url: &'static str,
    /// The domain of the provider's servers. A request to a host in this domain needs authentication.
    pub(super) domain: &'static str,
    /// The name of the header with the API key, and the text before the key, such as `Bearer `.
    pub(super) key_header: (&'static str, &'static str),
    /// The names and values of headers to send in every request.
    pub(super) headers: &'static [(&'static str, &'static str)],
    /// The names of environment variables for the API key. The first variable that is set is used.
    pub(super) key_variables: &'static [&'static str],
    /// The name of the environment variable for the base URL. Its value replaces `base_url`.
    pub(super) url_variable: Option<&'static str>,
    /// The names of further headers, each with the environment variable for its value.
    pub(super) header_variables: &'static [(&'static str, &'static str)],
    /// The name of the method that sets the authentication, for the error message if authentication is
    /// missing.
    pub(super) auth_setter: &'static str,
    /// The media type of streamed answers.
    pub(super) stream_type: &'static str,
}

/// A service with empty fields. The constants of the providers set only the fields that differ.
pub(super) const PLAIN: Service = Service {
    name: "",
    base_url: "",
    domain: "",
    key_header: ("", ""),
    headers: &[],
    key_variables: &[],
    url_variable: None,
    header_variables: &[],
    auth_setter: "with_key",
    stream_type: "text/event-stream",
};

impl Service {
    /// Returns whether requests to `base_url` need authentication. Only requests to the provider's own
    /// servers do.
    pub(super) fn needs_auth(&self, base_url: &str) -> bool {
        let (_, address) = base_url.split_once("://").unwrap_or(("", base_url));
        let host = address.split(['/', ':']).next().unwrap_or_default();
        let is_own = !self.domain.is_empty() && host.ends_with(self.domain);
        is_own || !self.key_variables.is_empty() && base_url == self.base_url
    }
}

/// The settings of a client.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) service: &'static Service,
    pub(super) base_url: String,
    pub(super) auth: Auth,
    pub(super) headers: Vec<(String, String)>,
    pub(super) limits: HttpLimits,
    /// The error message for a missing setting, such as the region. If it is set, every request fails with
    /// this message.
    pub(super) missing: Option<&'static str>,
    /// The host that has received the key or a token, for clients that reach several providers. Clones of a
    /// client share it, so that the secret of one provider never reaches another provider.
    pub(super) secret_host: Arc<OnceLock<String>>,
}

// `Debug` shows neither the authentication nor the headers, and no secret of the URL.
debug!(Settings, self, "base_url": url_secrets(&self.base_url).redact(&self.base_url), "auth": self.auth, "limits": self.limits);

impl Settings {
    pub(super) fn new(service: &'static Service) -> Self {
        let headers = service.headers.iter();
        Self {
            service,
            base_url: service.base_url.to_owned(),
            auth: Auth::None,
            headers: headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            limits: HttpLimits::default(),
            missing: None,
            secret_host: Arc::default(),
        }
    }

    /// Sets the authentication, and forgets the host that has received the previous secret.
    pub(super) fn set_auth(&mut self, auth: Auth) {
        self.auth = auth;
        self.secret_host = Arc::default();
    }

    /// Creates settings with the values of the service's environment variables.
    pub(super) fn from_env(service: &'static Service) -> Self {
        let mut settings = Self::new(service);
        if let Some(key) = variable(service.key_variables) {
            settings.auth = Auth::Key(key);
        }
        for (name, header) in service.header_variables {
            if let Some(value) = variable(&[name]) {
                settings.headers.push(((*header).to_owned(), value));
            }
        }
        if let Some(name) = service.url_variable
            && let Some(url) = variable(&[name])
        {
            settings.base_url = url;
        }
        settings
    }

    /// Returns the URL of `path` below the base URL.
    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url.trim_end_matches('/'))
    }
}

/// Returns the value of the first environment variable in `names` that is set and not empty.
pub(super) fn variable(names: &[&str]) -> Option<String> {
    for name in names {
        let Ok(value) = std::env::var(name) else { continue };
        if !value.trim().is_empty() {
            return Some(value.trim().to_owned());
        }
    }
    None
}

/// Declares a client for one service: its constructors and setters.
macro_rules! client {
    (
        $(#[$doc:meta])* $client:ident($service:expr);
        $(#[$new:meta])* new;
        $($(#[$from_env:meta])+ from_env;)?
        $(tokens: $tokens:literal;)?
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $client {
            settings: $crate::settings::Settings,
        }

        impl Default for $client {
            fn default() -> Self {
                Self { settings: $crate::settings::Settings::new(&$service) }
            }
        }

        impl $client {
            $(#[$new])*
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }

            $(
                $(#[$from_env])+
                #[must_use]
                pub fn from_env() -> Self {
                    Self { settings: $crate::settings::Settings::from_env(&$service) }
                }
            )?
        }

        $crate::settings::client_setters!($client $(, $tokens)?);
    };
}
pub(super) use client;

/// Implements the setters of a client with a field `settings`.
macro_rules! client_setters {
    ($client:ident) => {
        $crate::settings::client_setters!(
            $client,
            " Each request sends a token as `Authorization: Bearer`, in place of an API key."
        );
    };
    ($client:ident, $tokens:literal) => {
        setters! { $client.settings:
            /// Sets the base URL of the API.
            with_base_url(base_url: impl Into<String>) = base_url.into();
            /// Sets the limits for the duration and size of an answer.
            with_limits(limits: crate::HttpLimits) = limits;
        }

        impl $client {
            /// Adds a header to every request.
            #[must_use]
            pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
                self.settings.headers.push((name.into(), value.into()));
                self
            }

            /// Sets the API key. This replaces any other authentication.
            #[must_use]
            pub fn with_key(mut self, key: impl Into<String>) -> Self {
                self.settings.set_auth($crate::auth::Auth::Key(key.into()));
                self
            }

            /// Sets a function that returns access tokens.
            #[doc = $tokens]
            ///
            /// The function returns a string or an [`AccessToken`](crate::AccessToken). A string is
            /// used for a single request. An `AccessToken` with an expiry is reused until one minute before
            /// the expiry. It is replaced earlier if the server refuses it with status 401.
            ///
            /// If the function returns an error, the request fails with
            /// [`Unauthorized`](toolkit_llm::ModelErrorKind::Unauthorized) and the message of the error. To have
            /// the request retried, return a [`ModelError`](toolkit_llm::ModelError). It is passed on unchanged.
            #[must_use]
            pub fn with_token_source<F, Fut, T, E>(mut self, source: F) -> Self
            where
                F: Fn() -> Fut + Send + Sync + 'static,
                Fut: Future<Output = Result<T, E>> + Send + 'static,
                T: Into<$crate::AccessToken>,
                E: Into<Box<dyn std::error::Error + Send + Sync>>,
            {
                let source = $crate::secret::Source::new(source);
                self.settings.set_auth($crate::auth::Auth::Token(source));
                self
            }
        }
    };
}
pub(super) use client_setters;
