//! Values as text, in the styles of OpenAPI.

use super::super::operation::Style;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use std::borrow::Cow;
use toolkit_http::client::segment;

/// The reserved characters that `allowReserved` leaves as they are. The others would end the value (`&`, `#`), are a space
/// for readers of forms (`+`), or cannot be in a query (`[`, `]`).
const HARMLESS: &str = ":/?@!$'()*,;=";

/// The characters to percent-encode in a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escape {
    /// All except the unreserved ones of RFC 3986.
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

    pub(crate) fn apply(self, text: &str) -> String {
        match self {
            Self::Reserved => segment(text, ""),
            Self::Ending => segment(text, HARMLESS),
            Self::Nothing => text.to_owned(),
        }
    }
}

/// Percent-encodes what the path of a document must not have literally. What is encoded already stays.
pub(super) fn literal(text: &str) -> String {
    segment(text, &format!("{HARMLESS}+&%"))
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
        let encoded = self.escape.apply(name);
        let mut pairs = Vec::new();
        match value {
            Value::Array(_) | Value::Object(_) if self.style == Style::DeepObject => {
                self.deep(encoded, value, &mut pairs);
            }
            Value::Array(_) if self.explode => {
                pairs.extend(self.items(value).into_iter().map(|item| (encoded.clone(), item)));
            }
            Value::Object(members) if self.explode => pairs.extend(self.members(members)),
            single if is_single(single) => pairs.extend(self.items(single).pop().map(|item| (encoded, item))),
            value => {
                let joined = joined(&self.items(value), self.delimiter())?;
                pairs.extend(joined.map(|joined| (encoded, joined)));
            }
        }
        Ok(pairs)
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
        let name = self.escape.apply(name);
        let equation = |key: &str, value: &str| match (self.style, value) {
            (Style::Matrix, "") => key.to_owned(),
            _ => format!("{key}={value}"),
        };
        let is_matrix = self.style == Style::Matrix;
        let (items, is_named) = match value {
            Value::Array(_) if self.explode && is_matrix => {
                (self.items(value).iter().map(|item| equation(&name, item)).collect(), true)
            }
            Value::Object(members) if self.explode => {
                (self.members(members).map(|(key, value)| equation(&key, &value)).collect(), true)
            }
            value => (self.items(value), false),
        };
        let delimiter = match self.style {
            Style::Label if self.explode => ".",
            Style::Matrix if is_named => ";",
            _ => ",",
        };
        let written = if is_single(value) { items.into_iter().next() } else { joined(&items, delimiter)? };
        Ok(written.map(|joined| match self.style {
            Style::Label => format!(".{joined}"),
            Style::Matrix if is_named => format!(";{joined}"),
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

    /// Returns the texts of a value: of a scalar, of the items of an array, or of the members of an object with their
    /// names.
    fn items(self, value: &Value) -> Vec<String> {
        match value {
            Value::Null => Vec::new(),
            Value::Array(items) => {
                items.iter().filter(|item| !item.is_null()).map(|item| self.escaped(item)).collect()
            }
            Value::Object(members) => self.members(members).flat_map(<[String; 2]>::from).collect(),
            single => vec![self.escaped(single)],
        }
    }

    fn members(self, members: &Map<String, Value>) -> impl Iterator<Item = Pair> {
        let members = members.iter().filter(|(_, value)| !value.is_null());
        members.map(move |(key, value)| (self.escape.apply(key), self.escaped(value)))
    }

    fn escaped(self, value: &Value) -> String {
        self.escape.apply(&text(value))
    }
}

fn is_single(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

/// Joins the texts of a value. An item that has the delimiter would be read as two.
fn joined(items: &[String], delimiter: &str) -> Result<Option<String>, Unwritable> {
    if let Some(item) = items.iter().find(|item| item.contains(delimiter)) {
        let decode = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        return Err(format!(
            "the item {:?} has the character {:?}, which separates the items; leave it out",
            decode(item),
            decode(delimiter)
        ));
    }
    Ok((!items.is_empty()).then(|| items.join(delimiter)))
}
