//! Compares a Rust type with its schema by decoding sample values.
//!
//! Usually, the Rust type refuses all values that the schema refuses, so decoding is a sufficient check. Attributes
//! such as `#[schemars(with = "i32")]` on an `f64` make the schema stricter than the Rust type.

use crate::check::{Scope, check_text};
use crate::discriminator::{branches, only_member, tag};
use crate::json::quoted;
use crate::keyword::{Role, subschemas};
use crate::own::{Enforcements, listed_values, lists_values};
use crate::reference::{SchemaRef, resolve};
use crate::sample::{LONGEST, sample};
use crate::single::SINGLE;
use crate::types::{names, types};
use crate::violation::ViolationKind;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};
use std::ptr;
use std::rc::Rc;

mod rules;
mod wide;

/// The maximum nesting depth of the schemas to compare.
const DEEPEST: usize = 6;

/// The maximum number of sample values to decode.
const QUESTIONS: usize = 800;

/// The maximum number of members in an object that is decoded in place of a scalar.
const MOST_MEMBERS: usize = 4;

/// The differences between a Rust type and its schema, found by decoding sample values.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Whether the type accepts values refused by the schema because of their type or their members, or cannot be
    /// asked about a part of its schema.
    pub accepts_more: bool,
    /// Whether the Rust type turns numbers outside the range of `f32` into infinity. This happens inside flattened
    /// structs, tagged enums and untagged enums, because serde first reads each number there as 64 bits.
    pub overflows: bool,
    /// The ranges and the lists of values that the type was asked about.
    pub enforced: Enforcements,
    /// Whether the type decodes an object with a repeated name.
    pub keeps_repeated: bool,
    /// The type's error message if the type can never decode a value of its schema.
    pub unusable: Option<String>,
}

impl Difference {
    /// Returns whether the result is final, so no more sample values need to be decoded.
    fn is_complete(&self) -> bool {
        self.unusable.is_some() || self.accepts_more && self.overflows
    }
}

/// Compares a Rust type with its schema by decoding sample values. The schema accepts some of them and refuses others.
///
/// `decode` decodes a JSON text. If decoding fails, `decode` returns the error message.
pub fn difference(schema: SchemaRef<'_>, decode: &mut dyn FnMut(&str) -> Result<(), String>) -> Difference {
    let (siblings, found) = (HashMap::new(), Difference::default());
    let mut probe = Probe { schema, decode, left: QUESTIONS, compared: HashSet::new(), siblings, found };
    probe.node(schema.schema, DEEPEST, &|value| value);
    probe.found.accepts_more |=
        !is_compared(schema.root, schema.schema, &probe.compared, &mut HashSet::new());
    probe.found
}

