//! The names of API keys, which only the program sends.

use super::document::{Document, Version};
use std::collections::BTreeSet;

/// The names of the API keys that the security schemes of a document send, by their locations.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct CredentialNames(BTreeSet<(String, String)>);

impl CredentialNames {
    pub(super) fn of(document: &Document) -> Self {
        let schemes = match document.version() {
            Version::Swagger2 => document.root().members("securityDefinitions"),
            _ => document
                .root()
                .get("components")
                .map(|node| node.members("securitySchemes"))
                .unwrap_or_default(),
        };
        let mut names = BTreeSet::new();
        for (_, scheme) in schemes {
            let Ok(scheme) = document.resolve(scheme) else { continue };
            if scheme.text("type") == Some("apiKey")
                && let (Some(location), Some(name)) = (scheme.text("in"), scheme.text("name"))
            {
                names.insert((location.to_owned(), name.to_ascii_lowercase()));
            }
        }
        Self(names)
    }

    /// Returns whether a name is that of a credential, in any letter case.
    pub(crate) fn contains(&self, location: &str, name: &str) -> bool {
        self.0.contains(&(location.to_owned(), name.to_ascii_lowercase()))
    }
}
