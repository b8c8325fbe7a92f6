//! The program's state for its tools.

use std::any::{Any, TypeId, type_name};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
#[cfg(feature = "cache")]
use std::hash::{Hash, Hasher};
use std::sync::Arc;
#[cfg(feature = "cache")]
use std::sync::Weak;

/// The program's state for its tools, such as a connection pool, with one value per type. Clones share it.
///
/// ```
/// use toolkit_ai::State;
///
/// struct Db(&'static str);
///
/// let state = State::new().with(Db("main"));
/// assert_eq!(state.get::<Db>().map(|db| db.0), Some("main"));
/// assert!(state.get::<String>().is_none());
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct State {
    values: BTreeMap<TypeId, StateValue>,
    /// The types that the run of each call adds.
    of_run: BTreeSet<TypeId>,
}

#[derive(Clone)]
struct StateValue {
    name: &'static str,
    value: Arc<dyn Any + Send + Sync>,
    is_of_run: bool,
}

impl State {
    /// Creates an empty state.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value. A value of the same type is replaced.
    pub fn with<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.with_shared(Arc::new(value))
    }

    /// Adds a shared value, possibly a trait object: tools find an `Arc<dyn Store>` as `dyn Store`.
    pub fn with_shared<T: ?Sized + Send + Sync + 'static>(self, value: Arc<T>) -> Self {
        self.with_value(value, false)
    }

    pub(crate) fn with_value_of_run<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.with_value(Arc::new(value), true)
    }

    fn with_value<T: ?Sized + Send + Sync + 'static>(mut self, value: Arc<T>, is_of_run: bool) -> Self {
        let shared = StateValue { name: type_name::<T>(), value: Arc::new(value), is_of_run };
        self.values.insert(TypeId::of::<T>(), shared);
        self
    }

    /// Returns the value of type `T`.
    #[must_use]
    pub fn get<T: ?Sized + Send + Sync + 'static>(&self) -> Option<&T> {
        self.shared::<T>().map(|shared| &**shared)
    }

    /// Returns the value of type `T` as an `Arc`.
    #[must_use]
    pub fn shared<T: ?Sized + Send + Sync + 'static>(&self) -> Option<&Arc<T>> {
        self.values.get(&TypeId::of::<T>())?.value.downcast_ref::<Arc<T>>()
    }

    /// Adds each value of `other` whose type this state lacks.
    pub fn or(mut self, other: &Self) -> Self {
        for (id, value) in &other.values {
            self.values.entry(*id).or_insert_with(|| value.clone());
        }
        self.of_run.extend(&other.of_run);
        self
    }

    /// Returns the values of both states; this state overrides `below`. Declarations of run state are
    /// dropped.
    pub(crate) fn over(&self, below: &Self) -> Self {
        let mut values = self.values.clone();
        for (id, value) in &below.values {
            values.entry(*id).or_insert_with(|| value.clone());
        }
        Self { values, of_run: BTreeSet::new() }
    }

    pub(crate) fn with_run_state<T: ?Sized + 'static>(mut self) -> Self {
        self.of_run.insert(TypeId::of::<T>());
        self
    }

    pub(crate) fn declares_run_state(&self) -> bool {
        !self.of_run.is_empty()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub(crate) fn has_value(&self, need: &StateNeed) -> bool {
        self.values.contains_key(&(need.id)())
    }

    /// Returns whether the state or the run of each call has the required type.
    pub(crate) fn has(&self, need: &StateNeed) -> bool {
        self.has_value(need) || self.of_run.contains(&(need.id)())
    }

    /// Returns the pointer type, such as `Arc`, if the required value was added inside of a pointer.
    pub(crate) fn pointer_around(&self, need: &StateNeed) -> Option<&'static str> {
        for (pointer, id) in need.pointers {
            if self.values.contains_key(&id()) {
                return Some(pointer);
            }
        }
        None
    }

    /// Returns this state of a merged tool for a call with the state `of_call`. Values of the run take
    /// precedence; the calling registry adds what `needs` requires and this state lacks.
    pub(crate) fn in_call(self: &Arc<Self>, needs: &[StateNeed], of_call: &Self) -> Arc<Self> {
        let mut extended = None;
        for (id, value) in &of_call.values {
            if value.is_of_run
                || needs.iter().any(|need| !need.is_optional && !need.is_met && (need.id)() == *id)
            {
                extended.get_or_insert_with(|| self.values.clone()).insert(*id, value.clone());
            }
        }
        match extended {
            Some(values) => Arc::new(Self { values, of_run: BTreeSet::new() }),
            None => self.clone(),
        }
    }

    /// Returns what a tool with these needs may read: all values of its registry, and the needed ones of
    /// the run.
    #[cfg(feature = "cache")]
    pub(crate) fn seen_by(&self, needs: &[StateNeed]) -> SeenState {
        let mut seen = Vec::new();
        for (id, shared) in &self.values {
            if !shared.is_of_run || needs.iter().any(|need| (need.id)() == *id) {
                seen.push(Arc::downgrade(&shared.value));
            }
        }
        SeenState(seen)
    }

    pub(crate) fn with_run_states_of(mut self, other: &Self) -> Self {
        self.of_run.extend(&other.of_run);
        self
    }
}

