//! Merging of two schemas into one schema with the constraints of both.

use super::node::{Entry, Form, Held, Named, Node, join_lines};
use crate::effective::canonical;
use crate::keyword::Keyword;
use crate::types::{includes, types};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ptr;
use std::rc::Rc;

/// Keywords that together affect the members of an object. For instance, the effect of `additionalProperties` depends
/// on `properties`. `REST` is the same group without `properties`.
pub(super) const OBJECT: &[&str] =
    &["properties", "patternProperties", "additionalProperties", "unevaluatedProperties"];
const REST: &[&str] = OBJECT.split_at(1).1;
/// Keywords that together affect the items of an array.
pub(super) const ARRAY: &[&str] = &["prefixItems", "items", "unevaluatedItems"];
/// All groups of keywords whose effects depend on each other.
const GROUPS: &[&[&str]] =
    &[OBJECT, ARRAY, &["if", "then", "else"], &["contains", "minContains", "maxContains"]];

/// Merges two schemas into one schema with the constraints of both. Constraints that cannot be merged are added to
/// `allOf`.
///
/// `left` is the number of schemas that may still be merged. Without this limit, many references could make a schema
/// exponentially large.
pub(super) fn merge<'a>(one: &Node<'a>, other: &Node<'a>, left: &mut usize) -> Node<'a> {
    if ptr::eq(one, other) || one.is_never() || other.form == Form::True {
        return one.clone();
    }
    if other.is_never() || (one.form == Form::True && one.entries.is_empty()) {
        return other.clone();
    }
    if one.entries.is_empty() {
        return Node { path: one.path.clone(), ..other.clone() };
    }
    let mut merged = one.clone();
    if *left == 0 {
        push_aside(&mut merged, other.clone());
        return merged;
    }
    *left -= 1;
    let mut aside = Node::new(&other.path, Form::Object);
    let clashing = GROUPS.iter().filter(|group| clash(group, one, other));
    let clashing: Vec<&str> = clashing.copied().flatten().copied().collect();
    for entry in &other.entries {
        let rest = if clashing.contains(&entry.keyword) {
            Some(entry.held.clone())
        } else {
            add(&mut merged, entry, left)
        };
        match rest {
            Some(Held::Schemas(more)) if entry.keyword == "allOf" => {
                let list = [merged.schemas("allOf"), &more].concat();
                merged.set("allOf", &entry.path, Held::Schemas(list));
            }
            Some(held) => aside.set(entry.keyword, &entry.path, held),
            None => {}
        }
        if merged.is_never() {
            return merged;
        }
    }
    if !aside.entries.is_empty() {
        push_aside(&mut merged, aside);
    }
    merged
}

fn push_aside<'a>(node: &mut Node<'a>, aside: Node<'a>) {
    let mut list = node.schemas("allOf").to_vec();
    let path = aside.path.clone();
    list.push(Rc::new(aside));
    node.set("allOf", &path, Held::Schemas(list));
}

/// Merges two schemas, even if one of them is an object that forbids properties of the other.
///
/// An object with `additionalProperties: false` then allows the other schema's properties, too. The returned boolean is
/// `true` if such a change was needed.
pub(super) fn merge_open<'a>(one: &Node<'a>, other: &Node<'a>, left: &mut usize) -> (Node<'a>, bool) {
    if !clash(OBJECT, one, other) {
        return (merge(one, other, left), false);
    }
    let mut first = one.clone();
    let mut second = other.clone();
    let mut rest = Vec::new();
    for node in [&mut first, &mut second] {
        rest.extend(REST.iter().filter_map(|keyword| node.take(keyword)));
    }
    let mut merged = merge(&first, &second, left);
    for entry in rest {
        if !merged.has(entry.keyword) {
            merged.entries.push(entry);
        }
    }
    (merged, true)
}

/// Returns whether a merge would change the effect of the keywords in `group`.
fn clash(group: &[&str], one: &Node<'_>, other: &Node<'_>) -> bool {
    let has_any = |node: &Node<'_>| group.iter().any(|keyword| node.has(keyword));
    if !has_any(one) || !has_any(other) {
        return false;
    }
    match group {
        ["properties", ..] => constrains_foreign(one, other) || constrains_foreign(other, one),
        // `items` without the other keywords of its group can be merged.
        _ => group.iter().any(|keyword| *keyword != "items" && (one.has(keyword) || other.has(keyword))),
    }
}

