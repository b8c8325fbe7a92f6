//! Canonical arguments, for comparing calls: published names, coerced values, no defaults.

use super::{Tool, ToolDefinition};
use crate::args::{DecodeOptions, check_json, not_an_object, not_json, with_members};
use crate::context::ToolContext;
use crate::error::{ErrorKind, ToolError, Violation};
use crate::guard::guarded;
use crate::schema::__private::{
    Json, Kind, Scope, TOO_COMPLEX, check, coerced_except_words, coerced_with_words, quoted, remove_defaults,
    repeated_names, use_own_members, use_own_names,
};
use crate::schema::SchemaRef;
use serde_json::Value;

/// Returns whether the tool accepts the arguments exactly as written. With `coerce`, returns whether the tool may
/// accept them coerced: a tool that needs the context of a call cannot tell here. If the tool panics, returns `false`.
pub(crate) fn takes(tool: &dyn Tool, arguments: &str, coerce: bool) -> bool {
    let name = tool.definition().name.clone();
    let context = if coerce { ToolContext::new(name) } else { ToolContext::of_exact_check(name) };
    match guarded(|| tool.validate(arguments, &context)) {
        Ok(Ok(())) => true,
        Ok(Err(error)) => coerce && error.kind() != ErrorKind::InvalidArguments,
        Err(_) => false,
    }
}

/// Returns the arguments as the JSON text of one object, with the parameters' own names at every depth. If
/// the tool coerces near misses, they are coerced.
///
/// `takes` returns whether the tool accepts a text, [with or without](takes()) coercion. As in decoding, a string is
/// replaced by an allowed string only if the tool accepts the arguments, but not the original string.
pub(crate) fn arguments_json(
    text: &str,
    definition: &ToolDefinition,
    takes: impl Fn(&str, bool) -> bool,
) -> Result<String, ToolError> {
    // A tool whose schema accepts more than objects may take a list or a string as it is.
    let takes_others = definition.parameters.get("type") != Some(&"object".into());
    if takes_others && text.trim_start().starts_with(['[', '"']) && takes(text, false) {
        return Err(not_an_object(text));
    }
    let own_members = |object: String| {
        let Ok(mut value) = Json::parse(&object) else { return object };
        use_own_members(schema_with_aliases(definition), &mut value);
        value.compact()
    };
    let object = own_members(with_names_of_parameters(text, definition)?);
    if !definition.metadata.coerce {
        return Ok(object);
    }
    // Coercion may reveal more forms, such as a struct in a string.
    Ok(own_members(coerced(text, object, definition, takes)))
}

/// Returns the arguments as the JSON text of one object, with the parameters' own names. Members of arguments keep
/// their names.
fn with_names_of_parameters(text: &str, definition: &ToolDefinition) -> Result<String, ToolError> {
    let own_name = |name: &str| quoted(definition.parameter_named(name).unwrap_or(name));
    with_members(text, |members| {
        let written = members.iter().map(|(name, value)| format!("{}:{}", own_name(name), value.get()));
        format!("{{{}}}", written.collect::<Vec<_>>().join(","))
    })
}

/// Returns the schema of the parameters, with the aliases that are not published.
fn schema_with_aliases(definition: &ToolDefinition) -> &Value {
    definition.with_aliases.as_ref().unwrap_or(&definition.parameters)
}

/// Returns `object`, the arguments of `text` under the parameters' own names, with near misses coerced.
fn coerced(
    text: &str,
    object: String,
    definition: &ToolDefinition,
    takes: impl Fn(&str, bool) -> bool,
) -> String {
    let Ok(mut parsed) = Json::parse(&object) else { return object };
    use_own_names(schema_with_aliases(definition), &mut parsed);
    let object = parsed.compact();
    let Ok(parsed) = Json::parse(&object) else { return object };
    let schema = schema_with_aliases(definition).into();
    let by_word = coerced_with_words(schema, &parsed, &mut |text| takes(text, false).then_some(true));
    let by_type = coerced_except_words(schema, &parsed).unwrap_or_else(|| object.clone());
    let is_meant = |by_word: &String| *by_word != by_type && !takes(&by_type, false) && takes(text, true);
    by_word.filter(is_meant).unwrap_or(by_type)
}

