//! One schema that demands what two demand.

use super::node::{Form, Keyword, Named, Node, Part, allows, join_lines};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Keywords of objects that are read together.
const OBJECT: &[&str] = &["properties", "patternProperties", "additionalProperties", "unevaluatedProperties"];
/// Keywords of arrays that are read together.
const ARRAY: &[&str] = &["prefixItems", "items", "unevaluatedItems"];
/// Keywords that are read together with a condition, or with a count.
const TOGETHER: &[&[&str]] =
    &[OBJECT, ARRAY, &["if", "then", "else"], &["contains", "minContains", "maxContains"]];

/// What both demand. Demands that cannot be written as one stay side by side in `allOf`.
///
/// `left` counts the schemas that may still be merged: schemas under many references hold
/// exponentially many.
pub(super) fn both<'a>(one: &Rc<Node<'a>>, other: &Rc<Node<'a>>, left: &mut usize) -> Node<'a> {
    if Rc::ptr_eq(one, other) || one.is_never() || other.form == Form::True {
        return (**one).clone();
    }
    if other.is_never() || (one.form == Form::True && one.keywords.is_empty()) {
        return (**other).clone();
    }
    if one.keywords.is_empty() {
        return Node { path: one.path.clone(), ..(**other).clone() };
    }
    let mut merged = (**one).clone();
    if *left == 0 {
        push_aside(&mut merged, (**other).clone());
        return merged;
    }
    *left -= 1;
    let mut aside = Node::new(&other.path, Form::Object);
    let apart: Vec<&str> =
        TOGETHER.iter().filter(|group| clash(group, one, other)).copied().flatten().copied().collect();
    for keyword in &other.keywords {
        let rest = if apart.contains(&keyword.name) {
            Some(keyword.part.clone())
        } else {
            add(&mut merged, keyword, left)
        };
        match rest {
            Some(Part::List(more)) if keyword.name == "allOf" => {
                let mut list = merged.list("allOf").to_vec();
                list.extend(more);
                merged.set("allOf", &keyword.path, Part::List(list));
            }
            Some(part) => aside.set(keyword.name, &keyword.path, part),
            None => {}
        }
        if merged.is_never() {
            return merged;
        }
    }
    if !aside.keywords.is_empty() {
        push_aside(&mut merged, aside);
    }
    merged
}

fn push_aside<'a>(node: &mut Node<'a>, aside: Node<'a>) {
    let (mut list, path) = (node.list("allOf").to_vec(), aside.path.clone());
    list.push(Rc::new(aside));
    node.set("allOf", &path, Part::List(list));
}

/// What both demand, where objects that are closed to each other's properties are opened to them.
/// Returns whether that was so.
pub(super) fn open_both<'a>(one: &Rc<Node<'a>>, other: &Rc<Node<'a>>, left: &mut usize) -> (Node<'a>, bool) {
    if !clash(OBJECT, one, other) {
        return (both(one, other, left), false);
    }
    let (mut first, mut second) = ((**one).clone(), (**other).clone());
    let mut others = Vec::new();
    for node in [&mut first, &mut second] {
        others.extend(OBJECT.iter().skip(1).filter_map(|name| node.take(name)));
    }
    let mut merged = both(&Rc::new(first), &Rc::new(second), left);
    for keyword in others {
        if !merged.has(keyword.name) {
            merged.keywords.push(keyword);
        }
    }
    (merged, true)
}

/// Whether keywords that are read together stand in both and would mean something else as one.
fn clash(group: &[&str], one: &Node<'_>, other: &Node<'_>) -> bool {
    if !group.iter().any(|name| one.has(name)) || !group.iter().any(|name| other.has(name)) {
        return false;
    }
    if group.first() != Some(&"properties") {
        let same_one = group.iter().all(|name| *name == "items" || !one.has(name) && !other.has(name));
        return !same_one;
    }
    names_left_to(one, other) || names_left_to(other, one)
}

/// Whether `one` says something of properties that only `other` names.
fn names_left_to(one: &Node<'_>, other: &Node<'_>) -> bool {
    let speaks = |name: &&str| match one.one(name) {
        Some(rest) => rest.form != Form::True && !(rest.form == Form::Object && rest.keywords.is_empty()),
        None => one.has(name),
    };
    if !OBJECT.iter().skip(1).any(speaks) {
        return false;
    }
    let own = one.named("properties");
    let has_others =
        other.named("properties").iter().any(|(name, _)| !own.iter().any(|(own, _)| own == name));
    let has_rest = OBJECT.iter().skip(1).any(|name| other.has(name));
    has_others || (has_rest && !same_rest(one, other))
}

