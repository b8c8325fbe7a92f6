//! Decoding of arguments into one struct: the parameter of a closure, or of a function with `flatten`.
//!
//! The JSON text is deserialized directly. If this fails, or if the result violates a rule of the schema that
//! the type does not check, the arguments are coerced and checked as one object.

use super::compared::{decode_only, mark_differences, mark_faulty_default};
use super::explain::{self, Report};
use super::fields::fields_of;
use super::members::with_members;
use super::options::DecodeOptions;
use super::slot::ToolParams;
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::schema::__private::{argument_schema_of, members_of, quoted, unmark_all};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Facts about an arguments type, needed for decoding in addition to the schema.
#[derive(Debug, Clone, Copy)]
pub struct ObjectInfo {
    /// The names and aliases of the fields. `None` if the type accepts any name.
    fields: Option<&'static [&'static str]>,
    /// Whether the type ignores unknown names. If so, `additionalProperties` in the schema decides whether unknown
    /// names are refused.
    closable: bool,
    /// Whether the schema constrains values more than the type does.
    has_constraints: bool,
}

impl ObjectInfo {
    /// Returns the schema of a type and the facts about it. Returns `None` if the type is not represented as
    /// an object.
    pub(crate) fn of<T: ToolParams>() -> Option<(Value, Self)> {
        let (mut schema, has_constraints) = compared_schema_of::<T>();
        if !is_object(&schema) {
            return None;
        }
        if let Value::Object(root) = &mut schema {
            // The description of the tool is published instead of the description of the arguments type.
            root.shift_remove("description");
        }
        // For a tagged enum, serde declares the fields for tag and content, without the fields of the
        // variants.
        let is_enum = ["oneOf", "anyOf"].iter().any(|keyword| schema.get(*keyword).is_some());
        let fields = fields_of::<T>().filter(|_| !is_enum);
        let mut closable = fields.is_some();
        if let (true, Value::Object(root)) = (closable, &mut schema) {
            root.entry("properties").or_insert_with(|| Map::new().into());
            closable = !root.contains_key("additionalProperties");
        }
        Some((schema, Self { fields, closable, has_constraints }))
    }

    /// Returns the names of fields and aliases. Returns `None` if the type does not declare all of them.
    pub(crate) fn fields(&self) -> Option<&'static [&'static str]> {
        self.fields
    }

    /// Makes `schema` refuse unknown names if `closed`, and accept them otherwise.
    ///
    /// Does nothing unless the type ignores unknown names.
    pub(crate) fn close(&self, schema: &mut Value, closed: bool) {
        if self.closable {
            close(schema, closed);
        }
    }

    /// Returns whether `options` refuse unknown names and the type has no field called `name`.
    fn is_unknown(&self, name: &str, options: &DecodeOptions<'_>) -> bool {
        options.refuse_unknown && self.fields.is_some_and(|fields| !fields.contains(&name))
    }

    /// Returns whether the arguments in `text`, already decoded, also satisfy the constraints of the schema.
    /// If unknown names must be refused, returns `false` for an unknown name.
    fn conforms(&self, text: &str, options: &DecodeOptions<'_>) -> bool {
        let closed = self.closable && options.refuse_unknown;
        (!closed || all_names(text, |name| !self.is_unknown(name, options)))
            && (!self.has_constraints || explain::broken(options.schema, text, "", options, None).is_empty())
    }
}

/// Makes an object schema refuse additional members if `closed`, and accept them otherwise.
pub(crate) fn close(schema: &mut Value, closed: bool) {
    let Value::Object(root) = schema else { return };
    if closed {
        root.insert("additionalProperties".to_owned(), false.into());
    } else {
        root.shift_remove("additionalProperties");
    }
}

/// Returns the schema of the arguments type `T` and the [`ObjectInfo`] for decoding.
#[must_use]
pub fn struct_args<T: ToolParams>() -> (Value, ObjectInfo) {
    ObjectInfo::of::<T>().unwrap_or_else(|| {
        let (schema, has_constraints) = compared_schema_of::<T>();
        (schema, ObjectInfo { fields: None, closable: false, has_constraints })
    })
}

/// Returns the schema of a type, and whether arguments must be checked against the schema. The schema is
/// marked where it differs from the type.
fn compared_schema_of<T: ToolParams>() -> (Value, bool) {
    let mut schema = argument_schema_of::<T>();
    mark_faulty_default(&mut schema);
    let has_constraints = mark_differences(&mut schema, &[(None, decode_only::<T>)]) == [true];
    if !has_constraints {
        unmark_all(&mut schema);
    }
    (schema, has_constraints)
}

