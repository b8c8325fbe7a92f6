//! Where two requests differ.

use serde_json::Value;

/// How many differences are told.
const MOST: usize = 10;

/// How many characters of a value are told.
const LONGEST: usize = 80;

/// What stands where no value is.
const ABSENT: &str = "nothing";

/// A line for each difference, with its place.
pub(super) fn differences(recorded: &Value, asked: &Value) -> String {
    let mut found = Vec::new();
    compare("", Some(recorded), Some(asked), &mut found);
    let more = found.len().saturating_sub(MOST);
    found.truncate(MOST);
    if more > 0 {
        found.push(format!("\n- and {more} more"));
    }
    found.concat()
}

fn compare(place: &str, recorded: Option<&Value>, asked: Option<&Value>, found: &mut Vec<String>) {
    match (recorded, asked) {
        (recorded, asked) if recorded == asked => {}
        (Some(Value::Object(before)), Some(Value::Object(now))) => {
            let dot = if place.is_empty() { "" } else { "." };
            let added = now.keys().filter(|name| !before.contains_key(*name));
            for name in before.keys().chain(added) {
                compare(&format!("{place}{dot}{name}"), before.get(name), now.get(name), found);
            }
        }
        (Some(Value::Array(before)), Some(Value::Array(now))) => {
            for index in 0..before.len().max(now.len()) {
                compare(&format!("{place}[{index}]"), before.get(index), now.get(index), found);
            }
        }
        (Some(Value::String(before)), Some(Value::String(now))) => {
            // What both have in common is not told.
            let same = before.chars().zip(now.chars()).take_while(|(one, other)| one == other).count();
            let begin = same.saturating_sub(LONGEST / 4);
            found.push(format!(
                "\n- `{place}`: recorded {}, asked {}",
                part(before, begin),
                part(now, begin)
            ));
        }
        (recorded, asked) => {
            let told = |value: Option<&Value>| match value {
                None => ABSENT.to_owned(),
                Some(Value::String(text)) => part(text, 0),
                Some(value) => shorten(&value.to_string()),
            };
            found.push(format!("\n- `{place}`: recorded {}, asked {}", told(recorded), told(asked)));
        }
    }
}

/// A part of a text, as JSON.
fn part(text: &str, begin: usize) -> String {
    let rest: String = text.chars().skip(begin).collect();
    let before = if begin > 0 { "…" } else { "" };
    format!("{before}{}", Value::from(shorten(&rest)))
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn places_are_told() {
        let told = differences(
            &json!({"instructions": "Be brief.", "messages": [{"role": "user"}], "tools": {"add": {}}}),
            &json!({"instructions": "Be long.", "messages": [{"role": "user"}, 1], "tools": {"sub": {}}}),
        );
        assert_eq!(
            told,
            "\n- `instructions`: recorded \"Be brief.\", asked \"Be long.\"\
             \n- `messages[1]`: recorded nothing, asked 1\
             \n- `tools.add`: recorded {}, asked nothing\
             \n- `tools.sub`: recorded nothing, asked {}"
        );
    }

    #[test]
    fn long_texts_are_told_from_where_they_differ() {
        let text = |end: &str| json!(format!("{}{end}", "ü".repeat(1_000)));
        let told = differences(&text("one"), &text("two"));
        assert!(told.contains("one\"") && told.contains("two\"") && told.len() < 200, "{told}");
        let many = |n: i32| Value::from_iter((0..n).map(|_| n));
        assert!(differences(&many(30), &many(31)).ends_with("\n- and 21 more"));
    }
}
