//! Schemas of a document become JSON Schema (draft 2020-12) with their own definitions.

mod definitions;
mod digest;
mod hidden;
mod keywords;
mod readable;

pub(crate) use digest::{DIGEST, digest};
pub(crate) use hidden::HiddenMembers;
pub(crate) use keywords::{Direction, with_example};
pub(crate) use readable::{head, readable};

use crate::client::document::{Document, Meter, Node, OpenApiIssue, OpenApiLimits, Version, below, of_text};
use definitions::Definitions;
use hidden::Around;
use keywords::{base64_text, in_definitions, null_allowed, outline, with_bounds, with_type};
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashMap};
use toolkit_core::foreign::{hides_text, is_clean};
use toolkit_core::schema::keyword::{Holds, Keyword, Role};

/// Writes schemas of one tool, and collects their definitions.
pub(crate) struct SchemaWriter<'d> {
    pub(crate) document: &'d Document,
    hidden: HiddenMembers<'d>,
    /// The maximum characters of a description.
    pub(crate) description: usize,
    /// The level below which a schema is replaced by its type. Members and items are one level below their
    /// schema.
    deepest: usize,
    /// The deepest level that was reached.
    pub(crate) reached: usize,
    pub(crate) is_cut: bool,
    definitions: Definitions<'d>,
    /// What was written, to stop at a schema that is too large.
    pub(crate) meter: Meter,
    pub(crate) issues: BTreeSet<OpenApiIssue>,
}

impl<'d> SchemaWriter<'d> {
    pub(crate) fn new(hidden: HiddenMembers<'d>, limits: &OpenApiLimits, deepest: usize) -> Self {
        Self {
            document: hidden.document,
            hidden,
            description: limits.description,
            deepest,
            reached: 0,
            is_cut: false,
            definitions: Definitions::default(),
            meter: Meter::new(limits.schema_bytes),
            issues: BTreeSet::new(),
        }
    }

    /// Writes the referenced schemas by name, upper levels first; `None` if the whole schema surely exceeds
    /// its limit.
    pub(crate) fn definitions(&mut self) -> Option<Map<String, Value>> {
        while !self.meter.is_full()
            && let Some((level, node)) = self.definitions.next()
        {
            let written = self.schema(&node, level, None);
            self.definitions.set(&node.place, written);
        }
        if self.meter.is_full() {
            return None;
        }
        Some(self.definitions.take())
    }

    fn issue(&mut self, place: &str, message: impl Into<String>) {
        self.issues.insert(OpenApiIssue::new(place, message));
    }

    pub(crate) fn text(&mut self, text: &str, place: &str) -> String {
        let head = head(text, self.description);
        self.meter.add(of_text(head.len()), 0);
        if hides_text(head) {
            self.issue(place, "has invisible characters in its description, which were removed");
        }
        let description = readable(head, self.description);
        self.meter.add(0, description.len());
        description
    }

