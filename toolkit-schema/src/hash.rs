//! A digest of schemas.

use serde::Serialize;
use serde_json::Value;

/// Returns the SHA-256 of a schema, as 64 hexadecimal digits. It depends neither on the order of keywords, nor
/// on the machine or the version of this crate.
///
/// The input of the hash is compact JSON with sorted keys and ASCII characters only, as in toolregistry.
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
    let bracket = match value {
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            text.push('{');
            for (name, value) in members {
                write_ascii(name, text);
                text.push(':');
                write_canonical(value, text);
                text.push(',');
            }
            '}'
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write_canonical(item, text);
                text.push(',');
            }
            ']'
        }
        scalar => return write_ascii(scalar, text),
    };
    if text.ends_with(',') {
        text.pop();
    }
    text.push(bracket);
}

/// Writes a scalar, or a name, in printable ASCII.
fn write_ascii(scalar: &impl Serialize, text: &mut String) {
    // A scalar is always written.
    let json = serde_json::to_string(scalar).unwrap_or_default();
    if json.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.push_str(&json);
    }
    for c in json.chars() {
        match c {
            ' '..='~' => text.push(c),
            _ => {
                let units = &mut [0; 2];
                c.encode_utf16(units).iter().for_each(|unit| text.push_str(&format!("\\u{unit:04x}")));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_hashed_text_is_sorted_compact_and_ascii() {
        let value = json!({"b": [1, 2.5, null, true], "a": {"ü": "😀\u{7f}\n\"\\"}, "": "x/y"});
        let mut text = String::new();
        write_canonical(&value, &mut text);
        assert_eq!(text, r#"{"":"x/y","a":{"\u00fc":"\ud83d\ude00\u007f\n\"\\"},"b":[1,2.5,null,true]}"#);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }

    #[test]
    fn the_digest_of_an_empty_schema_is_that_of_two_braces() {
        let empty = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
        assert_eq!(schema_hash(&json!({})), empty);
        assert_ne!(schema_hash(&json!({"a": 1})), schema_hash(&json!({"a": 2})));
    }
}
