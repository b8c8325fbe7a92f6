//! The check of values already decoded by their types. A type may accept names and forms missing from its
//! schema.

use super::found::{Found, Message};
use super::{MOST, Scope, Search};
use crate::bounds::{has_constraints, is_equal};
use crate::discriminator::Discriminator;
use crate::json::{Json, Kind, quoted};
use crate::own::{is_of_type, lists_values};
use crate::properties::{member_schemas, property};
use crate::reference::SchemaRef;
use crate::sample::sample;
use crate::types::{fields, names};
use crate::violation::{Violation, ViolationKind};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashSet;

/// The cost of asking a type once: `STEPS_PER_QUESTION` steps, and one step for every `BYTES_PER_STEP` bytes
/// of the whole value.
const STEPS_PER_QUESTION: usize = 100;
const BYTES_PER_STEP: usize = 8;

/// A member given under an alias: the index of the member, and the name and the schema of its property.
pub(super) type Alias<'a> = (usize, &'a str, &'a Value);

/// The ways in which a decoded value may differ from its schema, each including the ways before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Hash)]
pub(super) enum Reading {
    /// The value has the form and the names of the schema.
    Literal,
    /// Members and variants may have names that the schema does not list.
    Names,
    /// Values may have other forms, such as a string for a number or a list for a struct.
    Forms,
}

/// Coerces a part of a value, like [`coerced_part`](crate::coerce). The search receives the coercion as a
/// function, because the coercion itself uses the search.
pub(super) type Coerce = fn(SchemaRef<'_>, &Json<'_>, &mut usize, usize) -> Option<String>;

/// Returns the violated constraints of a value already decoded by its type. `at` is the path of the value.
///
/// Parts of the value may need the coercion `coerce` to fit the schema. `accepts` returns whether the type
/// decodes a JSON text, if the type can be asked.
pub(crate) fn check_decoded(
    schema: SchemaRef<'_>,
    value: &Json<'_>,
    at: &str,
    coerce: Coerce,
    accepts: Option<&mut dyn FnMut(&str) -> bool>,
) -> Vec<Violation> {
    let mut search = Search::new(schema.root, value, at, Scope::Constraints);
    (search.coerce, search.accepts) = (coerce, accepts);
    search.violations(schema.schema, value)
}

