//! Writing what a value of each kind may be, in a provider's subset.

use super::keywords::speaks_of;
use super::node::{Form, Node, Part, allows, kind_of};
use super::rules::{Literals, Nulls};
use super::subset::{Subset, Written};
use super::unions::combine;
use super::words;
use serde_json::{Map, Value, json};
use std::rc::Rc;

/// Keywords that are written with the kind they speak of.
const WRITTEN: &[&str] = &[
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "unevaluatedProperties",
    "patternProperties",
    "items",
    "prefixItems",
    "unevaluatedItems",
];

impl<'a> Subset<'_, 'a> {
    /// A schema without references and unions.
    pub(super) fn kinds(&mut self, mut node: Node<'a>, depth: usize) -> Option<Written> {
        if let Some(written) = self.values(&mut node, depth) {
            return written;
        }
        let types: Vec<String> = match node.types() {
            Some(types) => types.into_iter().map(str::to_owned).collect(),
            None => self.guessed(&node),
        };
        let mut written = Vec::new();
        for kind in &types {
            if kind == "null" {
                written.push(Written { schema: None, nullable: true });
            } else if kind != "integer" || !types.iter().any(|other| other == "number") {
                written.push(self.of_kind(kind, &node, depth).into());
            }
        }
        combine(written)
    }

    /// The kinds of a schema that does not name them.
    fn guessed(&mut self, node: &Node<'a>) -> Vec<String> {
        let mut spoken: Vec<(&str, &str)> = Vec::new();
        for keyword in &node.keywords {
            let kind = match speaks_of(keyword.name) {
                Some([kind, ..]) => *kind,
                None if keyword.name == "format" => "string",
                _ => continue,
            };
            if !spoken.iter().any(|(known, _)| *known == kind) {
                spoken.push((kind, keyword.name));
            }
        }
        if let [(kind, keyword)] = spoken.as_slice() {
            self.losses.widen(
                &node.path,
                "type",
                format!("none is given; `{keyword}` speaks of type {kind}"),
            );
            return vec![(*kind).to_owned()];
        }
        let mut kinds = vec!["string", "number", "boolean"];
        if self.rules.nulls == Nulls::Flag {
            kinds.extend(["array", "object"]);
        }
        kinds.extend(
            spoken.iter().map(|(kind, _)| *kind).filter(|kind| *kind == "array" || *kind == "object"),
        );
        kinds.push("null");
        self.losses.narrow(
            &node.path,
            "type",
            "any value is allowed, which cannot be said; the simple kinds of values are listed",
        );
        let mut different: Vec<String> = Vec::new();
        for kind in kinds {
            if !different.iter().any(|known| known == kind) {
                different.push(kind.to_owned());
            }
        }
        different
    }

    /// A schema that lists its values; the outer `None` if it does not, or if they cannot be listed.
    fn values(&mut self, node: &mut Node<'a>, depth: usize) -> Option<Option<Written>> {
        let keyword = node.get("const").or_else(|| node.get("enum"))?;
        let (name, path) = (keyword.name, keyword.path.clone());
        let mut values: Vec<Value> = match node.value("const") {
            Some(value) => vec![value.clone()],
            None => node.value("enum")?.as_array()?.clone(),
        };
        if let (Some(among), "const") = (node.value("enum").and_then(Value::as_array), name) {
            values.retain(|value| among.contains(value));
        }
        if let Some(types) = node.types() {
            values.retain(|value| types.iter().any(|kind| allows(kind, kind_of(value))));
        }
        node.take("enum");
        node.take("const");
        let listed = |value: &Value| match self.rules.literals {
            Literals::Texts => value.is_string() || value.is_null(),
            Literals::Typed | Literals::Untyped => !value.is_object() && !value.is_array(),
        };
        if !values.iter().all(listed) {
            if !node.has("type") {
                let mut kinds: Vec<&str> = values.iter().map(kind_of).collect();
                kinds.dedup();
                node.set_value("type", &path, json!(kinds));
            }
            node.note(&words::sentence(
                &words::of_value("enum", &values.into()).into_iter().collect::<Vec<_>>(),
            ));
            self.losses.widen(
                &path,
                name,
                "the provider takes no such values there; the description lists them",
            );
            let note = node.take("description")?;
            let written = self.kinds(node.clone(), depth);
            return Some(written.map(|mut written| {
                if let (Some(schema), Part::Value(note)) = (&mut written.schema, note.part) {
                    schema.insert("description".to_owned(), note.into_owned());
                }
                written
            }));
        }
        let mut written = Vec::new();
        if values.iter().any(Value::is_null) {
            written.push(Written { schema: None, nullable: true });
        }
        if self.rules.literals == Literals::Untyped {
            values.retain(|value| !value.is_null());
            if !values.is_empty() {
                written.push(self.list(None, name, values, node).into());
            }
            return Some(combine(written));
        }
        for kind in ["string", "integer", "number", "boolean"] {
            let own: Vec<Value> = values.iter().filter(|value| kind_of(value) == kind).cloned().collect();
            if !own.is_empty() {
                written.push(self.list(Some(kind), name, own, node).into());
            }
        }
        Some(combine(written))
    }

    fn list(
        &mut self,
        kind: Option<&str>,
        name: &str,
        values: Vec<Value>,
        node: &Node<'a>,
    ) -> Map<String, Value> {
        let mut schema = Map::new();
        if let Some(kind) = kind {
            schema.insert("type".to_owned(), kind.into());
        }
        match (values.as_slice(), self.rules.literals) {
            ([only], Literals::Typed | Literals::Untyped) if name == "const" => {
                schema.insert("const".to_owned(), only.clone());
            }
            _ => {
                schema.insert("enum".to_owned(), values.into());
            }
        }
        // Whatever else is demanded of a value is demanded of the listed ones, whose author knows it.
        if let Some(format) = node.get("format")
            && let Part::Value(value) = &format.part
            && kind.is_some_and(|kind| self.rules.keeps(kind, "format", value))
        {
            schema.insert("format".to_owned(), value.clone().into_owned());
        }
        schema
    }

    /// The schema for values of one kind.
    fn of_kind(&mut self, kind: &str, node: &Node<'a>, depth: usize) -> Map<String, Value> {
        let mut schema = Map::new();
        let mut notes = Vec::new();
        schema.insert("type".to_owned(), kind.into());
        let mut node = node.clone();
        match kind {
            "object" => self.object(&node, depth, &mut schema, &mut notes),
            "array" => self.array(&mut node, depth, &mut schema, &mut notes),
            _ => {}
        }
        for keyword in &node.keywords {
            let is_about = match speaks_of(keyword.name) {
                Some(kinds) => kinds.contains(&kind),
                None => matches!(kind, "string" | "integer" | "number"),
            };
            if WRITTEN.contains(&keyword.name) || !is_about {
                continue;
            }
            let Part::Value(value) = &keyword.part else {
                self.move_to_words(keyword, &mut notes);
                continue;
            };
            match bound_of_integers(kind, keyword.name, value) {
                Some((bound, value))
                    if !self.rules.keeps(kind, keyword.name, &value)
                        && self.rules.keeps(kind, bound, &value) =>
                {
                    let tighter = |own: &Value| match bound {
                        "minimum" => own.as_i64() >= value.as_i64(),
                        _ => own.as_i64() <= value.as_i64(),
                    };
                    if !schema.get(bound).is_some_and(tighter) {
                        schema.insert(bound.to_owned(), value);
                    }
                }
                _ if self.rules.keeps(kind, keyword.name, value) => {
                    schema.entry(keyword.name).or_insert_with(|| value.clone().into_owned());
                }
                _ => self.move_to_words(keyword, &mut notes),
            }
        }
        if !notes.is_empty() {
            schema.insert("description".to_owned(), words::sentence(&notes).into());
        }
        schema
    }

    fn object(
        &mut self,
        node: &Node<'a>,
        depth: usize,
        schema: &mut Map<String, Value>,
        notes: &mut Vec<String>,
    ) {
        let required = node.required();
        let mut properties = Map::new();
        for (name, property) in node.named("properties") {
            let nullable = self.rules.all_required && !required.contains(name);
            match self.schema(property, depth + 1, nullable) {
                Some(property) => drop(properties.insert((*name).to_owned(), property)),
                None if required.contains(name) => {
                    self.losses.widen(&property.path, "type", "no value is valid for what is required");
                }
                None => {}
            }
        }
        self.others(node, depth == 0, properties.is_empty(), notes);
        let (mut known, unknown): (Vec<&str>, Vec<&str>) =
            required.into_iter().partition(|name| properties.contains_key(*name));
        if !unknown.is_empty() {
            notes.extend(words::of_value("required", &json!(unknown)));
            let reason = "it names what is no property; the description says it";
            match self.rules.closed {
                true => self.losses.narrow(&node.path, "required", reason),
                false => self.losses.widen(&node.path, "required", reason),
            }
        }
        if self.rules.all_required {
            known = properties.keys().map(String::as_str).collect();
        }
        let known = json!(known);
        // Gemini refuses an object with an empty list of properties.
        if self.rules.closed || !properties.is_empty() {
            schema.insert("properties".to_owned(), properties.into());
        }
        if self.rules.all_required || known != json!([]) {
            schema.insert("required".to_owned(), known);
        }
        if self.rules.closed {
            schema.insert("additionalProperties".to_owned(), json!(false));
        }
    }

    /// Members that have no names: those of a map.
    fn others(&mut self, node: &Node<'a>, is_root: bool, is_empty: bool, notes: &mut Vec<String>) {
        let rest = node.get("additionalProperties").or_else(|| node.get("unevaluatedProperties"));
        let patterns = node.get("patternProperties");
        let is_closed = node.one("additionalProperties").or_else(|| node.one("unevaluatedProperties"));
        let is_closed = is_closed.is_some_and(|rest| rest.is_never());
        let mut told = false;
        for keyword in rest.filter(|_| !is_closed).into_iter().chain(patterns) {
            let (Part::One(_) | Part::Named(_)) = &keyword.part else { continue };
            let says_nothing = matches!(&keyword.part, Part::One(inside) if Self::is_any(inside));
            if !self.rules.closed && says_nothing && is_empty {
                continue;
            }
            told = true;
            let reason = "members without fixed names cannot be said";
            self.losses.narrow(&keyword.path, keyword.name, reason);
            if !says_nothing {
                self.move_to_words(keyword, notes);
            }
        }
        if self.rules.closed && !told && !is_closed && is_empty && !is_root {
            self.losses.narrow(&node.path, "type", "an object of any members cannot be said");
        }
    }

    fn array(
        &mut self,
        node: &mut Node<'a>,
        depth: usize,
        schema: &mut Map<String, Value>,
        notes: &mut Vec<String>,
    ) {
        let path = node.path.clone();
        let prefix = node.list("prefixItems").to_vec();
        let rest = node.one("items").or_else(|| node.one("unevaluatedItems")).cloned();
        let most = node.value("maxItems").and_then(Value::as_u64);
        let is_full = most.is_some_and(|most| most <= prefix.len() as u64);
        let mut elements: Vec<Rc<Node<'a>>> = prefix.clone();
        match &rest {
            Some(rest) if rest.is_never() && !is_full => {
                node.set_value("maxItems", &path, json!(prefix.len()));
            }
            Some(rest) if !rest.is_never() && !is_full => elements.push(rest.clone()),
            None if !is_full && !prefix.is_empty() => {
                elements.push(Rc::new(Node::new(&path, Form::True)));
            }
            _ => {}
        }
        if !prefix.is_empty()
            && let Some(keyword) = node.get("prefixItems")
        {
            let keyword = keyword.clone();
            self.move_to_words(&keyword, notes);
        }
        let says_nothing = elements.is_empty() || elements.iter().all(|element| Self::is_any(element));
        if says_nothing && !self.rules.needs_items {
            return;
        }
        let items = if says_nothing {
            if most != Some(0) && !rest.is_some_and(|rest| rest.is_never()) {
                self.losses.narrow(&path, "items", "what the items are must be said; texts are taken");
            }
            json!({"type": "string"})
        } else {
            let written = elements.iter().filter_map(|element| self.write(element, depth + 1)).collect();
            match combine(written) {
                Some(written) => self.complete(written),
                None => {
                    node.set_value("maxItems", &path, json!(0));
                    json!({"type": "string"})
                }
            }
        };
        schema.insert("items".to_owned(), items);
    }
}

/// An open bound of whole numbers as the closed one.
fn bound_of_integers(kind: &str, keyword: &str, value: &Value) -> Option<(&'static str, Value)> {
    let bound = value.as_i64().filter(|_| kind == "integer")?;
    match keyword {
        "exclusiveMinimum" => Some(("minimum", bound.checked_add(1)?.into())),
        "exclusiveMaximum" => Some(("maximum", bound.checked_sub(1)?.into())),
        _ => None,
    }
}
