//! The body of a request, by its media type.

use super::field::{Arguments, Field, WrittenBody, refused};
use super::multipart::multipart;
use super::pairs::{Reserved, joined, pairs};
use super::style::text;
use crate::client::operation::{Body, BodyKind, BodyMember, BodySource, OCTETS, Serialization};
use bytes::Bytes;
use serde_json::{Map, Value};
use toolkit_core::ToolError;

/// Writes the body. `None` if it is optional and has no arguments, or only an empty object.
pub(super) fn write(
    body: &Body,
    reserved: Reserved<'_>,
    arguments: Arguments<'_>,
) -> Result<Option<WrittenBody>, ToolError> {
    match &body.source {
        BodySource::Whole(argument) => match arguments.values.get(argument) {
            // Services refuse an empty object where they expect no body, as with `DELETE`.
            Some(Value::Object(members)) if members.is_empty() && !body.is_required => Ok(None),
            Some(value) => whole(&body.media_type, argument, value, reserved, arguments).map(Some),
            None if body.is_required => Err(refused(argument, "the body of the request, is missing")),
            None => Ok(None),
        },
        BodySource::Members(members) => {
            let fields: Vec<Field<'_>> =
                members.iter().filter_map(|member| field(member, arguments)).collect();
            if fields.is_empty() && !body.is_required {
                return Ok(None);
            }
            of_fields(&body.media_type, &fields, reserved, arguments).map(Some)
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
    reserved: Reserved<'_>,
    arguments: Arguments<'_>,
) -> Result<WrittenBody, ToolError> {
    match (BodyKind::from_media_type(media_type), value) {
        (BodyKind::Json, value) => Ok(concrete(media_type, "application/json", value.to_string().into())),
        (BodyKind::Text, value) => Ok(concrete(media_type, "text/plain", text(value).into_owned().into())),
        (BodyKind::Bytes, value) => {
            let file = arguments.file(argument, value)?;
            Ok(concrete(media_type, file.media_type.as_deref().unwrap_or(OCTETS), file.bytes))
        }
        (BodyKind::Form | BodyKind::Multipart, Value::Object(members)) => {
            let serialization = &Serialization::Plain;
            let mut fields: Vec<Field<'_>> = Vec::with_capacity(members.len());
            for (name, value) in members {
                reserved.check(name).map_err(|reason| refused(argument, reason))?;
                fields.push(Field { argument, name, value, serialization, is_binary: false });
            }
            of_fields(media_type, &fields, reserved, arguments)
        }
        (BodyKind::Form | BodyKind::Multipart, _) => {
            Err(refused(argument, "the body of the request, must be an object"))
        }
    }
}

/// Returns a body in its media type, or in another one if that is a range.
fn concrete(media_type: &str, fallback: &str, bytes: Bytes) -> WrittenBody {
    let is_range = media_type.contains('*');
    WrittenBody { media_type: if is_range { fallback } else { media_type }.to_owned(), bytes }
}

fn of_fields(
    media_type: &str,
    fields: &[Field<'_>],
    reserved: Reserved<'_>,
    arguments: Arguments<'_>,
) -> Result<WrittenBody, ToolError> {
    match BodyKind::from_media_type(media_type) {
        BodyKind::Multipart => multipart(media_type, fields, arguments),
        BodyKind::Form => {
            let mut all = Vec::new();
            for field in fields.iter().filter(|field| !field.value.is_null()) {
                let pairs = pairs(field.name, field.serialization, field.value, reserved);
                all.extend(pairs.map_err(|reason| refused(field.argument, reason))?);
            }
            Ok(WrittenBody { media_type: media_type.to_owned(), bytes: joined(&all, "&").into() })
        }
        BodyKind::Json | BodyKind::Text | BodyKind::Bytes => {
            let mut members = Map::new();
            for field in fields {
                members.insert(field.name.to_owned(), field.value.clone());
            }
            let bytes = Value::Object(members).to_string().into();
            Ok(concrete(media_type, "application/json", bytes))
        }
    }
}
