//! Schemas of a document become JSON Schema (draft 2020-12) with their own definitions.

use super::OpenApiIssue;
use super::document::{Document, Node, Version};
use super::readable::readable;
use super::schema_parts::{
    Direction, base64_text, hidden_members, in_definitions, null_allowed, outline, with_bounds, with_example,
    with_type,
};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use toolkit_core::schema::keyword::{Holds, Keyword, Role};
use toolkit_foreign::{hides_text, is_clean};

/// Writes schemas of one tool, and collects the definitions that they refer to.
pub(super) struct SchemaWriter<'d> {
    pub(super) document: &'d Document,
    direction: Direction,
    /// The maximum length of a description, in characters.
    pub(super) description: usize,
    /// The level below which a schema is replaced by its type. Members and items are one level below their schema.
    deepest: usize,
    /// Whether a schema was replaced.
    pub(super) is_cut: bool,
    /// The names of the definitions, by the places of their schemas.
    names: BTreeMap<String, String>,
    /// The schemas that are not written yet, with the level where they were first needed.
    pending: Vec<(usize, Node<'d>)>,
    definitions: Map<String, Value>,
    pub(super) issues: BTreeSet<OpenApiIssue>,
}

impl<'d> SchemaWriter<'d> {
    pub(super) fn new(
        document: &'d Document,
        direction: Direction,
        description: usize,
        deepest: usize,
    ) -> Self {
        Self {
            document,
            direction,
            description,
            deepest,
            is_cut: false,
            names: BTreeMap::new(),
            pending: Vec::new(),
            definitions: Map::new(),
            issues: BTreeSet::new(),
        }
    }

    /// Writes the schemas that were referred to, those of the upper levels first, and returns all by their names; `None` if
    /// they have more than `limit` bytes.
    pub(super) fn definitions(&mut self, limit: usize) -> Option<Map<String, Value>> {
        let mut size = 0;
        while let Some(next) = self.next_pending() {
            let (level, node) = self.pending.remove(next);
            let name = self.name_of(&node.place);
            let written = self.schema(&node, level, &BTreeSet::new());
            if limit < usize::MAX {
                size += written.to_string().len();
            }
            if size > limit {
                return None;
            }
            self.definitions.insert(name, written);
        }
        Some(std::mem::take(&mut self.definitions))
    }

    fn next_pending(&self) -> Option<usize> {
        let levels = self.pending.iter().enumerate();
        levels.min_by_key(|(index, (level, _))| (*level, *index)).map(|(index, _)| index)
    }

    fn issue(&mut self, place: &str, message: impl Into<String>) {
        self.issues.insert(OpenApiIssue::new(place, message));
    }

    /// Returns a description as the model reads it.
    pub(super) fn text(&mut self, text: &str, place: &str) -> String {
        if hides_text(text) {
            self.issue(place, "has invisible characters in its description, which were removed");
        }
        readable(text, self.description)
    }

    /// Writes a schema. The members in `hidden` are not required.
    pub(super) fn schema(&mut self, node: &Node<'d>, level: usize, hidden: &BTreeSet<String>) -> Value {
        let keywords = match node.value {
            Value::Object(keywords) => keywords,
            Value::Bool(true) => return json!({}),
            Value::Bool(false) => return json!({"not": {}}),
            _ => {
                self.issue(&node.place, "is no schema, so any value is accepted");
                return json!({});
            }
        };
        let reference =
            ["$ref", "$dynamicRef", "$recursiveRef"].iter().find_map(|keyword| node.text(keyword));
        let Some(reference) = reference else { return self.keywords(keywords, node, level, hidden) };
        let mut written = self.reference(reference, node, level);
        let has_siblings = self.document.version() >= Version::OpenApi31 && keywords.len() > 1;
        if has_siblings && let Value::Object(siblings) = self.keywords(keywords, node, level, hidden) {
            written.extend(siblings);
        } else if let Some(description) = node.text("description") {
            // Before OpenAPI 3.1, all other keywords beside a reference are without effect.
            written.insert("description".to_owned(), self.text(description, &node.place).into());
        }
        written.into()
    }

