//! Walking through two schemas side by side.

use super::SchemaChangeKind;
use super::SchemaChangeKind::{
    AddedOptional, AddedRequired, Altered, Described, Narrowed, NewlyRequired, NoLongerRequired, Removed,
    TypeChanged, Widened,
};
use super::disjoint::are_disjoint;
use super::keywords::{
    NOTES, accepting, allowed, holds, is_required, kinds, leads_to_the_same, members, required, without,
};
use crate::describe::describe;
use crate::limits::compare as compare_numbers;
use serde_json::{Map, Value};
use std::cmp::Ordering;
use std::collections::HashSet;

/// Keywords that are looked at in ways of their own, or matter only where something refers to them.
const STRUCTURE: &[&str] = &[
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    "anyOf",
    "oneOf",
    "allOf",
    "$defs",
    "definitions",
    "$schema",
    "$id",
    "$anchor",
];

/// Lower bounds, with what holds where none is written.
const AT_LEAST: &[(&str, Option<u64>)] = &[
    ("minimum", None),
    ("exclusiveMinimum", None),
    ("minLength", Some(0)),
    ("minItems", Some(0)),
    ("minProperties", Some(0)),
];

/// Upper bounds.
const AT_MOST: &[&str] = &["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];

/// Keywords of which more or less cannot be told by their being there.
const CONDITIONS: &[&str] =
    &["not", "if", "then", "else", "contains", "minContains", "maxContains", "patternProperties"];

/// Keywords that look at what everything beside them says.
const UNEVALUATED: &[&str] = &["unevaluatedProperties", "unevaluatedItems"];

/// One difference.
pub(super) struct Found {
    pub(super) path: String,
    pub(super) kind: SchemaChangeKind,
    pub(super) why: String,
}

/// Every difference, in the order of the older schema.
pub(super) fn changes(old: &Value, new: &Value) -> Vec<Found> {
    let mut comparison =
        Comparison { old, new, path: "#".to_owned(), seen: HashSet::new(), found: Vec::new() };
    comparison.schemas(old, new);
    comparison.found
}

struct Comparison<'a> {
    /// Where references of the older schema lead.
    old: &'a Value,
    /// Where references of the newer schema lead.
    new: &'a Value,
    path: String,
    /// Pairs with a reference that were compared already, so that recursion ends.
    seen: HashSet<(String, String)>,
    found: Vec<Found>,
}

