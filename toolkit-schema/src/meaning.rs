//! Simplifies values without changing their meaning: renames aliases and removes members equal to their default.

use crate::check::distance;
use crate::discriminator::{
    Discriminator, discriminator, has_only_member, has_other_tag, may_be_object, only_member, tag,
};
use crate::json::{Json, Kind, budget};
use crate::own::{listed_values, name_of_alias, names_of_type};
use crate::properties::{item_schema, member_schemas, property};
use crate::reference::{SchemaRef, resolve};
use crate::types::{fields, names, types};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ptr;

/// The maximum number of nested schemas applied to the same value. The limit matters for recursive schemas.
const DEEPEST: usize = 8;

/// Replaces every alias in a value by the name of its property or variant, at every depth.
///
/// `schema` must still contain the aliases: use the original schema that
/// [`strip_aliases`](crate::own::strip_aliases) returns.
pub fn use_own_names<'a>(schema: impl Into<SchemaRef<'a>>, value: &mut Json<'_>) {
    Meaning::of(schema.into(), value, Change::Names);
}

/// Uses own names like [`use_own_names`], also in other forms of a value that serde takes: a struct written as a list,
/// a variant without data written as an object, and the number of a variant as its tag.
pub fn use_own_members<'a>(schema: impl Into<SchemaRef<'a>>, value: &mut Json<'_>) {
    Meaning::of(schema.into(), value, Change::NamesAndForms);
}

/// Removes optional members whose value equals the `default` of their property, at every depth.
///
/// Inside a union, members are removed only if the tags or types of the value select a single branch. Otherwise, the
/// value might match another branch without the member.
pub fn remove_defaults<'a>(schema: impl Into<SchemaRef<'a>>, value: &mut Json<'_>) {
    Meaning::of(schema.into(), value, Change::Defaults);
}

/// What is simplified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Names,
    NamesAndForms,
    /// Names, and members whose value equals the default of their property.
    Defaults,
}

struct Meaning<'a, 'v> {
    root: &'a Value,
    change: Change,
    /// The number of schemas left to apply. When none are left, the rest of the value stays unchanged.
    left: usize,
    /// The values applied to branches of unions, with the number of violations that remain. The key is the branch and
    /// the position of the value in the text.
    ///
    /// Without them, a recursive union would take time exponential in the depth of the value.
    known: HashMap<(*const Value, *const u8), (Json<'v>, usize)>,
}

impl<'a, 'v> Meaning<'a, 'v> {
    fn of(SchemaRef { root, schema }: SchemaRef<'a>, value: &mut Json<'v>, change: Change) {
        Self { root, change, left: budget(value), known: HashMap::new() }.apply(schema, value, DEEPEST);
    }

