//! The search for all violations of a schema by a value.
//!
//! The search covers every keyword that constrains values. The Rust type may have further rules, unknown to
//! the schema.

use crate::bounds::{broken, is_equal};
use crate::describe::{describe_for, describe_in};
use crate::discriminator::{Discriminator, discriminator};
use crate::json::{Json, Kind};
use crate::nearest::nearest;
use crate::reference::{SchemaRef, resolve};
use crate::types::{fields, names, types};
use crate::violation::{Violation, ViolationKind};
use crate::words::{bound, shorten, value_in_words};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::ptr;

mod decoded;
mod inside;

/// The maximum number of violations collected by one search.
const MOST: usize = 64;

/// The maximum number of schemas applied by one search: `STEPS`, and `STEPS_PER_BYTE` for each byte of the
/// value.
const STEPS: usize = 10_000;
const STEPS_PER_BYTE: usize = 64;

/// The name of the violation "the value fits several branches of a `oneOf`". There is no such keyword in JSON
/// Schema.
const SEVERAL: &str = "several";

/// The message for a value too complex to be checked completely.
pub const TOO_COMPLEX: &str = "too complex to explain; write it as the schema says, or simpler";

/// Checks `value` against `schema`. Returns up to 64 violations, in the order of their positions in `value`.
///
/// ```
/// use serde_json::json;
/// use toolkit_schema::violations;
///
/// let schema = json!({"properties": {"unit": {"enum": ["celsius", "kelvin"]}}, "required": ["unit"]});
/// let found = violations(&schema, &json!({"unit": "Celsius"}));
/// assert_eq!(found[0].to_string(), r#"`unit`: expected one of "celsius", "kelvin", got string "Celsius""#);
/// ```
pub fn violations<'a>(schema: impl Into<SchemaRef<'a>>, value: &Value) -> Vec<Violation> {
    check_text(schema.into(), &value.to_string(), Scope::All)
}

/// Returns the violations of a schema by a value. The value is given as JSON text.
pub(crate) fn check_text(schema: SchemaRef<'_>, text: &str, scope: Scope) -> Vec<Violation> {
    match Json::parse(text) {
        Ok(value) => check(schema, &value, "", scope),
        Err(_) => vec![Violation::new("", ViolationKind::Constraint, TOO_COMPLEX)],
    }
}

/// The kinds of violations returned by [`check`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All violations.
    All,
    /// Only violated constraints, for a value already decoded by its Rust type. Deviations from the schema
    /// that the type accepts are not reported, such as an array instead of a struct.
    Constraints,
    /// All violations except unknown members. If an object has unknown members, its missing members are not
    /// reported either. The type may accept a member under an alias that the schema does not list.
    ExceptNames,
    /// All violations by the rules of a validator: 5.0 is an integer, and formats are not checked.
    Validator,
}

/// Checks a value against a schema and returns the violations of the kinds selected by `scope`.
///
/// `at` is the path of the value. The paths of all violations begin with `at`.
#[must_use]
pub fn check(schema: SchemaRef<'_>, value: &Json<'_>, at: &str, scope: Scope) -> Vec<Violation> {
    search(schema, value, at, scope, None)
}

/// Returns the violated constraints of a value at the path `at`, already decoded by its Rust type.
///
/// The type may accept names and values that the schema does not list, such as aliases. To find out their
/// meaning, the check asks the type with `accepts` whether it also accepts a changed text of the value.
#[must_use]
pub fn check_decoded(
    schema: SchemaRef<'_>,
    value: &Json<'_>,
    at: &str,
    accepts: &mut dyn FnMut(&str) -> bool,
) -> Vec<Violation> {
    search(schema, value, at, Scope::Constraints, Some(accepts))
}

fn search<'v>(
    schema: SchemaRef<'_>,
    value: &Json<'v>,
    at: &str,
    scope: Scope,
    accepts: Option<&mut dyn FnMut(&str) -> bool>,
) -> Vec<Violation> {
    let (left, path, known) = (budget(value), at.to_owned(), HashMap::new());
    let (open, found) = (Vec::new(), Vec::new());
    let mut search =
        Search { root: schema.root, scope, path, left, known, open, found, text: value.text, accepts };
    search.inspect(schema.schema, value);
    if search.left == 0 {
        return vec![Violation::new(at, ViolationKind::Constraint, TOO_COMPLEX)];
    }
    let mut found = search.found;
    match scope {
        Scope::All | Scope::Validator => {}
        Scope::Constraints => found.retain(|(_, violation)| violation.kind == ViolationKind::Constraint),
        Scope::ExceptNames => remove_names(&mut found),
    }
    found.into_iter().map(|(_, violation)| violation).collect()
}

