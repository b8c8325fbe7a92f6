//! Checks values that their Rust types have already decoded. A Rust type may accept names and forms that are missing
//! from its schema.

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

/// The cost of one call of the decoder: `STEPS_PER_QUESTION` steps, and one step for every `BYTES_PER_STEP` bytes of
/// the decoded text.
const STEPS_PER_QUESTION: usize = 100;
const BYTES_PER_STEP: usize = 8;

/// A name that no variant has.
const NO_NAME: &str = "\u{1}";

/// A member given under an alias: the index of the member, the name of its property, and the schema of that property.
pub(super) type Alias<'a> = (usize, &'a str, &'a Value);

/// How much a decoded value may differ from its schema. Each variant also allows the differences of all variants before
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Hash)]
pub(super) enum Reading {
    /// The value has the same names and types as the schema.
    Literal,
    /// Members and variants may have aliases that the schema does not list.
    Names,
    /// Values may have other JSON types, such as a string for a number or a list for a struct.
    Forms,
}

/// A function that coerces a value, such as `coerced_part` in the module `coerce`.
///
/// The check receives this function as a value, because the coercion itself uses the check.
pub(super) type Coerce = fn(SchemaRef<'_>, &Json<'_>, &mut usize, usize) -> Option<String>;

/// Returns the violated constraints of a value that its Rust type has already decoded. `at` is the path of the value.
///
/// `coerce` converts values whose JSON type differs from the schema. `accepts` returns whether the Rust type can decode
/// a JSON text, and is `None` if no decoder is available.
pub(crate) fn check_decoded(
    schema: SchemaRef<'_>,
    value: &Json<'_>,
    at: &str,
    coerce: Coerce,
    accepts: Option<&mut dyn FnMut(&str) -> bool>,
) -> Vec<Violation> {
    let mut search = Search::new(schema.root, value, at, Scope::Constraints);
    (search.coerce, search.accepts) = (coerce, accepts);
    search.violations(schema, value)
}

impl<'a, 'v> Search<'a, 'v, '_> {
    /// Inspects an array that a Rust type has decoded as a struct, with the items in the order of the struct's fields.
    /// Returns whether the value is an array where the schema expects an object.
    ///
    /// Some object schemas are no plain struct, such as those with a tag. For them, an array is a violation, because
    /// its items cannot be matched to properties.
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

    /// Inspects a value of a JSON type that the schema does not allow, such as a string decoded as a number.
    pub(super) fn inspect_coerced(&mut self, schema: &'a Value, value: &Json<'v>) {
        let depth = self.depth + self.open.len();
        // A type that accepts more than its schema may interpret the value in another way than the coercion.
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

    /// Checks the JSON value in `text` in place of `value`, and adds the violations to `self.found`.
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

    /// Returns the text before and the text after `part` in the whole checked value.
    fn around(&self, part: &Json<'_>) -> Option<(&'v str, &'v str)> {
        let start = part.text.as_ptr().addr().checked_sub(self.text.as_ptr().addr())?;
        self.text.get(..start).zip(self.text.get(start + part.text.len()..))
    }

    /// Returns whether the Rust type still decodes the whole value if one of `others` replaces `value`. Returns `true`
    /// if no decoder is available.
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
    /// The value's tag or its only member may have an alias that is missing from the schema. The value is then
    /// inspected as each variant that the Rust type accepts in its place.
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
        // A type that takes any name, such as a flattened optional enum, tells nothing about a name.
        let has_form = has_form || self.exact && self.accepts_any_variant(choice, value);
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

    /// Returns whether the Rust type accepts an arbitrary variant in `value`.
    fn accepts_any_variant(&mut self, choice: Option<&Discriminator<'_>>, value: &Json<'_>) -> bool {
        let no_name = Value::from(NO_NAME);
        let choice = choice.map(|choice| match choice {
            Discriminator::Tag(tag, _) => Discriminator::Tag(tag, vec![&no_name]),
            Discriminator::Members(_) => Discriminator::Members(vec![NO_NAME]),
        });
        variants(choice.as_ref(), value).iter().any(|text| self.accepts_instead(value, &[text]))
    }

    /// Finds members given under aliases that are missing from the schema. Returns them in their original order, with
    /// the properties that have these aliases.
    ///
    /// The aliases are found by decoding changed objects. If no decoder is available, each member missing from the
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
            // If the type accepts the property in addition to all members, none of them is an alias of the property.
            let sample = sample(self.root, of_own).map(|sample| both(own, &sample.to_string()));
            if sample.is_some_and(|text| self.accepts_instead(object, &[&text])) {
                continue;
            }
            // A name is an alias of the property if the type accepts the property in place of the name, but not in
            // addition to the name.
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

    /// Returns whether a decoder is available to find aliases.
    pub(super) fn knows_aliases(&self) -> bool {
        self.scope == Scope::Constraints && self.accepts.is_some()
    }
}

/// Returns copies of an object with an unknown variant, one for each possible variant name. The name replaces the
/// unknown tag, or the name of a member.
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
            // serde also accepts the index of a variant as its tag.
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
