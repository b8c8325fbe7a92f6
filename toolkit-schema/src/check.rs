//! Finds all violations of a schema by a value.
//!
//! Every keyword that constrains values is checked, but a Rust type may refuse more.

use crate::bounds::{broken, is_equal};
use crate::depth::{MAX_DEPTH, MAX_NESTED, nests_deeper};
use crate::index::{AddressMap, address};
use crate::json::{Json, Kind, budget};
use crate::marks::{Placed, is_range_of_type};
use crate::nearest::nearest;
use crate::reference::{SchemaRef, referenced};
use crate::types::types;
use crate::violation::{Violation, ViolationKind};
use crate::words::shorten;
use found::{Found, Message, expected};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::ptr;

mod branches;
mod found;
mod inside;
mod parts;
mod well_formed;

pub(crate) use branches::candidates;
pub(crate) use well_formed::{repeated_names, rounded_integers};

/// The maximum number of violations in one check.
const MOST: usize = 64;

/// The maximum number of names that a message lists.
const LISTED: usize = 10;

/// The internal keyword of a value that matches several schemas of a `oneOf`.
const SEVERAL: &str = "several";

/// The message for a value that is too complex to check completely.
pub(crate) const TOO_COMPLEX: &str = "too complex to explain; write it as the schema says, or simpler";

/// Returns up to 64 violations of `schema` by `value`, in the order of positions.
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
    if nests_deeper(value, MAX_DEPTH) {
        return vec![Violation::new("", ViolationKind::Constraint, TOO_COMPLEX)];
    }
    let SchemaRef { root, schema } = schema.into();
    Checks::foreign(root).violations_in_text(schema, &value.to_string())
}

/// Where a schema comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Origin {
    /// A Rust type. It decodes after the check: `5.0` is no integer, unpublished members are refused, `null`
    /// for an optional member is absence, and the first branch with the value's structure counts.
    RustType,
    /// Anything else, by the rules of JSON Schema.
    #[default]
    Foreign,
}

/// A schema with everything that a check needs.
#[derive(Debug)]
pub(crate) struct Checks<'a> {
    pub(crate) root: &'a Value,
    pub(crate) origin: Origin,
    /// The notes about parts of the schema, by address.
    pub(crate) placed: Placed<'a>,
    /// Whether unpublished members are violations.
    pub(crate) refuses_unpublished: bool,
    /// Whether a list that a Rust type may decode as a struct is a violation.
    pub(crate) refuses_unclear: bool,
}

impl<'a> Checks<'a> {
    pub(crate) fn foreign(root: &'a Value) -> Self {
        Self {
            root,
            origin: Origin::Foreign,
            placed: Placed::default(),
            refuses_unpublished: false,
            refuses_unclear: false,
        }
    }

    /// Returns the violations of `schema`, a part of the root, by `value` at the path `at`.
    pub(crate) fn violations(&self, schema: &'a Value, value: &Json<'_>, at: &str) -> Vec<Violation> {
        let mut search = Search::new(self, budget(value), at);
        search.inspect_whole(schema, value);
        search.into_violations()
    }

    pub(crate) fn violations_in_text(&self, schema: &'a Value, text: &str) -> Vec<Violation> {
        match Json::parse(text) {
            Ok(value) => self.violations(schema, &value, ""),
            Err(_) => vec![Violation::new("", ViolationKind::Constraint, TOO_COMPLEX)],
        }
    }

    /// Returns whether a value conforms to a schema.
    ///
    /// If `left` reaches 0, the result is `false`. `depth` counts the enclosing schemas.
    pub(crate) fn fits(&self, schema: &'a Value, value: &Json<'_>, left: &mut usize, depth: usize) -> bool {
        self.within(left, depth, |search| search.fits(schema, value) && search.left > 0)
    }

    /// Runs a search that decreases the number of schemas `left` to apply.
    fn within<'v, T>(
        &self,
        left: &mut usize,
        depth: usize,
        run: impl FnOnce(&mut Search<'a, 'v, '_>) -> T,
    ) -> T {
        let mut search = Search { depth, ..Search::new(self, *left, "") };
        let result = run(&mut search);
        *left = search.left;
        result
    }
}

