//! The body of a request: its media type, and the arguments that it is made of.

use super::arguments::ArgumentsDraft;
use super::members::{BodyMembers, MemberSchema, body_members};
use super::parameters::{Declared, collection_format, describe, resolved, style};
use crate::client::document::{Document, Node, OperationFault, Version};
use crate::client::operation::{Body, BodyKind, BodyMember, BodySource, Location, Serialization};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const WHOLE: &str = "body";

/// Reads an operation's body, from `requestBody` or Swagger's parameters, and adds its arguments.
///
/// # Errors
/// The body cannot be read.
pub(super) fn read_body<'d>(
    operation: &Node<'d>,
    declared: &[Declared<'d>],
    arguments: &mut ArgumentsDraft<'d>,
) -> Result<Option<Body>, OperationFault> {
    let document = arguments.writer.document;
    if document.version() == Version::Swagger2 {
        return Ok(swagger_body(operation, declared, arguments));
    }
    let Some(body) = operation.get("requestBody") else { return Ok(None) };
    let body = resolved(document, body)?;
    let contents = body.members("content");
    arguments.writer.meter.add(contents.len(), 0);
    let chosen = contents.into_iter().min_by_key(|(media_type, _)| preference(media_type));
    let Some((media_type, media)) = chosen else { return Ok(None) };
    let media = resolved(document, media)?;
    let encoding = media.get("encoding");
    let is_required = body.flag("required");
    let source = BodySchema { media_type, schema: media.get("schema"), encoding, around: &body, is_required };
    Ok(Some(source.read(arguments)))
}

fn preference(media_type: &str) -> usize {
    match BodyKind::from_media_type(media_type) {
        BodyKind::Json if media_type.contains("patch") => 1,
        BodyKind::Json if media_type.contains('*') => 4,
        BodyKind::Json => 0,
        BodyKind::Form => 2,
        BodyKind::Multipart => 3,
        BodyKind::Text => 5,
        BodyKind::Bytes => 6,
    }
}

struct BodySchema<'s, 'd> {
    media_type: &'s str,
    schema: Option<Node<'d>>,
    encoding: Option<Node<'d>>,
    /// The value with the description of the body.
    around: &'s Node<'d>,
    is_required: bool,
}

impl<'d> BodySchema<'_, 'd> {
    fn read(&self, arguments: &mut ArgumentsDraft<'d>) -> Body {
        let kind = BodyKind::from_media_type(self.media_type);
        let has_members = matches!(kind, BodyKind::Json | BodyKind::Form | BodyKind::Multipart);
        let document = arguments.writer.document;
        if has_members
            && let Some(schema) = &self.schema
            && let Some(members) = body_members(document, schema, &mut arguments.writer.meter)
        {
            return self.beside(members, arguments);
        }
        self.whole(kind, arguments)
    }

    fn whole(&self, kind: BodyKind, arguments: &mut ArgumentsDraft<'d>) -> Body {
        let media_type = self.media_type;
        let mut schema = match (kind, &self.schema) {
            (BodyKind::Text, _) => {
                json!({"type": "string", "description": format!("Text of the type {media_type}.")})
            }
            (BodyKind::Bytes, _) => json!({
                "type": "string",
                "description":
                    format!("Bytes of the type {media_type}, in Base64, or the name of an attachment."),
            }),
            (_, Some(schema)) => arguments.schema(schema),
            _ => json!({}),
        };
        describe(&mut schema, self.around, &mut arguments.writer);
        let argument = arguments.add(WHOLE, "body", schema, self.is_required);
        self.body(BodySource::Whole(argument))
    }

    fn beside(&self, members: BodyMembers<'d>, arguments: &mut ArgumentsDraft<'d>) -> Body {
        let mut read = Vec::new();
        for MemberSchema { name, parts } in members.members {
            if !arguments.writer.meter.add(parts.len(), 0) {
                break;
            }
            let is_required = members.required.contains(name);
            if !arguments.keeps(is_required, &parts) {
                continue;
            }
            let mut member = self.member(name, &parts, arguments.writer.document);
            let schemas: Vec<Value> = parts.iter().map(|part| arguments.schema(part)).collect();
            let mut schema = match <[Value; 1]>::try_from(schemas) {
                Ok([schema]) => schema,
                Err(schemas) => json!({ "allOf": schemas }),
            };
            if member.is_binary {
                schema = bytes(schema);
            }
            member.argument = arguments.add_of_body(name, schema, is_required, self.is_required);
            read.push(member);
        }
        self.body(BodySource::Members(read))
    }

    fn body(&self, source: BodySource) -> Body {
        let is_any_json =
            self.media_type.contains('*') && BodyKind::from_media_type(self.media_type) == BodyKind::Json;
        let media_type = if is_any_json { "application/json" } else { self.media_type };
        Body { media_type: media_type.to_owned(), is_required: self.is_required, source }
    }

    /// Reads how a member is written, without its argument's name.
    fn member(&self, name: &str, parts: &[Node<'d>], document: &'d Document) -> BodyMember {
        let kind = BodyKind::from_media_type(self.media_type);
        let encoding = self.encoding.as_ref().and_then(|encodings| encodings.get(name));
        let types = encoding.as_ref().and_then(|encoding| encoding.text("contentType"));
        let content = types.map(first_type);
        let serialization = match (content, &encoding, parts.first()) {
            (Some(content), ..) => Serialization::Content(content.to_owned()),
            (None, Some(encoding), _) if has_style(encoding) => style(encoding, Location::Query),
            (.., Some(part)) if document.version() == Version::Swagger2 && kind != BodyKind::Json => {
                collection_format(part, Location::Query)
            }
            _ => Serialization::Plain,
        };
        let mut has_bytes =
            content.is_some_and(|content| BodyKind::from_media_type(content) == BodyKind::Bytes);
        let mut known = BTreeMap::new();
        for part in parts {
            has_bytes = has_bytes || is_bytes(document, part, &mut known);
        }
        let is_binary = has_bytes && matches!(kind, BodyKind::Form | BodyKind::Multipart);
        BodyMember { argument: String::new(), name: name.to_owned(), serialization, is_binary }
    }
}

