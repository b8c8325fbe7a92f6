//! Finds all violations of a schema by a value.
//!
//! Every keyword that constrains values is checked. A Rust type may refuse more values than its schema.

use crate::bounds::{broken, is_equal};
use crate::fault::nests_deeper;
use crate::json::{Json, Kind, budget};
use crate::nearest::nearest;
use crate::own::{is_declared_alias, is_of_author, is_of_type, is_outside_of_type};
use crate::properties::is_exact;
use crate::reference::{SchemaRef, resolve};
use crate::types::types;
use crate::violation::{Violation, ViolationKind};
use crate::words::shorten;
use decoded::{Coerce, Reading};
use found::{Found, Message, expected, remove_names};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ptr;

mod branches;
mod decoded;
mod found;
mod inside;
mod named;
mod repeated;
mod rounded;
mod variant;

pub(crate) use branches::{candidates, distance};
pub(crate) use decoded::check_decoded;
pub use repeated::{repeated_names, repeated_names_in, roundings};
pub use rounded::rounded;

/// The maximum number of violations that one check collects.
const MOST: usize = 64;

/// The maximum number of nested schemas in one check. It allows values of the maximum depth with nested unions, and it
/// keeps the recursion within the stack of a small thread.
pub(crate) const DEEPEST: usize = 400;

/// The maximum nesting depth of a value. JSON parsers have the same limit.
pub(crate) const DEEPEST_VALUE: usize = 127;

/// The internal keyword reported if a value matches several schemas of a `oneOf`.
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
    if nests_deeper(value, DEEPEST_VALUE) {
        return vec![Violation::new("", ViolationKind::Constraint, TOO_COMPLEX)];
    }
    check_text(schema.into(), &value.to_string(), Scope::All)
}

/// Parses `text` as JSON and returns the violations of `schema` by the parsed value.
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
    /// Only violated constraints such as `maxLength`, for a value that its Rust type has already decoded.
    ///
    /// All other differences from the schema were accepted by the Rust type, such as a list in place of a struct.
    Constraints,
    /// All violations except those about member names.
    ///
    /// Unknown members are not reported. If an object has an unknown member, its missing members are not reported
    /// either, because the unknown name may be an alias of a missing member.
    ExceptNames,
    /// All violations by the rules of a JSON Schema validator: 5.0 is an integer, and formats are not checked.
    Validator,
}

/// Checks a value against a schema and returns the violations of the kinds selected by `scope`.
///
/// `at` is the path of the value, and every returned path begins with it.
#[must_use]
pub fn check(schema: SchemaRef<'_>, value: &Json<'_>, at: &str, scope: Scope) -> Vec<Violation> {
    Search::new(schema.root, value, at, scope).violations(schema, value)
}

/// Returns whether a value conforms to a schema.
///
/// `left` is the number of schemas that may still be applied, and this function decreases it. If `left` reaches 0, the
/// result is `false`. `depth` is the number of enclosing schemas already applied.
pub(crate) fn fits(schema: SchemaRef<'_>, value: &Json<'_>, left: &mut usize, depth: usize) -> bool {
    let mut search = Search::new(schema.root, value, "", Scope::All);
    (search.left, search.depth) = (*left, depth);
    let fits = search.fits(schema.schema, value);
    *left = search.left;
    fits && search.left > 0
}

/// The key of a cached check: the schema, the value, whether only one violation is collected, whether the schema is
/// stricter than its Rust type, and the accepted differences between schema and value.
type Applied<'v> = (*const Value, *const Json<'v>, bool, bool, Reading);