struct Search<'a, 'v, 'c> {
    checks: &'c Checks<'a>,
    root: &'a Value,
    origin: Origin,
    path: String,
    /// The number of schemas that may still be applied.
    left: usize,
    /// The number of enclosing schemas that the caller has applied.
    depth: usize,
    untagged: usize,
    /// The number of violations to collect, or 1 to learn whether there is any.
    most: usize,
    /// The violations found for recursive unions, which otherwise take exponential time.
    known: AddressMap<Vec<Found<'a, 'v>>>,
    /// The pairs of schema and value being inspected, at which recursion ends.
    open: Vec<(&'a Value, *const Json<'v>)>,
    found: Vec<Found<'a, 'v>>,
}

impl<'a, 'v, 'c> Search<'a, 'v, 'c> {
    fn new(checks: &'c Checks<'a>, left: usize, at: &str) -> Self {
        Self {
            checks,
            root: checks.root,
            origin: checks.origin,
            path: at.to_owned(),
            left,
            depth: 0,
            untagged: 0,
            most: MOST,
            known: AddressMap::default(),
            open: Vec::new(),
            found: Vec::new(),
        }
    }

    fn into_violations(self) -> Vec<Violation> {
        if self.left == 0 {
            return vec![Violation::new(self.path, ViolationKind::Constraint, TOO_COMPLEX)];
        }
        let mut violations: Vec<Violation> = Vec::with_capacity(self.found.len());
        for found in self.found {
            let violation = found.into_violation(self.checks);
            if !violations.contains(&violation) {
                violations.push(violation);
            }
        }
        violations
    }

    /// Inspects a value by a schema that no outer schema for the same value contains.
    fn inspect_whole(&mut self, schema: &'a Value, value: &Json<'v>) {
        self.inspect(schema, value);
        if self.origin == Origin::RustType && !value.is_exact() {
            self.inspect_integers(schema, value);
        }
        if self.origin == Origin::RustType {
            self.inspect_published(schema, value);
        }
    }

    fn inspect(&mut self, schema: &'a Value, value: &Json<'v>) {
        if schema == &Value::Bool(false) {
            self.add(ViolationKind::Constraint, "nothing may stand here".to_owned());
        }
        if !schema.is_object() || self.left == 0 || self.found.len() >= self.most {
            return;
        }
        if self.open.iter().any(|(open, at)| ptr::eq(*open, schema) && ptr::eq(*at, value)) {
            return;
        }
        self.left -= 1;
        if self.depth + self.open.len() >= MAX_NESTED {
            self.left = 0;
            return;
        }
        self.open.push((schema, value));
        if let Some(target) = referenced(self.root, schema) {
            self.inspect_target(target, value);
        }
        self.inspect_keywords(schema, value);
        self.open.pop();
    }

    /// Checks `value` against the target of a reference.
    ///
    /// Violations are cached for each pair of target and value.
    fn inspect_target(&mut self, target: &'a Value, value: &Json<'v>) {
        // The address of a value is even, which leaves a bit for the mode.
        let key = (ptr::from_ref(target).addr(), ptr::from_ref(value).addr() + usize::from(self.most == 1));
        if let Some(known) = self.known.get(key) {
            return self.found.extend(known.iter().cloned());
        }
        let before = std::mem::take(&mut self.found);
        self.inspect(target, value);
        self.known.insert(key, self.found.clone());
        self.found.splice(0..0, before);
    }

    /// Returns violations without adding them to `self.found`.
    fn violations_of(&mut self, schema: &'a Value, value: &Json<'v>) -> Vec<Found<'a, 'v>> {
        let before = std::mem::take(&mut self.found);
        self.inspect(schema, value);
        std::mem::replace(&mut self.found, before)
    }

    fn fits(&mut self, schema: &'a Value, value: &Json<'v>) -> bool {
        let most = std::mem::replace(&mut self.most, 1);
        let found = self.violations_of(schema, value);
        self.most = most;
        found.is_empty()
    }