impl<'a, 'v> Search<'a, 'v, '_> {
    /// Inspects an array that a type has decoded as a struct, with the values in the order of the fields.
    /// Returns whether the value is such an array.
    ///
    /// An array in the place of any other object cannot be compared with the schema: it is a violation.
    pub(super) fn inspect_as_struct(&mut self, schema: &'a Value, value: &Json<'v>) -> bool {
        let Kind::Array(items) = &value.kind else { return false };
        let is_decoded = self.scope == Scope::Constraints && self.reading == Reading::Forms;
        let Some(fields) = fields(schema).filter(|_| is_decoded) else { return false };
        let is_tagged = fields.values().any(|property| property.get("const").is_some());
        let is_more = ["anyOf", "oneOf", "allOf"].iter().any(|keyword| schema.get(keyword).is_some());
        if is_tagged || is_more || items.len() > fields.len() {
            self.add_mismatch(ViolationKind::Constraint, schema, "type", value);
            return true;
        }
        for (index, (property, item)) in fields.values().zip(items).enumerate() {
            self.at_item(index, |this| this.inspect(property, item));
        }
        true
    }

    /// Inspects a value decoded from a JSON type not allowed by the schema, such as a number from a string.
    pub(super) fn inspect_coerced(&mut self, schema: &'a Value, value: &Json<'v>) {
        let depth = self.depth + self.open.len();
        // A type that accepts more than its schema may not read the value as the coercion would.
        let coerced = match self.exact {
            true => None,
            false => (self.coerce)(SchemaRef::new(self.root, schema), value, &mut self.left, depth),
        };
        match coerced {
            Some(text) => self.inspect_instead(schema, value, &text),
            None => {
                // The type may accept any value of another type, but the list contains all values.
                let is_listed = schema.as_object().is_some_and(lists_values) && !is_of_type(schema);
                let kind = if is_listed { ViolationKind::Constraint } else { ViolationKind::WrongType };
                self.add_mismatch(kind, schema, "type", value);
            }
        }
    }

    /// Inspects the value with the JSON text `text` in place of `value`.
    fn inspect_instead(&mut self, schema: &'a Value, value: &Json<'v>, text: &str) {
        let Ok(instead) = Json::parse(text) else { return };
        let around = self.around(value);
        let mut inner = Search::new(self.root, &instead, &self.path, self.scope);
        (inner.left, inner.depth) = (self.left, self.depth + self.open.len());
        (inner.most, inner.exact, inner.reading) = (self.most, self.exact, self.reading);
        inner.coerce = self.coerce;
        let mut accepts;
        if let (Some((before, after)), Some(outer)) = (around, &mut self.accepts) {
            accepts = move |text: &str| outer(&format!("{before}{text}{after}"));
            inner.accepts = Some(&mut accepts);
        }
        inner.inspect(schema, &instead);
        let (left, found) = (inner.left, inner.found);
        let found = found.into_iter().map(|Found { parent, path, kind, exact, message }| {
            let message = match message {
                Message::Text(text) => text,
                mismatch => {
                    let found = Found { parent, path: String::new(), kind, exact, message: mismatch };
                    found.into_violation(self.root).message
                }
            };
            Found { parent, path, kind, exact, message: Message::Text(message) }
        });
        self.found.extend(found.take(MOST));
        self.left = left;
    }

    /// Returns the text before and the text after `part` in the whole value.
    fn around(&self, part: &Json<'_>) -> Option<(&'v str, &'v str)> {
        let start = part.text.as_ptr().addr().checked_sub(self.text.as_ptr().addr())?;
        self.text.get(..start).zip(self.text.get(start + part.text.len()..))
    }

    /// Returns whether the type accepts one of `others` in place of `value`. Returns `true` if the type
    /// cannot be asked.
    pub(super) fn accepts_instead(&mut self, value: &Json<'_>, others: &[&str]) -> bool {
        let around = self.around(value);
        let (Some((before, after)), Some(accepts)) = (around, &mut self.accepts) else { return true };
        let steps = STEPS_PER_QUESTION + self.text.len() / BYTES_PER_STEP;
        let left = &mut self.left;
        others.iter().any(|other| {
            *left = left.saturating_sub(steps);
            *left > 0 && accepts(&format!("{before}{other}{after}"))
        })
    }

    /// Inspects a decoded value without a fitting branch. `closest` contains the violations of the most
    /// similar branch.
    ///
    /// If the value's tag or its only member is missing from the schema, the type may know it under another
    /// name. The value is then inspected as each variant that the type accepts in its place.
    pub(super) fn inspect_other_forms(
        &mut self,
        schema: &'a Value,
        keyword: &'static str,
        choice: Option<&Discriminator<'_>>,
        value: &Json<'v>,
        closest: Option<Vec<Found<'a, 'v>>>,
    ) {
        let is_of_branch = |found: &Found<'_, '_>| found.kind == ViolationKind::Constraint;
        let has_form = self.reading == Reading::Literal
            || closest.as_ref().is_some_and(|found| found.iter().all(is_of_branch));
        let mut is_variant = false;
        for text in if has_form { Vec::new() } else { variants(choice, value) } {
            if self.accepts_instead(value, &[&text]) {
                is_variant = true;
                self.inspect_instead(schema, value, &text);
            }
        }
        match closest {
            _ if is_variant => {}
            Some(found) => self.found.extend(found),
            None => self.add_mismatch(ViolationKind::WrongType, schema, keyword, value),
        }
    }

    /// Finds the members given under aliases missing from the schema, and their properties. The result is in
    /// the order of the members.
    ///
    /// The aliases are found by asking the type. If the type cannot be asked, each member missing from the
    /// schema counts as an alias of every property with constraints.
    pub(super) fn aliases(
        &mut self,
        schema: &'a Value,
        members: &[(Cow<'v, str>, Json<'v>)],
        object: &Json<'v>,
    ) -> Vec<Alias<'a>> {
        let is_unlisted = |name: &str| {
            let (named, other) = member_schemas(schema, name);
            named.is_empty() && (self.exact || other != Some(&Value::Bool(false)))
        };
        let unlisted = members.iter().enumerate().filter(|(_, (name, _))| is_unlisted(name));
        let unlisted: Vec<usize> = unlisted.map(|(index, _)| index).collect();
        let mut aliases = Vec::new();
        if self.reading == Reading::Literal {
            return aliases;
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        let Some(properties) = properties.filter(|_| !unlisted.is_empty()) else { return aliases };
        let own_name = |given: &str| property(properties, given).map(|(own, _)| own.as_str());
        let given: HashSet<&str> = members.iter().filter_map(|(given, _)| own_name(given)).collect();
        let inner = object.text.strip_suffix('}').unwrap_or_default();
        let both = |own: &str, value: &str| format!("{inner},{}:{value}}}", quoted(own));
        for (own, of_own) in properties.iter().filter(|(own, _)| !given.contains(own.as_str())) {
            let is_constrained = has_constraints(of_own);
            if self.accepts.is_none() {
                let every = if is_constrained { unlisted.as_slice() } else { &[] };
                aliases.extend(every.iter().map(|index| (*index, own.as_str(), of_own)));
                continue;
            }
            let is_required = || names(schema.get("required")).any(|required| required == own);
            if !is_constrained && !self.exact && !is_required() {
                continue;
            }
            // If the type accepts the property beside all members, none of them is an alias of the property.
            let sample = sample(self.root, of_own).map(|sample| both(own, &sample.to_string()));
            if sample.is_some_and(|text| self.accepts_instead(object, &[&text])) {
                continue;
            }
            // A name is an alias of the property if the type accepts the property in place of the name, but
            // not beside the name.
            for index in unlisted.iter().copied() {
                if self.left == 0 {
                    break;
                }
                let written = members.iter().enumerate().map(|(at, (name, value))| {
                    format!("{}:{}", quoted(if at == index { own } else { name }), value.text)
                });
                let renamed = format!("{{{}}}", written.collect::<Vec<_>>().join(","));
                let Some((_, member)) = members.get(index) else { continue };
                if self.accepts_instead(object, &[&renamed])
                    && !self.accepts_instead(object, &[&both(own, member.text)])
                {
                    aliases.push((index, own.as_str(), of_own));
                    break;
                }
            }
        }
        aliases.sort_by_key(|(index, ..)| *index);
        aliases
    }

    /// Returns whether the type can be asked for aliases.
    pub(super) fn knows_aliases(&self) -> bool {
        self.scope == Scope::Constraints && self.accepts.is_some()
    }
}

