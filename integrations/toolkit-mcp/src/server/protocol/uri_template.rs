//! Templates of URIs, with variables such as `{id}` and `{+path}` (RFC 6570).

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

pub(crate) fn is_template(uri: &str) -> bool {
    uri.contains('{')
}

/// Returns the variables with which the template is `uri`.
pub(crate) fn expand(template: &str, uri: &str) -> Option<Value> {
    let mut values = Map::new();
    let mut template = template;
    let mut uri = uri;
    while let Some((literal, rest)) = template.split_once('{') {
        let (variable, rest) = rest.split_once('}')?;
        uri = uri.strip_prefix(literal)?;
        let next = rest.split('{').next().unwrap_or_default();
        let end = if next.is_empty() { uri.len() } else { uri.find(next)? };
        let (value, after) = uri.split_at_checked(end)?;
        let name = variable.strip_prefix('+');
        if value.is_empty() || name.is_none() && value.contains('/') {
            return None;
        }
        let value = percent_decode_str(value).decode_utf8().ok()?;
        if !is_safe(&value, name.is_some()) {
            return None;
        }
        values.insert(name.unwrap_or(variable).to_owned(), value.into());
        template = rest;
        uri = after;
    }
    if template == uri { Some(Value::Object(values)) } else { None }
}

/// Returns whether a decoded value stays in its place: a segment is no path, and no segment of a path leads
/// upwards.
fn is_safe(value: &str, is_path: bool) -> bool {
    if is_path {
        !value.contains('\0') && value.split(['/', '\\']).all(|segment| segment != "..")
    } else {
        !value.contains(['/', '\\', '\0']) && value != "." && value != ".."
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn variables_match_segments_or_paths() {
        for (template, uri, values) in [
            ("users://{id}", "users://7", Some(json!({"id": "7"}))),
            ("users://{id}", "users://7/a", None),
            ("users://{id}", "users://", None),
            ("users://{id}/{part}.txt", "users://a%20b/x.y.txt", Some(json!({"id": "a b", "part": "x.y"}))),
            ("file:///{+path}", "file:///a/b%2Fc", Some(json!({"path": "a/b/c"}))),
            ("users://{id}/all", "users://7/al", None),
            ("users://{id}", "users://..%2f..%2fetc", None),
            ("users://{id}", "users://a%5Cb", None),
            ("users://{id}", "users://a%00", None),
            ("users://{id}", "users://%2e%2e", None),
            ("users://{id}", "users://a..b", Some(json!({"id": "a..b"}))),
            ("file:///{+path}", "file:///a/%2e%2e/%2E./etc", None),
            ("file:///{+path}", "file:///..%5Cetc", None),
            ("file:///{+path}", "file:///a%00", None),
            ("config://app", "config://app", Some(json!({}))),
            ("users://{id", "users://7", None),
        ] {
            assert_eq!(expand(template, uri), values, "{template} {uri}");
        }
    }
}
