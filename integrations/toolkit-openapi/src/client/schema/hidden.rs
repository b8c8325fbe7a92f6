//! The members of schemas that do not travel, which are not required.

use super::keywords::Direction;
use crate::client::document::{Document, Meter, Node};
use serde_json::Value;
use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ptr;
use std::rc::Rc;

type Names<'d> = Rc<HashSet<&'d str>>;

/// The members of schemas that do not travel in a direction. Each schema is read once.
#[derive(Clone)]
pub(crate) struct HiddenMembers<'d> {
    pub(crate) document: &'d Document,
    pub(crate) direction: Direction,
    known: Rc<RefCell<HashMap<*const Value, Names<'d>>>>,
}

impl<'d> HiddenMembers<'d> {
    pub(crate) fn new(document: &'d Document, direction: Direction) -> Self {
        Self { document, direction, known: Rc::default() }
    }

    fn own_names(&self, schema: &Node<'d>) -> Names<'d> {
        let key = ptr::from_ref(schema.value);
        if let Some(known) = self.known.borrow().get(&key) {
            return known.clone();
        }
        let mut hidden = HashSet::new();
        for (name, member) in schema.members("properties") {
            if self.direction.hides(self.document, &member) {
                hidden.insert(name);
            }
        }
        let names: Names<'d> = Rc::new(hidden);
        self.known.borrow_mut().insert(key, names.clone());
        names
    }

    /// Returns the names of the schema and its `allOf`, each schema once.
    fn all_names(&self, schema: &Node<'d>, meter: &mut Meter) -> Vec<Names<'d>> {
        let mut hidden = Vec::new();
        let mut seen = HashSet::new();
        let mut pending = vec![schema.clone()];
        while let Some(schema) = pending.pop() {
            if !seen.insert(ptr::from_ref(schema.value)) {
                continue;
            }
            if !meter.add(1, 0) {
                break;
            }
            let names = self.own_names(&schema);
            if !names.is_empty() {
                hidden.push(names);
            }
            for part in schema.items("allOf") {
                pending.extend(self.document.resolve(part));
            }
        }
        hidden
    }
}

/// A schema with the schemas for the same value that it is a part of.
pub(crate) struct Around<'h, 'd> {
    schema: &'h Node<'d>,
    outer: Option<&'h Self>,
    /// Found when it is asked for.
    hidden: OnceCell<Vec<Names<'d>>>,
}

impl<'h, 'd> Around<'h, 'd> {
    pub(crate) fn new(schema: &'h Node<'d>, outer: Option<&'h Self>) -> Self {
        Self { schema, outer, hidden: OnceCell::new() }
    }

    pub(crate) fn hides(&self, name: &str, hidden: &HiddenMembers<'d>, meter: &mut Meter) -> bool {
        let own = self.hidden.get_or_init(|| hidden.all_names(self.schema, meter));
        own.iter().any(|names| names.contains(name))
            || self.outer.is_some_and(|outer| outer.hides(name, hidden, meter))
    }
}
