//! Files that the program lends to a run, for bodies that are bytes.

use bytes::Bytes;
use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use toolkit_core::ToolError;

use super::request::{Arguments, refused};

/// Files that the program lends to a run, by name.
///
/// Where an operation takes the content of a file, the model writes the name of an attachment, or the content as a
/// Base64 string. It never writes a path, and no file of the machine is read. The program puts the attachments into the
/// state of the run.
///
/// ```
/// use toolkit::RunContext;
/// use toolkit_openapi::client::Attachments;
///
/// let attachments = Attachments::new().with("report.pdf", "application/pdf", b"%PDF-1.7".as_slice());
/// let run = RunContext::new().with_state(attachments);
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Attachments(BTreeMap<String, Attachment>);

/// The content of a file, with what is known about it.
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

    /// Adds a file. An earlier file of the same name is replaced.
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
}

/// Shows the names and sizes.
impl fmt::Debug for Attachments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.iter().map(|(name, file)| (name, file.bytes.len()))).finish()
    }
}

impl Arguments<'_> {
    /// Returns the bytes that an argument stands for: the attachment of this name, or the Base64 string decoded.
    pub(crate) fn file(self, argument: &str, value: &Value) -> Result<Attachment, ToolError> {
        let text = value.as_str().unwrap_or_default();
        if let Some(file) = self.attachments.and_then(|attachments| attachments.0.get(text)) {
            return Ok(file.clone());
        }
        let encodings = [BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD];
        let decoded = encodings.iter().find_map(|encoding| encoding.decode(text.trim().as_bytes()).ok());
        match decoded.filter(|_| value.is_string()) {
            Some(bytes) => Ok(Attachment { name: None, media_type: None, bytes: bytes.into() }),
            None => {
                let names: Vec<String> = self
                    .attachments
                    .iter()
                    .flat_map(|all| all.0.keys())
                    .map(|name| format!("`{name}`"))
                    .collect();
                let known = if names.is_empty() {
                    String::new()
                } else {
                    format!(", or the name of an attachment: {}", names.join(", "))
                };
                Err(refused(argument, format!("expected the content as a Base64 string{known}")))
            }
        }
    }
}