struct Probe<'a, 'd> {
    /// The schema of the whole decoded value.
    schema: SchemaRef<'a>,
    decode: &'d mut dyn FnMut(&str) -> Result<(), String>,
    /// The number of sample values left to decode.
    left: usize,
    /// The schemas that the type was asked about.
    compared: HashSet<*const Value>,
    /// The names of all variants of a union, for each of its branches and tags. A tag is the constant of a member
    /// that tells the branches apart.
    siblings: HashMap<*const Value, Rc<[&'a str]>>,
    found: Difference,
}

impl<'a> Probe<'a, '_> {
    /// Compares the Rust type with `schema`, which may be an inner schema.
    ///
    /// Sample values for an inner schema cannot be decoded alone. `around` inserts such a value into a sample of the
    /// whole schema.
    fn node(&mut self, schema: &'a Value, depth: usize, around: &dyn Fn(Value) -> Value) {
        let Some(own) = resolve(self.schema.root, schema) else { return };
        let fitting = sample(self.schema.root, own);
        let (Some(depth), Some(fitting), false) = (depth.checked_sub(1), fitting, self.is_over()) else {
            return;
        };
        if let Some(branches) = branches(own) {
            self.add_siblings(branches);
            for branch in branches {
                let others = self.members_of_others(branches, branch);
                let apart = |value| around(with_members(value, &others));
                let fitting = sample(self.schema.root, branch);
                match fitting.filter(Value::is_object).is_some_and(|fitting| self.takes(&apart(fitting))) {
                    true => self.node(branch, depth, &apart),
                    false => self.node(branch, depth, around),
                }
            }
        }
        if !self.fits(&around(fitting.clone())) {
            return;
        }
        self.compared.insert(own);
        self.ask_wide(own, around);
        if own.get(SINGLE).is_some() && self.takes(&around(json!(1e300))) {
            self.found.overflows = true;
        }
        let own_types: Vec<&str> = types(own.get("type")).collect();
        let is_listed = own.as_object().is_some_and(lists_values);
        if is_listed {
            self.list(own, around);
        } else {
            self.range(own, around);
        }
        if !own_types.is_empty() && !is_listed {
            for (name, other) in
                [("number", json!(1.5)), ("string", json!("\u{1}")), ("boolean", json!(true)), ("", json!(5))]
            {
                if !own_types.contains(&name) {
                    self.ask(&around(other));
                }
            }
            if own_types.iter().all(|name| matches!(*name, "string" | "boolean" | "integer" | "number")) {
                self.ask(&around(json!([])));
                self.ask_object(around);
            }
        }
        match &fitting {
            Value::Object(members) => self.members(own, members, depth, around),
            Value::Array(_) => {
                let first = own.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
                for (index, item) in first.enumerate() {
                    let replaced = |value| {
                        let mut items = fitting.clone();
                        items.get_mut(index).into_iter().for_each(|item| *item = Value::clone(&value));
                        around(items)
                    };
                    self.node(item, depth, &replaced);
                }
                if let Some(item) = own.get("items") {
                    let count = own.get("minItems").and_then(Value::as_u64).unwrap_or(1).clamp(1, LONGEST);
                    let list = |value: Value| around((0..count).map(|_| value.clone()).collect());
                    self.node(item, depth, &list);
                }
            }
            _ => {}
        }
    }

    /// Returns extra members that prevent a value of `branch` from being decoded as another branch of the union.
    ///
    /// These are members that `branch` does not declare, with values of a type that the other branches refuse.
    fn members_of_others(&self, branches: &'a [Value], branch: &'a Value) -> Map<String, Value> {
        let properties = |branch| resolve(self.schema.root, branch)?.get("properties")?.as_object();
        let own = properties(branch);
        let others =
            branches.iter().filter(|other| !ptr::eq(*other, branch)).filter_map(properties).flatten();
        let unknown = others.filter(|(name, _)| own.is_none_or(|own| !own.contains_key(*name)));
        let refused = |other: &Value| match types(other.get("type")).any(|name| name == "boolean") {
            true => json!("\u{1}"),
            false => json!(true),
        };
        unknown.map(|(name, other)| (name.clone(), refused(other))).collect()
    }

    fn is_over(&self) -> bool {
        self.left == 0 || self.found.is_complete()
    }

