//! Files that the program lends to a run, for bodies that are bytes.

use bytes::Bytes;
use std::collections::BTreeMap;
use std::fmt;

/// Holds files that the program lends to a run, by name.
///
/// Where an operation takes the content of a file, the model writes the name of an attachment, or a Base64
/// string. It never writes a path, and no file of the machine is read. The program puts the attachments into
/// the state of the run.
///
/// ```
/// use toolkit_ai::RunContext;
/// use toolkit_ai::openapi::client::Attachments;
///
/// let attachments = Attachments::new().with("report.pdf", "application/pdf", b"%PDF-1.7".as_slice());
/// let run = RunContext::new().with_state(attachments);
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Attachments(BTreeMap<String, Attachment>);

#[derive(Clone)]
pub(crate) struct Attachment {
    pub(crate) name: Option<String>,
    pub(crate) media_type: Option<String>,
    pub(crate) bytes: Bytes,
}

impl Attachments {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file, or replaces the one of this name.
    pub fn with(
        mut self,
        name: impl Into<String>,
        media_type: impl Into<String>,
        bytes: impl Into<Bytes>,
    ) -> Self {
        let name = name.into();
        let file =
            Attachment { name: Some(name.clone()), media_type: Some(media_type.into()), bytes: bytes.into() };
        self.0.insert(name, file);
        self
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Attachment> {
        self.0.get(name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }
}

/// Shows the names and sizes.
impl fmt::Debug for Attachments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.iter().map(|(name, file)| (name, file.bytes.len()))).finish()
    }
}
