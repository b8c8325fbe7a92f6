//! Own names: each alias becomes the name of its property or variant.

use crate::check::Checks;
use crate::depth::MAX_NESTED;
use crate::discriminator::{Discriminator, discriminator, only_member, tag};
use crate::index::address;
use crate::json::{Json, Kind, budget};
use crate::marks::Note;
use crate::properties::{item_schema, member_schemas};
use crate::reference::resolve;
use serde_json::Value;
use std::borrow::Cow;

/// Returns JSON with own names for aliases at every depth, or `None` if the schema declares none.
///
/// Below a union, the first branch applies whose structure the renamed value has.
pub(crate) fn renamed<'a>(checks: &Checks<'a>, schema: &'a Value, value: &Json<'_>) -> Option<String> {
    let has_aliases =
        checks.placed.values().iter().any(|note| !note.aliases.is_empty() || !note.variants.is_empty());
    if !has_aliases {
        return None;
    }
    let mut value = value.clone();
    let left = budget(&value);
    Renaming { checks, left, depth: 0 }.apply(schema, &mut value);
    Some(value.compact())
}

struct Renaming<'a, 'c> {
    checks: &'c Checks<'a>,
    /// The number of schemas that may still be applied, after which the rest stays unchanged.
    left: usize,
    depth: usize,
}

impl<'a> Renaming<'a, '_> {
    fn apply(&mut self, schema: &'a Value, value: &mut Json<'_>) {
        if self.left == 0 || self.depth >= MAX_NESTED {
            return;
        }
        self.left -= 1;
        let Some(own) = resolve(self.checks.root, schema) else { return };
        self.depth += 1;
        self.apply_own(own, value);
        self.depth -= 1;
    }

    /// Applies a schema without a reference.
    fn apply_own(&mut self, own: &'a Value, value: &mut Json<'_>) {
        for part in own.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            self.apply(part, value);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(branches) = own.get(keyword).and_then(Value::as_array) {
                self.apply_branch(branches, value);
            }
        }
        match &mut value.kind {
            Kind::String(text) => {
                let variants = self.note(own).map_or(&[][..], |note| &note.variants);
                if let Some((_, name)) = variants.iter().find(|(alias, _)| alias == text)
                    && let Some(name) = name.as_deref().or(own.get("const").and_then(Value::as_str))
                {
                    *text = Cow::Owned(name.to_owned());
                }
            }
            Kind::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    if let Some(schema) = item_schema(own, index) {
                        self.apply(schema, item);
                    }
                }
            }
            Kind::Object(members) => {
                self.rename_members(own, members);
                for (name, member) in members {
                    let (named, other) = member_schemas(own, name);
                    for schema in named.into_iter().chain(other) {
                        self.apply(schema, member);
                    }
                }
            }
            _ => {}
        }
    }

    fn note(&self, schema: &Value) -> Option<&'a Note> {
        self.checks.placed.get(address(schema)).copied()
    }

    fn rename_members(&self, schema: &Value, members: &mut [(Cow<'_, str>, Json<'_>)]) {
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (own, property) in properties {
            let Some(note) = self.note(property) else { continue };
            for (name, _) in members.iter_mut() {
                if note.aliases.iter().any(|alias| alias == name) {
                    *name = Cow::Owned(own.clone());
                }
            }
        }
    }

    fn apply_branch(&mut self, branches: &'a [Value], value: &mut Json<'_>) {
        self.rename_variant(branches, value);
        for branch in branches {
            let mut renamed = value.clone();
            self.apply(branch, &mut renamed);
            // The original text of renamed parts is out of date.
            let text = renamed.compact();
            let mut left = self.left;
            let fits = match Json::parse(&text) {
                Ok(parsed) => self.checks.has_structure(branch, &parsed, &mut left),
                Err(_) => false,
            };
            self.left = left;
            if fits {
                *value = renamed;
                return;
            }
        }
    }

    fn branch_of_alias<'b>(&self, branches: &'b [Value], given: &str) -> Option<&'b Value> {
        for branch in branches {
            for schema in [Some(branch), resolve(self.checks.root, branch)].into_iter().flatten() {
                let Some(note) = self.note(schema) else { continue };
                if note.variants.iter().any(|(alias, _)| alias == given) {
                    return Some(branch);
                }
            }
        }
        None
    }

    /// Replaces a variant's alias in the tag or the only member.
    fn rename_variant(&self, branches: &[Value], value: &mut Json<'_>) {
        let root = self.checks.root;
        let Kind::Object(members) = &mut value.kind else { return };
        match discriminator(root, branches) {
            Some(Discriminator::Members(names)) => {
                for (given, _) in members.iter_mut().filter(|(given, _)| !names.contains(&&**given)) {
                    let branch = self.branch_of_alias(branches, given);
                    if let Some(name) = branch.and_then(|branch| only_member(root, branch)) {
                        *given = Cow::Owned(name.to_owned());
                    }
                }
            }
            Some(Discriminator::Tag(tag_name, _)) => {
                for (_, given) in members.iter_mut().filter(|(name, _)| name == tag_name) {
                    let Kind::String(text) = &mut given.kind else { continue };
                    let branch = self.branch_of_alias(branches, text);
                    if let Some((_, name)) = branch.and_then(|branch| tag(root, branch)) {
                        *text = Cow::Owned(name.as_str().unwrap_or_default().to_owned());
                    }
                }
            }
            None => {}
        }
    }
}
