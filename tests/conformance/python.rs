//! Python values as `repr` writes them, with the JSON of their counterparts in Rust.

use serde::{Serialize, Serializer};
use toolkit_core::IntoToolOutput;
use toolkit_core::output::Base64;
use toolkit_core::{Json, ToolError, ToolOutput};

use std::collections::BTreeSet;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Python {
    None,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    Path(String),
    /// Of a type whose counterpart is a JSON string: a date, a decimal number, a UUID.
    Written(String),
    List(Vec<Self>),
    Set(Vec<Self>),
    Dict(Vec<(Self, Self)>),
}

impl Python {
    pub(crate) fn returned(self) -> Result<ToolOutput, ToolError> {
        match self {
            Self::None => ().into_tool_output(),
            Self::Bool(value) => value.into_tool_output(),
            Self::Int(value) => value.into_tool_output(),
            Self::Float(value) => value.into_tool_output(),
            Self::Text(text) => text.into_tool_output(),
            Self::Bytes(bytes) => Base64(bytes).into_tool_output(),
            Self::Path(path) => PathBuf::from(path).into_tool_output(),
            Self::Set(items) if items.iter().all(|item| matches!(item, Self::Int(_))) => {
                let number = |item: &Self| if let Self::Int(number) = item { Some(*number) } else { None };
                items.iter().filter_map(number).collect::<BTreeSet<i128>>().into_tool_output()
            }
            Self::List(items) => items.into_tool_output(),
            other => Json(other).into_tool_output(),
        }
    }
}

impl Serialize for Python {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Int(value) => serializer.serialize_i128(*value),
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::Bytes(bytes) => Base64(bytes).serialize(serializer),
            Self::Text(text) | Self::Path(text) | Self::Written(text) => serializer.serialize_str(text),
            Self::List(items) | Self::Set(items) => serializer.collect_seq(items),
            Self::Dict(entries) => serializer.collect_map(entries.iter().map(|(key, value)| (key, value))),
        }
    }
}

