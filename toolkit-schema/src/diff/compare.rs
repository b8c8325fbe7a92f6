//! Compares two schemas keyword by keyword.

use super::SchemaChangeKind;
use super::SchemaChangeKind::{
    AddedOptional, AddedRequired, Altered, Described, Narrowed, NewlyRequired, NoLongerRequired, Removed,
    TypeChanged, Widened,
};
use crate::bounds::compare as compare_numbers;
use crate::effective::{Keywords, allowed_values, effective, without};
use crate::keyword::{Keyword, held, subschemas};
use crate::reference::{SchemaRef, escape, target};
use crate::types::{includes, names, types};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashSet;

mod branches;

/// The keywords that set lower bounds (`LEAST`) and upper bounds (`MOST`). A greater lower bound accepts fewer values,
/// and so does a smaller upper bound.
const LEAST: [&str; 5] = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
const MOST: [&str; 5] = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];

/// Keywords for all members or items that no other keyword covers.
const UNEVALUATED: &[&str] = &["unevaluatedProperties", "unevaluatedItems"];

/// Keywords that `others` skips, because another method compares them or they have no effect alone.
const SHORT: [&str; 11] =
    ["type", "enum", "const", "items", "anyOf", "oneOf", "allOf", "$defs", "$schema", "$id", "$anchor"];
const LONG: [&str; 5] = ["properties", "required", "additionalProperties", "prefixItems", "definitions"];

/// Keywords whose addition or removal may allow more values or fewer values.
const CONDITIONS: [&str; 5] = ["contains", "minContains", "maxContains", "patternProperties", "not"];
const IF: [&str; 3] = ["if", "then", "else"];

/// The maximum number of nested schemas that are compared, those behind references included.
const DEEPEST: usize = 128;

/// The work for any two schemas, in schemas to compare and bytes to copy. `STEPS_PER_BYTE` more are allowed for each byte
/// of the two schemas.
const STEPS: usize = 1_000_000;
const STEPS_PER_BYTE: usize = 16;

/// One difference between two schemas.
pub(super) struct Difference {
    pub(super) path: String,
    pub(super) kind: SchemaChangeKind,
    pub(super) why: String,
}

/// Returns all differences. Changed and removed properties come in the order of the older schema, and added properties
/// come last.
pub(super) fn differences(old: &Value, new: &Value) -> Vec<Difference> {
    let left = STEPS + STEPS_PER_BYTE * (old.to_string().len() + new.to_string().len());
    let (path, seen, found) = ("#".to_owned(), HashSet::new(), Vec::new());
    let mut comparison = Comparison { old, new, path, seen, left, depth: 0, found };
    comparison.schemas(old, new);
    comparison.found
}

struct Comparison<'a> {
    /// The document in which references of the older schema are resolved.
    old: &'a Value,
    /// The document in which references of the newer schema are resolved.
    new: &'a Value,
    path: String,
    /// The pairs of schemas with references whose comparison has begun. Without this set, the comparison of recursive
    /// schemas would never end.
    seen: HashSet<(String, String)>,
    /// The work that may still be done.
    left: usize,
    /// The number of schemas around the current one.
    depth: usize,
    found: Vec<Difference>,
}