fn first_type(types: &str) -> &str {
    types.split(',').next().unwrap_or_default().trim()
}

fn has_style(encoding: &Node<'_>) -> bool {
    encoding.text("style").is_some() || encoding.value.get("explode").is_some()
}

/// The maximum schemas that are read to know whether a member is bytes.
const SCHEMAS_OF_MEMBER: usize = 64;

/// Returns whether a schema allows only bytes, lists of bytes, and `null`. `known` holds the answers by
/// place.
fn is_bytes<'d>(document: &'d Document, schema: &Node<'d>, known: &mut BTreeMap<String, bool>) -> bool {
    let Ok(schema) = document.resolve(schema.clone()) else { return false };
    if let Some(known) = known.get(&schema.place) {
        return *known;
    }
    if known.len() >= SCHEMAS_OF_MEMBER {
        return false;
    }
    known.insert(schema.place.clone(), false);
    let mut is_any = is_own_bytes(&schema);
    if let Some(items) = schema.get("items") {
        is_any = is_bytes(document, &items, known);
    }
    for part in schema.items("allOf") {
        is_any = is_any || is_bytes(document, &part, known);
    }
    for keyword in ["anyOf", "oneOf"] {
        let mut branches = schema.items(keyword);
        branches.retain(|branch| branch.text("type") != Some("null"));
        is_any =
            is_any || !branches.is_empty() && branches.iter().all(|branch| is_bytes(document, branch, known));
    }
    known.insert(schema.place, is_any);
    is_any
}

/// Returns whether a schema's own keywords say that it is bytes.
fn is_own_bytes(schema: &Node<'_>) -> bool {
    let media_kind = schema.text("contentMediaType").map(BodyKind::from_media_type);
    let is_text = schema.value.get("contentEncoding").is_some();
    schema.text("format") == Some("binary")
        || schema.text("type") == Some("file")
        || media_kind == Some(BodyKind::Bytes) && !is_text
}

/// Returns the schema of one or several files, as text in Base64.
fn bytes(mut schema: Value) -> Value {
    if let Some(items) = schema.get_mut("items") {
        *items = bytes(items.take());
        return schema;
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = schema.get_mut(keyword) else { continue };
        branches.retain(|branch| branch.get("type").is_none_or(|name| name != "null"));
        // A file alone and a file with a description are the same text, so that `oneOf` would refuse both.
        let branches: Vec<Value> = branches.drain(..).map(bytes).collect();
        return json!({ "anyOf": branches });
    }
    let own = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let description = format!("{own} Bytes in Base64, or the name of an attachment.");
    json!({"type": "string", "description": description.trim_start()})
}

fn swagger_body<'d>(
    operation: &Node<'d>,
    declared: &[Declared<'d>],
    arguments: &mut ArgumentsDraft<'d>,
) -> Option<Body> {
    let consumes = media_types(arguments.writer.document, operation, "consumes");
    arguments.writer.meter.add(consumes.len(), 0);
    if let Some(Declared { node, .. }) = declared.iter().find(|parameter| parameter.location == "body") {
        let preferred = consumes.into_iter().min_by_key(|media_type| preference(media_type));
        let source = BodySchema {
            media_type: preferred.unwrap_or("application/json"),
            schema: node.get("schema"),
            encoding: None,
            around: node,
            is_required: node.flag("required"),
        };
        return Some(source.read(arguments));
    }
    let mut members = BodyMembers::default();
    let mut has_file = false;
    for Declared { node, name, location } in declared {
        if *location != "formData" {
            continue;
        }
        members.add(name, node.clone());
        if node.flag("required") {
            members.required.insert(name);
        }
        has_file = has_file || node.text("type") == Some("file");
    }
    if members.members.is_empty() {
        return None;
    }
    let kinds: Vec<BodyKind> = consumes.into_iter().map(BodyKind::from_media_type).collect();
    let is_multipart = has_file || kinds.contains(&BodyKind::Multipart) && !kinds.contains(&BodyKind::Form);
    let source = BodySchema {
        media_type: if is_multipart { "multipart/form-data" } else { "application/x-www-form-urlencoded" },
        schema: None,
        encoding: None,
        around: operation,
        is_required: !members.required.is_empty(),
    };
    Some(source.beside(members, arguments))
}

/// Returns the media types of Swagger's `consumes` or `produces`.
pub(super) fn media_types<'d>(document: &'d Document, operation: &Node<'d>, keyword: &str) -> Vec<&'d str> {
    let own = operation.value.get(keyword).or_else(|| document.root().value.get(keyword));
    own.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}