/// Decodes the arguments into one struct. Coercion and error messages are the same as in
/// [`decode`](super::decode()).
pub(crate) fn decode_struct<T: ToolParams>(
    text: &str,
    info: &ObjectInfo,
    options: &DecodeOptions<'_>,
) -> Result<T, ToolError> {
    // Structs with a derived `Deserialize` also accept arrays, but their schema allows only objects.
    if text.trim_start().starts_with('{')
        && let Ok(value) = serde_json::from_str(text)
        && info.conforms(text, options)
    {
        return Ok(value);
    }
    let (object, mut report) = relax(text, options, |name| info.is_unknown(name, options))?;
    let broken = |text: &str| match info.has_constraints {
        true => {
            let mut accepts = |text: &str| serde_json::from_str::<T>(text).is_ok();
            explain::broken(options.schema, text, "", options, Some(&mut accepts))
        }
        false => Vec::new(),
    };
    let mut given = serde_json::from_str(&object).map(|value| (value, broken(&object)));
    let mut last = object.clone();
    let mut takes = |text: &str| serde_json::from_str::<T>(text).is_ok().then(|| broken(text).is_empty());
    let coercions = match options.coerce {
        true => explain::coercions(options.schema, options.schema, &object, &mut takes),
        false => Vec::new(),
    };
    for coerced in coercions {
        if matches!(&given, Ok((_, found)) if found.is_empty()) {
            break;
        }
        match (serde_json::from_str(&coerced), &given) {
            (Ok(value), Err(_)) => given = Ok((value, broken(&coerced))),
            (Ok(value), Ok(_)) => match broken(&coerced) {
                found if found.is_empty() => given = Ok((value, found)),
                _ => continue,
            },
            (Err(error), Err(_)) => given = Err(error),
            (Err(_), Ok(_)) => continue,
        }
        last = coerced;
    }
    emit_coerced(&object, &last, options);
    match given {
        Ok((value, found)) => {
            report.extend(found);
            report.finish().map(|()| value)
        }
        Err(error) => {
            let repeated = explain::repeated_inside(&last, "");
            // Prefer the violations of the schema: they say more than the error of the type.
            match repeated.is_empty() {
                true => report.extend(explain::violations("", &last, options, options.schema, &error)),
                false => report.extend(repeated),
            }
            if report.violations.is_empty() {
                report.add(|| explain::refused_by_type("", &last, &error));
            }
            Err(report.into_error())
        }
    }
}

/// Reports a coercion for each member with a different value in `coerced` than in `object`.
pub(crate) fn emit_coerced(object: &str, coerced: &str, options: &DecodeOptions<'_>) {
    let Some(emitter) = options.context.and_then(ToolContext::emitter).filter(|_| object != coerced) else {
        return;
    };
    let members = members_of(object).unwrap_or_default();
    let given: HashSet<(&str, &str)> = members.iter().map(|(name, value)| (&**name, value.get())).collect();
    let changed = members_of(coerced).unwrap_or_default().into_iter();
    changed
        .filter(|(name, value)| !given.contains(&(&**name, value.get())))
        .for_each(|(name, _)| emitter.coerced(&name));
}

/// Removes unknown members from the arguments.
///
/// Returns the resulting object as JSON text, and the violations for unknown names.
///
/// # Errors
/// The arguments are not a JSON object.
#[cold]
pub(crate) fn relax(
    text: &str,
    options: &DecodeOptions<'_>,
    is_unknown: impl Fn(&str) -> bool,
) -> Result<(String, Report), ToolError> {
    explain::check_json(text, options)?;
    with_members(text, |members| {
        let mut found = Report::default();
        let mut known = Vec::with_capacity(members.len());
        for (name, value) in members {
            if is_unknown(name) {
                let properties = options.schema.get("properties").and_then(Value::as_object);
                let names = properties.into_iter().flat_map(Map::keys).map(String::as_str);
                found.add(|| explain::unknown(name, names));
                continue;
            }
            known.push(format!("{}:{}", quoted(name), value.get()));
        }
        (format!("{{{}}}", known.join(",")), found)
    })
}

/// Returns whether the schema accepts only objects.
fn is_object(schema: &Value) -> bool {
    object_among(schema, schema, 4, true)
}

/// Returns whether the schema accepts objects, possibly besides other values.
#[cfg(feature = "jsonschema")]
pub(crate) fn takes_object(schema: &Value) -> bool {
    object_among(schema, schema, 4, false)
}

fn object_among(root: &Value, schema: &Value, depth: usize, only: bool) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let within = |schema: &Value| object_among(root, schema, depth, only);
    let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object") && (!only || kinds.len() == 1),
        Some(kind) => kind == "object",
        None => {
            let reference = schema.get("$ref").and_then(Value::as_str);
            let target = reference.and_then(|reference| root.pointer(reference.strip_prefix('#')?));
            let branches = list("anyOf").or_else(|| list("oneOf"));
            target.is_some_and(within)
                || branches
                    .is_some_and(|list| if only { list.iter().all(within) } else { list.iter().any(within) })
                || list("allOf").is_some_and(|list| list.iter().any(within))
                || schema.get("properties").is_some()
        }
    }
}

/// Returns whether `test` holds for every member name of `object`.
fn all_names(object: &str, mut test: impl FnMut(&str) -> bool) -> bool {
    with_members(object, |members| members.iter().all(|(name, _)| test(name))).unwrap_or(false)
}