    /// Adds the names of the variants in a union.
    fn add_siblings(&mut self, branches: &'a [Value]) {
        let root = self.schema.root;
        let of_branch = |branch: &'a Value| {
            let own = resolve(root, branch);
            let listed =
                own.into_iter().flat_map(listed_values).chain(tag(root, branch).map(|(_, only)| only));
            listed.filter_map(Value::as_str).chain(only_member(root, branch)).collect::<Vec<_>>()
        };
        let names: Rc<[&str]> = branches.iter().flat_map(of_branch).collect();
        for branch in branches {
            let places = resolve(root, branch).into_iter().chain(tag(root, branch).map(|(_, only)| only));
            self.siblings.extend(places.map(|place| (ptr::from_ref(place), Rc::clone(&names))));
        }
    }

    fn members(
        &mut self,
        own: &'a Value,
        members: &Map<String, Value>,
        depth: usize,
        around: &dyn Fn(Value) -> Value,
    ) {
        let with = |name: &str, value: Value| {
            let mut members = members.clone();
            members.insert(name.to_owned(), value);
            around(members.into())
        };
        let property = |name: &str| own.get("properties").and_then(|properties| properties.get(name));
        // If a member may be `null`, serde treats its absence as `null`.
        let may_be_null = |name: &str| {
            let of_property =
                |it| check_text(SchemaRef::new(self.schema.root, it), "null", Scope::All).is_empty();
            property(name).is_some_and(of_property)
        };
        let required = names(own.get("required")).filter(|name| !may_be_null(name));
        for name in required.collect::<Vec<_>>() {
            let mut fewer = members.clone();
            fewer.shift_remove(name);
            self.ask(&around(fewer.into()));
        }
        match own.get("additionalProperties") {
            Some(Value::Bool(false)) => self.ask(&with("\u{1}", json!(true))),
            Some(other) => self.node(other, depth, &|value| with("k", value)),
            None => {}
        }
        let own_names = || own.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
        for name in own_names().next().into_iter().chain(own_names().next_back()) {
            if let Some(value) = members.get(name).filter(|_| !self.found.keeps_repeated && self.left > 0) {
                let text = with("\u{1}", value.clone()).to_string();
                self.left -= 1;
                let text = text.replacen(r#""\u0001""#, &quoted(name), 1);
                self.found.keeps_repeated = (self.decode)(&text).is_ok();
            }
        }
        for (name, property) in own.get("properties").and_then(Value::as_object).into_iter().flatten() {
            self.node(property, depth, &|value| with(name, value));
        }
    }

    fn takes(&mut self, whole: &Value) -> bool {
        self.refusal(whole).is_none()
    }

    /// Decodes a sample value. Returns the error message if the Rust type refuses the value.
    fn refusal(&mut self, whole: &Value) -> Option<String> {
        self.left = self.left.saturating_sub(1);
        let message = (self.decode)(&whole.to_string()).err()?;
        self.note_refusal(&message);
        Some(message)
    }

    /// Decodes a sample value that the schema probably refuses. If decoding succeeds, checks whether the Rust type
    /// accepts more than the schema.
    fn ask(&mut self, whole: &Value) {
        if self.left > 0 && !self.found.accepts_more && self.takes(whole) {
            self.judge(whole);
        }
    }

    /// Decodes an object in place of a scalar. Members that the decoder reports as missing are added.
    fn ask_object(&mut self, around: &dyn Fn(Value) -> Value) {
        let mut members = Map::new();
        while self.left > 0 && !self.found.accepts_more && members.len() < MOST_MEMBERS {
            let whole = around(members.clone().into());
            let Some(message) = self.refusal(&whole) else { return self.judge(&whole) };
            let missing = message.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
            let Some(missing) = missing.filter(|name| !members.contains_key(*name)) else { return };
            members.insert(missing.to_owned(), "a".into());
        }
    }

    /// Compares a successfully decoded sample value with the schema.
    fn judge(&mut self, whole: &Value) {
        let found = check_text(self.schema, &whole.to_string(), Scope::All);
        // Only wrong types and members count, not violated constraints.
        let is_shape = |kind| kind != ViolationKind::Constraint;
        self.found.accepts_more = found.iter().any(|violation| is_shape(violation.kind));
    }
}

/// Adds the members `more` to an object. Returns any other value unchanged.
fn with_members(mut value: Value, more: &Map<String, Value>) -> Value {
    if let Value::Object(members) = &mut value {
        members.extend(more.clone());
    }
    value
}

/// Returns whether `compared` contains all schemas inside `schema` that name types or members.
fn is_compared<'a>(
    root: &'a Value,
    schema: &'a Value,
    compared: &HashSet<*const Value>,
    seen: &mut HashSet<*const Value>,
) -> bool {
    let has_shape = ["type", "required", "additionalProperties"].iter().any(|it| schema.get(it).is_some());
    let mut inside = subschemas(schema).filter(|inside| inside.role != Role::Definitions);
    let target = resolve(root, schema).filter(|target| !ptr::eq(*target, schema));
    !seen.insert(schema)
        || (compared.contains(&ptr::from_ref(schema)) || !has_shape)
            && inside.all(|inside| is_compared(root, inside.schema, compared, seen))
            && target.is_none_or(|target| is_compared(root, target, compared, seen))
}
