//! The published API: its settings, its document and its names.

use super::definition_format::{DocumentFormat, document};
use super::http_caller::HttpCaller;
use serde_json::{Value, json};
use toolkit_core::__private::ServedCalls;
use toolkit_core::name::WireNames;
use toolkit_core::{CallId, Dispatcher};
use toolkit_http::server::HttpGuards;

#[derive(Clone)]
pub(super) struct Api {
    pub(super) dispatcher: Dispatcher,
    pub(super) title: String,
    pub(super) version: String,
    pub(super) description: Option<String>,
    /// The path before all paths, without a slash at its end.
    pub(super) path: String,
    pub(super) guards: HttpGuards,
    pub(super) calls: ServedCalls<HttpCaller>,
}

impl Api {
    pub(super) fn new(dispatcher: Dispatcher) -> Self {
        let mut guards = HttpGuards::new("GET, POST", "retry-after, www-authenticate");
        guards.requires_token = true;
        Self {
            dispatcher,
            title: "Tools".to_owned(),
            version: "1.0.0".to_owned(),
            description: None,
            path: String::new(),
            guards,
            calls: ServedCalls::default(),
        }
    }

    pub(super) fn document(&self) -> Value {
        let mut info = json!({"title": self.title, "version": self.version});
        if let Some(description) = &self.description {
            info["description"] = description.as_str().into();
        }
        let mut document = document(&self.dispatcher.registry(), info);
        if !self.path.is_empty() {
            document["servers"] = json!([{"url": self.path}]);
        }
        if self.guards.has_token() {
            document["security"] = json!([{"bearer": []}]);
            document["components"]["securitySchemes"] =
                json!({"bearer": {"type": "http", "scheme": "bearer"}});
        }
        document
    }

    pub(super) fn names(&self) -> WireNames {
        self.dispatcher.registry().wire_names(&DocumentFormat)
    }

    /// Returns a call id that is unique in the server.
    pub(super) fn next_call_id(&self) -> CallId {
        format!("http_{}", self.calls.next_number()).into()
    }
}
