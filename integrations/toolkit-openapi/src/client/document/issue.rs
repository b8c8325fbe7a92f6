//! Issues: what of a document did not become what its author wrote.

use std::fmt;
use toolkit_core::foreign::shorten;
use toolkit_core::schema::nearest;

const LONGEST: usize = 512;

/// Reports a part of a document that was changed or left out.
///
/// The rest is not affected.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct OpenApiIssue {
    /// The place as a JSON pointer such as `/paths/~1users/get`.
    ///
    /// Empty for the whole document.
    pub place: String,
    /// The fault and its consequence, in at most 512 characters.
    pub message: String,
}

impl OpenApiIssue {
    pub(crate) fn new(place: &str, message: impl Into<String>) -> Self {
        Self { place: shorten(place.to_owned(), LONGEST), message: shorten(message.into(), LONGEST) }
    }

    /// Creates the issue of a name that the document does not have. `fault` comes before the name, such as
    /// "No operation has the id".
    pub(crate) fn unknown<'k>(fault: &str, name: &str, known: impl IntoIterator<Item = &'k str>) -> Self {
        let advice = match nearest(name, known).first() {
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        };
        Self::new("", format!("{fault} `{name}`{advice}"))
    }
}

impl fmt::Display for OpenApiIssue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "`{}`: {}", self.place, self.message)
        }
    }
}

pub(crate) struct OperationFault {
    pub(crate) place: String,
    pub(crate) reason: String,
}

impl OperationFault {
    pub(crate) fn new(place: &str, reason: impl Into<String>) -> Self {
        Self { place: place.to_owned(), reason: reason.into() }
    }
}
