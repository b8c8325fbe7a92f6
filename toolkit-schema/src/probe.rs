//! The comparison of a type with its schema, by asking the type to decode values.
//!
//! Usually, the type refuses all values refused by the schema, so decoding is a sufficient check. Attributes
//! such as `#[schemars(with = "i32")]` on an `f64` make the schema stricter than the type.

use crate::check::{Scope, check_text};
use crate::discriminator::branches;
use crate::reference::{SchemaRef, resolve};
use crate::sample::sample;
use crate::single::SINGLE;
use crate::types::{names, types};
use crate::violation::ViolationKind;
use serde_json::{Map, Value, json};

/// The maximum depth of compared schemas.
const DEEPEST: usize = 6;

/// The maximum number of values for a type to decode.
const QUESTIONS: usize = 400;

/// A part of the error message from types unable to decode 128-bit integers.
const NO_WIDE_INTEGERS: &str = "128 is not supported";

/// The differences between a type and its schema.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Whether the type accepts values refused by the schema because of their type or their members.
    pub accepts_more: bool,
    /// Whether the type turns numbers outside the range of `f32` into infinity. This happens inside flattened
    /// structs, tagged enums and untagged enums, because serde first reads each number there as 64 bits.
    pub overflows: bool,
    /// The type's error message if the type can never decode a value of its schema.
    pub unusable: Option<String>,
}

impl Difference {
    /// Returns whether the result is final, so no more values need to be decoded.
    fn is_complete(&self) -> bool {
        self.unusable.is_some() || self.accepts_more && self.overflows
    }
}

/// Compares a type with its schema. The type is asked to decode values accepted and values refused by the
/// schema.
///
/// `decode` decodes a JSON text. If the type refuses the text, `decode` returns the type's error message.
pub fn difference(schema: SchemaRef<'_>, decode: &mut dyn FnMut(&str) -> Result<(), String>) -> Difference {
    let mut probe = Probe { schema, decode, left: QUESTIONS, found: Difference::default() };
    probe.node(schema.schema, DEEPEST, &|value| value);
    probe.found
}

struct Probe<'a, 'd> {
    /// The schema of the whole value.
    schema: SchemaRef<'a>,
    decode: &'d mut dyn FnMut(&str) -> Result<(), String>,
    /// The number of values left to decode.
    left: usize,
    found: Difference,
}

impl<'a> Probe<'a, '_> {
    /// Compares the type with `schema`, the schema of a part of the whole value. `around` inserts a value for
    /// the part into the whole value.
    fn node(&mut self, schema: &'a Value, depth: usize, around: &dyn Fn(Value) -> Value) {
        let (Some(own), Some(depth)) = (resolve(self.schema.root, schema), depth.checked_sub(1)) else {
            return;
        };
        if self.left == 0 || self.found.is_complete() || !own.is_object() {
            return;
        }
        if let Some(branches) = branches(own) {
            branches.iter().for_each(|branch| self.node(branch, depth, around));
        }
        let Some(fitting) = sample(self.schema.root, own) else { return };
        if !self.takes(&around(fitting.clone())) {
            return;
        }
        if own.get(SINGLE).is_some() && self.takes(&around(json!(1e300))) {
            self.found.overflows = true;
        }
        let own_types: Vec<&str> = types(own.get("type")).collect();
        let is_listed = own.get("enum").is_some() || own.get("const").is_some();
        if !own_types.is_empty() && !is_listed {
            for (name, other) in [
                ("integer", json!(1.5)),
                ("string", json!("\u{1}")),
                ("boolean", json!(true)),
                ("", json!(5)),
            ] {
                if !own_types.contains(&name) {
                    self.ask(&around(other));
                }
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
                    let count = own.get("minItems").and_then(Value::as_u64).unwrap_or(1).clamp(1, 8);
                    let list = |value: Value| around((0..count).map(|_| value.clone()).collect());
                    self.node(item, depth, &list);
                }
            }
            _ => {}
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
        // If a member may be `null`, serde reads its absence as `null`.
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
        for (name, property) in own.get("properties").and_then(Value::as_object).into_iter().flatten() {
            self.node(property, depth, &|value| with(name, value));
        }
    }

    fn takes(&mut self, whole: &Value) -> bool {
        self.left = self.left.saturating_sub(1);
        match (self.decode)(&whole.to_string()) {
            Ok(()) => true,
            Err(message) => {
                if message.contains(NO_WIDE_INTEGERS) {
                    self.found.unusable = Some(message);
                }
                false
            }
        }
    }

    /// Asks the type to decode a value probably refused by the schema. If the schema accepts the value, the
    /// answer is ignored.
    fn ask(&mut self, whole: &Value) {
        if self.left == 0 || self.found.accepts_more || !self.takes(whole) {
            return;
        }
        let found = check_text(self.schema, &whole.to_string(), Scope::All);
        // Only wrong types and members count, not violated constraints.
        let is_shape = |kind| kind != ViolationKind::Constraint;
        self.found.accepts_more = found.iter().any(|violation| is_shape(violation.kind));
    }
}