/// Returns the maximum number of schemas to apply while checking `value`.
pub(crate) fn budget(value: &Json<'_>) -> usize {
    STEPS + STEPS_PER_BYTE * value.text.len()
}

/// A violation, and the length of the path to the object or array around the wrong value.
type Found = (usize, Violation);

fn remove_names(found: &mut Vec<Found>) {
    let parent = |(length, violation): &Found| violation.path.get(..*length).map(str::to_owned);
    let unknown = found.iter().filter(|(_, violation)| violation.kind == ViolationKind::Unknown);
    let parents: Vec<Option<String>> = unknown.map(parent).collect();
    found.retain(|found| match found.1.kind {
        ViolationKind::Unknown => false,
        ViolationKind::Missing => !parents.contains(&parent(found)),
        _ => true,
    });
}

struct Search<'a, 'v, 't> {
    root: &'a Value,
    scope: Scope,
    /// The JSON text of the checked value as a whole.
    text: &'v str,
    /// A function that returns whether the Rust type accepts a JSON text as the value as a whole.
    accepts: Option<&'t mut dyn FnMut(&str) -> bool>,
    /// The path to the value that is being inspected.
    path: String,
    /// The number of schemas left to apply before the search gives up.
    left: usize,
    /// The violations of each schema behind a reference, for each value inspected with the schema.
    ///
    /// Without this cache, a recursive union would take time exponential in the depth of the value.
    known: HashMap<(*const Value, *const Json<'v>), Vec<Found>>,
    /// The schemas being inspected, each with its value.
    ///
    /// A schema may lead back to itself at the same value. The repeated inspection is skipped, because it
    /// finds nothing new.
    open: Vec<(&'a Value, *const Json<'v>)>,
    found: Vec<Found>,
}