/// Checks arguments against the published schema. If `coerce` is `true` and the tool coerces near misses, they are no
/// violations.
///
/// # Errors
/// The arguments are not a JSON object, a member is repeated, or the arguments violate the schema. The error lists the
/// violations.
pub(super) fn check_arguments(
    text: &str,
    definition: &ToolDefinition,
    coerce: bool,
) -> Result<(), ToolError> {
    let violations = |text: &str| -> Result<Vec<Violation>, ToolError> {
        let mut parsed = Json::parse(text).map_err(|error| not_json(text, &error))?;
        let own;
        if let Some(with_aliases) = &definition.with_aliases {
            use_own_names(with_aliases, &mut parsed);
            own = parsed.compact();
            parsed = Json::parse(&own).map_err(|error| not_json(&own, &error))?;
        }
        let repeated = repeated_names(&parsed, "");
        if !repeated.is_empty() {
            return Ok(repeated);
        }
        let mut found = check((&definition.parameters).into(), &parsed, "", Scope::Validator);
        // A value too complex for a complete check may conform to the schema.
        found.retain(|violation| violation.message != TOO_COMPLEX);
        Ok(found)
    };
    let conforms = |text: &str| violations(text).is_ok_and(|found| found.is_empty());
    let coerce = coerce && definition.metadata.coerce;
    check_json(text, &DecodeOptions { coerce, ..DecodeOptions::strict(&definition.parameters, None) })?;
    let mut object = with_names_of_parameters(text, definition)?;
    if coerce && !conforms(&object) {
        object = coerced(text, object, definition, |text, coerce| coerce || conforms(text));
    }
    let found = violations(&object)?;
    if found.is_empty() { Ok(()) } else { Err(ToolError::invalid_arguments(found)) }
}

/// Returns the error about arguments and members of arguments that are given twice, perhaps once under an alias.
/// `object` is the [text of the arguments](arguments_json).
pub(crate) fn repeated_arguments(object: &str) -> Option<ToolError> {
    let repeated = repeated_names(&Json::parse(object).ok()?, "");
    if repeated.is_empty() { None } else { Some(ToolError::invalid_arguments(repeated)) }
}

/// Returns the arguments in [canonical form](Json::canonical), under the parameters' own names and without
/// default values. `object` is the [text of the arguments](arguments_json). Returns `None` if a JSON parser refuses it.
///
/// `null` counts as absent only if the tool is known to treat `null` this way, or if coercion removes the
/// `null`. For other tools, `null` may clear a value, while a missing argument keeps the value.
pub(crate) fn canonical_arguments(object: &str, definition: &ToolDefinition) -> Option<String> {
    let mut arguments = Json::parse(object).ok()?;
    remove_defaults(&definition.parameters, &mut arguments);
    if let Kind::Object(members) = &mut arguments.kind {
        let is_none = |name: &str| definition.none_if_null.contains(&name);
        members.retain(|(name, value)| !matches!(value.kind, Kind::Null) || !is_none(name));
    }
    Some(arguments.canonical())
}

