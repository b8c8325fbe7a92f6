//! The search for JSON in the text of an answer.

use serde::de::IgnoredAny;
use serde_json::StreamDeserializer;
use serde_json::de::StrRead;

/// The maximum number of failed parses. Parsing a long text from each bracket would take too long.
const MAX_FAILURES: usize = 100;

/// Finds JSON in `text`: the whole text, or code fences with JSON, or objects and arrays within prose.
#[must_use]
pub fn find(text: &str) -> Vec<&str> {
    let text = text.trim();
    if is_json(text) {
        return vec![text];
    }
    let mut fenced = Vec::new();
    for block in text.split("```").skip(1).step_by(2).map(without_language) {
        if is_json(block) {
            fenced.push(block);
        }
    }
    if fenced.is_empty() { among_words(text) } else { fenced }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Returns a code fence without the name of its language.
fn without_language(block: &str) -> &str {
    let content = match block.split_once('\n') {
        Some((language, content)) if language.trim().chars().all(char::is_alphanumeric) => content,
        _ => block,
    };
    // On a single line, the language directly precedes the content.
    content.strip_prefix("json").unwrap_or(content).trim()
}

fn among_words(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut failures = 0;
    while failures < MAX_FAILURES
        && let Some(start) = rest.find(['{', '['])
    {
        let candidate = rest.get(start..).unwrap_or_default();
        let mut values = StreamDeserializer::<_, IgnoredAny>::new(StrRead::new(candidate));
        let end = match values.next() {
            Some(Ok(_)) => {
                let end = values.byte_offset();
                found.extend(candidate.get(..end));
                end
            }
            // All that follows belongs to the unfinished value.
            Some(Err(error)) if error.is_eof() => break,
            _ => {
                failures += 1;
                end_of(candidate).unwrap_or(1)
            }
        };
        rest = candidate.get(end..).unwrap_or_default();
    }
    found
}

/// Returns the end of an invalid object or array, whose parts are not answers of their own.
fn end_of(text: &str) -> Option<usize> {
    let mut brackets = Brackets::default();
    for (index, next) in text.char_indices() {
        if brackets.push(next) {
            return Some(index + next.len_utf8());
        }
    }
    None
}

/// The brackets of an object or array, valid or not.
#[derive(Debug, Default)]
pub struct Brackets {
    open: usize,
    is_in_string: bool,
    is_escaped: bool,
}

impl Brackets {
    /// Counts a character. Returns whether it ends the object or array.
    pub fn push(&mut self, next: char) -> bool {
        match next {
            _ if self.is_escaped => self.is_escaped = false,
            '\\' => self.is_escaped = self.is_in_string,
            '"' => self.is_in_string = !self.is_in_string,
            '{' | '[' if !self.is_in_string => self.open += 1,
            '}' | ']' if !self.is_in_string => {
                self.open = self.open.saturating_sub(1);
                return self.open == 0;
            }
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<const N: usize>(text: &str, expected: [&str; N]) {
        assert_eq!(find(text), expected, "{text}");
    }

    #[test]
    fn json_is_found_alone_in_fences_and_among_words() {
        check(" {\"a\": 1}\n", [r#"{"a": 1}"#]);
        check("42", ["42"]);
        check("```json\n{\"a\": 1}\n```", [r#"{"a": 1}"#]);
        check("Here:\n```\n[1, 2]\n```\nGood?", ["[1, 2]"]);
        check("```json 42```", ["42"]);
        check("It is {\"a\": {\"b\": 1}}, I think.", [r#"{"a": {"b": 1}}"#]);
        check("<think>Maybe {\"a\": 0}?</think>{\"a\": 1}", [r#"{"a": 0}"#, r#"{"a": 1}"#]);
        check("a set {x, y} and [1]", ["[1]"]);
        check("a { without its end, and [1]", ["[1]"]);
    }

    #[test]
    fn invalid_json_is_not_found() {
        for text in ["", "no", "{", "[[[", "{\"a\": 1", "```json\n{\"a\": \n```"] {
            check(text, []);
        }
    }

    #[test]
    fn parts_of_an_invalid_or_unfinished_value_are_not_found() {
        for text in [
            r#"{"a": {"b": 1}, "c": [1], "d""#,
            r#"{"a": {"b": 1},}"#,
            r#"{'a': {"b": 1}}"#,
            r#"{a: {"b": "\"}]"}, c: [1]}"#,
        ] {
            check(text, []);
        }
        check(r#"{"a": {"b": 1},} or {"a": 2}"#, [r#"{"a": 2}"#]);
        check(r#"<think>It begins with {"a": ...</think>{"a": 1}"#, [r#"{"a": 1}"#]);
    }

    #[test]
    fn the_search_in_long_invalid_text_stops() {
        // Parsing from each bracket would take hours.
        check(&r#"{"a": "#.repeat(30_000), []);
    }
}