/// Returns a copy of the object for each variant. In each copy, the variant's name replaces the unknown tag
/// or the unknown name of a member.
fn variants(choice: Option<&Discriminator<'_>>, value: &Json<'_>) -> Vec<String> {
    let Kind::Object(members) = &value.kind else { return Vec::new() };
    let tag = if let Some(Discriminator::Tag(tag, _)) = choice { *tag } else { "" };
    let given = value.get(tag);
    let write = |index: usize, own: &str| {
        let written = members.iter().enumerate().map(|(at, (name, value))| match (at == index, given) {
            (true, Some(_)) => format!("{}:{own}", quoted(name)),
            (true, None) => format!("{own}:{}", value.text),
            (false, _) => format!("{}:{}", quoted(name), value.text),
        });
        format!("{{{}}}", written.collect::<Vec<_>>().join(","))
    };
    match (choice, given) {
        (Some(Discriminator::Tag(_, allowed)), Some(given))
            if !allowed.iter().any(|own| is_equal(own, given)) =>
        {
            let index = members.iter().rposition(|(name, _)| name == tag).unwrap_or_default();
            // serde also accepts the index of a variant.
            let number = given.text.parse().ok().and_then(|number: usize| allowed.get(number));
            let allowed = number.map_or(allowed.as_slice(), std::slice::from_ref);
            allowed.iter().map(|own| write(index, &own.to_string())).collect()
        }
        (Some(Discriminator::Members(names)), _) if !names.iter().any(|name| value.get(name).is_some()) => {
            let of_names = |index| names.iter().map(|own| write(index, &quoted(own))).collect::<Vec<_>>();
            (0..members.len()).flat_map(of_names).collect()
        }
        _ => Vec::new(),
    }
}
