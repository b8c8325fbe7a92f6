//! The providers' APIs as data, and the settings of clients.

use crate::auth::Auth;
use std::sync::{Arc, OnceLock};
use toolkit_http::client::{HttpLimits, url_secrets};

/// A provider's API: its address, headers and environment variables.
pub(super) struct Service {
    pub(super) name: &'static str,
    /// Empty if the URL depends on a resource, a location or a region.
    pub(super) base_url: &'static str,
    /// The domain of the provider's servers, which need authentication.
    pub(super) domain: &'static str,
    /// The name of the header with the API key, and the text before the key, such as `Bearer `.
    pub(super) key_header: (&'static str, &'static str),
    /// The headers of every request.
    pub(super) headers: &'static [(&'static str, &'static str)],
    /// The environment variables for the API key. The first one set is used.
    pub(super) key_variables: &'static [&'static str],
    /// The environment variable that replaces `base_url`.
    pub(super) url_variable: Option<&'static str>,
    /// The names of further headers, each with its environment variable.
    pub(super) header_variables: &'static [(&'static str, &'static str)],
    /// The method that sets the authentication, for error messages.
    pub(super) auth_setter: &'static str,
    pub(super) stream_type: &'static str,
}

/// An empty service, so that providers set only what differs.
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
    /// Returns whether requests to `base_url` go to the provider's servers.
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
    /// The error message of every request while a setting is missing, such as the region.
    pub(super) missing: Option<&'static str>,
    /// The host that has received the key or a token, for clients of several providers.
    ///
    /// Clones share it, so that the secret of one provider never reaches another.
    pub(super) secret_host: Arc<OnceLock<String>>,
}

// Shows neither the authentication nor the headers, and no secret of the URL.
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

    /// Sets the authentication, and forgets the previous secret's host.
    pub(super) fn set_auth(&mut self, auth: Auth) {
        self.auth = auth;
        self.secret_host = Arc::default();
    }

    /// Creates settings from the service's environment variables.
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

    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url.trim_end_matches('/'))
    }
}

/// Returns the value of the first variable that is set and not empty.
pub(super) fn variable(names: &[&str]) -> Option<String> {
    for name in names {
        let Ok(value) = std::env::var(name) else { continue };
        if !value.trim().is_empty() {
            return Some(value.trim().to_owned());
        }
    }
    None
}

/// Declares a client: its constructors and setters.
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
            /// Sets the limits on duration and size of an answer.
            with_limits(limits: crate::HttpLimits) = limits;
        }

        impl $client {
            /// Adds a header to every request.
            #[must_use]
            pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
                self.settings.headers.push((name.into(), value.into()));
                self
            }

            /// Sets the API key, in place of any other authentication.
            #[must_use]
            pub fn with_key(mut self, key: impl Into<String>) -> Self {
                self.settings.set_auth($crate::auth::Auth::Key(key.into()));
                self
            }

            /// Sets a function that returns access tokens.
            #[doc = $tokens]
            ///
            /// The function returns a string or an [`AccessToken`](crate::AccessToken). A string is used for
            /// a single request. An `AccessToken` with an expiry is reused until one minute before it, or
            /// until the server refuses it with status 401.
            ///
            /// If it returns an error, the request fails with
            /// [`Unauthorized`](toolkit_llm::ModelErrorKind::Unauthorized) and its message. A
            /// [`ModelError`](toolkit_llm::ModelError) is passed on unchanged, for example to have the
            /// request retried.
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
