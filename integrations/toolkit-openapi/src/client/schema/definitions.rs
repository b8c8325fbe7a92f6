//! The definitions of the schema of one tool: their names, and what is to be written.

use super::digest::digest;
use crate::client::document::Node;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A pending schema's level and number.
type Key = (usize, usize);

#[derive(Default)]
pub(super) struct Definitions<'d> {
    names: HashMap<String, String>,
    taken: HashSet<String>,
    /// The pending schemas, by the level where they are needed and the order of their references.
    pending: BTreeMap<Key, Node<'d>>,
    keys: HashMap<String, Key>,
    written: Map<String, Value>,
}

impl<'d> Definitions<'d> {
    /// Returns a definition's name: the last part of its place, with a digest of the place if it is not
    /// unique.
    fn name_of(&mut self, place: &str) -> String {
        if let Some(known) = self.names.get(place) {
            return known.clone();
        }
        let last = place.rsplit('/').next().unwrap_or_default();
        let mut name: String =
            last.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')).collect();
        if name.is_empty() {
            name.push_str("schema");
        }
        if self.taken.contains(&name) {
            name = format!("{name}_{}", digest(place));
        }
        self.taken.insert(name.clone());
        self.names.insert(place.to_owned(), name.clone());
        name
    }

    /// Notes that a schema is needed at a level, and returns its definition's name.
    pub(super) fn require(&mut self, target: Node<'d>, level: usize) -> String {
        let name = self.name_of(&target.place);
        if let Some(key) = self.keys.get_mut(&target.place) {
            if level < key.0
                && let Some(node) = self.pending.remove(key)
            {
                key.0 = level;
                self.pending.insert(*key, node);
            }
        } else if !self.written.contains_key(&name) {
            // The empty schema marks the definition as known while it is written.
            let key = (level, self.written.len());
            self.written.insert(name.clone(), json!({}));
            self.keys.insert(target.place.clone(), key);
            self.pending.insert(key, target);
        }
        name
    }

    pub(super) fn next(&mut self) -> Option<(usize, Node<'d>)> {
        let ((level, _), node) = self.pending.pop_first()?;
        self.keys.remove(&node.place);
        Some((level, node))
    }

    pub(super) fn set(&mut self, place: &str, written: Value) {
        let name = self.name_of(place);
        self.written.insert(name, written);
    }

    pub(super) fn take(&mut self) -> Map<String, Value> {
        std::mem::take(&mut self.written)
    }
}