impl<'a, 'v> Search<'a, 'v, '_> {
    fn inspect(&mut self, schema: &'a Value, value: &Json<'v>) {
        if schema == &Value::Bool(false) {
            self.add(ViolationKind::Constraint, "nothing may stand here".to_owned());
        }
        let is_open = || self.open.iter().any(|(open, at)| ptr::eq(*open, schema) && ptr::eq(*at, value));
        if !schema.is_object() || self.left == 0 || self.is_full() || is_open() {
            return;
        }
        self.left -= 1;
        self.open.push((schema, value));
        if schema.get("$ref").is_some()
            && let Some(target) = resolve(self.root, schema)
        {
            self.inspect_target(target, value);
        }
        self.inspect_keywords(schema, value);
        self.open.pop();
    }

    /// Inspects `value` with the target of a reference. Each pair of target and value is inspected only once.
    /// For a repeated pair, the violations found the first time are added again.
    fn inspect_target(&mut self, target: &'a Value, value: &Json<'v>) {
        let key = (ptr::from_ref(target), ptr::from_ref(value));
        if let Some(known) = self.known.get(&key) {
            return self.found.extend(known.iter().cloned());
        }
        let before = std::mem::take(&mut self.found);
        self.inspect(target, value);
        self.known.insert(key, self.found.clone());
        self.found.splice(0..0, before);
    }

    /// Returns the violations of `schema` by `value`, without adding them to `self.found`.
    fn violations_of(&mut self, schema: &'a Value, value: &Json<'v>) -> Vec<Found> {
        let before = std::mem::take(&mut self.found);
        self.inspect(schema, value);
        std::mem::replace(&mut self.found, before)
    }

    fn fits(&mut self, schema: &'a Value, value: &Json<'v>) -> bool {
        self.violations_of(schema, value).is_empty()
    }

    fn inspect_keywords(&mut self, schema: &'a Value, value: &Json<'v>) {
        let validator = self.scope == Scope::Validator;
        if let Kind::Array(items) = &value.kind
            && self.scope == Scope::Constraints
            && let Some(fields) = fields(schema).filter(|fields| items.len() <= fields.len())
        {
            // serde also decodes a struct from an array, with the values in the order of the fields.
            for (index, (property, item)) in fields.values().zip(items).enumerate() {
                self.at_item(index, |this| this.inspect(property, item));
            }
            return;
        }
        let is_of_type = |name: &str| {
            value.is_of_type(name) || (validator && name == "integer" && value.type_name() == name)
        };
        let mut names = types(schema.get("type")).peekable();
        if names.peek().is_some() && !names.any(is_of_type) {
            return match self.scope {
                Scope::Constraints => self.inspect_coerced(schema, value),
                _ => self.add_mismatch(ViolationKind::WrongType, schema, "type", value),
            };
        }
        let listed = schema.get("enum").and_then(Value::as_array);
        let wrong = if listed.is_some_and(|values| !values.iter().any(|allowed| is_equal(allowed, value))) {
            Some("enum")
        } else if schema.get("const").is_some_and(|only| !is_equal(only, value)) {
            Some("const")
        } else {
            broken(schema, value, validator)
        };
        // A type that accepts any of these four values does not list its values, so it may know `value` by an
        // alias.
        let is_listed = matches!(wrong, Some("enum" | "const"));
        if let Some(keyword) = wrong
            && (!is_listed || self.accepts_instead(value, &[r#""\u0001""#, "97", "113", "0.000123"]))
        {
            self.add_mismatch(ViolationKind::Constraint, schema, keyword, value);
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.inspect(part, value);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(branches) = schema.get(keyword).and_then(Value::as_array) {
                self.inspect_branches(schema, keyword, branches, value);
            }
        }
        if schema.get("not").is_some_and(|not| self.fits(not, value)) {
            self.add_mismatch(ViolationKind::Constraint, schema, "not", value);
        }
        if let Some(condition) = schema.get("if") {
            let branch = if self.fits(condition, value) { "then" } else { "else" };
            schema.get(branch).into_iter().for_each(|branch| self.inspect(branch, value));
        }
        match &value.kind {
            Kind::Object(members) => self.inspect_members(schema, members, value),
            Kind::Array(items) => self.inspect_items(schema, items, value),
            _ => {}
        }
    }

    /// Inspects the branches of a union. If the value fits no branch, the violations of the most similar
    /// branch are reported.
    fn inspect_branches(&mut self, schema: &Value, keyword: &str, branches: &'a [Value], value: &Json<'v>) {
        let mut closest: Option<Vec<Found>> = None;
        let mut fitting = 0;
        for branch in branches.iter().filter(|branch| !has_other_tag(self.root, branch, value)) {
            let found = self.violations_of(branch, value);
            if found.is_empty() {
                fitting += 1;
                // The type has already chosen one of the branches.
                if keyword == "anyOf" || self.scope == Scope::Constraints {
                    return;
                }
            }
            let is_inside = |(_, violation): &Found| violation.path.len() > self.path.len();
            if found.iter().all(is_inside) && closest.as_ref().is_none_or(|fewer| found.len() < fewer.len()) {
                closest = Some(found);
            }
        }
        let choice = discriminator(self.root, branches);
        if fitting == 0 && self.scope == Scope::Constraints {
            return self.inspect_variants(schema, choice.as_ref(), value, closest);
        }
        match (fitting, value.members(), choice, closest) {
            (1, ..) => {}
            (2.., ..) => self.add_mismatch(ViolationKind::Constraint, schema, SEVERAL, value),
            (_, Some(_), Some(Discriminator::Tag(name, allowed)), _)
                if value.get(name).is_none_or(|given| !allowed.iter().any(|tag| is_equal(tag, given))) =>
            {
                let tag = json!({"enum": allowed});
                let parent = self.path.len();
                self.at_member(name, |this| match value.get(name) {
                    Some(given) => this.add_mismatch(ViolationKind::WrongType, &tag, "enum", given),
                    None => {
                        this.add_named(parent, ViolationKind::Missing, missing(describe_in(this.root, &tag)));
                    }
                });
            }
            (_, Some(_), Some(Discriminator::Members(names)), _)
                if !names.iter().any(|name| value.get(name).is_some()) =>
            {
                self.add_mismatch(ViolationKind::WrongType, schema, keyword, value);
            }
            (.., Some(found)) => self.found.extend(found),
            (.., None) => self.add_mismatch(ViolationKind::WrongType, schema, keyword, value),
        }
    }

    fn at_member(&mut self, name: &str, inspect: impl FnOnce(&mut Self)) {
        let here = self.path.len();
        self.path.extend([if here == 0 { "" } else { "." }, name]);
        inspect(self);
        self.path.truncate(here);
    }

    fn at_item(&mut self, index: usize, inspect: impl FnOnce(&mut Self)) {
        let here = self.path.len();
        self.path.push_str(&format!("[{index}]"));
        inspect(self);
        self.path.truncate(here);
    }

    fn add_mismatch(&mut self, kind: ViolationKind, schema: &Value, keyword: &str, value: &Json<'_>) {
        let expected = expected(self.root, schema, keyword, Some(value));
        let expected = expected.unwrap_or_else(|| "another value".to_owned());
        self.add(kind, format!("expected {expected}, got {}", value_in_words(value.text)));
    }

    fn add(&mut self, kind: ViolationKind, message: String) {
        self.add_named(self.path.len(), kind, message);
    }

    fn is_full(&self) -> bool {
        self.found.len() >= MOST
    }

    fn add_named(&mut self, parent: usize, kind: ViolationKind, message: String) {
        let violation = Violation::new(self.path.as_str(), kind, message);
        if !self.is_full() && !self.found.iter().any(|(_, known)| *known == violation) {
            self.found.push((parent, violation));
        }
    }
}

/// Returns whether a tag required by `branch` is missing or different in `value`. A tag is a property with a
/// constant value, such as `"type": "circle"`, usually different in each branch of a union.
pub(crate) fn has_other_tag(root: &Value, branch: &Value, value: &Json<'_>) -> bool {
    let own = resolve(root, branch).filter(|_| value.members().is_some());
    let properties = own.and_then(|own| own.get("properties")?.as_object()).into_iter().flatten();
    let mut tags = properties.filter_map(|(name, property)| Some((name, property.get("const")?)));
    tags.any(|(name, tag)| match value.get(name) {
        Some(given) => !is_equal(tag, given),
        None => names(own.and_then(|own| own.get("required"))).any(|required| required == name),
    })
}

/// Describes the values expected by a schema, to explain a violation of `keyword`.
fn expected(root: &Value, schema: &Value, keyword: &str, value: Option<&Json<'_>>) -> Option<String> {
    let inner = |schema: &Value| describe_in(root, schema).unwrap_or_else(|| "another value".to_owned());
    match (keyword, schema.get(keyword)) {
        ("not", Some(not)) => return Some(format!("anything else than {}", inner(not))),
        ("contains", Some(item)) => return Some(format!("array with {} among its items", inner(item))),
        ("uniqueItems", _) => return Some("array whose items differ".to_owned()),
        (SEVERAL, _) => return Some("a value that fits exactly one of the alternatives".to_owned()),
        _ => {}
    }
    let mut plain = schema.as_object()?.clone();
    if !keyword.ends_with("Of") {
        plain.retain(|own, _| keyword.is_empty() || !matches!(own.as_str(), "$ref" | "anyOf" | "oneOf"));
    }
    let plain = Value::Object(plain);
    describe_for(root, &plain, value).or_else(|| {
        let mut keywords = plain.as_object()?.iter().filter(|(own, _)| keyword.is_empty() || *own == keyword);
        keywords.find_map(|(keyword, value)| bound(keyword, value))
    })
}

/// Returns the message for an object member that the schema does not declare.
pub(crate) fn no_such_property(name: &str, properties: Option<&Map<String, Value>>) -> String {
    let known = properties.into_iter().flat_map(Map::keys).map(String::as_str);
    let near = nearest(name, known.filter(|known| *known != name));
    let near = near.first().map(|near| format!("; did you mean `{}`?", shorten(near)));
    format!("there is no such property{}", near.unwrap_or_default())
}

/// Returns the message for a missing required value.
#[must_use]
pub fn missing(expected: Option<String>) -> String {
    expected.map_or("required, but missing".to_owned(), |expected| {
        format!("required, but missing; expected {expected}")
    })
}

#[cfg(test)]
mod tests;
