//! The body of a request: its media type, and the arguments that it is made of.

use super::arguments::ArgumentNames;
use super::document::{Document, Node, Version};
use super::members::{BodyMembers, MemberSchema, body_members};
use super::operation::{Body, BodyMember, BodySource, Location, Serialization, Style};
use super::parameters::{Declared, collection_format, describe, style};
use super::reader::OperationFault;
use super::request::written_body::BodyKind;
use super::schema::SchemaWriter;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The name of the argument with a whole body.
const WHOLE: &str = "body";

/// A body with the schemas of its arguments.
pub(super) struct ReadBody {
    pub(super) body: Body,
    pub(super) properties: Vec<(String, Value)>,
    /// The required arguments. If the body is optional, they are required beside any other argument of the body.
    pub(super) required: Vec<String>,
    /// A union of lists of required arguments, under `anyOf` or `oneOf`.
    pub(super) choice: Option<(String, Value)>,
}

/// Reads the body of an operation, from `requestBody` or from the parameters of Swagger.
///
/// # Errors
/// The body cannot be read.
pub(super) fn read_body<'d>(
    document: &'d Document,
    operation: &Node<'d>,
    declared: &[Declared<'d>],
    names: &mut ArgumentNames,
    writer: &mut SchemaWriter<'d>,
) -> Result<Option<ReadBody>, OperationFault> {
    if document.version() == Version::Swagger2 {
        return Ok(swagger_body(document, operation, declared, names, writer));
    }
    let Some(body) = operation.get("requestBody") else { return Ok(None) };
    let at = body.place.clone();
    let body = document.resolve(body).map_err(|reason| OperationFault::new(&at, reason))?;
    let contents = body.members("content");
    let chosen = contents.iter().min_by_key(|(media_type, _)| preference(media_type));
    let Some((media_type, media)) = chosen else { return Ok(None) };
    let at = media.place.clone();
    let media = document.resolve(media.clone()).map_err(|reason| OperationFault::new(&at, reason))?;
    let is_required = body.flag("required");
    let source =
        BodySchema { document, media_type, schema: media.get("schema"), encoding: media.members("encoding") };
    let mut read = source.read(is_required, names, writer);
    if let BodySource::Whole(_) = read.body.source
        && let Some((_, schema)) = read.properties.first_mut()
    {
        describe(schema, &body, writer);
    }
    Ok(Some(read))
}

/// The rank of a media type among those of a body.
fn preference(media_type: &str) -> usize {
    match BodyKind::of(media_type) {
        BodyKind::Json if media_type.contains("patch") => 1,
        BodyKind::Json if media_type.contains('*') => 4,
        BodyKind::Json => 0,
        BodyKind::Form => 2,
        BodyKind::Multipart => 3,
        BodyKind::Text => 5,
        BodyKind::Bytes => 6,
    }
}

/// What the arguments of a body are made from.
struct BodySchema<'s, 'd> {
    document: &'d Document,
    media_type: &'s str,
    schema: Option<Node<'d>>,
    encoding: Vec<(&'d str, Node<'d>)>,
}

