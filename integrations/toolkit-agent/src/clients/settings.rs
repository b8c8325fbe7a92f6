//! Settings of a client.

use super::limits::HttpLimits;
use std::fmt;

/// Settings of a client.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) base_url: String,
    pub(super) key: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) limits: HttpLimits,
}

impl Settings {
    pub(super) fn new(base_url: &str) -> Self {
        Self { base_url: base_url.to_owned(), key: None, headers: Vec::new(), limits: HttpLimits::default() }
    }

    /// Returns the address of something below the base URL.
    #[cfg(any(feature = "anthropic", feature = "gemini"))]
    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url.trim_end_matches('/'))
    }
}

/// Returns the value of an environment variable; `None` if there is none, or nothing in it.
pub(super) fn from_env(name: &str) -> Option<String> {
    let value = std::env::var(name).ok()?;
    let value = value.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// Hides the key.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("base_url", &self.base_url)
            .field("has_key", &self.key.is_some())
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// Implements the setters of a client with a field `settings`.
macro_rules! settings_methods {
    ($client:ident) => {
        impl $client {
            /// Sets the address below which the API lies.
            #[must_use]
            pub fn with_base_url(mut self, url: impl Into<String>) -> Self {
                self.settings.base_url = url.into();
                self
            }

            /// Sets the key.
            #[must_use]
            pub fn with_key(mut self, key: impl Into<String>) -> Self {
                self.settings.key = Some(key.into());
                self
            }

            /// Adds a header to every request.
            #[must_use]
            pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
                self.settings.headers.push((name.into(), value.into()));
                self
            }

            /// Sets how long the server may take, and how much it may say.
            #[must_use]
            pub fn with_limits(mut self, limits: crate::clients::HttpLimits) -> Self {
                self.settings.limits = limits;
                self
            }
        }
    };
}
pub(super) use settings_methods;
