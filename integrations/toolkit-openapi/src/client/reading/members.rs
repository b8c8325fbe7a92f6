//! The members of a body that is an object.

use crate::client::document::{Document, Meter, Node};
use crate::client::schema::Direction;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ptr;

/// The maximum number of nested `allOf`.
const DEEPEST: usize = 8;

/// The members of an object, from its own schema and its `allOf`.
#[derive(Default)]
pub(super) struct BodyMembers<'d> {
    pub(super) members: Vec<MemberSchema<'d>>,
    pub(super) required: BTreeSet<&'d str>,
    indices: HashMap<&'d str, usize>,
    /// The schemas that were read, each once, however many `allOf` name it.
    seen: HashSet<*const Value>,
}

impl<'d> BodyMembers<'d> {
    pub(super) fn add(&mut self, name: &'d str, part: Node<'d>) {
        let index = *self.indices.entry(name).or_insert(self.members.len());
        match self.members.get_mut(index) {
            Some(member) => member.parts.push(part),
            None => self.members.push(MemberSchema { name, parts: vec![part] }),
        }
    }
}

/// A member with its schemas. All of them hold.
pub(super) struct MemberSchema<'d> {
    pub(super) name: &'d str,
    pub(super) parts: Vec<Node<'d>>,
}

impl<'d> MemberSchema<'d> {
    fn travels(&self, document: &'d Document) -> bool {
        !self.parts.iter().any(|part| Direction::Request.hides(document, part))
    }
}

/// Returns the members of a body; `None` if its schema says more than members can, such as a union, a map, or
/// `null`.
pub(super) fn body_members<'d>(
    document: &'d Document,
    schema: &Node<'d>,
    meter: &mut Meter,
) -> Option<BodyMembers<'d>> {
    let mut found = BodyMembers::default();
    add_members(document, schema.clone(), DEEPEST, &mut found)?;
    meter.add(found.members.len(), 0);
    found.members.retain(|member| member.travels(document));
    if found.members.is_empty() {
        return None;
    }
    Some(found)
}

fn add_members<'d>(
    document: &'d Document,
    schema: Node<'d>,
    levels: usize,
    found: &mut BodyMembers<'d>,
) -> Option<()> {
    let levels = levels.checked_sub(1)?;
    let schema = document.resolve(schema).ok()?;
    if !found.seen.insert(ptr::from_ref(schema.value)) {
        return Some(());
    }
    for (keyword, value) in schema.value.as_object()? {
        match keyword.as_str() {
            "type" if value == "object" => {}
            "required" if value.is_array() => {
                found.required.extend(value.as_array().into_iter().flatten().filter_map(Value::as_str));
            }
            "additionalProperties" | "nullable" if value == &Value::Bool(false) => {}
            "properties" => {
                for (name, part) in schema.members("properties") {
                    found.add(name, part);
                }
            }
            "allOf" => {
                for part in schema.items("allOf") {
                    add_members(document, part, levels, found)?;
                }
            }
            "title" | "description" | "example" | "examples" | "default" | "externalDocs" | "xml"
            | "deprecated" => {}
            "$id" | "$schema" | "$anchor" | "$comment" | "$defs" | "definitions" | "readOnly"
            | "writeOnly" => {}
            keyword if keyword.starts_with("x-") => {}
            _ => return None,
        }
    }
    Some(())
}