/// Returns the value of one argument in [canonical form](Json::canonical), without default values inside of
/// it. `name` is the published name of the argument. The value has the published names, as in
/// [`arguments_json`].
pub(super) fn canonical_argument(value: &Value, name: &str, definition: &ToolDefinition) -> String {
    let text = value.to_string();
    let Ok(mut value) = Json::parse(&text) else { return text };
    let root = &definition.parameters;
    if let Some(schema) = root.get("properties").and_then(|properties| properties.get(name)) {
        remove_defaults(SchemaRef::new(root, schema), &mut value);
    }
    value.canonical()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::ToolName;
    use serde_json::json;

    fn canonical(text: &str) -> Option<String> {
        canonical_of(text, json!({"type": "object"}))
    }

    fn canonical_of(text: &str, schema: Value) -> Option<String> {
        let name = ToolName::new("tool").expect("a legal name");
        let definition = ToolDefinition::new(name, "", schema).with_alias("number", "n");
        let object = arguments_json(text, &definition, |_, coerce| coerce).ok()?;
        canonical_arguments(&object, &definition)
    }

    #[test]
    fn equal_arguments_have_equal_text() {
        for (text, expected) in [
            ("", "{}"),
            (" null ", "{}"),
            (
                r#" { "b" : [ 1 , { "d" : null, "c" : "\u0061\/" } ] , "a" : true } "#,
                r#"{"a":true,"b":[1,{"c":"a/","d":null}]}"#,
            ),
            (r#""{\"number\": 1}""#, r#"{"n":1}"#),
            (r#"{"a": 1, "a": 2}"#, r#"{"a":1,"a":2}"#),
        ] {
            assert_eq!(canonical(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn different_arguments_have_different_text() {
        for (one, other) in [
            (
                r#"{"n": 100000000000000000000000000000000000001}"#,
                r#"{"n": 100000000000000000000000000000000000002}"#,
            ),
            (r#"{"n": 0.1}"#, r#"{"n": 0.1000000000000000055}"#),
            (r#"{"n": 1}"#, r#"{"n": "1"}"#),
            (r#"{"n": [1]}"#, r#"{"n": [1, 1]}"#),
            (r#"{"a": 1, "a": 2}"#, r#"{"a": 2, "a": 1}"#),
        ] {
            assert_ne!(canonical(one), canonical(other));
        }
    }

    #[test]
    fn only_objects_have_a_canonical_form() {
        let deep = format!(r#"{{"n": {}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        for text in ["{", "[]", "1", r#"{"n": "\ud800"}"#, &deep] {
            assert_eq!(canonical(text), None);
        }
    }

    #[test]
    fn null_is_absent_only_for_tools_that_treat_it_so() {
        let schema = json!({"type": "object", "properties": {
            "clear": {"type": ["string", "null"]}, "any": {}, "never": {"type": "string"}, "default": {"default": null},
        }});
        let name = ToolName::new("tool").expect("a legal name");
        let mut definition = ToolDefinition::new(name, "", schema);
        let canonical = |definition: &ToolDefinition, member: &str| {
            let text = format!("{{\"{member}\": null}}");
            let object = arguments_json(&text, definition, |_, coerce| coerce).expect("an object");
            canonical_arguments(&object, definition).expect("JSON") == "{}"
        };
        for (member, coerced, as_is) in
            [("clear", false, false), ("any", false, false), ("never", true, false), ("default", true, true)]
        {
            definition.metadata.coerce = true;
            assert_eq!(canonical(&definition, member), coerced, "{member}");
            definition.metadata.coerce = false;
            assert_eq!(canonical(&definition, member), as_is, "{member}");
            definition.none_if_null = vec![member];
            assert!(canonical(&definition, member), "{member}");
            definition.none_if_null.clear();
        }
    }

    #[test]
    fn arguments_that_mean_the_same_have_equal_text() {
        let schema = json!({"type": "object", "required": ["n"], "properties": {
            "n": {"type": "integer"}, "x": {"type": "number", "default": 1.5}, "t": {"type": "string"},
            "unit": {"enum": ["big-step", "small"]},
            "in": {"type": "object", "properties": {"on": {"type": "boolean", "default": true}}},
        }});
        for (expected, texts) in [
            (
                r#"{"n":5}"#,
                &[r#"{"n": 5}"#, r#"{"n": 5.0}"#, r#"{"number": "5"}"#, r#"{"n": 5e0, "t": null}"#][..],
            ),
            (
                r#"{"n":1000}"#,
                &[r#"{"n": 1e3}"#, r#"{"n": 1000, "x": 1.5}"#, r#"{"n": "1000", "x": "15e-1"}"#],
            ),
            (r#"{"n":1,"x":2}"#, &[r#"{"n": 1, "x": 2}"#, r#"{"x": 2.0, "n": 1}"#, r#"{"x": "2", "n": 1}"#]),
            (r#"{"n":1,"t":"5"}"#, &[r#"{"n": 1, "t": "5"}"#, r#"{"n": 1, "t": 5}"#]),
            (
                r#"{"n":1,"unit":"big-step"}"#,
                &[r#"{"n": 1, "unit": "Big Step"}"#, r#"{"n": 1, "unit": "big_step"}"#],
            ),
            (r#"{"in":{},"n":1}"#, &[r#"{"n": 1, "in": {"on": "yes"}}"#, r#"{"n": 1, "in": {}}"#]),
            (r#"{"n":1}"#, &["```json\n{\"n\": 1}\n```", r#""{\"n\": 1}""#]),
        ] {
            for text in texts {
                assert_eq!(canonical_of(text, schema.clone()).as_deref(), Some(expected), "{text}");
            }
        }
    }
}
