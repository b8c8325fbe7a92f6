//! Coercion of near misses: invalid values with an obvious correction.

use crate::check::{Checks, candidates};
use crate::depth::{MAX_DEPTH, MAX_NESTED, nests_deeper};
use crate::discriminator::discriminator;
use crate::index::{AddressMap, Names};
use crate::json::{Json, Kind, budget, canonical_json, quoted};
use crate::json_repair::repair;
use crate::number::Decimal;
use crate::properties::{item_schema, member_schemas};
use crate::reference::{SchemaRef, resolve};
use crate::rename::renamed;
use crate::types::{has_name, names, types};
use serde_json::Value;
use similar::{folded, only_alike};
use std::borrow::Cow;
use std::ptr;

mod similar;

/// Coerces near misses inside `value`, and returns whether anything changed.
///
/// A near miss is an invalid value with an obvious correction:
///
/// - `5.0` becomes `5` where the schema accepts only integers.
/// - A string becomes the JSON value in its text, such as `5`, where the schema accepts no strings. `yes` and
///   `no` become booleans.
/// - A number becomes a string where the schema accepts strings, but no numbers.
/// - A string becomes the only allowed string that differs just by letter case, spaces, `-` or `_`. The same
///   holds for names of variants.
/// - The keys of a map with an enum as key type are corrected in the same way.
/// - Code fences around the JSON value in a string are ignored, as are unescaped control characters.
/// - An optional member is removed if it is `null` and its schema does not accept `null`.
/// - Repeated items are removed if the items must differ.
///
/// Values nested deeper than 127 levels stay unchanged.
///
/// ```
/// use serde_json::json;
///
/// let schema = json!({"properties": {"count": {"type": "integer"}, "unit": {"enum": ["c", "f"]}}});
/// let mut value = json!({"count": "5", "unit": null});
/// assert!(toolkit_schema::coerce(&schema, &mut value));
/// assert_eq!(value, json!({"count": 5}));
/// ```
pub fn coerce<'a>(schema: impl Into<SchemaRef<'a>>, value: &mut Value) -> bool {
    if nests_deeper(value, MAX_DEPTH) {
        return false;
    }
    let text = value.to_string();
    let SchemaRef { root, schema } = schema.into();
    let Ok(given) = Json::parse(&text) else { return false };
    let Some(coerced_text) = coerced(&Checks::foreign(root), schema, &given) else { return false };
    match coerced_text.parse::<Value>() {
        Ok(coerced) if coerced != *value => {
            *value = coerced;
            true
        }
        _ => false,
    }
}

/// Returns the JSON text of `value` with near misses coerced, or `None` if nothing changed.
///
/// Everything else keeps its original text, such as digits of numbers and repeated members.
pub(crate) fn coerced<'a>(checks: &Checks<'a>, schema: &'a Value, value: &Json<'_>) -> Option<String> {
    Coercion::new(checks, value).coerced(schema, value)
}

struct Coercion<'a, 'c> {
    checks: &'c Checks<'a>,
    root: &'a Value,
    /// The results for referenced schemas, by the schema and the position of the value.
    known: AddressMap<Option<String>>,
    /// The number of schemas that may still be applied.
    left: usize,
    /// The number of enclosing schemas.
    depth: usize,
}

impl<'a, 'c> Coercion<'a, 'c> {
    fn new(checks: &'c Checks<'a>, value: &Json<'_>) -> Self {
        Self { checks, root: checks.root, known: AddressMap::default(), left: budget(value), depth: 0 }
    }

    fn coerced(&mut self, schema: &'a Value, value: &Json<'_>) -> Option<String> {
        let target = resolve(self.root, schema).filter(|target| target.is_object())?;
        self.deeper(|this| this.by_target(schema, target, value))
    }

    /// Calls `coerce` one level deeper; every recursion passes here, so that both limits hold.
    fn deeper<T>(&mut self, coerce: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        if self.depth >= MAX_NESTED {
            self.left = 0;
            return None;
        }
        self.depth += 1;
        let coerced = coerce(self);
        self.depth -= 1;
        coerced
    }

    fn by_target(&mut self, schema: &'a Value, target: &'a Value, value: &Json<'_>) -> Option<String> {
        if ptr::eq(target, schema) {
            return self.by_parts(schema, value);
        }
        let key = (ptr::from_ref(target).addr(), value.text.as_ptr().addr());
        if let Some(known) = self.known.get(key) {
            return known.clone();
        }
        // A recursive schema that applies to the same value again changes nothing.
        self.known.insert(key, None);
        let coerced = self.by_parts(target, value);
        self.known.insert(key, coerced.clone());
        coerced
    }