    /// Returns a reference to a definition, which is written later.
    fn reference(&mut self, reference: &str, node: &Node<'d>, level: usize) -> Map<String, Value> {
        let target = self.document.target(reference, &node.place);
        match target.and_then(|target| self.document.resolve_plain(target)) {
            Ok(target) => {
                let name = self.name_of(&target.place);
                self.require(target, level);
                Map::from_iter([("$ref".to_owned(), in_definitions(&name).into())])
            }
            Err(reason) => {
                self.issue(&node.place, format!("any value is accepted, because {reason}"));
                Map::new()
            }
        }
    }

    fn require(&mut self, target: Node<'d>, level: usize) {
        let name = self.name_of(&target.place);
        if let Some(known) = self.pending.iter_mut().find(|(_, node)| node.place == target.place) {
            known.0 = known.0.min(level);
        } else if !self.definitions.contains_key(&name) {
            // The empty schema marks the definition as known while it is written.
            self.definitions.insert(name, json!({}));
            self.pending.push((level, target));
        }
    }

    /// Returns the name of the definition at a place: its last part, with a digest of the place if that is not unique.
    fn name_of(&mut self, place: &str) -> String {
        if let Some(known) = self.names.get(place) {
            return known.clone();
        }
        let last = place.rsplit('/').next().unwrap_or_default();
        let name: String =
            last.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')).collect();
        let name = if name.is_empty() { "schema".to_owned() } else { name };
        let is_taken = self.names.values().any(|taken| *taken == name);
        let name = if is_taken { format!("{name}_{}", super::names::digest(place)) } else { name };
        self.names.insert(place.to_owned(), name.clone());
        name
    }

    fn keywords(
        &mut self,
        keywords: &'d Map<String, Value>,
        node: &Node<'d>,
        level: usize,
        hidden: &BTreeSet<String>,
    ) -> Value {
        if level > self.deepest && !is_simple(keywords) {
            self.is_cut = true;
            return outline(keywords, |text| self.text(text, &node.place));
        }
        let mut hidden = hidden.clone();
        hidden.extend(hidden_members(self.document, node, self.direction));
        let mut written = Map::new();
        for (name, value) in keywords {
            if let Some(value) = self.keyword(name, value, node, level, &hidden) {
                written.insert(name.clone(), value);
            }
        }
        self.rename_list_of_items(&mut written);
        with_bounds(&mut written, keywords);
        with_example(&mut written, node);
        if base64_text(&mut written, keywords) {
            return written.into();
        }
        self.add_discriminator(&mut written, node);
        let is_nullable = node.flag("nullable") || node.flag("x-nullable");
        if is_nullable { null_allowed(written) } else { written.into() }
    }

    /// Writes the value of a keyword; `None` if the keyword is outside of JSON Schema, or does not help a model.
    fn keyword(
        &mut self,
        name: &str,
        value: &'d Value,
        node: &Node<'d>,
        level: usize,
        hidden: &BTreeSet<String>,
    ) -> Option<Value> {
        let inside = node.get(name)?;
        match name {
            "readOnly" | "writeOnly" | "definitions" | "$defs" | "$comment" => return None,
            "title" if node.text("description").is_some() => return None,
            "title" | "description" => return Some(self.text(value.as_str()?, &node.place).into()),
            "type" => return with_type(value),
            "exclusiveMinimum" | "exclusiveMaximum" if value.is_boolean() => return None,
            "required" => {
                let names = value
                    .as_array()?
                    .iter()
                    .filter(|name| !name.as_str().is_some_and(|n| hidden.contains(n)));
                let names: Vec<Value> = names.cloned().collect();
                return (!names.is_empty()).then(|| names.into());
            }
            "enum" if value.as_array().is_some_and(Vec::is_empty) => return None,
            // Written as `examples` below.
            "example" => return None,
            _ => {}
        }
        let keyword = Keyword::find(name)?;
        let level = if keyword.role == Role::InPlace { level } else { level + 1 };
        let none = BTreeSet::new();
        let hidden = if keyword.role == Role::InPlace { hidden } else { &none };
        match (keyword.holds, value) {
            (Holds::Schemas | Holds::Schema, Value::Array(_)) => {
                let items = node.items(name);
                Some(items.iter().map(|item| self.schema(item, level, hidden)).collect())
            }
            (Holds::NamedSchemas, Value::Object(_)) => Some(self.members(node, name, level)),
            // The common form of these two is a boolean.
            (Holds::Schema, Value::Bool(_)) if name.starts_with(['a', 'u']) => Some(value.clone()),
            (Holds::Schema, _) => Some(self.schema(&inside, level, hidden)),
            _ => Some(value.clone()),
        }
    }

