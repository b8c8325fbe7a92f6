//! Sessions: values by key, scoped to a session, a user, or the application.

use super::actions::SessionDelta;
use super::grants::Grants;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// A map of values by key. Clones share the values.
///
/// ```
/// use toolkit::context::SessionMap;
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
        self.change(|values| {
            values.insert(key.into(), value.into());
        });
    }

    /// Removes a key and its value.
    pub fn remove(&self, key: &str) {
        self.change(|values| {
            values.remove(key);
        });
    }

    /// Returns a copy of all values, for example to store them.
    #[must_use]
    pub fn snapshot(&self) -> BTreeMap<String, Value> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change<T>(&self, change: impl FnOnce(&mut BTreeMap<String, Value>) -> T) -> T {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Applies the changes of keys in the scope `own` and ignores all others. Keys are stored without the
    /// prefix of the scope: `user:name` becomes `name`.
    pub(super) fn apply(&self, delta: &SessionDelta, own: Scope) {
        let changes = delta.iter().map(|(key, value)| (Scope::of(key), value));
        let mut changes = changes.filter(|((scope, _), _)| *scope == own).peekable();
        if changes.peek().is_none() {
            return;
        }
        self.change(|values| {
            for ((_, key), value) in changes {
                match value {
                    Some(value) => values.insert(key.to_owned(), value.clone()),
                    None => values.remove(key),
                };
            }
        });
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
        // Only the keys are shown, because values may be secrets.
        let values = self.0.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_set().entries(values.keys()).finish()
    }
}

/// The session of a conversation. Clones share the values.
///
/// The prefix of a key selects the scope of its value: `app:` for the application, `user:` for all sessions
/// of the user, `temp:` for one run of the agent, and no prefix for this session. The maps contain the keys
/// without their prefix.
///
/// ```
/// use toolkit::Session;
/// use toolkit::context::SessionMap;
///
/// let application = SessionMap::from_iter([("currency", "EUR")]);
/// let session = Session::new("session 1").with_app(application);
/// assert_eq!(session.get("app:currency"), Some("EUR".into()));
/// assert_eq!(session.get("currency"), None);
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Session {
    id: Arc<str>,
    own: SessionMap,
    user: SessionMap,
    app: SessionMap,
    grants: Grants,
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

    /// Returns the values of this session alone, stored under keys without a prefix.
    #[must_use]
    pub fn store(&self) -> &SessionMap {
        &self.own
    }

    /// Returns the values shared by all sessions of the user. The map contains the keys without the prefix
    /// `user:`.
    #[must_use]
    pub fn user(&self) -> &SessionMap {
        &self.user
    }

    /// Returns the values shared by all sessions of the application. The map contains the keys without the
    /// prefix `app:`.
    #[must_use]
    pub fn app(&self) -> &SessionMap {
        &self.app
    }

    /// Returns the value of a key. Returns `None` for `temp:` keys, which belong to a run.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Value> {
        let (scope, key) = Scope::of(key);
        self.maps().into_iter().find(|(own, _)| *own == scope)?.1.get(key)
    }

    /// Applies changes to the values of the session, the user and the application. Changes of `temp:` keys
    /// are ignored.
    pub fn apply(&self, delta: &SessionDelta) {
        self.maps().into_iter().for_each(|(scope, map)| map.apply(delta, scope));
    }

    pub(super) fn grants(&self) -> &Grants {
        &self.grants
    }

    fn maps(&self) -> [(Scope, &SessionMap); 3] {
        [(Scope::Session, &self.own), (Scope::User, &self.user), (Scope::App, &self.app)]
    }
}

setters! { Session {
    /// Sets the id of the session.
    with_id(id: impl Into<Arc<str>>) = id.into();
    /// Sets the values of this session alone, stored under keys without a prefix.
    with_store(own: SessionMap) = own;
    /// Sets the values shared by all sessions of a user, with the key prefix `user:`.
    with_user(user: SessionMap) = user;
    /// Sets the values shared by all sessions of the application, with the key prefix `app:`.
    with_app(app: SessionMap) = app;
} }

/// The scope of a session value, given by the prefix of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Session,
    User,
    App,
    Temp,
}

impl Scope {
    /// Splits a key into its scope and the rest: `user:name` is the key `name` in the scope of the user.
    pub(super) fn of(key: &str) -> (Self, &str) {
        let prefixes = [("app:", Self::App), ("user:", Self::User), ("temp:", Self::Temp)];
        let prefixed =
            prefixes.into_iter().find_map(|(prefix, scope)| Some((scope, key.strip_prefix(prefix)?)));
        prefixed.unwrap_or((Self::Session, key))
    }
}
