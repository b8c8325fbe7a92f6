//! Sessions: values by key, scoped to session, user, or application.

use super::actions::SessionDelta;
use super::grants::Grants;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockWriteGuard};

/// A map of values by key. Clones share the values.
///
/// ```
/// use toolkit_ai::context::SessionMap;
///
/// let store = SessionMap::new();
/// store.clone().set("theme", "dark");
/// assert_eq!(store.get("theme"), Some("dark".into()));
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct SessionMap(Arc<RwLock<BTreeMap<String, Value>>>);

impl SessionMap {
    /// Creates an empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Value> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    /// Sets the value of a key.
    pub fn set(&self, key: impl Into<String>, value: impl Into<Value>) {
        self.write().insert(key.into(), value.into());
    }

    /// Removes a key and its value.
    pub fn remove(&self, key: &str) {
        self.write().remove(key);
    }

    /// Returns a copy of all values.
    #[must_use]
    pub fn snapshot(&self) -> BTreeMap<String, Value> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<String, Value>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies the changes in the scope `own`, under keys without its prefix: `user:name` becomes `name`.
    pub(super) fn apply(&self, delta: &SessionDelta, own: Scope) {
        if !delta.keys().any(|key| Scope::split(key).0 == own) {
            return;
        }
        let mut values = self.write();
        for (key, value) in delta {
            let (scope, name) = Scope::split(key);
            if scope != own {
                continue;
            }
            match value {
                Some(value) => values.insert(name.to_owned(), value.clone()),
                None => values.remove(name),
            };
        }
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for SessionMap {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(values: I) -> Self {
        let values = values.into_iter().map(|(key, value)| (key.into(), value.into()));
        Self(Arc::new(RwLock::new(values.collect())))
    }
}

impl fmt::Debug for SessionMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values may be secrets.
        let values = self.0.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_set().entries(values.keys()).finish()
    }
}

/// The session of a conversation. Clones share its values.
///
/// The prefix of a key selects its scope: `app:` for the application, `user:` for all sessions of the user,
/// `temp:` for one run of the agent, none for this session. The maps have the keys without prefix.
///
/// ```
/// use toolkit_ai::Session;
/// use toolkit_ai::context::SessionMap;
///
/// let application = SessionMap::from_iter([("currency", "EUR")]);
/// let session = Session::new("session 1").with_app(application);
/// assert_eq!(session.get("app:currency"), Some("EUR".into()));
/// assert_eq!(session.get("currency"), None);
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Session {
    id: Arc<str>,
    parts: Arc<SessionShared>,
}

/// The values and approvals shared by clones, created on first use.
#[derive(Default)]
struct SessionShared {
    own: OnceLock<SessionMap>,
    user: OnceLock<SessionMap>,
    app: OnceLock<SessionMap>,
    grants: OnceLock<Grants>,
}

impl Session {
    /// Creates a session without values.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self { id: id.into(), ..Self::default() }
    }

    /// Returns the id of the session.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the values of this session alone.
    #[must_use]
    pub fn store(&self) -> &SessionMap {
        self.parts.own.get_or_init(SessionMap::default)
    }

    /// Returns the values shared by all sessions of the user, under keys without `user:`.
    #[must_use]
    pub fn user(&self) -> &SessionMap {
        self.parts.user.get_or_init(SessionMap::default)
    }

    /// Returns the values shared by all sessions of the application, under keys without `app:`.
    #[must_use]
    pub fn app(&self) -> &SessionMap {
        self.parts.app.get_or_init(SessionMap::default)
    }

    /// Returns the value of a key; `None` for `temp:` keys, which belong to a run.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Value> {
        let (scope, key) = Scope::split(key);
        self.map(scope)?.get(key)
    }

    /// Applies changes to the session, the user and the application. `temp:` keys are ignored.
    pub fn apply(&self, delta: &SessionDelta) {
        if delta.is_empty() {
            return;
        }
        for (scope, map) in
            [(Scope::Session, self.store()), (Scope::User, self.user()), (Scope::App, self.app())]
        {
            map.apply(delta, scope);
        }
    }

    pub(super) fn grants(&self) -> &Grants {
        self.parts.grants.get_or_init(Grants::default)
    }

    fn map(&self, scope: Scope) -> Option<&SessionMap> {
        match scope {
            Scope::Session => Some(self.store()),
            Scope::User => Some(self.user()),
            Scope::App => Some(self.app()),
            Scope::Temp => None,
        }
    }

    fn with(mut self, change: impl FnOnce(&mut SessionShared)) -> Self {
        if let Some(parts) = Arc::get_mut(&mut self.parts) {
            change(parts);
            return self;
        }
        let mut parts = SessionShared {
            own: self.store().clone().into(),
            user: self.user().clone().into(),
            app: self.app().clone().into(),
            grants: self.grants().clone().into(),
        };
        change(&mut parts);
        Self { parts: Arc::new(parts), ..self }
    }

    /// Sets the values of this session alone.
    pub fn with_store(self, own: SessionMap) -> Self {
        self.with(|parts| parts.own = own.into())
    }

    /// Sets the values shared by all sessions of a user (`user:`).
    pub fn with_user(self, user: SessionMap) -> Self {
        self.with(|parts| parts.user = user.into())
    }

    /// Sets the values shared by all sessions of the application (`app:`).
    pub fn with_app(self, app: SessionMap) -> Self {
        self.with(|parts| parts.app = app.into())
    }
}

setters! { Session:
    /// Sets the id of the session.
    with_id(id: impl Into<Arc<str>>) = id.into();
}

impl_debug!(Session, |this| id: this.id, own: this.store(), user: this.user(), app: this.app());

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Session,
    User,
    App,
    Temp,
}

impl Scope {
    /// Splits a key into its scope and the rest: `user:name` is `name` of the user.
    pub(super) fn split(key: &str) -> (Self, &str) {
        let prefixes = [("app:", Self::App), ("user:", Self::User), ("temp:", Self::Temp)];
        for (prefix, scope) in prefixes {
            if let Some(name) = key.strip_prefix(prefix) {
                return (scope, name);
            }
        }
        (Self::Session, key)
    }
}

/// Approves later calls of `tool` that need approval for `reason`, as an approval for the session does.
pub(crate) fn grant(session: &Session, tool: &str, reason: &str) {
    session.grants().add(tool, reason);
}
