//! The answers of an operation that the document describes, and their schemas.

use super::found_operation::FoundOperation;
use super::request_body::media_types;
use crate::client::document::{Budget, Document, Node, OpenApiIssue, OpenApiLimits, Version, below, of_text};
use crate::client::operation::{BodyKind, Operation, Response};
use crate::client::schema::{Direction, HiddenMembers, SchemaWriter, head, readable};
use serde_json::Value;
use std::collections::BTreeSet;

/// The maximum characters of an answer's description.
const LONGEST_DESCRIPTION: usize = 200;

/// Returns an operation's answers; `None` if they have more values than are left.
pub(super) fn responses(
    document: &Document,
    found: &FoundOperation<'_>,
    budget: &mut Budget,
    issues: &mut BTreeSet<OpenApiIssue>,
) -> Option<Vec<Response>> {
    let mut responses = Vec::new();
    for (status, response) in found.node.members("responses") {
        if status.starts_with("x-") {
            continue;
        }
        let place = response.place.clone();
        let response = match document.resolve(response) {
            Ok(response) => response,
            Err(reason) => {
                let message = format!("the answer is not known, because {reason}");
                issues.insert(OpenApiIssue::new(&place, message));
                continue;
            }
        };
        let description = head(response.text("description").unwrap_or_default(), LONGEST_DESCRIPTION);
        if !budget.take(of_text(description.len())) {
            return None;
        }
        responses.push(Response {
            status: status.to_owned(),
            description: readable(description, LONGEST_DESCRIPTION),
            content: content(document, found, &response, budget)?,
        });
    }
    Some(responses)
}

/// Returns the media types with the places of their schemas; `None` if there are more than are left.
fn content(
    document: &Document,
    found: &FoundOperation<'_>,
    response: &Node<'_>,
    budget: &mut Budget,
) -> Option<Vec<(String, Option<String>)>> {
    if document.version() == Version::Swagger2 {
        let place = schema_place(response);
        let mut types = media_types(document, &found.node, "produces");
        if types.is_empty() {
            types.push("application/json");
        }
        if !budget.take(types.len() * of_text(response.place.len())) {
            return None;
        }
        return Some(types.iter().map(|media_type| ((*media_type).to_owned(), place.clone())).collect());
    }
    let contents = response.members("content");
    if !budget.take(contents.len() * of_text(response.place.len())) {
        return None;
    }
    let mut described = Vec::new();
    for (media_type, media) in contents {
        let place = document.resolve(media).ok().and_then(|media| schema_place(&media));
        described.push((media_type.to_owned(), place));
    }
    Some(described)
}

/// Returns the place of the schema of an answer or a media type.
fn schema_place(media: &Node<'_>) -> Option<String> {
    media.value.get("schema").map(|_| below(&media.place, "schema"))
}

pub(super) fn output_place(operation: &Operation) -> Option<&str> {
    for response in operation.responses.iter().filter(|response| response.status.starts_with('2')) {
        for (media_type, place) in &response.content {
            if BodyKind::from_media_type(media_type) == BodyKind::Json {
                return place.as_deref();
            }
        }
    }
    None
}

/// Returns the schema at a place with its definitions; `None` if it surely exceeds the writer's limit.
pub(super) fn written_schema(place: &str, writer: &mut SchemaWriter<'_>) -> Option<Value> {
    let node = writer.document.at(place)?;
    let mut schema = writer.schema(&node, 0, None);
    let definitions = writer.definitions()?;
    if let Value::Object(keywords) = &mut schema
        && !definitions.is_empty()
    {
        keywords.insert("$defs".to_owned(), definitions.into());
    }
    Some(schema)
}

impl Document {
    /// Returns an answer's JSON Schema, with its definitions. `place` is that of a [`Response`].
    pub(crate) fn answer_schema(&self, place: &str) -> Option<Value> {
        let limits = OpenApiLimits::default().with_schema_bytes(usize::MAX);
        let hidden = HiddenMembers::new(self, Direction::Answer);
        written_schema(place, &mut SchemaWriter::new(hidden, &limits, usize::MAX))
    }
}
