//! The names that only the program sends: those of API keys, and headers of its own.

use crate::client::document::Document;
use std::collections::BTreeSet;

/// Headers that the program, the document's security schemes or the HTTP client set, never an argument.
pub(crate) const OWN_HEADERS: [&str; 17] = [
    "accept",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "origin",
    "proxy-authorization",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The names of the security schemes' API keys, by location.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct CredentialNames(BTreeSet<(String, String)>);

impl CredentialNames {
    pub(crate) fn new(document: &Document) -> Self {
        let mut names = BTreeSet::new();
        for (_, scheme) in document.security_schemes() {
            let Ok(scheme) = document.resolve(scheme) else { continue };
            if scheme.text("type") == Some("apiKey")
                && let (Some(location), Some(name)) = (scheme.text("in"), scheme.text("name"))
            {
                names.insert((location.to_owned(), name.to_ascii_lowercase()));
            }
        }
        Self(names)
    }

    pub(crate) fn contains(&self, location: &str, name: &str) -> bool {
        self.0.contains(&(location.to_owned(), name.to_ascii_lowercase()))
    }
}
