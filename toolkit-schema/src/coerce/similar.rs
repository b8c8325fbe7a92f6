//! Coercion of strings that differ only by letter case, spaces, `-` and `_`.

use super::Coercion;
use crate::discriminator::{Discriminator, discriminator};
use crate::index::Names;
use crate::json::{Json, quoted};
use serde_json::{Map, Value};
use std::borrow::Cow;

impl Coercion<'_, '_> {
    /// Renames an object's only member to the one similar variant of an externally tagged enum.
    pub(super) fn with_name_of_variant(&mut self, branches: &[Value], value: &Json<'_>) -> Option<String> {
        let choice = discriminator(self.root, branches);
        let (Some(Discriminator::Members(names)), Some([(given, member)])) = (choice, value.members()) else {
            return None;
        };
        let name = only_alike(given, names.iter().copied())?;
        Some(format!("{{{}:{}}}", quoted(name), member.text))
    }

    /// Returns each member's new name, or `None` if it stays.
    ///
    /// A map whose key type is an enum gets new names: the only variant with the same letters, unless the map
    /// has a member for it.
    pub(super) fn with_names_of_map(
        &mut self,
        schema: &Value,
        members: &[(Cow<'_, str>, Json<'_>)],
    ) -> Vec<Option<String>> {
        let Some(variants) = variants_of_map(schema) else { return vec![None; members.len()] };
        let mut taken = Names::default();
        for (name, _) in members {
            taken.add(Cow::Borrowed(&**name));
        }
        let mut renamed = Vec::with_capacity(members.len());
        for (name, _) in members {
            let mut new_name = None;
            if !variants.contains_key(&**name)
                && let Some(alike) = only_alike(name, variants.keys().map(String::as_str))
                && taken.add(alike.to_owned().into())
            {
                new_name = Some(alike.to_owned());
            }
            renamed.push(new_name);
        }
        renamed
    }
}

/// Returns the properties of a map whose key type is an enum: optional, alike, and no others.
fn variants_of_map(schema: &Value) -> Option<&Map<String, Value>> {
    let properties = schema.get("properties")?.as_object()?;
    if schema.get("additionalProperties") != Some(&Value::Bool(false)) || schema.get("required").is_some() {
        return None;
    }
    let mut schemas = properties.values();
    let first = schemas.next();
    if schemas.all(|other| first == Some(other)) { Some(properties) } else { None }
}

/// Returns the only one of `words` that differs at most by letter case, spaces, `-` and `_`.
pub(super) fn only_alike<'w>(text: &str, words: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    let mut alike = words.filter(|word| folded(word) == folded(text));
    let only = alike.next()?;
    if alike.next().is_some() { None } else { Some(only) }
}

/// Returns `word` in lowercase, without spaces, `-` and `_`.
pub(super) fn folded(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, ' ' | '-' | '_')).flat_map(char::to_lowercase).collect()
}
