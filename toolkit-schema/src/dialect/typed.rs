//! Conversion of schemas without references and unions to a provider's subset, type by type.

use super::losses::Losses;
use super::merge::{ARRAY, OBJECT};
use super::node::{Entry, Held, Node};
use super::remarks::{of_value, quoted, sentence};
use super::rules::Literals;
use super::subset::Subset;
use super::unions::{Written, add_line};
use crate::check::violations;
use crate::index::Names;
use crate::keyword::Keyword;
use crate::keywords::{Keywords, of_type};
use crate::types::type_of;
use serde_json::{Map, Value};

/// An unfinished schema for values of one JSON type.
struct TypedSchema {
    schema: Map<String, Value>,
    /// The remarks to add to the description.
    notes: Vec<String>,
}

impl<'a> Subset<'_, '_, 'a> {
    /// Writes a schema without references and unions.
    pub(super) fn typed(&mut self, mut node: Node<'a>, depth: usize) -> Option<Written> {
        if let Some(written) = self.listed_values(&mut node, depth) {
            return written;
        }
        let names: Vec<&str> = node.types().unwrap_or_else(|| self.guessed_types(&node));
        let mut written = Vec::new();
        for name in &names {
            match *name {
                "integer" if names.contains(&"number") => {}
                "null" => written.push(Written::null()),
                name => written.push(self.of_type(name, node.clone(), depth).into()),
            }
        }
        Written::any_of(written)
    }

