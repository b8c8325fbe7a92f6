//! Maps the position of a parse error to a path into the value.

/// The innermost value at a position in a JSON text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place<'a> {
    /// The path from the root.
    pub(super) steps: Vec<Step>,
    /// The value's text.
    pub(super) text: &'a str,
}

/// A step into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// The member of this name.
    Key(String),
    /// The item at this index.
    Index(usize),
}

impl Place<'_> {
    /// Returns the path from `start`, as in `filters[2].max`.
    pub(super) fn path(&self, start: &str) -> String {
        self.steps.iter().fold(start.to_owned(), |path, step| match step {
            Step::Key(key) if path.is_empty() => key.clone(),
            Step::Key(key) => format!("{path}.{key}"),
            Step::Index(index) => format!("{path}[{index}]"),
        })
    }
}

/// Returns the byte offset of a line and column of `serde_json`.
pub(super) fn offset(text: &str, line: usize, column: usize) -> usize {
    let lines = text.split_inclusive('\n').take(line.saturating_sub(1));
    lines.map(str::len).sum::<usize>() + column
}

/// Finds the innermost value around `offset`, or ending there, in well-formed JSON.
///
/// The scan is a loop over tokens, so deep nesting cannot exhaust the stack.
pub(super) fn find(text: &str, offset: usize) -> Place<'_> {
    let bytes = text.as_bytes();
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let value = match byte {
            b'{' | b'[' => {
                open.push(Open { start: at, step: (byte == b'[').then_some(Step::Index(0)) });
                at += 1;
                continue;
            }
            b'}' | b']' => {
                at += 1;
                match open.pop() {
                    Some(closed) => closed.start..at,
                    None => break,
                }
            }
            b'"' => {
                let end = end_of_string(bytes, at);
                let is_key = open.last().is_some_and(|open| open.step.is_none());
                if is_key && let Some(last) = open.last_mut() {
                    let key = text.get(at..end).and_then(|key| serde_json::from_str(key).ok());
                    last.step = Some(Step::Key(key.unwrap_or_default()));
                    at = end;
                    continue;
                }
                at..end
            }
            b',' => {
                if let Some(last) = open.last_mut() {
                    last.step = match last.step.take() {
                        Some(Step::Index(index)) => Some(Step::Index(index + 1)),
                        _ => None,
                    };
                }
                at += 1;
                continue;
            }
            b':' | b' ' | b'\n' | b'\r' | b'\t' => {
                at += 1;
                continue;
            }
            _ => at..end_of_word(bytes, at),
        };
        at = value.end;
        if value.end >= offset {
            if value.start <= offset {
                return place(text, &open, value);
            }
            if let Some(parent) = open.pop() {
                let end = end_of_container(text, parent.start);
                return place(text, &open, parent.start..end);
            }
        }
    }
    Place { steps: Vec::new(), text }
}

struct Open {
    start: usize,
    /// The member being read; `None` before the key of an object's member.
    step: Option<Step>,
}

fn place<'a>(text: &'a str, open: &[Open], value: std::ops::Range<usize>) -> Place<'a> {
    Place {
        steps: open.iter().filter_map(|open| open.step.clone()).collect(),
        text: text.get(value).unwrap_or(text),
    }
}

fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn end_of_word(bytes: &[u8], start: usize) -> usize {
    let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b':' | b'"' | b' ' | b'\n' | b'\r' | b'\t');
    bytes.iter().skip(start).position(ends).map_or(bytes.len(), |length| start + length.max(1))
}

fn end_of_container(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (start, 0_usize);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = end_of_string(bytes, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return at;
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: serde::de::DeserializeOwned + std::fmt::Debug>(text: &str, path: &str, value: &str) {
        let error = serde_json::from_str::<T>(text).unwrap_err();
        let place = find(text, offset(text, error.line(), error.column()));
        let steps: String = place
            .steps
            .iter()
            .map(|step| match step {
                Step::Key(key) => format!(".{key}"),
                Step::Index(index) => format!("[{index}]"),
            })
            .collect();
        assert_eq!((steps.as_str(), place.text), (path, value), "{error}");
    }

    #[test]
    fn the_innermost_value_at_an_error_is_found() {
        use std::collections::BTreeMap;
        type Table = BTreeMap<String, Vec<i32>>;
        check::<Table>(r#"{"a": [1, 2], "b": [1, "x"]}"#, ".b[1]", r#""x""#);
        check::<Table>("{\"a\": [1,\n 2.5 ]}", ".a[1]", "2.5");
        check::<Table>(r#"{"a": {"c": 1}}"#, ".a", r#"{"c": 1}"#);
        check::<Table>(r#"{"a": {}}"#, ".a", "{}");
        check::<Table>(r#"{"a,}\"": [[]]}"#, r#".a,}"[0]"#, "[]");
        check::<Vec<i32>>("7", "", "7");
        check::<Vec<(i32, bool)>>("[[1, true], [1]]", "[1]", "[1]");
    }

    #[test]
    fn malformed_text_does_not_panic() {
        for text in ["", "]", "}}", "[", "{\"", "\"\\", "天", "[天]", "{,}", "::"] {
            for offset in 0..=text.len() + 1 {
                find(text, offset);
            }
        }
    }
}