    fn by_parts(&mut self, schema: &'a Value, value: &Json<'_>) -> Option<String> {
        let all_of = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
        let own = ["anyOf", "oneOf", ""].map(|keyword| (keyword, schema));
        let mut coerced: Option<String> = None;
        for (keyword, part) in all_of.map(|part| ("allOf", part)).chain(own) {
            let next = match &coerced {
                None => self.by_keyword(keyword, part, value),
                Some(text) => self.again(text, |this, value| this.by_keyword(keyword, part, value)),
            };
            coerced = next.or(coerced);
        }
        coerced
    }

    /// Parses the result of an earlier coercion, and passes it to `coerce`.
    ///
    /// The cache is empty meanwhile, because its keys are positions in the original text.
    fn again<T>(&mut self, text: &str, coerce: impl FnOnce(&mut Self, &Json<'_>) -> Option<T>) -> Option<T> {
        let value = Json::parse(text).ok()?;
        let known = std::mem::take(&mut self.known);
        let coerced = self.deeper(|this| coerce(this, &value));
        self.known = known;
        coerced
    }

    /// Coerces a value to one keyword with schemas, or to all keywords without.
    fn by_keyword(&mut self, keyword: &str, schema: &'a Value, value: &Json<'_>) -> Option<String> {
        match (keyword, &value.kind) {
            ("allOf", _) => self.coerced(schema, value),
            ("anyOf" | "oneOf", _) => self.by_branch(schema, schema.get(keyword)?.as_array()?, value),
            (_, Kind::Array(items)) => self.items(schema, items),
            (_, Kind::Object(members)) => self.members(schema, members),
            _ => self.scalar(schema, value),
        }
    }

    fn fits(&mut self, schema: &'a Value, value: &Json<'_>) -> bool {
        self.checks.fits(schema, value, &mut self.left, self.depth)
    }

    /// Coerces a value to the first branch of a union that then accepts it. Returns `None` if the value
    /// already fits one.
    ///
    /// If none accepts it, returns the change if only one branch made any.
    fn by_branch(&mut self, schema: &'a Value, branches: &'a [Value], value: &Json<'_>) -> Option<String> {
        let mut candidates = self.candidates(branches, value);
        if let [only] = candidates.as_slice() {
            return self.coerced(only, value);
        }
        if candidates.is_empty() {
            if let Some(renamed) = self.with_name_of_variant(branches, value) {
                return self
                    .again(&renamed, |this, value| or_same(this.by_branch(schema, branches, value), value));
            }
            // The tag may be a near miss.
            candidates.extend(branches);
        }
        if self.fits_any(schema, &candidates, value) {
            return None;
        }
        let mut partly = Vec::new();
        for branch in candidates {
            let Some(text) = self.coerced(branch, value) else { continue };
            if self.text_fits(branch, &text) {
                return Some(text);
            }
            partly.push(text);
        }
        // The violations of the only branch that changed the value explain the remaining mistakes.
        if partly.len() == 1 { partly.pop() } else { None }
    }

    fn candidates(&self, branches: &'a [Value], value: &Json<'_>) -> Vec<&'a Value> {
        let choice = discriminator(self.root, branches);
        let mut candidates = candidates(self.root, branches, choice.as_ref(), value);
        candidates.retain(|branch| !lacks_required(self.root, branch, value));
        candidates
    }