impl Comparison<'_> {
    fn add(&mut self, kind: SchemaChangeKind, why: impl Into<String>) {
        self.found.push(Difference { path: self.path.clone(), kind, why: why.into() });
    }

    /// Calls `compare` for an inner schema. `tokens` is the path from the current schema to the inner schema.
    fn below(&mut self, tokens: &[&str], compare: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        for token in tokens {
            self.path.push('/');
            self.path.push_str(&escape(token));
        }
        compare(self);
        self.path.truncate(length);
    }

    /// Returns the old and the new constraint if both versions have one.
    ///
    /// If only one version has a constraint, reports it as added or removed, and returns `None`.
    fn both<T>(
        &mut self,
        old: Option<T>,
        new: Option<T>,
        came: impl FnOnce(T) -> String,
        went: impl FnOnce(T) -> String,
    ) -> Option<(T, T)> {
        match (old, new) {
            (Some(old), Some(new)) => return Some((old, new)),
            (None, Some(new)) => self.add(Narrowed, came(new)),
            (Some(old), None) => self.add(Widened, went(old)),
            (None, None) => {}
        }
        None
    }

    fn schemas(&mut self, old: &Value, new: &Value) {
        let refers = |schema: &Value| schema.get("$ref").is_some();
        if (refers(old) || refers(new)) && !self.seen.insert((old.to_string(), new.to_string())) {
            return;
        }
        if self.left == 0 || self.depth == DEEPEST {
            if old != new || !self.leads_to_the_same("items", old) {
                self.add(Altered, "too many schemas are nested or compared to tell what changed");
            }
            return;
        }
        self.left -= 1;
        self.depth += 1;
        let (old, new) = (effective(SchemaRef::new(self.old, old)), effective(SchemaRef::new(self.new, new)));
        for copied in [&old, &new].into_iter().flatten().filter(|keywords| matches!(keywords, Cow::Owned(_)))
        {
            let size = copied.iter().map(|(name, value)| name.len() + value.to_string().len());
            self.left = self.left.saturating_sub(size.sum());
        }
        match (old, new) {
            (Some(old), Some(new)) => self.keywords(&old, &new),
            (Some(_), None) => self.add(Narrowed, "no value is accepted any more"),
            (None, Some(_)) => self.add(Widened, "values are accepted now"),
            (None, None) => {}
        }
        self.depth -= 1;
    }

    fn keywords(&mut self, old: &Keywords, new: &Keywords) {
        let before = self.found.len();
        self.types(old, new);
        self.allowed_values(old, new);
        self.bounds(old, new);
        self.properties(old, new);
        self.other_properties(old, new);
        self.items(old, new);
        for keyword in ["anyOf", "oneOf", "allOf"] {
            self.branches(keyword, old, new);
        }
        self.others(old, new);
        let is_there = |keyword: &&&str| old.contains_key(**keyword) || new.contains_key(**keyword);
        if self.has_changed_since(before)
            && let Some(keyword) = UNEVALUATED.iter().find(is_there)
        {
            self.add(Altered, format!("what `{keyword}` leaves over changed"));
        }
    }

    /// Returns whether any difference at index `before` or later changes which values are accepted.
    fn has_changed_since(&self, before: usize) -> bool {
        self.found.iter().skip(before).any(|found| found.kind != Described)
    }

    fn types<'k>(&mut self, old: &'k Keywords, new: &'k Keywords) {
        let listed = |schema: &'k Keywords| {
            let mut names: Vec<&str> = types(schema.get("type")).collect();
            names.sort_unstable();
            (!names.is_empty()).then_some(names)
        };
        let came = |after: Vec<&str>| format!("the type must be {} now", after.join(" or "));
        let went = |before: Vec<&str>| format!("the type is no longer only {}", before.join(" or "));
        let Some((before, after)) = self.both(listed(old), listed(new), came, went) else { return };
        let covers = |names: &[&str], name| names.iter().any(|wide| includes(wide, name));
        let lost = before.iter().any(|name| !covers(&after, name));
        let gained = after.iter().any(|name| !covers(&before, name));
        let kind = match (lost, gained) {
            (true, true) => TypeChanged,
            (true, false) => Narrowed,
            (false, true) => Widened,
            (false, false) => return,
        };
        self.add(kind, format!("the type was {} and is {}", before.join(" or "), after.join(" or ")));
    }

    fn allowed_values(&mut self, old: &Keywords, new: &Keywords) {
        let list = |values: Vec<&Value>| {
            let list: Vec<String> = values.into_iter().map(ToString::to_string).collect();
            list.join(", ")
        };
        let came = |after| format!("only {} is allowed now", list(after));
        let went = |_| "the list of allowed values is gone".to_owned();
        let both = self.both(allowed_values(old), allowed_values(new), came, went);
        let Some((before, after)) = both else { return };
        let (lost, gained) = (without(&before, &after), without(&after, &before));
        if !lost.is_empty() {
            self.add(Narrowed, format!("no longer allowed: {}", list(lost)));
        }
        if !gained.is_empty() {
            self.add(Widened, format!("newly allowed: {}", list(gained)));
        }
    }

    fn bounds(&mut self, old: &Keywords, new: &Keywords) {
        for keyword in LEAST.iter().chain(&MOST) {
            // An absent minimum count is zero.
            let absent = (keyword.starts_with("min") && *keyword != "minimum").then(|| Value::from(0));
            let bound = |schema: &Keywords| schema.get(*keyword).or(absent.as_ref()).cloned();
            let came = |new| format!("`{keyword}` is {new} now");
            let went = |old| format!("`{keyword}` was {old} and is gone");
            let Some((old, new)) = self.both(bound(old), bound(new), came, went) else { continue };
            let kind = match compare_numbers(&new, &old) {
                Some(Ordering::Equal) => continue,
                Some(order) if order.is_gt() == LEAST.contains(keyword) => Narrowed,
                Some(_) => Widened,
                None if old == new => continue,
                None => Altered,
            };
            self.add(kind, format!("`{keyword}` was {old} and is {new}"));
        }
    }

    fn properties(&mut self, old: &Keywords, new: &Keywords) {
        let keys = |schema| members(schema).into_iter().flat_map(Map::keys);
        let property = |schema, name: &str| members(schema)?.get(name);
        let [required, newly_required]: [HashSet<&str>; 2] =
            [old, new].map(|schema| names(schema.get("required")).collect());
        let added = keys(new).filter(|name| property(old, name).is_none());
        for name in keys(old).chain(added) {
            self.below(&["properties", name], |this| match (property(old, name), property(new, name)) {
                (_, None) => this.add(Removed, "the property is gone"),
                (Some(before), Some(after)) => {
                    match (required.contains(&**name), newly_required.contains(&**name)) {
                        (false, true) => this.add(NewlyRequired, "the property must be there now"),
                        (true, false) => this.add(NoLongerRequired, "the property may be left out now"),
                        _ => {}
                    }
                    this.schemas(before, after);
                }
                (None, Some(after)) => {
                    if newly_required.contains(&**name) {
                        this.add(AddedRequired, "a property was added that must be there")
                    } else {
                        this.add(AddedOptional, "a property was added that may be left out")
                    }
                    // Before, the schema in `additionalProperties` applied to this property.
                    if let Some(earlier @ Value::Object(_)) = old.get("additionalProperties") {
                        this.schemas(earlier, after);
                    }
                }
            });
        }
        // Required names without a schema in either version.
        let is_bare = |name: &&str| property(old, name).is_none() && property(new, name).is_none();
        for (one, others, kind, why) in [
            (new, &required, NewlyRequired, "must be there now"),
            (old, &newly_required, NoLongerRequired, "may be left out now"),
        ] {
            for name in names(one.get("required")).filter(is_bare).filter(|name| !others.contains(name)) {
                self.add(kind, format!("the property `{name}` {why}"));
            }
        }
    }

    fn other_properties(&mut self, old: &Keywords, new: &Keywords) {
        let keyword = "additionalProperties";
        let (before, after) = (old.get(keyword), new.get(keyword));
        let forbids = |schema: Option<&Value>| schema == Some(&Value::Bool(false));
        match (forbids(before), forbids(after)) {
            (true, true) => {}
            (false, true) => self.add(Narrowed, "other properties are no longer accepted"),
            (true, false) => self.add(Widened, "other properties are accepted now"),
            (false, false) => self.optional(keyword, before, after),
        }
    }

    fn items(&mut self, old: &Keywords, new: &Keywords) {
        self.optional("items", old.get("items"), new.get("items"));
        match (old.get("prefixItems"), new.get("prefixItems")) {
            (Some(Value::Array(before)), Some(Value::Array(after))) if before.len() == after.len() => {
                for (index, (before, after)) in before.iter().zip(after).enumerate() {
                    self.branch("prefixItems", index, before, after);
                }
            }
            (before, after) if before != after => self.add(Altered, "the items of the tuple are others"),
            _ => {}
        }
    }

    /// Compares the old and the new schema of a keyword such as `items`. An absent keyword accepts every value.
    fn optional(&mut self, keyword: &str, old: Option<&Value>, new: Option<&Value>) {
        if old.is_some() || new.is_some() {
            let anything = Value::Bool(true);
            let (old, new) = (old.unwrap_or(&anything), new.unwrap_or(&anything));
            self.below(&[keyword], |this| this.schemas(old, new));
        }
    }

    /// Compares all keywords that no other method compares. It reports only whether a keyword was added, removed or
    /// changed.
    fn others(&mut self, old: &Keywords, new: &Keywords) {
        let added = new.keys().map(String::as_str).filter(|keyword| !old.contains_key(*keyword));
        let is_compared =
            |keyword: &str| [&LEAST[..], &MOST, &SHORT, &LONG].iter().any(|list| list.contains(&keyword));
        for keyword in old.keys().map(String::as_str).chain(added).filter(|keyword| !is_compared(keyword)) {
            let (before, after) = (old.get(keyword), new.get(keyword));
            if before == after {
                if before.is_some_and(|value| !self.leads_to_the_same(keyword, value)) {
                    self.add(Altered, format!("what `{keyword}` refers to changed"));
                }
                continue;
            }
            // A keyword without any effect counts as absent.
            let is_idle = |value: Option<&Value>| match value {
                None => true,
                Some(Value::Bool(value)) => *value != (keyword == "uniqueItems"),
                Some(Value::Object(members)) => members.is_empty(),
                Some(_) => false,
            };
            let is_annotation = Keyword::is_annotation(keyword);
            let kind = match (is_idle(before), is_idle(after)) {
                _ if is_annotation || keyword.starts_with("x-") => Described,
                _ if CONDITIONS.contains(&keyword) || IF.contains(&keyword) => Altered,
                (true, true) => continue,
                (true, false) => Narrowed,
                (false, true) => Widened,
                (false, false) => Altered,
            };
            let why = match (before, after) {
                (Some(Value::String(_)), Some(Value::String(_))) if is_annotation => {
                    format!("`{keyword}` changed")
                }
                (Some(before), Some(after)) => format!("`{keyword}` was {before} and is {after}"),
                (None, Some(after)) => format!("`{keyword}` is {after} now"),
                (_, None) => format!("`{keyword}` is gone"),
            };
            self.add(kind, why);
        }
    }

    /// Returns whether each reference inside `value` has equal target schemas in both documents.
    fn leads_to_the_same(&mut self, keyword: &str, value: &Value) -> bool {
        let mut seen = HashSet::new();
        let mut open: Vec<&Value> = held(keyword, value).into_iter().map(|inside| inside.schema).collect();
        while let Some(schema) = open.pop() {
            let Some(left) = self.left.checked_sub(1) else { return false };
            self.left = left;
            if let Some(reference) = schema.get("$ref").and_then(Value::as_str)
                && seen.insert(reference)
            {
                let (old, new) = (target(self.old, reference), target(self.new, reference));
                if old != new {
                    return false;
                }
                open.extend(old);
            }
            open.extend(subschemas(schema).map(|inside| inside.schema));
        }
        true
    }
}

/// Returns the properties of a schema.
fn members(schema: &Keywords) -> Option<&Keywords> {
    schema.get("properties")?.as_object()
}
