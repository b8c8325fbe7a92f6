//! Hash maps that a program contains once, instead of one for each type of key and value.

use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ptr;

/// The address of a schema, and a number that tells apart several values for this schema, or 0.
pub(crate) type Address = (usize, usize);

/// Returns the address of a schema.
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

    /// Returns all values.
    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }

    /// Sets the value of an address. Returns whether it had none.
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

/// Numbers by addresses: the part of an [`AddressMap`] that does not depend on its values.
#[derive(Debug, Default)]
struct Numbers(HashMap<Address, usize>);

impl Numbers {
    fn get(&self, key: Address) -> Option<usize> {
        self.0.get(&key).copied()
    }

    /// Returns the number of an address, which is `new` if it had none.
    fn get_or_set(&mut self, key: Address, new: usize) -> usize {
        *self.0.entry(key).or_insert(new)
    }
}

/// Texts, each with a number.
#[derive(Debug, Default)]
pub struct Names<'a>(HashMap<Cow<'a, str>, usize>);

impl<'a> Names<'a> {
    /// Returns whether the name is there.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns the number of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<usize> {
        self.0.get(name).copied()
    }

    /// Sets the number of a name.
    pub fn set(&mut self, name: Cow<'a, str>, number: usize) {
        self.0.insert(name, number);
    }

    /// Returns the number of a name, which is `new` if it had none.
    pub fn get_or_set(&mut self, name: Cow<'a, str>, new: usize) -> usize {
        *self.0.entry(name).or_insert(new)
    }

    /// Adds one to the number of a name, which begins with 0. Returns the number.
    pub fn count(&mut self, name: Cow<'a, str>) -> usize {
        let number = self.0.entry(name).or_default();
        *number += 1;
        *number
    }

    /// Adds a name. Returns whether it was not there before.
    pub fn add(&mut self, name: Cow<'a, str>) -> bool {
        self.count(name) == 1
    }
}