/// Reads the output of `repr`, but no objects that hide their fields.
pub(crate) fn read(repr: &str) -> Result<Python, String> {
    let mut reader = Reader { rest: repr };
    let value = reader.value()?;
    if reader.rest.trim().is_empty() { Ok(value) } else { reader.refuse() }
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn refuse<T>(&self) -> Result<T, String> {
        Err(format!("no value that can be read at `{}`", self.rest))
    }

    /// Takes the next text, with blanks before it.
    fn takes(&mut self, text: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest.trim_start();
        let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        let (taken, rest) = rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn value(&mut self) -> Result<Python, String> {
        if self.takes("[") {
            return self.items("]").map(Python::List);
        }
        if self.takes("(") {
            return self.items(")").map(Python::List);
        }
        if self.takes("{") {
            return self.braces();
        }
        if self.takes("<") {
            return self.member();
        }
        if self.takes("b'") {
            return self.bytes('\'');
        }
        if self.takes("b\"") {
            return self.bytes('"');
        }
        if self.takes("'") {
            return self.quoted('\'').map(Python::Text);
        }
        if self.takes("\"") {
            return self.quoted('"').map(Python::Text);
        }
        match self.rest.trim_start().chars().next() {
            Some(c) if c.is_ascii_digit() || c == '-' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.word(),
            _ => self.refuse(),
        }
    }

    fn items(&mut self, end: &str) -> Result<Vec<Python>, String> {
        let mut items = Vec::new();
        while !self.takes(end) {
            items.push(self.value()?);
            if !self.takes(",") && !self.rest.trim_start().starts_with(end) {
                return self.refuse();
            }
        }
        Ok(items)
    }

    fn braces(&mut self) -> Result<Python, String> {
        let mut items = Vec::new();
        let mut entries = Vec::new();
        while !self.takes("}") {
            let key = self.value()?;
            if self.takes(":") {
                entries.push((key, self.value()?));
            } else {
                items.push(key);
            }
            if !self.takes(",") && !self.rest.trim_start().starts_with('}') {
                return self.refuse();
            }
        }
        Ok(if items.is_empty() { Python::Dict(entries) } else { Python::Set(items) })
    }

    /// A member as in `<Color.RED: 'red'>` is its value.
    fn member(&mut self) -> Result<Python, String> {
        self.take_while(|c| !matches!(c, ':' | '>'));
        if !self.takes(":") {
            return self.refuse();
        }
        let value = self.value()?;
        if self.takes(">") { Ok(value) } else { self.refuse() }
    }

    fn number(&mut self) -> Result<Python, String> {
        let sign = if self.takes("-") { "-" } else { "" };
        if self.takes("inf") {
            return Ok(Python::Float(f64::NEG_INFINITY));
        }
        let digits = self.take_while(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | '+' | '-'));
        let text = format!("{sign}{digits}");
        match (text.parse(), text.parse()) {
            (Ok(int), _) => Ok(Python::Int(int)),
            (_, Ok(float)) => Ok(Python::Float(float)),
            _ => self.refuse(),
        }
    }

    /// A constant, or a call of a type.
    fn word(&mut self) -> Result<Python, String> {
        let word = self.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
        match word {
            "None" => return Ok(Python::None),
            "True" => return Ok(Python::Bool(true)),
            "False" => return Ok(Python::Bool(false)),
            "nan" => return Ok(Python::Float(f64::NAN)),
            "inf" => return Ok(Python::Float(f64::INFINITY)),
            _ if !self.takes("(") => return self.refuse(),
            _ => {}
        }
        if let Some(fields) = self.fields()? {
            return Ok(Python::Dict(fields));
        }
        let given = self.items(")")?;
        let name = word.rsplit('.').next().unwrap_or(word);
        match (name, given.as_slice()) {
            ("set" | "frozenset", []) => Ok(Python::Set(Vec::new())),
            ("frozenset", [Python::Set(items)]) => Ok(Python::Set(items.clone())),
            ("bytearray", [bytes @ Python::Bytes(_)]) => Ok(bytes.clone()),
            ("deque", [list @ Python::List(_)]) | ("OrderedDict", [list @ Python::Dict(_)]) => {
                Ok(list.clone())
            }
            ("Decimal" | "UUID", [Python::Text(text)]) => Ok(Python::Written(text.clone())),
            (_, [Python::Text(text)]) if name.ends_with("Path") => Ok(Python::Path(text.clone())),
            ("datetime" | "date" | "time", parts) => moment(name, parts).map_or_else(|| self.refuse(), Ok),
            _ => self.refuse(),
        }
    }

    /// The fields in `x=1, y=2)`, or `None` before anything else.
    fn fields(&mut self) -> Result<Option<Vec<(Python, Python)>>, String> {
        let before = self.rest;
        let mut fields = Vec::new();
        loop {
            let name = self.take_while(|c| c.is_alphanumeric() || c == '_');
            if name.is_empty() || !self.takes("=") {
                self.rest = before;
                return Ok(None);
            }
            fields.push((Python::Text(name.to_owned()), self.value()?));
            if self.takes(")") {
                return Ok(Some(fields));
            }
            if !self.takes(",") {
                return self.refuse();
            }
        }
    }

    fn bytes(&mut self, quote: char) -> Result<Python, String> {
        let text = self.quoted(quote)?;
        let bytes: Result<_, _> = text.chars().map(|c| u8::try_from(u32::from(c))).collect();
        bytes.map(Python::Bytes).or_else(|_| self.refuse())
    }

    fn quoted(&mut self, quote: char) -> Result<String, String> {
        let mut text = String::new();
        let mut characters = self.rest.chars();
        while let Some(c) = characters.next() {
            if c == quote {
                self.rest = characters.as_str();
                return Ok(text);
            }
            let c = if c == '\\' { escaped(&mut characters) } else { Some(c) };
            text.push(c.ok_or_else(|| format!("an escape that cannot be read in `{}`", self.rest))?);
        }
        self.refuse()
    }
}

fn escaped(characters: &mut std::str::Chars<'_>) -> Option<char> {
    let digits = match characters.next()? {
        'n' => return Some('\n'),
        'r' => return Some('\r'),
        't' => return Some('\t'),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        other => return Some(other),
    };
    let code = characters.as_str().get(..digits)?;
    *characters = characters.as_str().get(digits..)?.chars();
    char::from_u32(u32::from_str_radix(code, 16).ok()?)
}

/// A date or time in ISO 8601, as in Rust.
fn moment(kind: &str, parts: &[Python]) -> Option<Python> {
    let number = |part: &Python| if let Python::Int(number) = part { Some(*number) } else { None };
    let parts: Vec<i128> = parts.iter().map(number).collect::<Option<_>>()?;
    let at = |index: usize| parts.get(index).copied().unwrap_or_default();
    let date = || format!("{:04}-{:02}-{:02}", at(0), at(1), at(2));
    let time = |first: usize| {
        let clock = format!("{:02}:{:02}:{:02}", at(first), at(first + 1), at(first + 2));
        let fraction = at(first + 3);
        if fraction == 0 { clock } else { format!("{clock}.{fraction:06}") }
    };
    Some(Python::Written(match kind {
        "date" => date(),
        "time" => time(0),
        _ => format!("{}T{}", date(), time(3)),
    }))
}
