//! Values as text, in the styles of OpenAPI.

use super::super::operation::Style;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Everything but the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// With `allowReserved`: the reserved characters stay, except those that would end the value (`&`, `#`), that readers of
/// forms take for a space (`+`), or that no query may have (`[`, `]`).
const ENDING: &AsciiSet = &RESERVED
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b';')
    .remove(b'=');

/// The characters that a literal part of a path, or of the query after it, cannot have.
const LITERAL: &AsciiSet = &ENDING.remove(b'+').remove(b'&').remove(b'%');

/// The characters to percent-encode in a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escape {
    /// All except the unreserved ones.
    Reserved,
    /// Those that would end the value in a query.
    Ending,
    /// None: the value of a header.
    Nothing,
}

impl Escape {
    /// Returns the escape for a query or a form.
    pub(crate) fn in_query(allow_reserved: bool) -> Self {
        if allow_reserved { Self::Ending } else { Self::Reserved }
    }

    pub(crate) fn apply(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Reserved => utf8_percent_encode(text, RESERVED).into(),
            Self::Ending => utf8_percent_encode(text, ENDING).into(),
            Self::Nothing => Cow::Borrowed(text),
        }
    }
}

/// Percent-encodes what the path of a document must not have literally. What is encoded already stays.
pub(super) fn literal(text: &str) -> Cow<'_, str> {
    utf8_percent_encode(text, LITERAL).into()
}

/// Why a value cannot be written, for the model.
pub(crate) type Unwritable = String;

/// Returns the text of a scalar, or the JSON of an array or an object, for which no style has a text.
pub(crate) fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// A name and a value of a query, a form or a cookie, already encoded.
pub(crate) type Pair = (String, String);

/// A style with its settings, for one value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Writer {
    pub(crate) style: Style,
    pub(crate) explode: bool,
    pub(crate) escape: Escape,
}

impl Writer {
    /// Writes the value of a query, a form or a cookie as names with values. Nothing is written for `null` and for an
    /// empty array or object, which are undefined in RFC 6570.
    pub(crate) fn pairs(self, name: &str, value: &Value) -> Result<Vec<Pair>, Unwritable> {
        let encoded = self.escape.apply(name).into_owned();
        match value {
            Value::Null => Ok(Vec::new()),
            Value::Array(_) | Value::Object(_) if self.style == Style::DeepObject => {
                let mut pairs = Vec::new();
                self.deep(encoded, value, &mut pairs);
                Ok(pairs)
            }
            Value::Array(items) if self.explode => {
                let items = items.iter().filter(|item| !item.is_null());
                Ok(items.map(|item| (encoded.clone(), self.escaped(item))).collect())
            }
            Value::Object(members) if self.explode => Ok(self.members(members).collect()),
            Value::Array(items) => {
                let joined = self.joined(self.items(items), self.delimiter())?;
                Ok(joined.map(|joined| (encoded, joined)).into_iter().collect())
            }
            Value::Object(members) => {
                let joined = self.joined(self.flat_members(members), self.delimiter())?;
                Ok(joined.map(|joined| (encoded, joined)).into_iter().collect())
            }
            scalar => Ok(vec![(encoded, self.escaped(scalar))]),
        }
    }

    /// Writes `a[b][c]=1`. The items of an array have the name of the array, each.
    fn deep(self, name: String, value: &Value, pairs: &mut Vec<Pair>) {
        match value {
            Value::Null => {}
            Value::Array(items) => items.iter().for_each(|item| self.deep(name.clone(), item, pairs)),
            Value::Object(members) => {
                for (member, value) in members {
                    self.deep(format!("{name}%5B{}%5D", Escape::Reserved.apply(member)), value, pairs);
                }
            }
            scalar => pairs.push((name, self.escaped(scalar))),
        }
    }

    /// Writes the value of a path or a header. `None` if there is nothing to write.
    pub(crate) fn text(self, name: &str, value: &Value) -> Result<Option<String>, Unwritable> {
        let delimiter = match (self.style, self.explode) {
            (Style::Label, true) => ".",
            (Style::Matrix, true) => ";",
            _ => ",",
        };
        let name = self.escape.apply(name);
        let equation = |key: &str, value: &str| match (self.style, value) {
            (Style::Matrix, "") => key.to_owned(),
            _ => format!("{key}={value}"),
        };
        let is_named = self.style == Style::Matrix && self.explode;
        let joined = match value {
            Value::Null => None,
            Value::Array(items) if is_named => {
                self.joined(self.items(items).map(|item| equation(&name, &item)), delimiter)?
            }
            Value::Array(items) => self.joined(self.items(items), delimiter)?,
            Value::Object(members) if self.explode => {
                self.joined(self.members(members).map(|(key, value)| equation(&key, &value)), delimiter)?
            }
            Value::Object(members) => self.joined(self.flat_members(members), delimiter)?,
            scalar => Some(self.escaped(scalar)),
        };
        let has_names = is_named && (value.is_array() || value.is_object());
        Ok(joined.map(|joined| match self.style {
            Style::Label => format!(".{joined}"),
            Style::Matrix if has_names => format!(";{joined}"),
            Style::Matrix => format!(";{}", equation(&name, &joined)),
            _ => joined,
        }))
    }

    /// The delimiter of the items of a query, encoded as it is sent.
    fn delimiter(self) -> &'static str {
        match self.style {
            Style::SpaceDelimited => "%20",
            Style::PipeDelimited => "%7C",
            Style::Tab => "%09",
            _ => ",",
        }
    }

    /// Joins the items. An item that has the delimiter would be read as two.
    fn joined(
        self,
        mut items: impl Iterator<Item = String>,
        delimiter: &str,
    ) -> Result<Option<String>, Unwritable> {
        let Some(mut joined) = items.next() else { return Ok(None) };
        let holds = |item: &str| item.contains(delimiter).then(|| unsplit(item, delimiter));
        if let Some(fault) = holds(&joined) {
            return Err(fault);
        }
        for item in items {
            if let Some(fault) = holds(&item) {
                return Err(fault);
            }
            joined.push_str(delimiter);
            joined.push_str(&item);
        }
        Ok(Some(joined))
    }

    fn escaped(self, value: &Value) -> String {
        self.escape.apply(&text(value)).into_owned()
    }

    fn items(self, items: &[Value]) -> impl Iterator<Item = String> {
        items.iter().filter(|item| !item.is_null()).map(move |item| self.escaped(item))
    }

    fn members(self, members: &Map<String, Value>) -> impl Iterator<Item = Pair> {
        let members = members.iter().filter(|(_, value)| !value.is_null());
        members.map(move |(key, value)| (self.escape.apply(key).into_owned(), self.escaped(value)))
    }

    fn flat_members(self, members: &Map<String, Value>) -> impl Iterator<Item = String> {
        self.members(members).flat_map(<[String; 2]>::from)
    }
}

fn unsplit(item: &str, delimiter: &str) -> Unwritable {
    let decode = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    format!(
        "the item {:?} has the character {:?}, which separates the items; leave it out",
        decode(item),
        decode(delimiter)
    )
}