struct Search<'a, 'v, 't> {
    root: &'a Value,
    scope: Scope,
    /// Whether a member or a variant may have a declared alias in the value.
    has_alias: bool,
    /// The differences from the schema that are accepted in a decoded value, such as other names.
    reading: Reading,
    /// The JSON text of the whole checked value.
    text: &'v str,
    /// Returns whether the Rust type can decode a JSON text. `None` if no decoder is available.
    accepts: Option<&'t mut dyn FnMut(&str) -> bool>,
    coerce: Coerce,
    /// The numbers checked against a schema of type `number`. They are collected only for [`Scope::Validator`].
    numbers: HashSet<*const Json<'v>>,
    /// The path to the value being inspected.
    path: String,
    /// The number of schemas that may still be applied before the check stops.
    left: usize,
    /// The number of enclosing schemas that the caller of this check has already applied.
    depth: usize,
    /// The number of violations to collect. It is 1 if only the existence of a violation matters.
    most: usize,
    /// Whether the current schema is stricter than its Rust type. Every violation is then reported, even a wrong type.
    exact: bool,
    /// The violations already found, so that a recursive union does not take exponential time.
    known: HashMap<Applied<'v>, Vec<Found<'a, 'v>>>,
    /// The pairs of schema and value that are currently being inspected.
    ///
    /// A schema may refer to itself. If it applies to the same value again, the second inspection is skipped, because
    /// it finds nothing new.
    open: Vec<(&'a Value, *const Json<'v>)>,
    found: Vec<Found<'a, 'v>>,
}