/// The values that a tool may read, in the order of their types. Equality is identity.
///
/// `Weak` pointers keep the addresses from being reused.
#[cfg(feature = "cache")]
#[derive(Clone, Default)]
pub(crate) struct SeenState(Vec<Weak<dyn Any + Send + Sync>>);

#[cfg(feature = "cache")]
impl SeenState {
    fn addresses(&self) -> impl Iterator<Item = *const ()> {
        self.0.iter().map(|value| value.as_ptr().cast())
    }
}

#[cfg(feature = "cache")]
impl PartialEq for SeenState {
    fn eq(&self, other: &Self) -> bool {
        self.addresses().eq(other.addresses())
    }
}

#[cfg(feature = "cache")]
impl Eq for SeenState {}

#[cfg(feature = "cache")]
impl Hash for SeenState {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        for address in self.addresses() {
            address.hash(hasher);
        }
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.values.values().map(|shared| shared.name)).finish()
    }
}

/// The name of a pointer type, such as `Arc`, and the type id of a pointer to the required value.
type Pointer = (&'static str, fn() -> TypeId);

/// A type of state that a tool reads.
#[derive(Debug, Clone, Copy)]
pub struct StateNeed {
    id: fn() -> TypeId,
    pointers: [Pointer; 2],
    name: fn() -> &'static str,
    is_optional: bool,
    /// Whether a merged tool's state has the value. A value of the run takes its place.
    pub(crate) is_met: bool,
    /// The pointer type around the value in a merged tool's state.
    pub(crate) within: Option<&'static str>,
}

impl StateNeed {
    /// Creates the requirement for a value of type `T`.
    #[must_use]
    pub const fn of<T: ?Sized + 'static>() -> Self {
        let pointers: [Pointer; 2] = [("Arc", TypeId::of::<Arc<T>>), ("Box", TypeId::of::<Box<T>>)];
        Self {
            id: TypeId::of::<T>,
            pointers,
            name: type_name::<T>,
            is_optional: false,
            is_met: false,
            within: None,
        }
    }

    /// Creates the need of a tool that also works without a value.
    #[must_use]
    pub const fn optional<T: ?Sized + 'static>() -> Self {
        Self { is_optional: true, ..Self::of::<T>() }
    }

    /// Returns whether the tool also works without a value.
    #[must_use]
    pub fn is_optional(&self) -> bool {
        self.is_optional
    }

    /// Returns the name of the Rust type of the state, for messages.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        (self.name)()
    }
}

impl PartialEq for StateNeed {
    fn eq(&self, other: &Self) -> bool {
        (self.id)() == (other.id)()
    }
}
