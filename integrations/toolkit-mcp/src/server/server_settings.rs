//! The settings of a server, shared by its sessions.

mod outputs;
mod resource_updates;

pub use resource_updates::ResourceUpdates;

#[cfg(feature = "server-http")]
use super::auth::ProtectedResource;
use super::caller::Caller;
use super::protocol::{McpFormat, ToolList};
use crate::macros::debug;
use crate::mcp_error::McpError;
use outputs::OutputStore;
use rmcp::model::RequestStateCodec;
#[cfg(feature = "server-http")]
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;
use toolkit_core::__private::ServedCalls;
use toolkit_core::name::{NameRule, WireNames};
use toolkit_core::output::Truncation;
use toolkit_core::registry::RegistrySource;
use toolkit_core::{CallId, Dispatcher, LiveRegistry, ToolDefinition, ToolRegistry};
#[cfg(feature = "server-http")]
use toolkit_http::server::HttpGuards;

const PAGE_SIZE: usize = 1_000;
const MAX_UPDATES: usize = 256;
const FIXED_LIST_TTL: Duration = Duration::from_secs(300);

type Filter = dyn Fn(&Caller, &ToolDefinition) -> bool + Send + Sync;

#[derive(Clone)]
pub(super) struct ServerSettings {
    pub(super) dispatcher: Dispatcher,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) title: Option<String>,
    pub(super) instructions: Option<String>,
    pub(super) name_rule: NameRule,
    pub(super) page_size: usize,
    pub(super) list_ttl: Option<Duration>,
    /// No cache shared by several clients may store the tool list.
    pub(super) is_private: bool,
    pub(super) calls: ServedCalls<Caller>,
    pub(super) outputs: Option<Arc<OutputStore>>,
    pub(super) prompts: Option<Dispatcher>,
    pub(super) resources: Option<Dispatcher>,
    pub(super) updates: ResourceUpdates,
    pub(super) filters: Vec<Arc<Filter>>,
    pub(super) secret: RequestStateCodec,
    pub(super) cancellation: CancellationToken,
    #[cfg(feature = "server-http")]
    pub(super) http: HttpSettings,
    /// The prefix of this server's session ids, which no other server has.
    session_prefix: Arc<str>,
}

#[cfg(feature = "server-http")]
#[derive(Clone)]
pub(super) struct HttpSettings {
    pub(super) path: String,
    pub(super) guards: HttpGuards,
    /// The faults of settings, each by its method. A later value of the setting replaces its fault.
    pub(super) faults: BTreeMap<&'static str, String>,
    pub(super) oauth: Option<Arc<ProtectedResource>>,
    pub(super) max_sessions: usize,
    pub(super) session_idle: Duration,
    pub(super) identity: Option<Arc<Identity>>,
}

#[cfg(feature = "server-http")]
type Identity = dyn Fn(&http::request::Parts) -> Option<String> + Send + Sync;

#[cfg(feature = "server-http")]
impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            path: "/mcp".to_owned(),
            guards: HttpGuards::new("GET, POST, DELETE", "mcp-session-id, www-authenticate"),
            faults: BTreeMap::new(),
            oauth: None,
            max_sessions: 1_000,
            session_idle: Duration::from_secs(1_800),
            identity: None,
        }
    }
}

impl ServerSettings {
    pub(super) fn new(dispatcher: Dispatcher) -> Self {
        let random = [uuid::Uuid::new_v4(), uuid::Uuid::new_v4()].map(uuid::Uuid::into_bytes);
        Self {
            dispatcher,
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            title: None,
            instructions: None,
            name_rule: NameRule::TOOL_NAMES,
            page_size: PAGE_SIZE,
            list_ttl: None,
            is_private: false,
            calls: ServedCalls::default(),
            outputs: None,
            prompts: None,
            resources: None,
            updates: ResourceUpdates(broadcast::Sender::new(MAX_UPDATES)),
            filters: Vec::new(),
            secret: RequestStateCodec::new_unchecked(random.as_flattened()),
            cancellation: CancellationToken::new(),
            #[cfg(feature = "server-http")]
            http: HttpSettings::default(),
            session_prefix: uuid::Uuid::new_v4().simple().to_string().into(),
        }
    }

    /// Checks that the rules of the dispatcher select tools: otherwise, the server would refuse all calls.
    pub(super) fn check_rules(&self) -> Result<(), McpError> {
        Ok(self.dispatcher.check()?)
    }

    pub(super) fn set_truncation(&mut self, truncation: Truncation) {
        let store = self.outputs.get_or_insert_default().clone();
        let stored = truncation.with_sink(move |full| std::future::ready(store.keep(full)));
        self.dispatcher = self.dispatcher.clone().with_truncation(stored);
    }

    /// Returns the published tools, rendered once for each registry and form of outputs.
    pub(super) fn tools(&self, registry: &ToolRegistry, wraps_outputs: bool) -> ToolList {
        registry.definitions(McpFormat { name_rule: self.name_rule, wraps_outputs })
    }

    pub(super) fn names(&self, registry: &ToolRegistry) -> WireNames {
        registry.wire_names(&McpFormat { name_rule: self.name_rule, wraps_outputs: false })
    }

    pub(super) fn list_ttl_ms(&self) -> u64 {
        let default = if live(&self.dispatcher).is_some() { Duration::ZERO } else { FIXED_LIST_TTL };
        u64::try_from(self.list_ttl.unwrap_or(default).as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn next_call_id(&self) -> CallId {
        format!("mcp_{}", self.calls.next_number()).into()
    }

    /// Returns a session id, unique even among servers. A random id for each request would cost a system
    /// call.
    pub(super) fn next_session_id(&self) -> String {
        format!("{}-{}", self.session_prefix, self.calls.next_number())
    }
}

pub(super) fn live(dispatcher: &Dispatcher) -> Option<&LiveRegistry> {
    match dispatcher.source() {
        RegistrySource::Live(live) => Some(live),
        _ => None,
    }
}

debug!(ServerSettings, self, "dispatcher": self.dispatcher, "name": self.name, "version": self.version, "max_calls": self.calls.max());
