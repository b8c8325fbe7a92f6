//! Hashes of schemas.

use crate::encoding::hexadecimal;
use crate::json::quoted;
use crate::order::sort_by;
use serde_json::Value;
use std::borrow::Cow;

/// Returns the SHA-256 of a schema, as 64 hexadecimal digits.
///
/// It does not depend on the order of keywords, the machine or the version. The hashed text is compact,
/// sorted JSON in ASCII, as in the Python library toolregistry.
///
/// ```
/// use serde_json::json;
/// use toolkit_schema::schema_hash;
///
/// let one = schema_hash(&json!({"type": "object", "properties": {}}));
/// let other = schema_hash(&json!({"properties": {}, "type": "object"}));
/// assert_eq!(one, other);
/// assert_eq!(one.len(), 64);
/// ```
#[must_use]
pub fn schema_hash(schema: &Value) -> String {
    let text = hashed_text(schema);
    let digest = hmac_sha256::Hash::hash(text.as_bytes());
    hexadecimal(&digest)
}

/// What is left to write.
enum Rest<'a> {
    Value(&'a Value),
    /// A name with its colon, or punctuation.
    Text(Cow<'static, str>),
}

/// Writes compact, sorted JSON, without stack for depth.
fn hashed_text(schema: &Value) -> String {
    let mut text = String::new();
    // The next part is the last one.
    let mut rest = vec![Rest::Value(schema)];
    while let Some(next) = rest.pop() {
        match next {
            Rest::Text(part) => text.push_str(&part),
            Rest::Value(Value::Array(items)) => {
                text.push('[');
                rest.push(Rest::Text("]".into()));
                for (index, item) in items.iter().enumerate().rev() {
                    rest.push(Rest::Value(item));
                    if index > 0 {
                        rest.push(Rest::Text(",".into()));
                    }
                }
            }
            Rest::Value(Value::Object(members)) => {
                text.push('{');
                rest.push(Rest::Text("}".into()));
                let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
                sort_by(&mut sorted, |(one, _), (other, _)| one.cmp(other));
                for (index, (name, member)) in sorted.into_iter().enumerate().rev() {
                    rest.push(Rest::Value(member));
                    rest.push(Rest::Text(format!("{}:", quoted(name)).into()));
                    if index > 0 {
                        rest.push(Rest::Text(",".into()));
                    }
                }
            }
            Rest::Value(scalar) => text.push_str(&scalar.to_string()),
        }
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, ' '..='~') {
            escaped.push(c);
            continue;
        }
        // Characters outside of ASCII appear only inside strings, where they can be escaped.
        for unit in c.encode_utf16(&mut [0; 2]) {
            escaped.push_str(&format!("\\u{unit:04x}"));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_hashed_text_is_sorted_compact_and_ascii() {
        let value = json!({"b": [1, 2.5, null, true], "a": {"ü": "😀\u{7f}\n\"\\"}, "": "x/y"});
        let text = hashed_text(&value);
        assert_eq!(text, r#"{"":"x/y","a":{"\u00fc":"\ud83d\ude00\u007f\n\"\\"},"b":[1,2.5,null,true]}"#);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }

    #[test]
    fn the_hash_of_an_empty_schema_is_the_hash_of_two_braces() {
        let empty = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
        assert_eq!(schema_hash(&json!({})), empty);
        assert_ne!(schema_hash(&json!({"a": 1})), schema_hash(&json!({"a": 2})));
    }
}
