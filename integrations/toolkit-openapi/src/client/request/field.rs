//! The arguments of a call, and what they stand for in a body.

use super::attachments::{Attachment, Attachments};
use crate::client::operation::Serialization;
use bytes::Bytes;
use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD};
use serde_json::{Map, Value};
use toolkit_core::ToolError;
use toolkit_core::schema::{Violation, ViolationKind};

/// The arguments of a call, and the files that they may name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arguments<'a> {
    pub(crate) values: &'a Map<String, Value>,
    pub(crate) attachments: Option<&'a Attachments>,
}

impl<'a> Arguments<'a> {
    /// Returns the argument. `null` counts as absent, except in a JSON body.
    pub(super) fn value(self, argument: &str) -> Option<&'a Value> {
        self.values.get(argument).filter(|value| !value.is_null())
    }
}

impl Arguments<'_> {
    /// Returns the attachment that an argument names, or its decoded Base64 string.
    pub(crate) fn file(self, argument: &str, value: &Value) -> Result<Attachment, ToolError> {
        let text = value.as_str().unwrap_or_default();
        if let Some(file) = self.attachments.and_then(|attachments| attachments.get(text)) {
            return Ok(file.clone());
        }
        if value.is_string() {
            for encoding in [BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD] {
                if let Ok(bytes) = encoding.decode(text.trim().as_bytes()) {
                    return Ok(Attachment { name: None, media_type: None, bytes: bytes.into() });
                }
            }
        }
        let mut names: Vec<String> = Vec::new();
        if let Some(attachments) = self.attachments {
            names.extend(attachments.names().map(|name| format!("`{name}`")));
        }
        let mut reason = "expected the content as a Base64 string".to_owned();
        if !names.is_empty() {
            reason.push_str(&format!(", or the name of an attachment: {}", names.join(", ")));
        }
        Err(refused(argument, reason))
    }
}

pub(crate) fn refused(argument: &str, reason: impl Into<String>) -> ToolError {
    ToolError::invalid_arguments(vec![Violation::new(argument, ViolationKind::Constraint, reason)])
}

#[derive(Debug, PartialEq)]
pub(super) struct WrittenBody {
    pub(super) media_type: String,
    pub(super) bytes: Bytes,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) argument: &'a str,
    pub(super) name: &'a str,
    pub(super) value: &'a Value,
    pub(super) serialization: &'a Serialization,
    pub(super) is_binary: bool,
}
