//! Hashes of schemas.

use serde_json::Value;

/// Returns the SHA-256 hash of a schema, as 64 hexadecimal digits.
///
/// The hash depends neither on the order of keywords, nor on the machine or the version of this crate. The
/// hashed text is compact JSON with sorted keys and only ASCII characters, as in the Python library
/// toolregistry.
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
    data_encoding::HEXLOWER.encode(&digest)
}

fn hashed_text(schema: &Value) -> String {
    let mut sorted = schema.clone();
    sorted.sort_all_objects();
    let escaped = |c: char| match c {
        ' '..='~' => c.to_string(),
        c => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
    };
    // Characters outside of ASCII appear only inside strings, so they can be escaped.
    sorted.to_string().chars().map(escaped).collect()
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
