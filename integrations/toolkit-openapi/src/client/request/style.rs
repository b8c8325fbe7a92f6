//! Values as text, in the styles of OpenAPI.

use crate::client::operation::Style;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use std::borrow::Cow;
use toolkit_http::client::segment;

/// The reserved characters that `allowReserved` leaves as they are in a query. The others would end the value
/// (`&`, `#`), are a space for readers of forms (`+`), or cannot be in a query (`[`, `]`).
const HARMLESS: &str = ":/?@!$'()*,;=";

/// Those that it leaves in a cookie, where `;` ends the value, and some readers take `,` for its end (RFC
/// 6265, 4.1.1).
const HARMLESS_IN_COOKIE: &str = ":/?@!$'()*=";

/// The characters to percent-encode in a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escape {
    /// All except the unreserved ones of RFC 3986.
    Reserved,
    /// Those that would end the value in a query or a form.
    Query,
    /// Those that would end the value in a cookie.
    Cookie,
    /// None: the value of a header.
    Nothing,
}

impl Escape {
    pub(crate) fn apply(self, text: &str) -> String {
        match self {
            Self::Reserved => segment(text, ""),
            Self::Query => segment(text, HARMLESS),
            Self::Cookie => segment(text, HARMLESS_IN_COOKIE),
            Self::Nothing => text.to_owned(),
        }
    }

    /// Encodes a name, which `=` would end.
    fn name(self, name: &str) -> Result<String, Unwritable> {
        match self {
            Self::Nothing if name.contains('=') => Err(unwritable(name, "=", "ends the name")),
            Self::Nothing => Ok(name.to_owned()),
            _ => Ok(Self::Reserved.apply(name)),
        }
    }
}

/// Percent-encodes what the path of a document must not have literally, once.
pub(super) fn literal(text: &str) -> String {
    segment(text, &format!("{HARMLESS}+&%"))
}

/// Why a value cannot be written, for the model.
pub(crate) type Unwritable = String;

/// Returns the text of a scalar, or the JSON of an array or an object.
pub(crate) fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// An encoded name and value of a query, a form or a cookie.
pub(crate) type Pair = (String, String);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Writer {
    pub(crate) style: Style,
    pub(crate) explode: bool,
    pub(crate) escape: Escape,
}

impl Writer {
    /// Writes the value of a query, a form or a cookie, but nothing for `null` and an empty array or object,
    /// which are undefined in RFC 6570.
    pub(crate) fn pairs(self, name: &str, value: &Value) -> Result<Vec<Pair>, Unwritable> {
        let encoded = self.escape.name(name)?;
        let mut pairs = Vec::new();
        match value {
            Value::Array(_) | Value::Object(_) if self.style == Style::DeepObject => {
                self.deep(encoded, value, &mut pairs)?;
            }
            Value::Array(_) if self.explode => {
                for item in self.items(value)? {
                    pairs.push((encoded.clone(), item));
                }
            }
            Value::Object(members) if self.explode => pairs = self.members(members)?,
            single if is_single(single) => {
                pairs.extend(self.items(single)?.pop().map(|item| (encoded, item)));
            }
            value => {
                let joined = joined(&self.items(value)?, self.delimiter())?;
                pairs.extend(joined.map(|joined| (encoded, joined)));
            }
        }
        Ok(pairs)
    }

    /// Writes `a[b][c]=1`. An item of an array has its index as a name, `a[b][0]=1`, because OpenAPI does not
    /// say how an array is written.
    fn deep(self, name: String, value: &Value, pairs: &mut Vec<Pair>) -> Result<(), Unwritable> {
        match value {
            Value::Null => {}
            Value::Array(items) => {
                for (index, item) in items.iter().filter(|item| !item.is_null()).enumerate() {
                    self.deep(format!("{name}%5B{index}%5D"), item, pairs)?;
                }
            }
            Value::Object(members) => {
                for (member, value) in members {
                    for bracket in ["[", "]"] {
                        if member.contains(bracket) {
                            return Err(unwritable(member, bracket, "separates the names"));
                        }
                    }
                    self.deep(format!("{name}%5B{}%5D", self.escape.name(member)?), value, pairs)?;
                }
            }
            scalar => pairs.push((name, self.escaped(scalar))),
        }
        Ok(())
    }