    /// Applies `schema` to the value. `depth` is the maximum number of nested schemas to apply to the same value.
    fn apply(&mut self, schema: &'a Value, value: &mut Json<'v>, depth: usize) {
        let may_change = matches!(value.kind, Kind::Object(_) | Kind::Array(_) | Kind::String(_));
        let (Some(depth), Some(left), true) = (depth.checked_sub(1), self.left.checked_sub(1), may_change)
        else {
            return;
        };
        self.left = left;
        if schema.get("$ref").is_some()
            && let Some(target) = resolve(self.root, schema)
        {
            self.apply(target, value, depth);
        }
        let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
        for part in list("allOf").into_iter().flatten() {
            self.apply(part, value, depth);
        }
        for keyword in ["anyOf", "oneOf"] {
            let Some(branches) = list(keyword) else { continue };
            self.name_variant(branches, value);
            match self.possible_branches(keyword, branches, value).as_slice() {
                [only] => self.apply(only, value, depth),
                several if self.change != Change::Defaults => self.apply_closest(several, value, depth),
                _ => {}
            }
        }
        if self.change == Change::NamesAndForms {
            name_items(schema, value);
            name_unit(schema, value);
        }
        match &mut value.kind {
            Kind::String(name) => {
                if let Some(own) = name_of_alias(schema, name) {
                    *name = Cow::Owned(own.to_owned());
                }
            }
            Kind::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    if let Some(schema) = item_schema(schema, index) {
                        self.apply(schema, item, DEEPEST);
                    }
                }
            }
            Kind::Object(members) => self.apply_to_members(schema, members),
            _ => {}
        }
    }

    /// Applies the branch that the value belongs to: the first one that it conforms to under own names, or the one with
    /// the fewest violations, because a type may take more than its schema. Of these, a branch of the value's own JSON
    /// type comes first.
    fn apply_closest(&mut self, branches: &[&'a Value], value: &mut Json<'v>, depth: usize) {
        let mut closest: Option<((usize, bool), Json<'v>)> = None;
        for branch in branches {
            let key = (ptr::from_ref(*branch), value.text.as_ptr());
            if !self.known.contains_key(&key) {
                let mut own = value.clone();
                self.apply(branch, &mut own, depth);
                let distance = distance(SchemaRef::new(self.root, branch), &own);
                self.known.insert(key, (own, distance));
            }
            let Some((own, distance)) = self.known.get(&key) else { continue };
            let is_other_form = own.type_name() != value.type_name();
            let rank = (*distance, *distance > 0 && is_other_form);
            if closest.as_ref().is_none_or(|(lowest, _)| rank < *lowest) {
                closest = Some((rank, own.clone()));
            }
            if *distance == 0 {
                break;
            }
        }
        if let Some((_, own)) = closest {
            *value = own;
        }
    }

    /// Replaces a declared alias of a variant by the name of the variant.
    fn name_variant(&self, branches: &'a [Value], value: &mut Json<'_>) {
        let is_alias = |branch: &'a Value, given: &str| {
            let own = || names_of_type(resolve(self.root, branch)?);
            names_of_type(branch)
                .or_else(own)
                .is_some_and(|mut declared| declared.any(|alias| alias == given))
        };
        let of_alias = |given: &str| branches.iter().find(|branch| is_alias(branch, given));
        let Kind::Object(members) = &mut value.kind else { return };
        match discriminator(self.root, branches) {
            Some(Discriminator::Members(names)) => {
                if members.iter().any(|(given, _)| names.contains(&&**given)) {
                    return;
                }
                for (given, _) in members {
                    if let Some(name) = of_alias(given).and_then(|branch| only_member(self.root, branch)) {
                        *given = Cow::Owned(name.to_owned());
                        return;
                    }
                }
            }
            Some(Discriminator::Tag(tag_name, allowed)) => {
                for (_, given) in members.iter_mut().filter(|(name, _)| name == tag_name) {
                    let has_forms = self.change == Change::NamesAndForms;
                    let number = || given.text.parse().ok().and_then(|number: usize| allowed.get(number));
                    let text = match &given.kind {
                        Kind::Number if has_forms => number().and_then(|name| name.as_str()),
                        Kind::String(text) => Some(&**text),
                        _ => unit_name(given).filter(|_| has_forms),
                    };
                    let Some(text) = text else { continue };
                    let of_alias = || of_alias(text).and_then(|branch| tag(self.root, branch));
                    let own = match allowed.iter().find(|name| ***name == *text) {
                        Some(name) => Some(*name),
                        None => of_alias().map(|(_, name)| name),
                    };
                    if let Some(name) = own.and_then(Value::as_str) {
                        given.kind = Kind::String(Cow::Owned(name.to_owned()));
                    }
                }
            }
            None => {}
        }
    }

    /// Returns the branches of a union that the value can belong to. Optional members of the value are not compared.
    fn possible_branches(&self, keyword: &str, branches: &'a [Value], value: &Json<'_>) -> Vec<&'a Value> {
        let choice = discriminator(self.root, branches);
        let by_member = matches!(choice, Some(Discriminator::Members(_)));
        let is_possible = |branch: &&Value| {
            let own = resolve(self.root, branch);
            let kinds = own.and_then(|own| own.get("type"));
            let is_of_type = match value.kind {
                Kind::Object(_) => may_be_object(self.root, branch),
                // A variant with a name is no struct that may be a list.
                Kind::Array(_)
                    if self.change == Change::NamesAndForms && !(keyword == "oneOf" && by_member) =>
                {
                    kinds.is_none() || types(kinds).any(|name| matches!(name, "array" | "object"))
                }
                _ => kinds.is_none() || types(kinds).any(|name| value.is_of_type(name)),
            };
            let has_member =
                !by_member || value.members().is_none() || has_only_member(self.root, branch, value);
            let is_unit =
                || self.change == Change::NamesAndForms && own.is_some_and(|it| unit(it, value).is_some());
            is_of_type && has_member && !has_other_tag(self.root, branch, choice.as_ref(), value) || is_unit()
        };
        branches.iter().filter(is_possible).collect()
    }

    fn apply_to_members(&mut self, schema: &'a Value, members: &mut Vec<(Cow<'v, str>, Json<'v>)>) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let mut given: HashMap<String, usize> = HashMap::new();
        for (name, member) in members.iter_mut() {
            let (named, other) = member_schemas(schema, name);
            for schema in named.into_iter().chain(other) {
                self.apply(schema, member, DEEPEST);
            }
            match properties.and_then(|properties| property(properties, name)) {
                Some((own, _)) if own != name => *name = Cow::Owned(own.clone()),
                _ => {}
            }
            if self.change == Change::Defaults {
                *given.entry(name.to_string()).or_default() += 1;
            }
        }
        let Some(properties) = properties.filter(|_| self.change == Change::Defaults) else { return };
        members.retain(|(name, member)| {
            let property = properties.get(&**name);
            let default = property.and_then(|property| Some((property, property.get("default")?)));
            let is_optional = || names(schema.get("required")).all(|required| required != name);
            // A repeated member stays, because it may be a violation, or the last repetition may be decoded.
            let is_repeated = || given.get(&**name).is_some_and(|times| *times > 1);
            let may_be_left_out =
                default.is_some_and(|(property, default)| self.is_default(property, default, member));
            !may_be_left_out || is_repeated() || !is_optional()
        });
    }

    /// Returns whether `member` equals `default`, the default of `property`. The members inside `member` that equal
    /// their own defaults must already be removed.
    fn is_default(&mut self, property: &'a Value, default: &Value, member: &Json<'_>) -> bool {
        let count = match (default, &member.kind) {
            (Value::Object(default), Kind::Object(members)) => members.len() <= default.len(),
            (Value::Array(default), Kind::Array(items)) => items.len() == default.len(),
            (default, _) => !default.is_object() && !default.is_array(),
        };
        let text = default.to_string();
        count
            && Json::parse(&text).is_ok_and(|mut default| {
                let mut inner = Meaning { known: HashMap::new(), ..*self };
                inner.apply(property, &mut default, DEEPEST);
                self.left = inner.left;
                default.canonical() == member.canonical()
            })
    }
}

