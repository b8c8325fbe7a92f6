//! Boxed futures, and JSON whose levels are counted.

use super::json_writer::JsonWriter;
use serde::Serialize;
use toolkit_schema::__private::MAX_DEPTH;

/// The maximum depth that `serde_json` can parse.
pub const MAX_NESTING: usize = MAX_DEPTH;

/// Appends the JSON of a value to `json`, and counts its depth meanwhile, so that no byte is read twice.
///
/// # Errors
/// A message if the value cannot be written, or is nested deeper than `max` levels. Then `json` is unchanged.
pub fn append_json(json: &mut Vec<u8>, value: &impl Serialize, max: usize) -> Result<(), String> {
    let len = json.len();
    let mut writer = JsonWriter::new(json);
    let written = value.serialize(&mut writer);
    let deepest = writer.deepest();
    let reason = match written {
        Ok(()) if deepest <= max => return Ok(()),
        Ok(()) => format!(
            "is nested {deepest} levels deep, and could not be read again; flatten it to {max} levels"
        ),
        Err(error) => error.to_string(),
    };
    json.truncate(len);
    Err(reason)
}

/// A boxed `Send` future.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::RawValue;
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    /// Appends a value to a text that must stay if it is refused.
    fn appended(value: &impl Serialize, max: usize) -> Result<String, String> {
        let mut json = b"before ".to_vec();
        let result = append_json(&mut json, value, max);
        let text = String::from_utf8(json).unwrap();
        let written = text.strip_prefix("before ").unwrap().to_owned();
        assert!(result.is_ok() || written.is_empty(), "{written}");
        result.map(|()| written)
    }

    #[test]
    fn levels_are_counted_as_they_are_written() {
        let raw = |json: &str| RawValue::from_string(json.to_owned()).unwrap();
        for (value, depth) in [
            (json!(1), 0),
            (json!("[[{"), 0),
            (json!([]), 1),
            (json!({}), 1),
            (json!([[], {}, [1]]), 2),
            (json!([{"}]": [[1]]}, "]]\\\"}}", [[[{"\"[": "[["}]]]]), 5),
        ] {
            let text = value.to_string();
            assert_eq!(appended(&value, depth), Ok(text.clone()));
            let wrapped = [[raw(&text)]];
            assert_eq!(appended(&wrapped, depth + 2), Ok(format!("[[{text}]]")));
            assert!(appended(&wrapped, depth + 1).is_err());
            if let Some(less) = depth.checked_sub(1) {
                let error = appended(&value, less).unwrap_err();
                assert!(error.starts_with(&format!("is nested {depth} levels deep")), "{error}");
            }
        }
    }

    /// Text with escapes at any place.
    #[test]
    fn texts_are_written_as_by_serde_json() {
        let mut texts: Vec<String> = (0..20).map(|len| "ä".repeat(len)).collect();
        for special in (0..=0x7f_u8).map(char::from).chain(['\u{80}', 'é', '€', '🦀']) {
            for (before, after) in (0..18).flat_map(|before| [(before, 0), (before, 1), (before, 9)]) {
                texts.push(format!("{}{special}{}", "a".repeat(before), "b".repeat(after)));
            }
            texts.push(format!("{special}{special}abcdefgh{special}\"\\{special}"));
        }
        for text in texts {
            assert_eq!(appended(&text, 0), Ok(serde_json::to_string(&text).unwrap()));
        }
    }

    #[derive(Serialize)]
    enum Shape {
        Unit,
        Newtype(Box<Self>),
        Tuple(i8, f32),
        Struct { text: Option<char>, empty: [u8; 0] },
    }

    #[derive(Serialize)]
    struct Shapes {
        unit: (),
        #[serde(rename = "a key of another name, and long")]
        shapes: Vec<Shape>,
        numbers: (u64, i64, u128, i128, f64, f64, f32),
        keys: BTreeMap<i32, bool>,
        truths: BTreeMap<bool, ()>,
        characters: BTreeMap<char, u8>,
        #[serde(flatten)]
        more: Value,
        raw: Box<RawValue>,
    }

    #[test]
    fn all_shapes_are_written_as_by_serde_json() {
        let mut shapes = Shapes {
            unit: (),
            shapes: vec![
                Shape::Unit,
                Shape::Newtype(Box::new(Shape::Newtype(Box::new(Shape::Unit)))),
                Shape::Tuple(-1, 0.1),
                Shape::Struct { text: None, empty: [] },
                Shape::Struct { text: Some('"'), empty: [] },
            ],
            numbers: (u64::MAX, i64::MIN, u128::MAX, i128::MIN, 1e300, f64::NAN, f32::MIN_POSITIVE),
            keys: BTreeMap::from([(-1, true), (20, false)]),
            truths: BTreeMap::from([(true, ()), (false, ())]),
            characters: BTreeMap::from([('\n', 1), ('t', 2)]),
            more: json!({"null": null, "numbers": [0, -1.5, 1e-9], "object": {"\u{1}": {}, "": []}}),
            raw: RawValue::from_string("[ {} , 1e2 ]".to_owned()).unwrap(),
        };
        assert_eq!(appended(&shapes, 5), Ok(serde_json::to_string(&shapes).unwrap()));
        shapes.shapes.clear();
        assert_eq!(appended(&shapes, 3), Ok(serde_json::to_string(&shapes).unwrap()));
        assert!(appended(&shapes, 2).is_err());
    }

    #[test]
    fn a_key_that_is_no_text_is_refused() {
        for error in [
            appended(&BTreeMap::from([((), 1)]), 9),
            appended(&BTreeMap::from([([1], 1)]), 9),
            appended(&BTreeMap::from([(None::<u8>, 1)]), 9),
        ] {
            assert_eq!(error, Err("key must be a string".to_owned()));
        }
    }
}
