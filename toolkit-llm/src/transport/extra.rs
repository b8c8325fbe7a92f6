//! Merges the user's request fields into a body.

use serde_json::{Map, Value};

/// The fields whose lists are joined. Other lists are replaced.
const JOINED: [&str; 2] = ["tools", "include"];

/// Merges `extra` into `body`.
///
/// Objects are merged at every depth. The lists in `tools` and `include` are joined, with the values of
/// `body` first. Any other value replaces the value in `body`, and `null` removes it. An object also replaces
/// one with another `type`, such as another kind of tool choice. With `has_two_spellings`, a field is found
/// by either spelling.
pub(super) fn merge(body: &mut Map<String, Value>, extra: &Map<String, Value>, has_two_spellings: bool) {
    for (name, value) in extra {
        let name = if has_two_spellings { spelled(body, name) } else { name.clone() };
        match (body.get_mut(&name), value) {
            (None, _) => drop(body.insert(name, value.clone())),
            (Some(_), Value::Null) => drop(body.shift_remove(&name)),
            (Some(Value::Object(ours)), Value::Object(theirs)) if !are_alternatives(ours, theirs) => {
                merge(ours, theirs, has_two_spellings);
            }
            (Some(Value::Array(ours)), theirs) if JOINED.contains(&name.as_str()) => match theirs {
                Value::Array(theirs) => join(ours, theirs),
                theirs => join(ours, std::slice::from_ref(theirs)),
            },
            (Some(ours), theirs) => *ours = theirs.clone(),
        }
    }
}

fn join(ours: &mut Vec<Value>, theirs: &[Value]) {
    for value in theirs {
        if !ours.contains(value) {
            ours.push(value.clone());
        }
    }
}

fn are_alternatives(ours: &Map<String, Value>, theirs: &Map<String, Value>) -> bool {
    matches!((ours.get("type"), theirs.get("type")), (Some(ours), Some(theirs)) if ours != theirs)
}

/// Returns the spelling that `body` already uses: Gemini refuses a request with both `generation_config` and
/// `generationConfig`.
fn spelled(body: &Map<String, Value>, name: &str) -> String {
    if body.contains_key(name) {
        return name.to_owned();
    }
    for known in body.keys() {
        if plain(known) == plain(name) {
            return known.clone();
        }
    }
    name.to_owned()
}

fn plain(name: &str) -> String {
    name.replace('_', "").to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::ApiFormat;
    use crate::facts::Server;
    use proptest::prelude::*;
    use serde_json::json;

    fn merged(format: ApiFormat, mut body: Value, extra: &Value) -> Value {
        let has_two_spellings = format.request_facts(Server::Own).has_two_spellings;
        merge(body.as_object_mut().unwrap(), extra.as_object().unwrap(), has_two_spellings);
        body
    }

    #[test]
    fn gemini_fields_are_merged_in_either_spelling() {
        let body = json!({
            "generationConfig": {"temperature": 0.2},
            "tools": [{"function_declarations": [{"name": "add"}]}],
        });
        let extra = json!({
            "generation_config": {"thinkingConfig": {"thinkingBudget": 0}},
            "tools": [{"googleSearch": {}}],
        });
        let expected = json!({
            "generationConfig": {"temperature": 0.2, "thinkingConfig": {"thinkingBudget": 0}},
            "tools": [{"function_declarations": [{"name": "add"}]}, {"googleSearch": {}}],
        });
        assert_eq!(merged(ApiFormat::Gemini, body, &extra), expected);
    }

    #[test]
    fn objects_of_different_types_are_alternatives() {
        let body = json!({"thinking": {"type": "enabled", "budget_tokens": 1_024}, "max_tokens": 9});
        let extra = json!({"thinking": {"type": "disabled"}, "max_tokens": null, "seed": null});
        let expected = json!({"thinking": {"type": "disabled"}, "seed": null});
        assert_eq!(merged(ApiFormat::Anthropic, body, &extra), expected);
        let same = json!({"thinking": {"type": "enabled", "display": "omitted"}});
        let body = json!({"thinking": {"type": "enabled", "budget_tokens": 1_024}});
        let expected = json!({"thinking": {"type": "enabled", "budget_tokens": 1_024, "display": "omitted"}});
        assert_eq!(merged(ApiFormat::Anthropic, body, &same), expected);
    }

    /// Generates objects from few names, so that they often share fields. `null` and `type` do not occur,
    /// because the merge handles them specially.
    fn object() -> impl Strategy<Value = Value> {
        let leaf =
            prop_oneof![Just(json!(1)), Just(json!("a")), Just(json!([{"name": "x"}])), Just(json!({}))];
        let name = || prop::sample::select(vec!["a", "b", "generationConfig", "tools", "include"]);
        let level = leaf.prop_recursive(3, 24, 4, move |inner| {
            prop::collection::btree_map(name(), inner, 0..4).prop_map(|fields| json!(fields))
        });
        prop::collection::btree_map(name(), level, 0..5).prop_map(|fields| listed(json!(fields)))
    }

    fn listed(value: Value) -> Value {
        let Value::Object(fields) = value else { return value };
        let members = fields.into_iter().map(|(name, value)| match listed(value) {
            value @ Value::Object(_) if JOINED.contains(&name.as_str()) => (name, json!([value])),
            value => (name, value),
        });
        members.collect()
    }

    /// Adds the path and the value of every leaf to `found`.
    ///
    /// Elements of a list in a `JOINED` field are leaves with the path of the list.
    fn leaves(value: &Value, path: &str, found: &mut Vec<(String, Value)>) {
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                for (name, value) in fields {
                    leaves(value, &format!("{path}/{name}"), found);
                }
            }
            Value::Array(list) if JOINED.iter().any(|name| path.ends_with(&format!("/{name}"))) => {
                found.extend(list.iter().map(|value| (path.to_owned(), value.clone())));
            }
            value => found.push((path.to_owned(), value.clone())),
        }
    }

    fn all_leaves(value: &Value) -> Vec<(String, Value)> {
        let mut found = Vec::new();
        leaves(value, "", &mut found);
        found
    }

    proptest! {
        #[test]
        fn no_field_of_either_side_is_lost(ours in object(), theirs in object()) {
            for &format in ApiFormat::ALL {
                let both = merged(format, ours.clone(), &theirs);
                let found = all_leaves(&both);
                for (path, value) in all_leaves(&theirs) {
                    // An empty object adds nothing to an object with fields.
                    let is_kept = found.contains(&(path.clone(), value.clone()))
                        || value == json!({}) && both.pointer(&path).is_some();
                    prop_assert!(is_kept, "{path} of the user: {both}");
                }
                for (path, value) in all_leaves(&ours) {
                    // Only a value of the user at the same or an outer path replaces ours.
                    let mut outer = path.as_str();
                    let mut is_replaced = false;
                    while !outer.is_empty() {
                        let theirs = theirs.pointer(outer);
                        is_replaced |= theirs.is_some_and(|theirs| !theirs.is_object() || outer == path);
                        outer = &outer[..outer.rfind('/').unwrap_or_default()];
                    }
                    let is_list = |it: &Value| it.pointer(&path).is_some_and(Value::is_array);
                    let is_joined = path.ends_with("/tools") || path.ends_with("/include");
                    let is_joined = is_joined && [&ours, &theirs, &both].into_iter().all(is_list);
                    let is_filled = both.pointer(&path).is_some_and(Value::is_object);
                    if !is_replaced || is_joined {
                        let is_kept = is_filled || found.contains(&(path.clone(), value));
                        prop_assert!(is_kept, "{path} of ours: {both}");
                    }
                }
            }
        }
    }
}