/// Returns whether a merge would apply `additionalProperties` or another `REST` keyword of `one` to members that only
/// `other` describes.
fn constrains_foreign(one: &Node<'_>, other: &Node<'_>) -> bool {
    let constrains = |keyword: &&str| match one.schema(keyword) {
        Some(rest) => rest.form == Form::False || !rest.entries.is_empty(),
        None => one.has(keyword),
    };
    let has_foreign = || other.named("properties").iter().any(|(name, _)| one.property(name).is_none());
    let has_rest = || REST.iter().any(|keyword| other.has(keyword));
    let only_closed = |node: &Node<'_>| {
        node.is_closed() && !node.has("patternProperties") && !node.has("unevaluatedProperties")
    };
    let same_rest = || {
        let same_count = one.named("properties").len() == other.named("properties").len();
        only_closed(one) && only_closed(other) && same_count
    };
    REST.iter().any(constrains) && (has_foreign() || (has_rest() && !same_rest()))
}

/// Adds the keyword in `entry` to `node`, and merges the values if `node` already has the keyword.
///
/// Returns the value in `entry` if the two values cannot be merged, otherwise `None`.
fn add<'a>(node: &mut Node<'a>, entry: &Entry<'a>, left: &mut usize) -> Option<Held<'a>> {
    let Some(own) = node.entries.iter_mut().find(|own| own.keyword == entry.keyword) else {
        node.entries.push(entry.clone());
        return None;
    };
    match (entry.keyword, &own.held, &entry.held) {
        ("properties", Held::Named(own_schemas), Held::Named(others)) => {
            let merged = merge_named(own_schemas, others, left);
            own.held = Held::Named(Rc::new(merged));
        }
        ("items" | "additionalProperties" | "propertyNames", Held::Schema(one), Held::Schema(other)) => {
            own.held = Held::Schema(Rc::new(merge(one, other, left)));
        }
        (_, Held::Value(one), Held::Value(other)) if one == other => {}
        ("description", Held::Value(one), Held::Value(other)) => {
            let description = join_lines(one.as_str(), other.as_str().unwrap_or_default());
            own.held = Held::Value(Cow::Owned(description.into()));
        }
        (keyword, ..) if Keyword::is_annotation(keyword) => {}
        (keyword, Held::Value(one), Held::Value(other)) => match merge_values(keyword, one, other) {
            Some(Value::Null) => {
                node.form = Form::False;
                node.entries.clear();
            }
            Some(merged) => own.held = Held::Value(Cow::Owned(merged)),
            None => return Some(entry.held.clone()),
        },
        (_, Held::Reference(own), Held::Reference(other)) if own == other => {}
        _ => return Some(entry.held.clone()),
    }
    None
}

fn merge_named<'a>(own: &Named<'a>, others: &Named<'a>, left: &mut usize) -> Named<'a> {
    let mut merged = own.clone();
    let places: HashMap<&str, usize> = own.iter().enumerate().map(|(at, (name, _))| (*name, at)).collect();
    for (name, other) in others {
        match places.get(name).and_then(|place| merged.get_mut(*place)) {
            Some((_, own)) => *own = Rc::new(merge(own, other, left)),
            None => merged.push((name, other.clone())),
        }
    }
    merged
}

/// Merges two different values of a keyword into one value with the effect of both.
///
/// Returns `Value::Null` if no value can satisfy both constraints. Returns `None` if the two values cannot be merged.
fn merge_values(keyword: &str, one: &Value, other: &Value) -> Option<Value> {
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    let pick = |is_other: bool| Some(if is_other { other.clone() } else { one.clone() });
    let any_of = |values: Vec<Value>| Some(if values.is_empty() { Value::Null } else { values.into() });
    match keyword {
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
            pick(number(other) > number(one))
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            pick(number(other) < number(one))
        }
        "uniqueItems" => pick(other == &Value::Bool(true)),
        "required" => {
            let own: HashSet<Option<&str>> = one.as_array()?.iter().map(Value::as_str).collect();
            let new = other.as_array()?.iter().filter(|name| !own.contains(&name.as_str()));
            Some(one.as_array()?.iter().chain(new).cloned().collect())
        }
        "enum" => {
            let others: HashSet<String> = other.as_array()?.iter().map(canonical).collect();
            any_of(one.as_array()?.iter().filter(|own| others.contains(&canonical(own))).cloned().collect())
        }
        "type" => match common_types(one, other).as_slice() {
            [only] => Some((*only).into()),
            common => any_of(common.iter().copied().map(Value::from).collect()),
        },
        "const" => Some(Value::Null),
        _ => None,
    }
}

/// Returns the types that both values of the keyword `type` allow. An `integer` is also a `number`.
fn common_types<'a>(one: &'a Value, other: &'a Value) -> Vec<&'a str> {
    let one = types(Some(one));
    let other = types(Some(other));
    let own = one.clone().filter(|name| other.clone().any(|wide| includes(wide, name)));
    let mut common: Vec<&str> = own.collect();
    let others: Vec<&str> = other.filter(|name| one.clone().any(|wide| includes(wide, name))).collect();
    common.extend(others);
    let mut seen = HashSet::new();
    common.retain(|name| seen.insert(*name));
    common
}
