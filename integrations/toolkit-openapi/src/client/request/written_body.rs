//! The body of a request, by its media type.

use super::multipart::multipart;
use super::style::text;
use super::{Arguments, joined, pairs, refused};
use crate::client::operation::{Body, BodyMember, BodySource, Serialization, Style};
use bytes::Bytes;
use serde_json::{Map, Value};
use toolkit_core::ToolError;

/// How a body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyKind {
    Json,
    /// A string is sent as it is.
    Text,
    /// `application/x-www-form-urlencoded`.
    Form,
    Multipart,
    /// Bytes, from a Base64 string or an attachment of the program.
    Bytes,
}

impl BodyKind {
    /// Returns the kind of a media type, which may have parameters.
    pub(crate) fn of(media_type: &str) -> Self {
        let essence = essence(media_type);
        let subtype = essence.split_once('/').map_or("", |(_, subtype)| subtype);
        let suffix = subtype.rsplit_once('+').map_or(subtype, |(_, suffix)| suffix);
        match essence.as_str() {
            "*/*" | "application/*" => Self::Json,
            "application/x-www-form-urlencoded" => Self::Form,
            _ if essence.starts_with("multipart/") => Self::Multipart,
            _ if essence.starts_with("text/") => Self::Text,
            _ if suffix == "json" => Self::Json,
            _ if TEXTS.contains(&suffix) => Self::Text,
            _ => Self::Bytes,
        }
    }
}

/// The types of text that do not begin with `text/`.
const TEXTS: [&str; 12] = [
    "csv",
    "ecmascript",
    "graphql",
    "javascript",
    "json-seq",
    "jsonl",
    "ndjson",
    "sql",
    "x-ndjson",
    "x-yaml",
    "xml",
    "yaml",
];

/// Returns the media type without its parameters, in lower case.
pub(crate) fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The bytes of a body with their media type.
#[derive(Debug, PartialEq)]
pub(super) struct WrittenBody {
    pub(super) media_type: String,
    pub(super) bytes: Bytes,
}

/// A member of a body with its value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) argument: &'a str,
    pub(super) name: &'a str,
    pub(super) value: &'a Value,
    pub(super) serialization: &'a Serialization,
    pub(super) is_binary: bool,
}

/// How the members of a form are written if the document describes the form as one value.
const PLAIN: Serialization =
    Serialization::Style { style: Style::Form, explode: true, allow_reserved: false };

/// Writes the body. `None` if it is optional and no argument is for it.
pub(super) fn write(body: &Body, arguments: Arguments<'_>) -> Result<Option<WrittenBody>, ToolError> {
    match &body.source {
        BodySource::Whole(argument) => match arguments.values.get(argument) {
            Some(value) => whole(&body.media_type, argument, value, arguments).map(Some),
            None if body.is_required => Err(refused(argument, "the body of the request, is missing")),
            None => Ok(None),
        },
        BodySource::Members(members) => {
            let fields: Vec<Field<'_>> =
                members.iter().filter_map(|member| field(member, arguments)).collect();
            if fields.is_empty() && !body.is_required {
                return Ok(None);
            }
            of_fields(&body.media_type, &fields, arguments).map(Some)
        }
    }
}

fn field<'a>(member: &'a BodyMember, arguments: Arguments<'a>) -> Option<Field<'a>> {
    Some(Field {
        argument: &member.argument,
        name: &member.name,
        value: arguments.values.get(&member.argument)?,
        serialization: &member.serialization,
        is_binary: member.is_binary,
    })
}

fn whole(
    media_type: &str,
    argument: &str,
    value: &Value,
    arguments: Arguments<'_>,
) -> Result<WrittenBody, ToolError> {
    let concrete = |bytes: Bytes, fallback: &str| {
        let is_range = media_type.contains('*');
        let media_type = if is_range { fallback } else { media_type };
        Ok(WrittenBody { media_type: media_type.to_owned(), bytes })
    };
    match (BodyKind::of(media_type), value) {
        (BodyKind::Json, value) => concrete(value.to_string().into(), "application/json"),
        (BodyKind::Text, value) => concrete(text(value).into_owned().into(), "text/plain"),
        (BodyKind::Bytes, value) => {
            let file = arguments.file(argument, value)?;
            concrete(file.bytes, file.media_type.as_deref().unwrap_or(OCTETS))
        }
        (BodyKind::Form | BodyKind::Multipart, Value::Object(members)) => {
            let fields: Vec<Field<'_>> = members
                .iter()
                .map(|(name, value)| Field { argument, name, value, serialization: &PLAIN, is_binary: false })
                .collect();
            of_fields(media_type, &fields, arguments)
        }
        (BodyKind::Form | BodyKind::Multipart, _) => {
            Err(refused(argument, "the body of the request, must be an object"))
        }
    }
}

/// The media type of bytes of which nothing is known.
pub(crate) const OCTETS: &str = "application/octet-stream";

fn of_fields(
    media_type: &str,
    fields: &[Field<'_>],
    arguments: Arguments<'_>,
) -> Result<WrittenBody, ToolError> {
    match BodyKind::of(media_type) {
        BodyKind::Multipart => multipart(media_type, fields, arguments),
        BodyKind::Form => {
            let mut all = Vec::new();
            for field in fields.iter().filter(|field| !field.value.is_null()) {
                let pairs = pairs(field.name, field.serialization, field.value);
                all.extend(pairs.map_err(|reason| refused(field.argument, reason))?);
            }
            Ok(WrittenBody { media_type: media_type.to_owned(), bytes: joined(&all, "&").into() })
        }
        BodyKind::Json | BodyKind::Text | BodyKind::Bytes => {
            let members: Map<String, Value> =
                fields.iter().map(|field| (field.name.to_owned(), field.value.clone())).collect();
            let media_type = if media_type.contains('*') { "application/json" } else { media_type };
            let bytes = Value::Object(members).to_string().into();
            Ok(WrittenBody { media_type: media_type.to_owned(), bytes })
        }
    }
}