    /// Writes a schema, which may be a part of another one for the same value.
    pub(crate) fn schema(&mut self, node: &Node<'d>, level: usize, outer: Option<&Around<'_, 'd>>) -> Value {
        if !self.meter.add(1, 0) {
            return json!({});
        }
        self.reached = self.reached.max(level);
        let keywords = match node.value {
            Value::Object(keywords) => keywords,
            Value::Bool(true) => return json!({}),
            Value::Bool(false) => return json!({"not": {}}),
            _ => {
                self.issue(&node.place, "is no schema, so any value is accepted");
                return json!({});
            }
        };
        let references = ["$ref", "$dynamicRef", "$recursiveRef"];
        let Some(reference) = references.iter().find_map(|keyword| node.text(keyword)) else {
            return self.keywords(keywords, node, level, outer);
        };
        let mut written = self.reference(reference, node, level);
        let has_siblings = self.document.version() >= Version::OpenApi31 && keywords.len() > 1;
        if has_siblings && let Value::Object(siblings) = self.keywords(keywords, node, level, outer) {
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
                let name = self.definitions.require(target, level);
                self.meter.add(1, name.len());
                Map::from_iter([("$ref".to_owned(), in_definitions(&name).into())])
            }
            Err(reason) => {
                self.issue(&node.place, format!("any value is accepted, because {reason}"));
                Map::new()
            }
        }
    }

    fn keywords(
        &mut self,
        keywords: &'d Map<String, Value>,
        node: &Node<'d>,
        level: usize,
        outer: Option<&Around<'_, 'd>>,
    ) -> Value {
        if level > self.deepest && !is_simple(keywords) {
            self.is_cut = true;
            return outline(keywords, |text| self.text(text, &node.place));
        }
        let around = Around::new(node, outer);
        let mut written = Map::new();
        for (name, value) in keywords {
            if !self.meter.add(1, name.len()) {
                break;
            }
            if let Some(value) = self.keyword(name, value, node, level, &around) {
                written.insert(name.clone(), value);
            }
        }
        self.rename_list_of_items(&mut written);
        with_bounds(&mut written, keywords);
        with_example(&mut written, node, &mut self.meter);
        if base64_text(&mut written, keywords) {
            return written.into();
        }
        self.add_discriminator(&mut written, node);
        let is_nullable = node.flag("nullable") || node.flag("x-nullable");
        if is_nullable { null_allowed(written) } else { written.into() }
    }

    /// Writes the value of a keyword; `None` for one that neither JSON Schema nor the model needs.
    fn keyword(
        &mut self,
        name: &str,
        value: &'d Value,
        node: &Node<'d>,
        level: usize,
        around: &Around<'_, 'd>,
    ) -> Option<Value> {
        let inside = node.get(name)?;
        match name {
            "readOnly" | "writeOnly" | "definitions" | "$defs" | "$comment" => return None,
            "title" if node.text("description").is_some() => return None,
            "title" | "description" => return Some(self.text(value.as_str()?, &node.place).into()),
            "type" => {
                let name = with_type(value)?;
                return if self.meter.add_value(value) { Some(name) } else { None };
            }
            "exclusiveMinimum" | "exclusiveMaximum" if value.is_boolean() => return None,
            "required" => {
                return self.required(value.as_array()?, around);
            }
            "enum" if value.as_array().is_some_and(Vec::is_empty) => return None,
            // Written as `examples` below.
            "example" => return None,
            _ => {}
        }
        let keyword = Keyword::find(name)?;
        let (level, outer) = match keyword.role {
            Role::InPlace => (level, Some(around)),
            _ => (level + 1, None),
        };
        match (keyword.holds, value) {
            (Holds::Schemas | Holds::Schema, Value::Array(items)) => {
                if !self.meter.add(items.len(), 0) {
                    return None;
                }
                let items = node.items(name);
                Some(items.iter().map(|item| self.schema(item, level, outer)).collect())
            }
            (Holds::NamedSchemas, Value::Object(_)) => Some(self.members(node, name, level)),
            // The common form of these two is a boolean.
            (Holds::Schema, Value::Bool(_)) if name.starts_with(['a', 'u']) => Some(value.clone()),
            (Holds::Schema, _) => Some(self.schema(&inside, level, outer)),
            _ if self.meter.add_value(value) => Some(value.clone()),
            _ => None,
        }
    }

    /// Writes the names of the required members that travel in this direction.
    fn required(&mut self, names: &[Value], around: &Around<'_, 'd>) -> Option<Value> {
        let mut written = Vec::new();
        for name in names {
            let is_hidden =
                name.as_str().is_some_and(|name| around.hides(name, &self.hidden, &mut self.meter));
            if !is_hidden && self.meter.add_value(name) {
                written.push(name.clone());
            }
        }
        if written.is_empty() {
            return None;
        }
        Some(written.into())
    }

    fn members(&mut self, node: &Node<'d>, keyword: &str, level: usize) -> Value {
        let mut written = Map::new();
        let count = node.value.get(keyword).and_then(Value::as_object).map_or(0, Map::len);
        if !self.meter.add(count, 0) {
            return json!({});
        }
        for (name, member) in node.members(keyword) {
            if !self.meter.add(0, name.len()) {
                break;
            }
            if !self.hidden.direction.hides(self.document, &member) {
                if !is_clean(name) {
                    self.issue(&member.place, "has invisible characters in its name");
                }
                written.insert(name.to_owned(), self.schema(&member, level, None));
            }
        }
        written.into()
    }

    fn rename_list_of_items(&self, written: &mut Map<String, Value>) {
        if written.get("items").is_some_and(Value::is_array)
            && let Some(items) = written.shift_remove("items")
        {
            written.insert("prefixItems".to_owned(), items);
        }
    }

    /// Writes a discriminator's values into the branches of a union.
    fn add_discriminator(&mut self, written: &mut Map<String, Value>, node: &Node<'d>) {
        let Some(discriminator) = node.get("discriminator") else { return };
        let Some(property) = discriminator.text("propertyName") else { return };
        let keyword = if written.contains_key("oneOf") { "oneOf" } else { "anyOf" };
        let Some(branches) = written.get_mut(keyword).and_then(Value::as_array_mut) else { return };
        let mapped = discriminator.value.get("mapping").and_then(Value::as_object);
        if !self.meter.add(mapped.map_or(0, Map::len), 0) {
            return;
        }
        let mapping = Mapping::new(self.document, &discriminator);
        for (branch, original) in branches.iter_mut().zip(node.items(keyword)) {
            let Some(reference) = original.text("$ref") else { continue };
            let Ok(target) = self.document.target(reference, &original.place) else { continue };
            let values = mapping.values(&target.place);
            if !self.meter.add(values.len(), values.iter().map(|value| value.len()).sum()) {
                break;
            }
            let own = target.value.pointer(&below("/properties", property));
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

/// The values of a discriminator, in the document's order.
struct Mapping<'d> {
    values: Vec<&'d str>,
    /// The indices of the values, by the places that they refer to.
    by_place: HashMap<String, Vec<usize>>,
    /// The indices of the values, by the names of schemas.
    by_name: HashMap<&'d str, Vec<usize>>,
}

impl<'d> Mapping<'d> {
    fn new(document: &Document, discriminator: &Node<'d>) -> Self {
        let mut mapping = Self { values: Vec::new(), by_place: HashMap::new(), by_name: HashMap::new() };
        for (index, (value, target)) in discriminator.members("mapping").into_iter().enumerate() {
            let reference = target.value.as_str().unwrap_or_default();
            if let Ok(node) = document.target(reference, &target.place) {
                mapping.by_place.entry(node.place).or_default().push(index);
            }
            mapping.by_name.entry(reference).or_default().push(index);
            mapping.values.push(value);
        }
        mapping
    }

    /// Returns the values of the schema at `place`, by default its name.
    fn values<'m>(&'m self, place: &'m str) -> Vec<&'m str> {
        let name = place.rsplit('/').next().unwrap_or_default();
        let mut indices: BTreeSet<usize> = BTreeSet::new();
        for matches in [self.by_place.get(place), self.by_name.get(name)].into_iter().flatten() {
            indices.extend(matches);
        }
        if indices.is_empty() {
            return vec![name];
        }
        indices.into_iter().filter_map(|index| self.values.get(index).copied()).collect()
    }
}

/// The length of an `enum` from which a cut saves much.
const MANY_VALUES: usize = 50;

/// Returns whether a cut of the schema would save little.
fn is_simple(keywords: &Map<String, Value>) -> bool {
    let values = keywords.get("enum").and_then(Value::as_array);
    if values.is_some_and(|values| values.len() >= MANY_VALUES) {
        return false;
    }
    for (name, value) in keywords {
        let holds = Keyword::find(name).map(|keyword| keyword.holds);
        let has_schemas = matches!(holds, Some(Holds::Schema | Holds::Schemas | Holds::NamedSchemas));
        if has_schemas && !value.is_boolean() {
            return false;
        }
    }
    true
}
