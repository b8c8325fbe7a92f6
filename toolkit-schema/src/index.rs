//! Hash maps that a program contains once, not for each type.

use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ptr;

/// A schema's address, and a number for one of several values, or 0.
pub(crate) type Address = (usize, usize);

pub(crate) fn address(schema: &Value) -> Address {
    (ptr::from_ref(schema).addr(), 0)
}

/// Values by addresses.
#[derive(Debug)]
pub(crate) struct AddressMap<T> {
    numbers: Numbers,
    values: Vec<T>,
}

impl<T> Default for AddressMap<T> {
    fn default() -> Self {
        Self { numbers: Numbers::default(), values: Vec::new() }
    }
}

impl<T> AddressMap<T> {
    pub(crate) fn get(&self, key: Address) -> Option<&T> {
        self.values.get(self.numbers.get(key)?)
    }

    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }

    /// Sets a value, and returns whether there was none.
    pub(crate) fn insert(&mut self, key: Address, value: T) -> bool {
        let number = self.numbers.get_or_set(key, self.values.len());
        match self.values.get_mut(number) {
            Some(place) => *place = value,
            None => {
                self.values.push(value);
                return true;
            }
        }
        false
    }
}

/// The part of an [`AddressMap`] that does not depend on its values.
#[derive(Debug, Default)]
struct Numbers(HashMap<Address, usize>);

impl Numbers {
    fn get(&self, key: Address) -> Option<usize> {
        self.0.get(&key).copied()
    }

    /// Returns the number of an address, set to `new` if it had none.
    fn get_or_set(&mut self, key: Address, new: usize) -> usize {
        *self.0.entry(key).or_insert(new)
    }
}

/// Numbers by name.
#[derive(Debug, Default)]
pub struct Names<'a>(HashMap<Cow<'a, str>, usize>);

impl<'a> Names<'a> {
    /// Returns whether a name is there.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns a name's number.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<usize> {
        self.0.get(name).copied()
    }

    /// Sets a name's number.
    pub fn set(&mut self, name: Cow<'a, str>, number: usize) {
        self.0.insert(name, number);
    }

    /// Returns a name's number, set to `new` if it had none.
    pub fn get_or_set(&mut self, name: Cow<'a, str>, new: usize) -> usize {
        *self.0.entry(name).or_insert(new)
    }

    /// Adds one to a name's number, from 0, and returns it.
    pub fn count(&mut self, name: Cow<'a, str>) -> usize {
        let number = self.0.entry(name).or_default();
        *number += 1;
        *number
    }

    /// Adds a name, and returns whether it is new.
    pub fn add(&mut self, name: Cow<'a, str>) -> bool {
        self.count(name) == 1
    }
}
