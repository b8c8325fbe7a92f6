//! Coercion of strings that differ only by letter case, spaces, `-` and `_`.

use super::Coercion;
use crate::discriminator::{Discriminator, discriminator};
use crate::index::Names;
use crate::json::{Json, quoted};
use serde_json::Value;
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
        let names = schema.get("properties").and_then(Value::as_object).filter(|properties| {
            let mut schemas = properties.values();
            let first = schemas.next();
            schema.get("additionalProperties") == Some(&Value::Bool(false))
                && schema.get("required").is_none()
                && schemas.all(|other| first == Some(other))
        });
        let Some(names) = names else { return vec![None; members.len()] };
        let mut taken = Names::default();
        for (name, _) in members {
            taken.add(Cow::Borrowed(&**name));
        }
        let renamed = members.iter().map(|(name, _)| {
            if names.contains_key(&**name) {
                return None;
            }
            let alike = only_alike(name, names.keys().map(String::as_str))?;
            taken.add(alike.to_owned().into()).then(|| alike.to_owned())
        });
        renamed.collect()
    }
}

/// Returns the only one of `words` that differs at most by letter case, spaces, `-` and `_`.
pub(super) fn only_alike<'w>(text: &str, words: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    let mut alike = words.filter(|word| folded(word) == folded(text));
    alike.next().filter(|_| alike.next().is_none())
}

/// Returns `word` in lowercase, without spaces, `-` and `_`.
pub(super) fn folded(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, ' ' | '-' | '_')).flat_map(char::to_lowercase).collect()
}