    /// Guesses types from other keywords, such as a string from `minLength`, and reports the guess as a loss.
    fn guessed_types(&mut self, node: &Node<'a>) -> Vec<&'static str> {
        let mut guessed: Vec<(&'static str, &str)> = Vec::new();
        for Entry { keyword, .. } in &node.entries {
            if let Some(name) = Keyword::find(keyword).and_then(|entry| entry.types.first())
                && !guessed.iter().any(|(known, _)| known == name)
            {
                guessed.push((name, keyword));
            }
        }
        if let [(name, keyword)] = guessed.as_slice() {
            let reason =
                format!("none is given; `{keyword}` is about type {name}, and only this type is taken");
            self.writer.losses.narrow(&node.path, "type", reason);
            return vec![name];
        }
        let reason = "any value is allowed, which the provider cannot express; the types are listed";
        self.writer.losses.narrow(&node.path, "type", reason);
        vec!["string", "number", "boolean", "array", "object", "null"]
    }

    /// Writes a schema with `enum` or `const`.
    ///
    /// Returns `None` if it has neither, and `Some(None)` if no value is valid.
    fn listed_values(&mut self, node: &mut Node<'a>, depth: usize) -> Option<Option<Written>> {
        let Entry { keyword, path, held } = node.take("const").or_else(|| node.take("enum"))?;
        let Held::Value(listed) = held else { return None };
        let mut values = match listed.into_owned() {
            Value::Array(values) if keyword == "enum" => values,
            only => vec![only],
        };
        // The other keywords only decide which values are valid.
        let others = self.writer.sketch(node);
        values.retain(|value| violations(&others, value).is_empty());
        node.take("enum");
        if let Some(refused) = values.iter().find(|value| !self.can_list(value)).map(quoted) {
            if !node.has("type") {
                let mut names: Vec<&str> = values.iter().map(type_of).collect();
                names.dedup();
                node.set_value("type", &path, names.into());
            }
            let reason = format!("the provider takes no `{refused}` there; the description lists the values");
            self.writer.losses.widen(&path, keyword, reason);
            let remark = of_value("enum", &values.into());
            let mut written = self.typed(node.clone(), depth);
            if let (Some(Written { schema: Some(schema), .. }), Some(remark)) = (&mut written, remark) {
                add_line(schema, &sentence(&[remark]));
            }
            return Some(written);
        }
        let mut written = Vec::new();
        if values.iter().any(Value::is_null) {
            written.push(Written::null());
        }
        if self.rules.literals == Literals::Untyped {
            values.retain(|value| !value.is_null());
            written.extend(self.list(None, keyword, values));
        } else {
            for name in ["string", "integer", "number", "boolean"] {
                let of_type = values.iter().filter(|value| type_of(value) == name).cloned().collect();
                written.extend(self.list(Some(name), keyword, of_type));
            }
        }
        Some(Written::any_of(written))
    }

    /// Returns whether the provider takes a value in `enum` or `const`.
    fn can_list(&self, value: &Value) -> bool {
        match self.rules.literals {
            Literals::Strings => value.is_null() || value.as_str().is_some_and(|text| !text.is_empty()),
            Literals::Typed | Literals::Untyped => !value.is_object() && !value.is_array(),
        }
    }

    /// Writes `values`, if any, into `const` or `enum`, with their common type as `name`. They satisfy the
    /// other constraints, which are left out.
    fn list(&self, name: Option<&str>, keyword: &str, values: Vec<Value>) -> Option<Written> {
        if values.is_empty() {
            return None;
        }
        let mut schema = Map::new();
        if let Some(name) = name {
            schema.set("type", name.into());
        }
        match (values.as_slice(), self.rules.literals) {
            ([only], Literals::Typed | Literals::Untyped) if keyword == "const" => {
                schema.set("const", only.clone());
            }
            _ => schema.set("enum", values.into()),
        }
        Some(schema.into())
    }

    /// Writes the schema for one JSON type.
    fn of_type(&mut self, name: &str, mut node: Node<'a>, depth: usize) -> Map<String, Value> {
        let mut draft = TypedSchema { schema: Map::only("type", name.into()), notes: Vec::new() };
        match name {
            "object" => self.object(&node, depth, &mut draft),
            "array" => self.array(&mut node, depth, &mut draft),
            "integer" => self.inclusive_bounds(&mut node),
            _ => {}
        }
        for entry in &node.entries {
            let keyword = entry.keyword;
            let is_about = Keyword::find(keyword).is_some_and(|entry| entry.types.contains(&name));
            let is_structural =
                OBJECT.contains(&keyword) || ARRAY.contains(&keyword) || keyword == "required";
            if !is_about || is_structural {
                continue;
            }
            match &entry.held {
                Held::Value(value) if (self.rules.keeps)(name, keyword, value) => {
                    draft.schema.set(keyword, value.clone().into_owned());
                }
                _ => self.move_to_notes(entry, &mut draft.notes),
            }
        }
        if !draft.notes.is_empty() {
            draft.schema.set("description", sentence(&draft.notes).into());
        }
        draft.schema
    }

    fn object(&mut self, node: &Node<'a>, depth: usize, draft: &mut TypedSchema) {
        let required = node.required();
        let mut all_required = Names::default();
        for name in &required {
            all_required.add((*name).into());
        }
        let mut properties = Map::new();
        for (name, property) in node.named("properties") {
            let is_required = all_required.contains(name);
            match self.schema(property, depth + 1, self.rules.all_required && !is_required) {
                Some(property) => properties.set(name, property),
                None if is_required => {
                    let reason = "no value is valid for this required property";
                    self.writer.losses.widen(&property.path, "type", reason);
                }
                None if !self.rules.closed => {
                    let reason = "no value is valid for this property, so it is left out";
                    self.writer.losses.widen(&property.path, "type", reason);
                }
                None => {}
            }
        }
        self.unnamed_members(node, depth == 0, properties.is_empty(), &mut draft.notes);
        let (mut known, unknown): (Vec<&str>, Vec<&str>) =
            required.into_iter().partition(|name| properties.contains_key(*name));
        if !unknown.is_empty() {
            draft.notes.extend(of_value("required", &unknown.into()));
            let reason = "it names no property; stated in the description";
            let lose = if self.rules.closed { Losses::narrow } else { Losses::widen };
            lose(&mut self.writer.losses, &node.path, "required", reason);
        }
        if self.rules.all_required {
            known = properties.keys().map(String::as_str).collect();
        }
        let required =
            if self.rules.all_required || !known.is_empty() { Some(Value::from(known)) } else { None };
        // Gemini refuses an object with an empty list of properties.
        if self.rules.closed || !properties.is_empty() {
            draft.schema.set("properties", properties.into());
        }
        if let Some(required) = required {
            draft.schema.set("required", required);
        }
        if self.rules.closed {
            draft.schema.set("additionalProperties", false.into());
        }
    }

    /// Replaces an integer's exclusive bound by the inclusive one, if the provider takes only that.
    fn inclusive_bounds(&self, node: &mut Node<'a>) {
        let keeps = self.rules.keeps;
        for (exclusive, inclusive, step) in
            [("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)]
        {
            let Some(bound) = node.value(exclusive) else { continue };
            if keeps("integer", exclusive, bound) || node.has(inclusive) {
                continue;
            }
            let Some(next) = bound.as_i64().and_then(|bound| bound.checked_add(step)) else { continue };
            if keeps("integer", inclusive, &next.into())
                && let Some(entry) = node.take(exclusive)
            {
                node.set_value(inclusive, &entry.path, next.into());
            }
        }
    }

    /// Reports a loss if the schema allows members without fixed names, such as a map's entries.
    ///
    /// Their constraints go into `notes`.
    fn unnamed_members(&mut self, node: &Node<'a>, is_root: bool, is_empty: bool, notes: &mut Vec<String>) {
        let rest = node.get("additionalProperties").or_else(|| node.get("unevaluatedProperties"));
        let is_closed = matches!(rest, Some(Entry { held: Held::Schema(rest), .. }) if rest.is_never);
        let open_rest = if is_closed { None } else { rest };
        let mut is_reported = false;
        for entry in open_rest.into_iter().chain(node.get("patternProperties")) {
            let is_any = matches!(&entry.held, Held::Schema(rest) if Self::is_any(rest));
            if !self.rules.closed && is_any && is_empty {
                continue;
            }
            is_reported = true;
            let reason = "the provider takes no members without fixed names";
            self.writer.losses.narrow(&entry.path, entry.keyword, reason);
            if !is_any {
                self.move_to_notes(entry, notes);
            }
        }
        if self.rules.closed && !is_reported && !is_closed && is_empty && !is_root {
            let reason = "the provider takes no objects of any members";
            self.writer.losses.narrow(&node.path, "additionalProperties", reason);
        }
    }

    fn array(&mut self, node: &mut Node<'a>, depth: usize, draft: &mut TypedSchema) {
        let path = node.path.clone();
        let prefix = node.schemas("prefixItems").to_vec();
        let rest = node.schema("items").or_else(|| node.schema("unevaluatedItems")).cloned();
        let most = node.value("maxItems").and_then(Value::as_u64);
        let is_full = most.is_some_and(|most| most <= prefix.len() as u64);
        let ends = rest.as_ref().is_some_and(|rest| rest.is_never);
        if ends && !is_full {
            node.set_value("maxItems", &path, prefix.len().into());
        }
        if let (false, Some(entry)) = (prefix.is_empty(), node.get("prefixItems").cloned()) {
            self.move_to_notes(&entry, &mut draft.notes);
        }
        let is_open = !prefix.is_empty() && rest.is_none() && !is_full;
        if is_open {
            let reason =
                "the provider must know the type of items; further items are taken like the listed ones";
            self.writer.losses.narrow(&path, "items", reason);
        }
        let mut elements = prefix;
        if !ends && !is_full {
            elements.extend(rest);
        }
        let is_any = elements.iter().all(|element| Self::is_any(element));
        if is_any && !self.rules.needs_items {
            return;
        }
        let mut items = None;
        if !is_any {
            let written = elements.iter().filter_map(|element| self.write(element, depth + 1)).collect();
            items = Written::any_of(written).map(|written| written.complete(self.rules.nulls));
            if items.is_none() {
                node.set_value("maxItems", &path, 0.into());
            }
        } else if most != Some(0) && !(ends && elements.is_empty()) {
            let reason = "the provider must know the type of items; strings are taken";
            self.writer.losses.narrow(&path, "items", reason);
        }
        draft.schema.set("items", items.unwrap_or_else(|| of_type("string")));
    }
}
