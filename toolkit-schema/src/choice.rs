//! What tells the branches of a choice among objects apart, as in the schema of an enum.

use super::describe::resolve;
use serde_json::Value;

/// What tells the objects of a choice apart.
#[derive(Debug, PartialEq)]
pub(super) enum Choice<'a> {
    /// A member that has a value of its own in each: an enum with a tag.
    Tag(&'a str, Vec<&'a Value>),
    /// The one member that each has: an enum whose variants are named by it.
    Members(Vec<&'a str>),
}

/// What tells those branches apart that are objects; `None` if there are none, or not all have one sign.
pub(super) fn choice_of<'a>(root: &'a Value, branches: &'a [Value]) -> Option<Choice<'a>> {
    let mut choice = None;
    for branch in branches.iter().filter(|branch| may_be_object(root, branch)) {
        choice = Some(match (choice, tag(root, branch), only_member(root, branch)) {
            (None, Some((name, value)), _) => Choice::Tag(name, vec![value]),
            (Some(Choice::Tag(name, mut values)), Some((other, value)), _) if name == other => {
                values.push(value);
                Choice::Tag(name, values)
            }
            (None, None, Some(name)) => Choice::Members(vec![name]),
            (Some(Choice::Members(mut names)), None, Some(name)) => {
                names.push(name);
                Choice::Members(names)
            }
            _ => return None,
        });
    }
    choice
}

/// Whether values of a branch are objects, as far as can be seen.
pub(super) fn may_be_object(root: &Value, branch: &Value) -> bool {
    let Some(schema) = resolve(root, branch) else { return true };
    match schema.get("type") {
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        _ => schema.get("enum").is_none() && schema.get("const").is_none(),
    }
}

/// The member that has one value only, and that value.
pub(super) fn tag<'a>(root: &'a Value, branch: &'a Value) -> Option<(&'a str, &'a Value)> {
    let own = |schema: &'a Value| {
        let properties = schema.get("properties")?.as_object()?;
        properties.iter().find_map(|(name, property)| Some((name.as_str(), property.get("const")?)))
    };
    own(branch).or_else(|| own(resolve(root, branch)?))
}

/// The one member that must be there where no other may be.
pub(super) fn only_member<'a>(root: &'a Value, branch: &'a Value) -> Option<&'a str> {
    let schema = resolve(root, branch)?;
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    match schema.get("required")?.as_array()?.as_slice() {
        [only] if closed => only.as_str(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(branches: &Value, expected: Option<&Choice<'_>>) {
        let root = json!({"$defs": {"common": {"type": "object", "properties": {"id": {}}}}});
        let branches = branches.as_array().unwrap();
        assert_eq!(choice_of(&root, branches).as_ref(), expected);
    }

    #[test]
    fn objects_are_told_apart_by_a_tag_or_a_name() {
        let tagged =
            |value: &str| json!({"type": "object", "properties": {"x": {}, "kind": {"const": value}}});
        let named = |name: &str| json!({"type": "object", "required": [name], "additionalProperties": false});
        let (a, b) = (json!("a"), json!("b"));
        check(&json!([tagged("a"), tagged("b")]), Some(&Choice::Tag("kind", vec![&a, &b])));
        let around = json!({"$ref": "#/$defs/common", "properties": {"kind": {"const": "b"}}});
        check(&json!([tagged("a"), around, {"type": "null"}]), Some(&Choice::Tag("kind", vec![&a, &b])));
        check(&json!([{"enum": ["C"]}, named("A"), named("B")]), Some(&Choice::Members(vec!["A", "B"])));
        check(&json!([tagged("a"), named("b")]), None);
        check(&json!([tagged("a"), {"$ref": "#/$defs/common"}]), None);
        check(&json!([tagged("a"), {"$ref": "#/$defs/lost"}]), None);
        check(&json!([{"type": "string"}]), None);
    }
}
