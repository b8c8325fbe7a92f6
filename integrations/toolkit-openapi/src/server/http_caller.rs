//! The client of a call, as state for tools.

use http::request::Parts;
use std::fmt;
use std::sync::Arc;
use toolkit_core::ToolContext;

/// Gives tools the HTTP request behind a call. Clones are cheap.
///
/// A tool takes the caller as state, or gets it with [`HttpCaller::from_context`]:
///
/// ```
/// use toolkit_ai::{ToolRegistry, tool, tools};
/// use toolkit_ai::openapi::server::{HttpCaller, OpenApiServer};
///
/// /// Greets in the language of the user.
/// #[tool]
/// fn greet(#[state] caller: &HttpCaller) -> &'static str {
///     let language = caller.header("accept-language").unwrap_or_default();
///     if language.starts_with("de") { "Hallo!" } else { "Hello!" }
/// }
///
/// let server = OpenApiServer::new(ToolRegistry::from_tools(tools![greet])?)?;
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
#[derive(Clone)]
pub struct HttpCaller(Arc<Parts>);

impl HttpCaller {
    pub(super) fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// Returns the caller; `None` if the call does not come over HTTP.
    #[must_use]
    pub fn from_context(context: &ToolContext) -> Option<&Self> {
        context.state::<Self>()
    }

    /// Returns a header; `None` if it is missing or not text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.0.headers.get(name)?.to_str().ok()
    }

    /// Returns an extension of the request, such as token claims that a layer of your router has added.
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.extensions.get()
    }
}

// Headers may contain secrets.
impl fmt::Debug for HttpCaller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpCaller").field("path", &self.0.uri.path()).finish_non_exhaustive()
    }
}