impl<'d> BodySchema<'_, 'd> {
    fn read(&self, is_required: bool, names: &mut ArgumentNames, writer: &mut SchemaWriter<'d>) -> ReadBody {
        let kind = BodyKind::of(self.media_type);
        let has_members = matches!(kind, BodyKind::Json | BodyKind::Form | BodyKind::Multipart);
        let members = self.schema.as_ref().filter(|_| has_members);
        let members = members.and_then(|schema| body_members(self.document, schema));
        match members {
            Some(members) => self.beside(members, is_required, names, writer),
            None => self.whole(kind, is_required, names, writer),
        }
    }

    /// The body is the value of one argument.
    fn whole(
        &self,
        kind: BodyKind,
        is_required: bool,
        names: &mut ArgumentNames,
        writer: &mut SchemaWriter<'d>,
    ) -> ReadBody {
        let argument = names.take_of_body(WHOLE);
        let written = self.schema.as_ref().map(|schema| writer.schema(schema, 1, &BTreeSet::new()));
        let schema = match kind {
            BodyKind::Text => {
                json!({"type": "string", "description": format!("Text of the type {}.", self.media_type)})
            }
            BodyKind::Bytes => json!({
                "type": "string",
                "description": format!("Bytes of the type {}, in Base64, or the name of an attachment.", self.media_type),
            }),
            _ => written.unwrap_or_else(|| Value::Object(Map::new())),
        };
        ReadBody {
            body: self.body(is_required, BodySource::Whole(argument.clone())),
            required: is_required.then(|| argument.clone()).into_iter().collect(),
            properties: vec![(argument, schema)],
            choice: None,
        }
    }

    /// The members of the body are arguments beside the parameters.
    fn beside(
        &self,
        members: BodyMembers<'d>,
        is_required: bool,
        names: &mut ArgumentNames,
        writer: &mut SchemaWriter<'d>,
    ) -> ReadBody {
        let mut read_members = Vec::new();
        let mut properties = Vec::new();
        let mut required = Vec::new();
        let mut is_renamed = false;
        for MemberSchema { name, parts } in members.members {
            let argument = names.take_of_body(name);
            is_renamed |= argument != name;
            let member = self.member(name, argument.clone(), &parts);
            let schemas: Vec<Value> =
                parts.iter().map(|part| writer.schema(part, 1, &BTreeSet::new())).collect();
            let mut schema = match <[Value; 1]>::try_from(schemas) {
                Ok([schema]) => schema,
                Err(schemas) => json!({ "allOf": schemas }),
            };
            if member.is_binary {
                schema = bytes(schema);
            }
            if members.required.contains(name) {
                required.push(argument.clone());
            }
            properties.push((argument, schema));
            read_members.push(member);
        }
        let body = self.body(is_required, BodySource::Members(read_members));
        let choice = members.choice.filter(|_| !is_renamed && is_required);
        ReadBody { body, properties, required, choice }
    }

    fn body(&self, is_required: bool, source: BodySource) -> Body {
        let is_any_json = self.media_type.contains('*') && BodyKind::of(self.media_type) == BodyKind::Json;
        let media_type = if is_any_json { "application/json" } else { self.media_type };
        Body { media_type: media_type.to_owned(), is_required, source }
    }

    fn member(&self, name: &str, argument: String, parts: &[Node<'d>]) -> BodyMember {
        let encoding = self.encoding.iter().find(|(member, _)| *member == name).map(|(_, encoding)| encoding);
        let content_type = encoding.and_then(|encoding| encoding.text("contentType"));
        let shape = parts.first().map(|part| self.shape(part)).unwrap_or(MemberShape::Single);
        let is_form = matches!(BodyKind::of(self.media_type), BodyKind::Form | BodyKind::Multipart);
        let is_encoded = content_type.is_some_and(|content| {
            BodyKind::of(content.split(',').next().unwrap_or_default()) == BodyKind::Bytes
        });
        let serialization = match (content_type, encoding) {
            (Some(content), _) => {
                Serialization::Content(content.split(',').next().unwrap_or_default().trim().to_owned())
            }
            (None, Some(encoding))
                if encoding.value.get("style").is_some() || encoding.value.get("explode").is_some() =>
            {
                style(encoding, Location::Query)
            }
            _ if shape == MemberShape::Object => Serialization::Content("application/json".to_owned()),
            _ => Serialization::Style { style: Style::Form, explode: true, allow_reserved: false },
        };
        let is_binary =
            is_form && (shape == MemberShape::Bytes || is_encoded && shape == MemberShape::Single);
        BodyMember { argument, name: name.to_owned(), serialization, is_binary }
    }

    /// Returns the shape of a member's values, or of the items of a list.
    fn shape(&self, schema: &Node<'d>) -> MemberShape {
        let Ok(schema) = self.document.resolve(schema.clone()) else { return MemberShape::Single };
        if let Some(items) = schema.get("items") {
            return self.shape(&items);
        }
        let is = |keyword: &str, value: &str| schema.text(keyword) == Some(value);
        let has = |keyword: &str| schema.value.get(keyword).is_some();
        let media_type = schema.text("contentMediaType").map(BodyKind::of);
        if is("format", "binary")
            || is("type", "file")
            || media_type == Some(BodyKind::Bytes) && !has("contentEncoding")
        {
            MemberShape::Bytes
        } else if is("type", "object") || has("properties") || has("allOf") || has("oneOf") || has("anyOf") {
            MemberShape::Object
        } else {
            MemberShape::Single
        }
    }
}

