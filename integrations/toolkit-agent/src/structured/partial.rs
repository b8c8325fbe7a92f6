//! A parser for JSON text that is still being written.

use crate::helpers::MAX_NESTING;
use serde_json::{Map, Value};
use toolkit_llm::model::answer::{ANSWER, Brackets};

/// An incremental parser of JSON text. It parses each character once.
#[derive(Debug)]
pub(super) struct PartialJson {
    state: ParserState,
    /// The open objects and arrays, outermost first.
    open: Vec<Open>,
    /// The current string or key so far, or the characters of the current number or literal.
    text: String,
    /// The incomplete escape sequence, with its backslash.
    escape: String,
    value: Option<Value>,
}

#[derive(Debug)]
enum Open {
    Array(Vec<Value>),
    /// The members of an object so far, and the key of the member being written.
    Object(Map<String, Value>, String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParserState {
    /// A value must follow.
    Value,
    /// A value or the end of an empty array must follow.
    FirstItem,
    /// A key must follow.
    Key,
    /// A key or the end of an empty object must follow.
    FirstKey,
    InKey,
    Colon,
    InString,
    /// Within a number, `true`, `false` or `null`.
    InToken,
    /// A comma or the end of the innermost object or array must follow.
    Next,
    Complete,
    Invalid,
}

impl PartialJson {
    pub(super) fn new() -> Self {
        Self {
            state: ParserState::Value,
            open: Vec::new(),
            text: String::new(),
            escape: String::new(),
            value: None,
        }
    }

    pub(super) fn push(&mut self, next: char) {
        if self.state == ParserState::InToken {
            if !(next.is_ascii_whitespace() || [',', ']', '}'].contains(&next)) {
                self.text.push(next);
                return;
            }
            self.end_token();
        }
        self.state = match (self.state, next) {
            (ParserState::InKey | ParserState::InString, _) => return self.push_to_string(next),
            (state, ' ' | '\n' | '\r' | '\t') => state,
            (ParserState::Value | ParserState::FirstItem, '{' | '[') if self.open.len() >= MAX_NESTING => {
                ParserState::Invalid
            }
            (ParserState::Value | ParserState::FirstItem, '{') => {
                self.open.push(Open::Object(Map::new(), String::new()));
                ParserState::FirstKey
            }
            (ParserState::Value | ParserState::FirstItem, '[') => {
                self.open.push(Open::Array(Vec::new()));
                ParserState::FirstItem
            }
            (ParserState::Value | ParserState::FirstItem, '"') => ParserState::InString,
            (ParserState::Value | ParserState::FirstItem, '-' | '0'..='9' | 't' | 'f' | 'n') => {
                self.text.push(next);
                ParserState::InToken
            }
            (ParserState::FirstKey | ParserState::Key, '"') => ParserState::InKey,
            (ParserState::Colon, ':') => ParserState::Value,
            (ParserState::Next, ',') => match self.open.last() {
                Some(Open::Object(..)) => ParserState::Key,
                _ => ParserState::Value,
            },
            (ParserState::FirstItem | ParserState::Next, ']')
                if matches!(self.open.last(), Some(Open::Array(_))) =>
            {
                return self.close();
            }
            (ParserState::FirstKey | ParserState::Next, '}')
                if matches!(self.open.last(), Some(Open::Object(..))) =>
            {
                return self.close();
            }
            _ => ParserState::Invalid,
        };
    }

    fn push_to_string(&mut self, next: char) {
        if !self.escape.is_empty() {
            self.escape.push(next);
            match unescaped(&self.escape) {
                Escape::Char(read) => {
                    self.text.push(read);
                    self.escape.clear();
                }
                Escape::Unfinished => {}
                Escape::Invalid => self.state = ParserState::Invalid,
            }
            return;
        }
        match next {
            '\\' => self.escape.push(next),
            '"' if self.state == ParserState::InKey => {
                if let Some(Open::Object(_, key)) = self.open.last_mut() {
                    *key = std::mem::take(&mut self.text);
                }
                self.state = ParserState::Colon;
            }
            '"' => {
                let text = std::mem::take(&mut self.text);
                self.add(Value::String(text));
            }
            _ => self.text.push(next),
        }
    }

    fn end_token(&mut self) {
        match serde_json::from_str(&std::mem::take(&mut self.text)) {
            Ok(value) => self.add(value),
            Err(_) => self.state = ParserState::Invalid,
        }
    }

    fn close(&mut self) {
        match self.open.pop() {
            Some(Open::Array(items)) => self.add(Value::Array(items)),
            Some(Open::Object(members, _)) => self.add(Value::Object(members)),
            None => self.state = ParserState::Invalid,
        }
    }

    fn add(&mut self, value: Value) {
        self.state = ParserState::Next;
        match self.open.last_mut() {
            Some(open) => open.add(value),
            None => {
                self.value = Some(value);
                self.state = ParserState::Complete;
            }
        }
    }

    /// Returns the value so far. Unfinished strings, objects and arrays have what has arrived; unfinished
    /// keys, numbers and literals are left out.
    ///
    /// `None` if no value has begun or the text is invalid.
    pub(super) fn value(&self) -> Option<Value> {
        if self.state == ParserState::Invalid {
            return None;
        }
        let mut inner = self.value.clone();
        if inner.is_none() && self.state == ParserState::InString {
            inner = Some(Value::String(self.text.clone()));
        }
        for open in self.open.iter().rev() {
            let mut open = match open {
                Open::Array(items) => Open::Array(items.clone()),
                Open::Object(members, key) => Open::Object(members.clone(), key.clone()),
            };
            if let Some(value) = inner {
                open.add(value);
            }
            inner = Some(match open {
                Open::Array(items) => Value::Array(items),
                Open::Object(members, _) => Value::Object(members),
            });
        }
        inner
    }
}

impl Open {
    fn add(&mut self, value: Value) {
        match self {
            Self::Array(items) => items.push(value),
            Self::Object(members, key) => drop(members.insert(std::mem::take(key), value)),
        }
    }
}

enum Escape {
    Char(char),
    Unfinished,
    Invalid,
}

/// Decodes an escape sequence. A character outside of Unicode's basic plane has two `\u` sequences.
fn unescaped(escape: &str) -> Escape {
    let mut chars = escape.chars().skip(1);
    let read = match chars.next() {
        None => return Escape::Unfinished,
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some(same @ ('"' | '\\' | '/')) => same,
        Some('u') => {
            let second = escape.get(6..).unwrap_or("?");
            return match serde_json::from_str::<String>(&format!("\"{escape}\"")) {
                Ok(read) => read.chars().next().map_or(Escape::Invalid, Escape::Char),
                Err(_) if escape.len() < 6 => Escape::Unfinished,
                Err(_) if escape.len() == 6 && is_high(escape) => Escape::Unfinished,
                Err(_) if escape.len() < 12 && ["\\", "\\u"].contains(&second) => Escape::Unfinished,
                Err(_) if (9..12).contains(&escape.len()) && second.starts_with("\\u") => Escape::Unfinished,
                Err(_) => Escape::Invalid,
            };
        }
        Some(_) => return Escape::Invalid,
    };
    Escape::Char(read)
}

/// Returns whether `escape` is the first of two `\u` sequences for one character.
fn is_high(escape: &str) -> bool {
    let code = escape.get(2..).and_then(|digits| u16::from_str_radix(digits, 16).ok());
    code.is_some_and(|code| (0xD800..0xDC00).contains(&code))
}

/// A parser for an answer being written, as text or as the arguments of a call.
#[derive(Debug)]
pub(super) struct PartialAnswer {
    /// The parser of the current object or array. `None` between two values.
    json: Option<(PartialJson, Brackets)>,
    /// The latest complete answer.
    complete: Option<Value>,
    /// Whether the schema wraps the answer in an object.
    is_wrapped: bool,
}

impl PartialAnswer {
    pub(super) fn new(is_wrapped: bool) -> Self {
        Self { json: None, complete: None, is_wrapped }
    }

    /// Parses the next piece. Skips text around objects and arrays. `is_answer` tells whether a complete
    /// value is an answer, which only another one replaces.
    pub(super) fn push(&mut self, piece: &str, is_answer: impl Fn(&Value) -> bool) {
        for next in piece.chars() {
            // The schema of an answer is an object; without its wrapper, the answer may also be an array.
            if self.json.is_none() && !(next == '{' || next == '[' && self.is_wrapped) {
                continue;
            }
            let (json, brackets) = self.json.get_or_insert_with(|| (PartialJson::new(), Brackets::default()));
            json.push(next);
            if brackets.push(next)
                && let Some((json, _)) = self.json.take()
                && let Some(value) = json.value().filter(&is_answer)
            {
                self.complete = Some(value);
            }
        }
    }

    pub(super) fn value(&self) -> Option<Value> {
        let value = match &self.complete {
            Some(value) => value.clone(),
            None => self.json.as_ref()?.0.value()?,
        };
        match value {
            Value::Object(mut members) if self.is_wrapped && members.contains_key(ANSWER) => {
                members.shift_remove(ANSWER)
            }
            Value::Object(members) if self.is_wrapped && members.is_empty() => None,
            value => Some(value),
        }
    }
}

#[cfg(test)]
mod tests;