impl Comparison<'_> {
    fn add(&mut self, kind: SchemaChangeKind, why: impl Into<String>) {
        self.found.push(Found { path: self.path.clone(), kind, why: why.into() });
    }

    /// Does something one step further down.
    fn below(&mut self, steps: &[&str], work: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        for step in steps {
            self.path.push('/');
            self.path.push_str(&step.replace('~', "~0").replace('/', "~1"));
        }
        work(self);
        self.path.truncate(length);
    }

    fn schemas(&mut self, old: &Value, new: &Value) {
        let refers = |schema: &Value| schema.get("$ref").is_some();
        if (refers(old) || refers(new)) && !self.seen.insert((old.to_string(), new.to_string())) {
            return;
        }
        match (accepting(self.old, old), accepting(self.new, new)) {
            (Some(old), Some(new)) => self.keywords(&old, &new),
            (Some(_), None) => self.add(Narrowed, "no value is accepted any more"),
            (None, Some(_)) => self.add(Widened, "values are accepted now"),
            (None, None) => {}
        }
    }

    fn keywords(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        let found = self.found.len();
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
        let unevaluated = |keyword: &&&str| old.contains_key(**keyword) || new.contains_key(**keyword);
        if self.changed_since(found)
            && let Some(keyword) = UNEVALUATED.iter().find(unevaluated)
        {
            self.add(Altered, format!("what `{keyword}` leaves over changed"));
        }
    }

    /// Whether something that matters was found behind so many differences.
    fn changed_since(&self, found: usize) -> bool {
        self.found.get(found..).is_some_and(|new| new.iter().any(|found| found.kind != Described))
    }

    fn types(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        let (before, after) = (kinds(old), kinds(new));
        let lost = before.iter().any(|kind| !holds(&after, kind));
        let gained = after.iter().any(|kind| !holds(&before, kind));
        let words = |kinds: &[&str]| kinds.join(" or ");
        match (before.is_empty(), after.is_empty()) {
            (true, true) => {}
            (true, false) => self.add(Narrowed, format!("the type must be {} now", words(&after))),
            (false, true) => self.add(Widened, format!("the type is no longer only {}", words(&before))),
            (false, false) => {
                let why = || format!("the type was {} and is {}", words(&before), words(&after));
                match (lost, gained) {
                    (true, true) => self.add(TypeChanged, why()),
                    (true, false) => self.add(Narrowed, why()),
                    (false, true) => self.add(Widened, why()),
                    (false, false) => {}
                }
            }
        }
    }

    fn allowed_values(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        let words = |values: &[&Value]| {
            let words: Vec<String> = values.iter().map(ToString::to_string).collect();
            words.join(", ")
        };
        match (allowed(old), allowed(new)) {
            (None, None) => {}
            (None, Some(after)) => self.add(Narrowed, format!("only {} is allowed now", words(&after))),
            (Some(_), None) => self.add(Widened, "the list of allowed values is gone"),
            (Some(before), Some(after)) => {
                let lost = without(&before, &after);
                let gained = without(&after, &before);
                if !lost.is_empty() {
                    self.add(Narrowed, format!("no longer allowed: {}", words(&lost)));
                }
                if !gained.is_empty() {
                    self.add(Widened, format!("newly allowed: {}", words(&gained)));
                }
            }
        }
    }

    fn bounds(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        for (keyword, floor) in AT_LEAST {
            let floor = floor.map(Value::from);
            let bound = |schema: &Map<String, Value>| schema.get(*keyword).or(floor.as_ref()).cloned();
            self.bound(keyword, bound(old), bound(new), Ordering::Greater);
        }
        for keyword in AT_MOST {
            self.bound(keyword, old.get(*keyword).cloned(), new.get(*keyword).cloned(), Ordering::Less);
        }
    }

    /// `tighter` is how a bound that accepts fewer values compares with one that accepts more.
    fn bound(&mut self, keyword: &str, old: Option<Value>, new: Option<Value>, tighter: Ordering) {
        match (old, new) {
            (None, None) => {}
            (None, Some(new)) => self.add(Narrowed, format!("`{keyword}` is {new} now")),
            (Some(old), None) => self.add(Widened, format!("`{keyword}` was {old} and is gone")),
            (Some(old), Some(new)) => {
                let why = || format!("`{keyword}` was {old} and is {new}");
                match compare_numbers(&new, &old) {
                    Some(Ordering::Equal) => {}
                    Some(order) if order == tighter => self.add(Narrowed, why()),
                    Some(_) => self.add(Widened, why()),
                    None if old == new => {}
                    None => self.add(Altered, why()),
                }
            }
        }
    }

    fn properties(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        let nothing = Map::new();
        let known = |schema| members(schema, "properties").unwrap_or(&nothing);
        let (before, after) = (known(old), known(new));
        for (name, property) in before {
            self.below(&["properties", name], |this| match after.get(name) {
                None => this.add(Removed, "the property is gone"),
                Some(newer) => {
                    match (is_required(old, name), is_required(new, name)) {
                        (false, true) => this.add(NewlyRequired, "the property must be there now"),
                        (true, false) => this.add(NoLongerRequired, "the property may be left out now"),
                        _ => {}
                    }
                    this.schemas(property, newer);
                }
            });
        }
        for name in after.keys().filter(|name| !before.contains_key(*name)) {
            self.below(&["properties", name], |this| {
                if is_required(new, name) {
                    this.add(AddedRequired, "a property was added that must be there");
                } else {
                    this.add(AddedOptional, "a property was added that may be left out");
                }
                // What was described for all names was described for this one.
                if let (Some(earlier @ Value::Object(_)), Some(property)) =
                    (old.get("additionalProperties"), after.get(name))
                {
                    this.schemas(earlier, property);
                }
            });
        }
        // Names that are required without being described.
        let bare = |schema| {
            required(schema).filter(|name| !before.contains_key(*name) && !after.contains_key(*name))
        };
        for name in bare(new).filter(|name| !is_required(old, name)) {
            self.add(NewlyRequired, format!("the property `{name}` must be there now"));
        }
        for name in bare(old).filter(|name| !is_required(new, name)) {
            self.add(NoLongerRequired, format!("the property `{name}` may be left out now"));
        }
    }

    fn other_properties(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
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

    fn items(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        self.optional("items", old.get("items"), new.get("items"));
        match (old.get("prefixItems"), new.get("prefixItems")) {
            (Some(Value::Array(before)), Some(Value::Array(after))) if before.len() == after.len() => {
                for (index, (before, after)) in before.iter().zip(after).enumerate() {
                    let index = index.to_string();
                    self.below(&["prefixItems", &index], |this| this.schemas(before, after));
                }
            }
            (before, after) if before != after => self.add(Altered, "the items of the tuple are others"),
            _ => {}
        }
    }

    /// Compares what stands under a keyword; where it is not there, everything is accepted.
    fn optional(&mut self, keyword: &str, old: Option<&Value>, new: Option<&Value>) {
        if old.is_some() || new.is_some() {
            let anything = Value::Bool(true);
            let (old, new) = (old.unwrap_or(&anything), new.unwrap_or(&anything));
            self.below(&[keyword], |this| this.schemas(old, new));
        }
    }

    fn branches(&mut self, keyword: &str, old: &Map<String, Value>, new: &Map<String, Value>) {
        let list =
            |schema| Map::get(schema, keyword).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let (before, after) = (list(old), list(new));
        if before.is_empty() || after.is_empty() {
            // The keyword as a whole came or went.
            let all_of = keyword == "allOf";
            match (before.is_empty(), after.is_empty()) {
                (true, false) if all_of => self.add(Narrowed, "more is demanded (`allOf`)"),
                (false, true) if all_of => self.add(Widened, "less is demanded (`allOf`)"),
                (true, false) => {
                    self.add(Narrowed, format!("only some variants are accepted now (`{keyword}`)"));
                }
                (false, true) => self.add(Widened, format!("the list of variants is gone (`{keyword}`)")),
                _ => {}
            }
            return;
        }
        let found = self.found.len();
        self.paired_branches(keyword, before, after);
        let changed =
            self.found.get(found..).is_some_and(|new| new.iter().any(|found| found.kind != Described));
        if keyword == "oneOf" && changed && !(are_disjoint(self.old, before) && are_disjoint(self.new, after))
        {
            self.add(Altered, "a value may fit more than one variant (`oneOf`), or no longer");
        }
    }

    fn paired_branches(&mut self, keyword: &str, before: &[Value], after: &[Value]) {
        let mut rest: Vec<&Value> = after.iter().collect();
        let mut lost = Vec::new();
        for (index, branch) in before.iter().enumerate() {
            match rest.iter().position(|other| *other == branch) {
                // They look the same, but may refer to something that changed.
                Some(at) => self.branch(keyword, index, branch, rest.remove(at)),
                None => lost.push((index, branch)),
            }
        }
        if let ([(index, before)], [after]) = (lost.as_slice(), rest.as_slice()) {
            self.branch(keyword, *index, before, after);
            return;
        }
        let (fewer, more) = if keyword == "allOf" { (Widened, Narrowed) } else { (Narrowed, Widened) };
        let words =
            |root: &Value, branch: &Value| describe(root, branch).unwrap_or_else(|| branch.to_string());
        for (_, branch) in lost {
            let why = format!("gone from `{keyword}`: {}", words(self.old, branch));
            self.add(fewer, why);
        }
        for branch in rest {
            let why = format!("new in `{keyword}`: {}", words(self.new, branch));
            self.add(more, why);
        }
    }

    fn branch(&mut self, keyword: &str, index: usize, old: &Value, new: &Value) {
        let index = index.to_string();
        self.below(&[keyword, &index], |this| this.schemas(old, new));
    }

    /// Keywords that are only there or not, or are others.
    fn others(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        let is_bound =
            |keyword: &str| AT_LEAST.iter().any(|(known, _)| *known == keyword) || AT_MOST.contains(&keyword);
        let added = new.keys().filter(|keyword| !old.contains_key(*keyword));
        for keyword in old.keys().chain(added).map(String::as_str) {
            let (before, after) = (old.get(keyword), new.get(keyword));
            if STRUCTURE.contains(&keyword) || is_bound(keyword) {
                continue;
            }
            if before == after {
                if before.is_some_and(|value| !leads_to_the_same(self.old, self.new, value)) {
                    self.add(Altered, format!("what `{keyword}` refers to changed"));
                }
                continue;
            }
            let shown = |value: &Value| value.to_string();
            let why = match (before, after) {
                (Some(before), Some(after))
                    if NOTES.contains(&keyword) && before.is_string() && after.is_string() =>
                {
                    format!("`{keyword}` changed")
                }
                (Some(before), Some(after)) => {
                    format!("`{keyword}` was {} and is {}", shown(before), shown(after))
                }
                (None, Some(after)) => format!("`{keyword}` is {} now", shown(after)),
                (Some(_), None) | (None, None) => format!("`{keyword}` is gone"),
            };
            // What is as good as not being there.
            let says_nothing = |value: Option<&Value>| match value {
                None => true,
                Some(Value::Bool(value)) => *value != (keyword == "uniqueItems"),
                Some(Value::Object(members)) => members.is_empty(),
                Some(_) => false,
            };
            let kind = match (before, after) {
                _ if NOTES.contains(&keyword) || keyword.starts_with("x-") => Described,
                _ if CONDITIONS.contains(&keyword) => Altered,
                (before, after) if says_nothing(before) && says_nothing(after) => continue,
                (before, _) if says_nothing(before) => Narrowed,
                (_, after) if says_nothing(after) => Widened,
                _ => Altered,
            };
            self.add(kind, why);
        }
    }
}
