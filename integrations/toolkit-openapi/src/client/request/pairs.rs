//! The names with values of queries, forms and cookies.

use super::style::{Escape, Pair, Unwritable, Writer, is_nested};
use crate::client::operation::{BodyKind, CredentialNames, Serialization, Style};
use percent_encoding::percent_decode_str;
use serde_json::Value;

/// Returns a value in a media type: a string of any type but JSON stays as it is.
pub(super) fn content(media_type: &str, value: &Value) -> String {
    match value {
        Value::String(text) if BodyKind::from_media_type(media_type) != BodyKind::Json => text.clone(),
        other => other.to_string(),
    }
}

/// The credentials' names in a location (`query` for forms), which a value must not bring along.
#[derive(Clone, Copy)]
pub(super) struct Reserved<'a> {
    pub(super) location: &'static str,
    pub(super) credentials: &'a CredentialNames,
}

impl Reserved<'_> {
    /// Refuses the name of a credential that the model has chosen.
    pub(super) fn check(self, name: &str) -> Result<(), Unwritable> {
        if !self.credentials.contains(self.location, name) {
            return Ok(());
        }
        Err(format!(
            "the member `{name}` has the name of a credential, which only the program sends; leave it out"
        ))
    }

    /// Checks encoded pairs. The own name of a parameter is not chosen by the model.
    pub(super) fn check_pairs(self, pairs: &[Pair], own: &str) -> Result<(), Unwritable> {
        for (name, _) in pairs {
            let decoded = percent_decode_str(name).decode_utf8_lossy();
            if decoded != own {
                self.check(&decoded)?;
            }
        }
        Ok(())
    }
}

pub(super) fn pairs(
    name: &str,
    serialization: &Serialization,
    value: &Value,
    reserved: Reserved<'_>,
) -> Result<Vec<Pair>, Unwritable> {
    let escape = Escape::Reserved;
    let single = |content: &str| Ok(vec![(escape.apply(name), escape.apply(content))]);
    match serialization {
        Serialization::Content(media_type) => single(&content(media_type, value)),
        Serialization::Plain if is_nested(value) => single(&value.to_string()),
        Serialization::Plain => Writer { style: Style::Form, explode: true, escape }.pairs(name, value),
        Serialization::Style { style, explode, allow_reserved } => {
            let lenient = if reserved.location == "cookie" { Escape::Cookie } else { Escape::Query };
            let escape = if *allow_reserved { lenient } else { escape };
            let pairs = Writer { style: *style, explode: *explode, escape }.pairs(name, value)?;
            reserved.check_pairs(&pairs, name)?;
            Ok(pairs)
        }
    }
}

pub(super) fn joined(pairs: &[Pair], delimiter: &str) -> String {
    let equations: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    equations.join(delimiter)
}