    /// Returns whether a value fits one of `branches`, none of which refers to `schema` itself.
    fn fits_any(&mut self, schema: &Value, branches: &[&'a Value], value: &Json<'_>) -> bool {
        for branch in branches {
            if resolve(self.root, branch).is_some_and(|target| ptr::eq(target, schema)) {
                return false;
            }
        }
        branches.iter().any(|branch| self.fits(branch, value))
    }

    fn text_fits(&mut self, schema: &'a Value, text: &str) -> bool {
        Json::parse(text).is_ok_and(|value| self.fits(schema, &value))
    }

    fn items(&mut self, schema: &'a Value, items: &[Json<'_>]) -> Option<String> {
        let is_set = schema.get("uniqueItems") == Some(&Value::Bool(true));
        let mut changed = false;
        let mut given = Names::default();
        let mut written = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let coerced = item_schema(schema, index).and_then(|schema| self.coerced(schema, item));
            changed |= coerced.is_some();
            let text = coerced.map_or(Cow::Borrowed(item.text), Cow::Owned);
            if is_set && !given.add(canonical_json(&text).unwrap_or_default().into()) {
                changed = true;
                continue;
            }
            written.push(text);
        }
        if changed { Some(format!("[{}]", written.join(","))) } else { None }
    }

    /// An optional `null` is removed if its schema refuses it. Some providers force the model to send every
    /// member, so that it sends `null` for omitted ones.
    fn members(&mut self, schema: &'a Value, members: &[(Cow<'_, str>, Json<'_>)]) -> Option<String> {
        // Names of arguments are never keys of a map.
        let new_names = if ptr::eq(schema, self.root) {
            vec![None; members.len()]
        } else {
            self.with_names_of_map(schema, members)
        };
        let mut changed = new_names.iter().any(Option::is_some);
        let mut written = Vec::with_capacity(members.len());
        for ((given, member), new_name) in members.iter().zip(new_names) {
            let name = new_name.as_deref().unwrap_or(given);
            let (named, other) = member_schemas(schema, name);
            if matches!(member.kind, Kind::Null)
                && named.iter().any(|property| !self.fits(property, member))
                && !has_name(schema.get("required"), name)
                && !is_repeated(members, name)
            {
                changed = true;
                continue;
            }
            let coerced = named.into_iter().chain(other).find_map(|schema| self.coerced(schema, member));
            changed |= coerced.is_some();
            written.push(format!("{}:{}", quoted(name), coerced.as_deref().unwrap_or(member.text)));
        }
        if changed { Some(format!("{{{}}}", written.join(","))) } else { None }
    }

    fn scalar(&mut self, schema: &'a Value, value: &Json<'_>) -> Option<String> {
        let words = allowed_words(schema);
        let names: Vec<&str> = types(schema.get("type")).collect();
        let takes_strings = names.contains(&"string") || names.is_empty() && words.is_some();
        match &value.kind {
            Kind::Number if names.contains(&"number") => None,
            Kind::Number if names.contains(&"integer") => {
                value.number()?.integer().filter(|integer| integer != value.text)
            }
            Kind::Number if takes_strings => Some(quoted(value.text)),
            Kind::String(text) if takes_strings => {
                let allowed = words?;
                if allowed.contains(&&**text) {
                    return None;
                }
                only_alike(text, allowed.into_iter()).map(quoted)
            }
            Kind::String(text) if !names.is_empty() => self.value_in_string(schema, &names, text),
            _ => None,
        }
    }

    /// Returns the JSON value in a string, if it has one of the types in `names`.
    fn value_in_string(&mut self, schema: &'a Value, names: &[&str], string: &str) -> Option<String> {
        let repaired = if Json::parse(string).is_err() { repair(string) } else { None };
        let plain = repaired.as_deref().unwrap_or(string).trim();
        let renamed = Json::parse(plain).ok().and_then(|value| renamed(self.checks, schema, &value));
        let text = renamed.as_deref().unwrap_or(plain);
        let coerced = self.again(text, |this, inner| or_same(this.by_parts(schema, inner), inner));
        if let Some(coerced) = coerced
            && is_of_one_type(&coerced, names)
        {
            return Some(coerced);
        }
        match folded(text).as_str() {
            "true" | "yes" if names.contains(&"boolean") => Some("true".to_owned()),
            "false" | "no" if names.contains(&"boolean") => Some("false".to_owned()),
            _ if names.contains(&"integer") => Decimal::parse(text)?.integer(),
            _ => None,
        }
    }
}

/// Returns the result of a coercion, or else the text of the value.
fn or_same(coerced: Option<String>, value: &Json<'_>) -> Option<String> {
    Some(coerced.unwrap_or_else(|| value.text.to_owned()))
}

/// Returns the values in `enum` or `const`, if all are strings.
fn allowed_words(schema: &Value) -> Option<Vec<&str>> {
    let values = match schema.get("enum").and_then(Value::as_array) {
        Some(values) => values.as_slice(),
        None => std::slice::from_ref(schema.get("const")?),
    };
    values.iter().map(Value::as_str).collect()
}

fn is_of_one_type(text: &str, names: &[&str]) -> bool {
    let Ok(value) = Json::parse(text) else { return false };
    names.iter().any(|name| value.is_of_type(name))
}

fn is_repeated(members: &[(Cow<'_, str>, Json<'_>)], name: &str) -> bool {
    members.iter().filter(|(given, _)| given == name).count() > 1
}

/// Returns whether an object lacks a required member, which coercion never adds.
fn lacks_required(root: &Value, branch: &Value, value: &Json<'_>) -> bool {
    let (Some(own), Some(_)) = (resolve(root, branch), value.members()) else { return false };
    names(own.get("required")).any(|required| value.get(required).is_none())
}

#[cfg(test)]
mod tests;
