//! What the handlers of the page share.

#[cfg(feature = "agent")]
use crate::approvals::Inbox;
use crate::call_timeline::CallTimeline;
use crate::page_logins::PageLogins;
use crate::page_rights::PageRights;
use http::request::Parts;
use std::ops::Deref;
use std::sync::Arc;
use toolkit_core::Dispatcher;
use toolkit_http::server::HttpGuards;

pub(crate) type Authorise = dyn Fn(&Parts) -> Option<PageRights> + Send + Sync;

#[derive(Clone)]
pub(crate) struct Served(pub(crate) Arc<ServedState>);

pub(crate) struct ServedState {
    pub(crate) dispatcher: Dispatcher,
    pub(crate) timeline: Arc<CallTimeline>,
    pub(crate) logins: PageLogins,
    pub(crate) authorise: Option<Arc<Authorise>>,
    pub(crate) rights: PageRights,
    pub(crate) guards: HttpGuards,
    pub(crate) path: String,
    pub(crate) title: String,
    /// Whether readers see arguments and results of calls that they have not made.
    pub(crate) contents: bool,
    #[cfg(feature = "agent")]
    pub(crate) inbox: Option<Arc<dyn Inbox>>,
}

impl Deref for Served {
    type Target = ServedState;

    fn deref(&self) -> &ServedState {
        &self.0
    }
}