impl<'a, 'v> Search<'a, 'v, '_> {
    fn new(root: &'a Value, value: &Json<'v>, at: &str, scope: Scope) -> Self {
        Self {
            root,
            scope,
            has_alias: false,
            reading: Reading::Forms,
            text: value.text,
            accepts: None,
            coerce: |_, _, _, _| None,
            numbers: HashSet::new(),
            path: at.to_owned(),
            left: budget(value),
            depth: 0,
            most: MOST,
            exact: false,
            known: HashMap::new(),
            open: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Inspects `value`, and returns the violations of the kinds selected by `self.scope`.
    fn violations(mut self, schema: SchemaRef<'a>, value: &Json<'v>) -> Vec<Violation> {
        let at = self.path.clone();
        self.inspect(schema.schema, value);
        let named = if self.has_alias { self.of_own_names(schema, value, &at) } else { None };
        named.unwrap_or_else(|| self.into_violations())
    }

    fn into_violations(mut self) -> Vec<Violation> {
        if self.left == 0 {
            return vec![Violation::new(self.path, ViolationKind::Constraint, TOO_COMPLEX)];
        }
        match self.scope {
            Scope::All | Scope::Validator => {}
            Scope::Constraints => {
                self.found.retain(|found| found.exact || found.kind == ViolationKind::Constraint);
            }
            Scope::ExceptNames => remove_names(&mut self.found),
        }
        let mut violations: Vec<Violation> = Vec::with_capacity(self.found.len());
        for found in self.found {
            let violation = found.into_violation(self.root);
            if !violations.contains(&violation) {
                violations.push(violation);
            }
        }
        violations
    }

    fn inspect(&mut self, schema: &'a Value, value: &Json<'v>) {
        if schema == &Value::Bool(false) {
            self.add(ViolationKind::Constraint, "nothing may stand here".to_owned());
        }
        let is_open = || self.open.iter().any(|(open, at)| ptr::eq(*open, schema) && ptr::eq(*at, value));
        if !schema.is_object() || self.left == 0 || self.found.len() >= self.most || is_open() {
            return;
        }
        self.left -= 1;
        if self.depth + self.open.len() >= DEEPEST {
            self.left = 0;
            return;
        }
        self.open.push((schema, value));
        let outside = self.exact;
        self.exact |= is_exact(schema);
        if schema.get("$ref").is_some()
            && let Some(target) = resolve(self.root, schema)
        {
            self.inspect_target(target, value);
        }
        self.inspect_keywords(schema, value);
        self.exact = outside;
        self.open.pop();
    }

    /// Checks `value` against `target`, the target of a reference.
    ///
    /// The violations are cached for each pair of target and value, and reused if the pair occurs again.
    fn inspect_target(&mut self, target: &'a Value, value: &Json<'v>) {
        let (target_at, value_at) = (ptr::from_ref(target), ptr::from_ref(value));
        let key = (target_at, value_at, self.most == 1, self.exact, self.reading);
        if let Some(known) = self.known.get(&key) {
            return self.found.extend(known.iter().cloned());
        }
        let before = std::mem::take(&mut self.found);
        self.inspect(target, value);
        self.known.insert(key, self.found.clone());
        self.found.splice(0..0, before);
    }

    /// Returns the violations of `schema` by `value`, without adding them to `self.found`.
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

    /// Inspects all keywords of a schema. Most work is done in other functions, to keep the stack frame of this
    /// recursive function small.
    fn inspect_keywords(&mut self, schema: &'a Value, value: &Json<'v>) {
        if self.inspect_as_struct(schema, value) || !self.inspect_type(schema, value) {
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
            let branch = if self.fits(condition, value) { "then" } else { "else" };
            schema.get(branch).into_iter().for_each(|branch| self.inspect(branch, value));
        }
        match &value.kind {
            Kind::Object(members) => self.inspect_members(schema, members, value),
            Kind::Array(items) => self.inspect_items(schema, items, value),
            _ => {}
        }
    }

    /// Checks `value` against the keyword `type`. Returns whether the other keywords still need to be inspected.
    fn inspect_type(&mut self, schema: &'a Value, value: &Json<'v>) -> bool {
        let is_validator = self.scope == Scope::Validator;
        if is_validator && types(schema.get("type")).any(|name| name == "number") {
            self.numbers.insert(value);
        }
        let is_integer = |name: &str| is_validator && name == "integer" && value.type_name() == name;
        let mut names = types(schema.get("type")).peekable();
        if names.peek().is_none() || names.any(|name| value.is_of_type(name) || is_integer(name)) {
            return true;
        }
        match self.scope {
            Scope::Constraints if self.reading == Reading::Forms => self.inspect_coerced(schema, value),
            _ => self.add_mismatch(ViolationKind::WrongType, schema, "type", value),
        }
        false
    }

    /// Checks `value` against the keywords that contain no schemas, such as `enum` and `maximum`.
    fn inspect_own(&mut self, schema: &'a Value, value: &Json<'v>) {
        let listed = schema.get("enum").and_then(Value::as_array);
        let wrong = if listed.is_some_and(|values| !values.iter().any(|allowed| is_equal(allowed, value))) {
            Some("enum")
        } else if schema.get("const").is_some_and(|only| !is_equal(only, value)) {
            Some("const")
        } else {
            broken(schema, value, self.scope == Scope::Validator)
        };
        let Some(keyword) = wrong else { return };
        let is_of_type = self.scope == Scope::Constraints && is_of_type(schema);
        let is_shape = match keyword {
            "enum" | "const" if is_of_author(schema) => false,
            "enum" | "const" if self.reading == Reading::Literal => true,
            "enum" | "const" if is_declared_alias(schema, value) => {
                self.has_alias = true;
                return;
            }
            // Another variant accepts any such value. The value may still be of the variant with this list.
            "enum" | "const" => is_of_type && self.accepts.is_some(),
            // The Rust type refuses a number outside of its range, so the value was decoded as another variant.
            "minimum" | "maximum" => self.scope == Scope::Constraints && is_outside_of_type(schema, value),
            _ => false,
        };
        let kind = if is_shape { ViolationKind::WrongType } else { ViolationKind::Constraint };
        self.add_mismatch(kind, schema, keyword, value);
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
        let schema = Cow::Borrowed(schema);
        self.add_found(self.path.len(), kind, Message::Mismatch { schema, keyword, text: value.text });
    }

    fn add(&mut self, kind: ViolationKind, message: String) {
        self.add_named(self.path.len(), kind, message);
    }

    fn add_named(&mut self, parent: usize, kind: ViolationKind, message: String) {
        self.add_found(parent, kind, Message::Text(message));
    }

    fn add_found(&mut self, parent: usize, kind: ViolationKind, message: Message<'a, 'v>) {
        let new = Found { parent, path: self.path.clone(), kind, exact: self.exact, message };
        if self.found.len() < self.most && !self.found.iter().any(|known| known.is_same(&new)) {
            self.found.push(new);
        }
    }
}

/// Returns the message for a member not declared in the schema.
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
