//! Merging of schemas for one value.

use super::node::{Entry, Held, Named, Node, join_lines};
use crate::keyword::Keyword;
use crate::types::{has_type, includes, types};
use serde_json::Value;
use std::borrow::Cow;
use std::rc::Rc;

/// Keywords that together affect an object's members, as `properties` changes `additionalProperties`. `REST`
/// lacks `properties`.
pub(super) const OBJECT: &[&str] =
    &["properties", "patternProperties", "additionalProperties", "unevaluatedProperties"];
const REST: &[&str] = OBJECT.split_at(1).1;
/// Keywords that together affect an array's items.
pub(super) const ARRAY: &[&str] = &["prefixItems", "items", "unevaluatedItems"];
const GROUPS: &[&[&str]] =
    &[OBJECT, ARRAY, &["if", "then", "else"], &["contains", "minContains", "maxContains"]];

impl<'a> Node<'a> {
    /// Adds the constraints of another schema for the same value. Properties are united, and a constraint
    /// that both have goes into `allOf`.
    pub(super) fn merge(&mut self, other: &Self) {
        if self.is_never {
            return;
        }
        if other.is_never || self.has_other_type(other) {
            self.is_never = true;
            self.entries.clear();
            return;
        }
        let mut clashing = Vec::new();
        for group in GROUPS {
            if clash(group, self, other) {
                clashing.extend_from_slice(group);
            }
        }
        let mut apart = Self::new(&other.path);
        for entry in &other.entries {
            match &entry.held {
                Held::Schemas(parts) if entry.keyword == "allOf" => {
                    for part in parts {
                        self.add_part(part.clone());
                    }
                }
                _ if clashing.contains(&entry.keyword) || !self.add(entry) => {
                    apart.entries.push(entry.clone());
                }
                _ => {}
            }
        }
        if !apart.entries.is_empty() {
            self.add_part(Rc::new(apart));
        }
    }

    fn add_part(&mut self, part: Rc<Self>) {
        let own = self.entries.iter_mut().find(|entry| entry.keyword == "allOf");
        if let Some(Entry { held: Held::Schemas(parts), .. }) = own {
            parts.push(part);
        } else {
            let path = part.path.clone();
            self.set("allOf", &path, Held::Schemas(vec![part]));
        }
    }

    /// Adds a keyword, and returns `false` if it cannot be merged with an existing one.
    fn add(&mut self, entry: &Entry<'a>) -> bool {
        let Some(own) = self.entries.iter_mut().find(|own| own.keyword == entry.keyword) else {
            self.entries.push(entry.clone());
            return true;
        };
        match (entry.keyword, &mut own.held, &entry.held) {
            ("properties", Held::Named(own), Held::Named(others)) => unite(Rc::make_mut(own), others),
            (_, Held::Reference(own), Held::Reference(other)) => return own == other,
            (_, Held::Value(own), Held::Value(other)) if own == other => {}
            ("required", Held::Value(own), Held::Value(other)) => {
                if let (Value::Array(names), Value::Array(others)) = (own.to_mut(), &**other) {
                    let new: Vec<&Value> = others.iter().filter(|name| !names.contains(name)).collect();
                    names.extend(new.into_iter().cloned());
                }
            }
            ("type", Held::Value(own), Held::Value(other)) => {
                *own = Cow::Owned(match common_types(own, other).as_slice() {
                    [only] => (*only).into(),
                    common => common.into(),
                });
            }
            ("description", Held::Value(own), Held::Value(other)) => {
                let description = join_lines(own.as_str(), other.as_str().unwrap_or_default());
                *own = Cow::Owned(description.into());
            }
            (keyword, ..) => return Keyword::is_annotation(keyword),
        }
        true
    }

    fn has_other_type(&self, other: &Self) -> bool {
        match (self.value("type"), other.value("type")) {
            (Some(own), Some(others)) => common_types(own, others).is_empty(),
            _ => false,
        }
    }
}

/// Adds another object's properties; one in both has to satisfy both.
fn unite<'a>(own: &mut Named<'a>, others: &Named<'a>) {
    for (name, other) in others {
        match own.iter_mut().find(|(known, _)| known == name) {
            Some((_, own)) if Rc::ptr_eq(own, other) => {}
            // Objects are merged when written, because there may be exponentially many below.
            Some((_, own)) if own.has("properties") && other.has("properties") => {
                Rc::make_mut(own).add_part(other.clone());
            }
            Some((_, own)) => Rc::make_mut(own).merge(other),
            None => own.push((name, other.clone())),
        }
    }
}

/// Returns whether a merge would change the effect of the keywords in `group`.
fn clash(group: &[&str], one: &Node<'_>, other: &Node<'_>) -> bool {
    one.has_any(group)
        && other.has_any(group)
        && (group != OBJECT || closes(one, other) || closes(other, one))
}

/// Returns whether `one` constrains unnamed members, which `other` may name or constrain.
fn closes(one: &Node<'_>, other: &Node<'_>) -> bool {
    REST.iter().any(|keyword| constrains(one, keyword))
        && (other.has_any(REST)
            || other.named("properties").iter().any(|(name, _)| one.property(name).is_none()))
}

/// Returns whether a keyword holds more than a schema for which every value is valid.
fn constrains(node: &Node<'_>, keyword: &str) -> bool {
    match node.schema(keyword) {
        Some(rest) => rest.is_never || !rest.entries.is_empty(),
        None => node.has(keyword),
    }
}

/// Returns the types in both values of `type`; an `integer` is also a `number`.
fn common_types<'v>(one: &'v Value, other: &'v Value) -> Vec<&'v str> {
    let mut common = Vec::new();
    for name in types(Some(one)) {
        if types(Some(other)).any(|wide| includes(wide, name)) {
            common.push(name);
        }
    }
    for name in types(Some(other)) {
        if types(Some(one)).any(|wide| includes(wide, name)) && !has_type(Some(one), name) {
            common.push(name);
        }
    }
    common
}