/// Whether both are closed to all but the same properties.
fn same_rest(one: &Node<'_>, other: &Node<'_>) -> bool {
    let closed = |node: &Node<'_>| {
        node.one("additionalProperties").is_some_and(|rest| rest.is_never())
            && !node.has("patternProperties")
            && !node.has("unevaluatedProperties")
    };
    let (own, others) = (one.named("properties"), other.named("properties"));
    closed(one) && closed(other) && own.len() == others.len() && {
        let names: Vec<&str> = own.iter().map(|(name, _)| *name).collect();
        others.iter().all(|(name, _)| names.contains(name))
    }
}

/// Adds a demand; gives back what cannot be said together with what is there.
fn add<'a>(node: &mut Node<'a>, keyword: &Keyword<'a>, left: &mut usize) -> Option<Part<'a>> {
    let Some(own) = node.keywords.iter_mut().find(|own| own.name == keyword.name) else {
        node.keywords.push(keyword.clone());
        return None;
    };
    match (keyword.name, &own.part, &keyword.part) {
        ("properties", Part::Named(own_schemas), Part::Named(others)) => {
            let merged = merge_named(own_schemas, others, left);
            own.part = Part::Named(Rc::new(merged));
        }
        ("items" | "additionalProperties" | "propertyNames", Part::One(own_schema), Part::One(other)) => {
            let merged = both(own_schema, other, left);
            own.part = Part::One(Rc::new(merged));
        }
        (name, Part::Value(own_value), Part::Value(value)) => match together(name, own_value, value) {
            Together::As(value) => own.part = Part::Value(Cow::Owned(value)),
            Together::Same => {}
            Together::Never => {
                node.form = Form::False;
                node.keywords.clear();
            }
            Together::Apart => return Some(keyword.part.clone()),
        },
        (_, Part::Ref(own), Part::Ref(other)) if own == other => {}
        _ => return Some(keyword.part.clone()),
    }
    None
}

fn merge_named<'a>(own: &Named<'a>, others: &Named<'a>, left: &mut usize) -> Named<'a> {
    let mut merged = own.clone();
    let places: HashMap<&str, usize> = own.iter().enumerate().map(|(at, (name, _))| (*name, at)).collect();
    for (name, other) in others {
        match places.get(name).and_then(|place| merged.get_mut(*place)) {
            Some((_, own)) => *own = Rc::new(both(own, other, left)),
            None => merged.push((name, other.clone())),
        }
    }
    merged
}

enum Together {
    As(Value),
    Same,
    Never,
    Apart,
}

fn together(keyword: &str, one: &Value, other: &Value) -> Together {
    if one == other {
        return Together::Same;
    }
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    let pick = |other_is_it: bool| if other_is_it { Together::As(other.clone()) } else { Together::Same };
    match keyword {
        "description" => Together::As(join_lines(one.as_str(), other.as_str().unwrap_or_default()).into()),
        "title" | "default" | "examples" | "example" | "deprecated" | "readOnly" | "writeOnly" => {
            Together::Same
        }
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
            pick(number(other) > number(one))
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
            pick(number(other) < number(one))
        }
        "uniqueItems" => pick(other == &Value::Bool(true)),
        "required" => Together::As(union(one, other)),
        "enum" => either(common(one, other, |one, other| one == other)),
        "type" => match common_kinds(one, other).as_slice() {
            [only] => Together::As(only.clone()),
            common => either(common.to_vec()),
        },
        "const" => Together::Never,
        _ => Together::Apart,
    }
}

fn either(left: Vec<Value>) -> Together {
    if left.is_empty() { Together::Never } else { Together::As(Value::Array(left)) }
}

fn union(one: &Value, other: &Value) -> Value {
    let mut all = one.as_array().cloned().unwrap_or_default();
    let own: HashSet<&str> = one.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let others = other.as_array().into_iter().flatten();
    let new = others.filter(|name| name.as_str().is_none_or(|name| !own.contains(name)));
    all.extend(new.cloned());
    all.into()
}

fn common(one: &Value, other: &Value, same: impl Fn(&Value, &Value) -> bool) -> Vec<Value> {
    let others = other.as_array().map(Vec::as_slice).unwrap_or_default();
    let own = one.as_array().into_iter().flatten();
    own.filter(|own| others.iter().any(|other| same(own, other))).cloned().collect()
}

/// The kinds that both allow; the integers are among the numbers.
fn common_kinds(one: &Value, other: &Value) -> Vec<Value> {
    let (one, other) = (super::node::kinds(one), super::node::kinds(other));
    let mut common: Vec<&str> = Vec::new();
    for (kinds, against) in [(&one, &other), (&other, &one)] {
        for kind in kinds {
            if !common.contains(kind) && against.iter().any(|wide| allows(wide, kind)) {
                common.push(kind);
            }
        }
    }
    common.into_iter().map(Value::from).collect()
}
