//! The digits of numbers that a `Value` rounds.

use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;
use toolkit_core::schema::__private::{Json, Kind, quoted};

/// Returns the JSON text of `value` with the digits of `body`, from which it was read; `None` if a `Value`
/// holds each number. A part that was left out or changed stays as it is.
pub(super) fn exact_text(value: &Value, body: &str) -> Option<Box<RawValue>> {
    let original = Json::parse(body).ok().filter(|original| !original.is_exact())?;
    let mut written = String::new();
    write(value, &original, &mut written);
    RawValue::from_string(written).ok()
}

fn write(value: &Value, original: &Json<'_>, written: &mut String) {
    match (value, &original.kind) {
        (Value::Number(_), Kind::Number) => written.push_str(original.text),
        (Value::Array(items), Kind::Array(originals)) => {
            written.push('[');
            for (index, (item, original)) in items.iter().zip(originals).enumerate() {
                written.push_str(if index > 0 { "," } else { "" });
                write(item, original, written);
            }
            written.push(']');
        }
        (Value::Object(members), Kind::Object(originals)) => {
            // Of a repeated name, a `Value` has the last member.
            let mut by_name: HashMap<&str, &Json<'_>> = HashMap::with_capacity(originals.len());
            for (name, original) in originals {
                by_name.insert(name, original);
            }
            written.push('{');
            for (index, (name, value)) in members.iter().enumerate() {
                written.extend([if index > 0 { "," } else { "" }, &quoted(name), ":"]);
                match by_name.get(name.as_str()) {
                    Some(original) => write(value, original, written),
                    None => written.push_str(&value.to_string()),
                }
            }
            written.push('}');
        }
        _ => written.push_str(&value.to_string()),
    }
}