    /// Writes the value of a path or a header, if there is any.
    pub(crate) fn text(self, name: &str, value: &Value) -> Result<Option<String>, Unwritable> {
        let encoded = self.escape.name(name)?;
        let mut items = Vec::new();
        let mut is_named = false;
        match value {
            Value::Array(_) if self.explode && self.style == Style::Matrix => {
                is_named = true;
                for item in self.items(value)? {
                    items.push(self.equation(&encoded, &item));
                }
            }
            Value::Object(members) if self.explode => {
                is_named = true;
                for (key, value) in self.members(members)? {
                    items.push(self.equation(&key, &value));
                }
            }
            value => items = self.items(value)?,
        }
        let delimiter = match self.style {
            Style::Label if self.explode => ".",
            Style::Matrix if is_named => ";",
            _ => ",",
        };
        let written = if is_single(value) { items.pop() } else { joined(&items, delimiter)? };
        let Some(text) = written else { return Ok(None) };
        Ok(Some(match self.style {
            Style::Label => format!(".{text}"),
            Style::Matrix if is_named => format!(";{text}"),
            Style::Matrix => format!(";{}", self.equation(&encoded, &text)),
            _ => text,
        }))
    }

    /// Writes `key=value`, or the key alone for an empty value in the style of a matrix.
    fn equation(self, key: &str, value: &str) -> String {
        match (self.style, value) {
            (Style::Matrix, "") => key.to_owned(),
            _ => format!("{key}={value}"),
        }
    }

    /// The encoded delimiter of a query's items.
    fn delimiter(self) -> &'static str {
        match self.style {
            Style::SpaceDelimited => "%20",
            Style::PipeDelimited => "%7C",
            Style::Tab => "%09",
            _ => ",",
        }
    }

    /// Returns the texts of a scalar, of items, or of members with their names.
    fn items(self, value: &Value) -> Result<Vec<String>, Unwritable> {
        Ok(match value {
            Value::Null => Vec::new(),
            Value::Array(items) => {
                items.iter().filter(|item| !item.is_null()).map(|item| self.escaped(item)).collect()
            }
            Value::Object(members) => {
                self.members(members)?.into_iter().flat_map(<[String; 2]>::from).collect()
            }
            single => vec![self.escaped(single)],
        })
    }

    fn members(self, members: &Map<String, Value>) -> Result<Vec<Pair>, Unwritable> {
        let mut pairs = Vec::new();
        for (name, value) in members {
            if !value.is_null() {
                pairs.push((self.escape.name(name)?, self.escaped(value)));
            }
        }
        Ok(pairs)
    }

    fn escaped(self, value: &Value) -> String {
        self.escape.apply(&text(value))
    }
}

fn is_single(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

/// Returns whether no style has a text for a value: an object, or a list with one or with a list.
pub(super) fn is_nested(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.iter().all(is_single),
        value => value.is_object(),
    }
}

/// Joins texts. An item that has the delimiter would be read as two.
fn joined(items: &[String], delimiter: &str) -> Result<Option<String>, Unwritable> {
    for item in items {
        if item.contains(delimiter) {
            let item = percent_decode_str(item).decode_utf8_lossy();
            let delimiter = percent_decode_str(delimiter).decode_utf8_lossy();
            return Err(unwritable(&item, &delimiter, "separates the items"));
        }
    }
    Ok(if items.is_empty() { None } else { Some(items.join(delimiter)) })
}

fn unwritable(item: &str, character: &str, effect: &str) -> Unwritable {
    format!("the item {item:?} has the character {character:?}, which {effect}; leave it out")
}
