//! A digest by which two schemas are told apart.

use serde_json::Value;
use std::fmt::Write as _;

/// The SHA-256 of a schema, as 64 hexadecimal digits. It does not depend on the order of keywords, nor on
/// the machine or the version of this crate.
///
/// What is hashed is compact JSON with sorted keys and ASCII letters only, as toolregistry hashes it.
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
    let mut text = String::new();
    write_canonical(schema, &mut text);
    let digest = hmac_sha256::Hash::hash(text.as_bytes());
    data_encoding::HEXLOWER.encode(&digest)
}

fn write_canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            text.push('{');
            for (index, (name, value)) in members.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_ascii(name, text);
                text.push(':');
                write_canonical(value, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_canonical(item, text);
            }
            text.push(']');
        }
        Value::String(string) => write_ascii(string, text),
        // Numbers, true, false and null are ASCII as they are.
        plain => text.push_str(&plain.to_string()),
    }
}

/// A JSON string in which every character outside of printable ASCII is escaped.
fn write_ascii(string: &str, text: &mut String) {
    text.push('"');
    for c in string.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            ' '..='~' => text.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(text, "\\u{unit:04x}");
                }
            }
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_text_is_sorted_compact_and_ascii() {
        let mut text = String::new();
        let value = json!({"b": [1, 2.5, null, true], "a": {"ü": "😀\u{7f}\n\"\\"}, "": "x/y"});
        write_canonical(&value, &mut text);
        assert_eq!(text, r#"{"":"x/y","a":{"\u00fc":"\ud83d\ude00\u007f\n\"\\"},"b":[1,2.5,null,true]}"#);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }

    #[test]
    fn the_digest_is_the_one_of_the_standard() {
        let empty = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
        assert_eq!(schema_hash(&json!({})), empty);
        assert_ne!(schema_hash(&json!({"a": 1})), schema_hash(&json!({"a": 2})));
    }
}
