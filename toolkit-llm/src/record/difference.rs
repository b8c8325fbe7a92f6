//! The differences between a recorded request and another request.

use serde_json::Value;

const MAX_LINES: usize = 10;

/// The maximum number of characters of a value.
const MAX_CHARS: usize = 80;

/// Stands for a missing value.
const ABSENT: &str = "nothing";

/// Lists the differences of two requests with JSON paths.
pub(super) fn differences(recorded: &Value, asked: &Value) -> String {
    let mut found = Vec::new();
    compare("", Some(recorded), Some(asked), &mut found);
    let more = found.len().saturating_sub(MAX_LINES);
    found.truncate(MAX_LINES);
    if more > 0 {
        found.push(format!("\n- and {more} more"));
    }
    found.concat()
}

fn compare(path: &str, recorded: Option<&Value>, asked: Option<&Value>, found: &mut Vec<String>) {
    match (recorded, asked) {
        (recorded, asked) if recorded == asked => {}
        (Some(Value::Object(before)), Some(Value::Object(now))) => {
            let dot = if path.is_empty() { "" } else { "." };
            let added = now.keys().filter(|name| !before.contains_key(*name));
            for name in before.keys().chain(added) {
                compare(&format!("{path}{dot}{name}"), before.get(name), now.get(name), found);
            }
        }
        (Some(Value::Array(before)), Some(Value::Array(now))) => {
            for index in 0..before.len().max(now.len()) {
                compare(&format!("{path}[{index}]"), before.get(index), now.get(index), found);
            }
        }
        (Some(Value::String(before)), Some(Value::String(now))) => {
            // Show both strings from shortly before their first difference.
            let common = before.chars().zip(now.chars()).take_while(|(one, other)| one == other).count();
            let begin = common.saturating_sub(MAX_CHARS / 4);
            found.push(format!("\n- `{path}`: recorded {}, asked {}", part(before, begin), part(now, begin)));
        }
        (recorded, asked) => {
            found.push(format!("\n- `{path}`: recorded {}, asked {}", shown(recorded), shown(asked)));
        }
    }
}

fn shown(value: Option<&Value>) -> String {
    match value {
        None => ABSENT.to_owned(),
        Some(Value::String(text)) => part(text, 0),
        Some(value) => shorten(&value.to_string()),
    }
}

/// Returns a part of `text` as a JSON string.
fn part(text: &str, begin: usize) -> String {
    let rest: String = text.chars().skip(begin).collect();
    let before = if begin > 0 { "…" } else { "" };
    format!("{before}{}", Value::from(shorten(&rest)))
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_have_paths() {
        let lines = differences(
            &json!({"instructions": "Be brief.", "messages": [{"role": "user"}], "tools": {"add": {}}}),
            &json!({"instructions": "Be long.", "messages": [{"role": "user"}, 1], "tools": {"sub": {}}}),
        );
        assert_eq!(
            lines,
            "\n- `instructions`: recorded \"Be brief.\", asked \"Be long.\"\
             \n- `messages[1]`: recorded nothing, asked 1\
             \n- `tools.add`: recorded {}, asked nothing\
             \n- `tools.sub`: recorded nothing, asked {}"
        );
    }

    #[test]
    fn long_texts_are_shown_from_their_difference_on() {
        let text = |end: &str| json!(format!("{}{end}", "ü".repeat(1_000)));
        let lines = differences(&text("one"), &text("two"));
        assert!(lines.contains("one\"") && lines.contains("two\"") && lines.len() < 200, "{lines}");
        let many = |n: i32| Value::from_iter((0..n).map(|_| n));
        assert!(differences(&many(30), &many(31)).ends_with("\n- and 21 more"));
    }
}