/// Turns a list in place of a struct into an object. The items of the list are in the order of the fields.
fn name_items(schema: &Value, value: &mut Json<'_>) {
    let no_fields = Map::new();
    let is_object = types(schema.get("type")).eq(["object"]);
    let fields = fields(schema).or(is_object.then_some(&no_fields));
    let (Kind::Array(items), Some(fields)) = (&mut value.kind, fields) else { return };
    let is_tagged = fields.values().any(|property| property.get("const").is_some());
    let is_more = ["anyOf", "oneOf", "allOf"].iter().any(|keyword| schema.get(keyword).is_some());
    if !is_tagged && !is_more && items.len() <= fields.len() {
        let names = fields.keys().map(|name| Cow::Owned(name.clone()));
        value.kind = Kind::Object(names.zip(std::mem::take(items)).collect());
    }
}

/// Turns an object in place of a variant without data into the name of the variant.
fn name_unit(schema: &Value, value: &mut Json<'_>) {
    if let Some(name) = unit(schema, value) {
        value.kind = Kind::String(Cow::Owned(name.to_owned()));
    }
}

/// Returns the name of the variant in an object such as `{"name": null}`, if the schema lists this name or its alias.
fn unit<'a>(schema: &'a Value, value: &Json<'_>) -> Option<&'a str> {
    let name = unit_name(value)?;
    let own = listed_values(schema).filter_map(Value::as_str).find(|own| *own == name);
    own.or_else(|| name_of_alias(schema, name))
}

/// Returns the name in an object such as `{"name": null}`.
fn unit_name<'v>(value: &'v Json<'_>) -> Option<&'v str> {
    match value.members()? {
        [(name, Json { kind: Kind::Null, .. })] => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