    /// Writes the members of an object that travel in this direction.
    fn members(&mut self, node: &Node<'d>, keyword: &str, level: usize) -> Value {
        let mut written = Map::new();
        for (name, member) in node.members(keyword) {
            if !self.direction.hides(self.document, &member) {
                if !is_clean(name) {
                    self.issue(&member.place, "has invisible characters in its name");
                }
                written.insert(name.to_owned(), self.schema(&member, level, &BTreeSet::new()));
            }
        }
        written.into()
    }

    /// Before draft 2020-12, `items` could be a list.
    fn rename_list_of_items(&self, written: &mut Map<String, Value>) {
        if written.get("items").is_some_and(Value::is_array)
            && let Some(items) = written.shift_remove("items")
        {
            written.insert("prefixItems".to_owned(), items);
        }
    }

    /// Writes the values of a discriminator into the branches of a union.
    fn add_discriminator(&mut self, written: &mut Map<String, Value>, node: &Node<'d>) {
        let Some(discriminator) = node.get("discriminator") else { return };
        let Some(property) = discriminator.text("propertyName") else { return };
        let keyword = if written.contains_key("oneOf") { "oneOf" } else { "anyOf" };
        let Some(branches) = written.get_mut(keyword).and_then(Value::as_array_mut) else { return };
        let mapping = discriminator.members("mapping");
        for (branch, original) in branches.iter_mut().zip(node.items(keyword)) {
            let Some(reference) = original.text("$ref") else { continue };
            let Ok(target) = self.document.target(reference, &original.place) else { continue };
            let is_target = |wanted: &Node<'_>| {
                let wanted_text = wanted.value.as_str().unwrap_or_default();
                let by_reference = self.document.target(wanted_text, &wanted.place);
                by_reference.is_ok_and(|node| node.place == target.place)
                    || target.place.rsplit('/').next() == Some(wanted_text)
            };
            let mapped = mapping.iter().filter(|(_, wanted)| is_target(wanted)).map(|(value, _)| *value);
            let mut values: Vec<&str> = mapped.collect();
            if values.is_empty() {
                values.extend(target.place.rsplit('/').next());
            }
            let own = target.value.pointer(&super::document::below("/properties", property));
            let has_own = own.is_some_and(|own| own.get("const").is_some() || own.get("enum").is_some());
            if let Value::Object(branch) = branch
                && !has_own
            {
                let value =
                    if let [value] = values[..] { json!({"const": value}) } else { json!({"enum": values}) };
                branch.insert("properties".to_owned(), json!({ property: value }));
                branch.insert("required".to_owned(), json!([property]));
            }
        }
    }
}

/// Returns whether a schema has no schemas inside, so that a cut would save little.
fn is_simple(keywords: &Map<String, Value>) -> bool {
    !keywords.iter().any(|(name, value)| {
        let holds = Keyword::find(name).map(|keyword| keyword.holds);
        !value.is_boolean() && matches!(holds, Some(Holds::Schema | Holds::Schemas | Holds::NamedSchemas))
    })
}