/// The shape of a value in a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MemberShape {
    Single,
    Object,
    Bytes,
}

/// Returns the schema of a file, or of a list of files: bytes are text in Base64.
fn bytes(mut schema: Value) -> Value {
    if let Some(items) = schema.get_mut("items") {
        *items = bytes(items.take());
        return schema;
    }
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let description = format!("{description} Bytes in Base64, or the name of an attachment.");
    json!({"type": "string", "description": description.trim_start()})
}

/// Reads the parameters of Swagger in `body` and `formData`.
fn swagger_body<'d>(
    document: &'d Document,
    operation: &Node<'d>,
    declared: &[Declared<'d>],
    names: &mut ArgumentNames,
    writer: &mut SchemaWriter<'d>,
) -> Option<ReadBody> {
    let consumes = media_types(document, operation, "consumes");
    if let Some(body) = declared.iter().find(|parameter| parameter.location == "body") {
        let media_type = consumes.iter().copied().min_by_key(|media_type| preference(media_type));
        let media_type = media_type.unwrap_or("application/json");
        let source =
            BodySchema { document, media_type, schema: body.node.get("schema"), encoding: Vec::new() };
        let mut read = source.read(body.node.flag("required"), names, writer);
        if let BodySource::Whole(_) = read.body.source
            && let Some((_, schema)) = read.properties.first_mut()
        {
            describe(schema, &body.node, writer);
        }
        return Some(read);
    }
    let form: Vec<_> = declared.iter().filter(|parameter| parameter.location == "formData").collect();
    let has_file = form.iter().any(|parameter| parameter.node.text("type") == Some("file"));
    if form.is_empty() {
        return None;
    }
    let is_multipart = consumes.iter().any(|media_type| BodyKind::of(media_type) == BodyKind::Multipart);
    let urlencoded = consumes.iter().any(|media_type| BodyKind::of(media_type) == BodyKind::Form);
    let multipart = has_file || is_multipart && !urlencoded;
    let media_type = if multipart { "multipart/form-data" } else { "application/x-www-form-urlencoded" };
    let mut members = Vec::new();
    let mut properties = Vec::new();
    let mut required = Vec::new();
    for Declared { node, name, .. } in form {
        let argument = names.take_of_body(name);
        let is_binary = node.text("type") == Some("file");
        let schema = writer.schema(node, 1, &BTreeSet::new());
        properties.push((argument.clone(), if is_binary { bytes(schema) } else { schema }));
        if node.flag("required") {
            required.push(argument.clone());
        }
        let serialization = collection_format(node, Location::Query);
        members.push(BodyMember { argument, name: (*name).to_owned(), serialization, is_binary });
    }
    let is_required = !required.is_empty();
    let body = Body { media_type: media_type.to_owned(), is_required, source: BodySource::Members(members) };
    Some(ReadBody { body, properties, required, choice: None })
}

/// Returns the media types of an operation of Swagger, from `consumes` or `produces`.
pub(super) fn media_types<'d>(document: &'d Document, operation: &Node<'d>, keyword: &str) -> Vec<&'d str> {
    let own = operation.value.get(keyword).or_else(|| document.root().value.get(keyword));
    own.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}
