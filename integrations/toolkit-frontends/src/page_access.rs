//! The users of pages, and what they may do.

use crate::page_error::PageError;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use toolkit_http::server::{HttpBody, HttpGuards};

/// The user of a page, and what the user may do.
///
/// ```
/// use toolkit_frontends::PageUser;
///
/// let guest = PageUser::new("ada").without_decisions();
/// assert_eq!((guest.name(), guest.may_write(), guest.may_decide()), ("ada", true, false));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageUser {
    name: String,
    may_write: bool,
    may_decide: bool,
}

impl PageUser {
    /// Creates a user who may read and write the own conversations, and decide their pending calls.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), may_write: true, may_decide: true }
    }

    /// Refuses the user's decisions and results for pending calls.
    #[must_use]
    pub fn without_decisions(self) -> Self {
        Self { may_decide: false, ..self }
    }

    /// Refuses the user's messages, decisions and stops.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self { may_write: false, may_decide: false, ..self }
    }

    /// Returns the name, to which the conversations belong.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether the user may send messages and stop runs.
    #[must_use]
    pub fn may_write(&self) -> bool {
        self.may_write
    }

    /// Returns whether the user may decide pending calls.
    #[must_use]
    pub fn may_decide(&self) -> bool {
        self.may_decide
    }
}

type Authorise = dyn Fn(&Parts) -> Option<PageUser> + Send + Sync;

/// Who may use a page's router, and from where.
///
/// By default, only requests to names and from pages of this machine are accepted.
///
/// ```
/// use toolkit_frontends::{PageAccess, PageUser};
///
/// // A layer of the program has checked the login.
/// struct Login(String);
///
/// let access = PageAccess::new(|request| {
///     let login = request.extensions.get::<Login>()?;
///     Some(PageUser::new(&login.0))
/// });
/// let access = access.with_allowed_hosts(["chat.example.com"]).with_allowed_origins(["https://chat.example.com"]);
/// ```
#[derive(Clone)]
#[must_use]
pub struct PageAccess {
    authorise: Arc<Authorise>,
    guards: HttpGuards,
    values: PageValues,
}

/// The session values that pages see.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageValues {
    readable: Arc<[String]>,
    writable: Arc<[String]>,
}

impl PageValues {
    /// Returns whether pages read any.
    pub(crate) fn are_shown(&self) -> bool {
        !self.readable.is_empty()
    }

    /// Leaves only what a page may read.
    pub(crate) fn shown(&self, mut values: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
        values.retain(|name, _| self.readable.contains(name));
        values
    }

    /// Leaves only what a page may write.
    pub(crate) fn written(&self, mut values: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
        values.retain(|name, _| self.writable.contains(name));
        values
    }
}

impl PageAccess {
    /// Creates the access with a function that returns the user of a request. `None` refuses the request with the status
    /// 401.
    ///
    /// Headers are claims of the client. A program that looks a login up checks it in a layer before, and leaves the user
    /// in the extensions of the request.
    pub fn new(authorise: impl Fn(&Parts) -> Option<PageUser> + Send + Sync + 'static) -> Self {
        let guards = HttpGuards::new("GET, POST", "");
        Self { authorise: Arc::new(authorise), guards, values: PageValues::default() }
    }

    /// Sets the accepted values of the header `Host`, with or without a port.
    ///
    /// The default is the names of this machine, which prevents DNS rebinding. An empty list restores it.
    pub fn with_allowed_hosts<T: Into<String>>(mut self, hosts: impl IntoIterator<Item = T>) -> Self {
        self.guards.set_hosts(hosts);
        self
    }

    /// Sets the accepted values of the header `Origin`, such as `https://chat.example.com`.
    ///
    /// The default is the origins of this machine.
    pub fn with_allowed_origins<T: Into<String>>(mut self, origins: impl IntoIterator<Item = T>) -> Self {
        self.guards.set_origins(origins);
        self
    }

    /// Sets the maximum size of a request's body in bytes, 4 MiB by default. It limits the files of a message.
    pub fn with_max_body(mut self, bytes: usize) -> Self {
        self.guards.max_body = bytes;
        self
    }

    /// Sets the names of the session values that pages read, by default none.
    ///
    /// They are values of the conversation. Names with a prefix, such as `user:`, are left out: these values are those of all
    /// conversations of a user, or of the program.
    pub fn with_readable_values<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.values.readable = own_names(names);
        self
    }

    /// Sets the names of the session values that pages write with their messages, by default none. Names with a prefix are
    /// left out.
    pub fn with_writable_values<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.values.writable = own_names(names);
        self
    }

    /// Returns the maximum size of a request's body.
    pub(crate) fn max_body(&self) -> usize {
        self.guards.max_body
    }
}

fn own_names<T: Into<String>>(names: impl IntoIterator<Item = T>) -> Arc<[String]> {
    names.into_iter().map(Into::into).filter(|name: &String| !name.contains(':')).collect()
}

impl fmt::Debug for PageAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PageAccess").field("guards", &self.guards).finish_non_exhaustive()
    }
}

/// Passes a request on with its [`PageUser`], if the guards and the authoriser accept it.
pub(crate) async fn guard(State(access): State<PageAccess>, request: Request, next: Next) -> Response {
    let boxed = request.map(HttpBody::new);
    let guarded = access.guards.guard(boxed, |parts, body| pass_on(&access, next, parts, body));
    match guarded.await {
        Ok(response) => response.map(Body::new),
        Err(refusal) => refusal.into_response().map(Body::new),
    }
}

async fn pass_on(
    access: &PageAccess,
    next: Next,
    mut parts: Parts,
    body: HttpBody,
) -> http::Response<HttpBody> {
    let Some(user) = (access.authorise)(&parts) else {
        return PageError::NoUser.into_response().map(HttpBody::new);
    };
    parts.extensions.insert(user);
    parts.extensions.insert(access.values.clone());
    next.run(Request::from_parts(parts, Body::new(body))).await.map(HttpBody::new)
}