    /// Inspects all keywords of a schema, with a small stack frame because it recurs.
    fn inspect_keywords(&mut self, schema: &'a Value, value: &Json<'v>) {
        if !self.inspect_type(schema, value) {
            return;
        }
        self.inspect_own(schema, value);
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
            let keyword = if self.fits(condition, value) { "then" } else { "else" };
            if let Some(branch) = schema.get(keyword) {
                self.inspect(branch, value);
            }
        }
        match &value.kind {
            Kind::Object(members) => self.inspect_members(schema, members, value),
            Kind::Array(items) => self.inspect_items(schema, items, value),
            _ => {}
        }
    }

    /// Checks `type`, and returns whether the other keywords still need inspection.
    fn inspect_type(&mut self, schema: &'a Value, value: &Json<'v>) -> bool {
        let mut names = types(schema.get("type")).peekable();
        if names.peek().is_none() || names.any(|name| self.has_type(value, name)) {
            return true;
        }
        self.add_mismatch(ViolationKind::WrongType, schema, "type", value);
        false
    }

    fn has_type(&self, value: &Json<'v>, name: &str) -> bool {
        value.is_of_type(name)
            || self.origin == Origin::Foreign && name == "integer" && value.type_name() == name
    }

    /// Checks the keywords without schemas, such as `enum` and `maximum`.
    fn inspect_own(&mut self, schema: &'a Value, value: &Json<'v>) {
        let wrong = if lists_others(schema, value) {
            Some("enum")
        } else if schema.get("const").is_some_and(|only| !is_equal(only, value)) {
            Some("const")
        } else {
            broken(schema, value, self.origin == Origin::RustType)
        };
        let Some(keyword) = wrong else { return };
        let is_of_type = match keyword {
            "enum" | "const" => true,
            "minimum" | "maximum" => schema.as_object().is_some_and(is_range_of_type),
            _ => false,
        };
        let note = self.checks.placed.get(address(schema));
        let is_structure = is_of_type && note.is_none_or(|note| !note.is_authored);
        let message = Message::Mismatch { schema: Cow::Borrowed(schema), keyword, text: value.text };
        self.add_found(ViolationKind::Constraint, message, is_structure);
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

    fn add_mismatch(
        &mut self,
        kind: ViolationKind,
        schema: &'a Value,
        keyword: &'static str,
        value: &Json<'v>,
    ) {
        let message = Message::Mismatch { schema: Cow::Borrowed(schema), keyword, text: value.text };
        self.add_found(kind, message, kind != ViolationKind::Constraint);
    }

    fn add(&mut self, kind: ViolationKind, message: String) {
        self.add_found(kind, Message::Text(message), kind != ViolationKind::Constraint);
    }

    fn add_found(&mut self, kind: ViolationKind, message: Message<'a, 'v>, is_structure: bool) {
        self.push(Found { path: self.path.clone(), kind, is_structure, message });
    }

    fn push(&mut self, new: Found<'a, 'v>) {
        if self.found.len() < self.most && !self.found.iter().any(|known| known.is_same(&new)) {
            self.found.push(new);
        }
    }
}

/// Returns whether `enum` lists only other values.
fn lists_others(schema: &Value, value: &Json<'_>) -> bool {
    let Some(values) = schema.get("enum").and_then(Value::as_array) else { return false };
    !values.iter().any(|allowed| is_equal(allowed, value))
}

pub(crate) fn refused_name(schema: &Value, name: &str) -> String {
    match schema.get("patternProperties").and_then(Value::as_object) {
        Some(patterns) if !patterns.is_empty() => {
            if property_names(schema).next().is_some() {
                return no_such_property(name, nearest(name, property_names(schema)).into_iter());
            }
            let patterns = alternatives(patterns.keys().map(String::as_str));
            format!("this name is not allowed; it must match {patterns}")
        }
        _ => no_such_property(name, property_names(schema)),
    }
}

/// Returns the message for a member that is not among `names`.
pub(crate) fn no_such_property<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    const UNKNOWN: &str = "there is no such property";
    // A member of another branch of a union may have a declared name.
    let others: Vec<&str> = names.filter(|declared| *declared != name).collect();
    if let Some(near) = nearest(name, others.iter().copied()).first() {
        return format!("{UNKNOWN}; did you mean `{}`?", shorten(near));
    }
    if others.is_empty() || others.len() > LISTED {
        return UNKNOWN.to_owned();
    }
    format!("{UNKNOWN}; use {}", alternatives(others.into_iter()))
}

/// Lists names in backticks, joined by "or".
fn alternatives<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.map(|name| format!("`{}`", shorten(name))).collect();
    quoted.join(" or ")
}

pub(crate) fn property_names(schema: &Value) -> impl Iterator<Item = &str> {
    schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys).map(String::as_str)
}

#[must_use]
pub(crate) fn missing(expected: Option<String>) -> String {
    match expected {
        Some(expected) => format!("required, but missing; expected {expected}"),
        None => "required, but missing".to_owned(),
    }
}

#[cfg(test)]
mod tests;
