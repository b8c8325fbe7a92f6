//! The answer of a service as the output of a tool.

mod digits;
mod problem;
mod trim;

pub(crate) use problem::Problem;

use crate::client::operation::{BodyKind, Location, OCTETS, Operation, Response, essence};
use digits::exact_text;
use http::StatusCode;
use http::header::{HeaderMap, LINK, LOCATION};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use toolkit_core::ToolOutput;
use toolkit_core::redaction::{Redacted, Redactor, Unread};
use toolkit_core::schema::violations;
use toolkit_http::client::{header_text, is_json, media_type, redacted_headers};
use trim::{chosen, cut_lists, is_hollow};

#[derive(Debug)]
pub(crate) struct AnswerSettings {
    pub(crate) fields: BTreeMap<String, Vec<String>>,
    pub(crate) list_limit: usize,
}

impl Default for AnswerSettings {
    fn default() -> Self {
        Self { fields: BTreeMap::new(), list_limit: usize::MAX }
    }
}

/// A complete answer, without the program's secrets, except in a body that is no text.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    body: Unread,
    redactor: Redactor,
}

enum Content {
    Empty,
    Json(Value),
    Text(String),
    Bytes(String),
}

impl Answer {
    pub(crate) fn new(status: StatusCode, headers: &HeaderMap, body: Unread, redactor: Redactor) -> Self {
        Self { status, headers: redacted_headers(headers, &redactor), body, redactor }
    }

    fn text(&self) -> Redacted {
        self.body.text(&self.redactor)
    }

    pub(crate) fn place(&self) -> Option<String> {
        header_text(&self.headers, &LOCATION)
    }

    /// Returns the output for a redirect that is not followed. The place may be what the model wants, such as a
    /// download.
    pub(crate) fn redirected(&self) -> ToolOutput {
        ToolOutput::text(match self.place() {
            Some(place) => {
                format!("The service has answered {}: it is at {place}, which was not fetched.", self.status)
            }
            None => format!("The service has answered {} without content.", self.status),
        })
    }

    fn content(&self) -> Content {
        let media_type = media_type(&self.headers);
        match media_type.as_deref() {
            _ if self.body.is_empty() => Content::Empty,
            Some(media_type) if is_json(media_type) => json(self.text().to_string()),
            Some(media_type) if BodyKind::from_media_type(media_type) != BodyKind::Bytes => {
                Content::Text(self.text().to_string())
            }
            None if self.body.is_text() => json(self.text().to_string()),
            media_type => Content::Bytes(media_type.unwrap_or(OCTETS).to_owned()),
        }
    }

    /// Returns the output for a success, with notes on how it differs from the document.
    pub(crate) fn output(
        &self,
        operation: &Operation,
        settings: &AnswerSettings,
        schema: impl FnOnce(&str) -> Option<Arc<Value>>,
    ) -> (ToolOutput, Option<String>) {
        let value = match self.content() {
            Content::Empty => return (ToolOutput::text(self.empty()), None),
            Content::Bytes(media_type) => {
                return (ToolOutput::media(media_type, self.body.bytes_with_secrets()), None);
            }
            Content::Text(text) => return (ToolOutput::text(text), None),
            Content::Json(value) => value,
        };
        let schema = self.schema_place(operation).and_then(schema);
        let misfit = schema.as_deref().and_then(|schema| misfit(schema, &value));
        let fits = schema.is_some() && misfit.is_none();
        let mut shown = match settings.fields.get(&operation.id) {
            Some(fields) => chosen(&value, fields),
            None => value.clone(),
        };
        let mut notes = cut_lists(&mut shown, settings.list_limit);
        if self.has_next_page() {
            notes.push("There are more pages.".to_owned());
        }
        if !notes.is_empty() {
            notes.extend(paging(operation));
        }
        if is_hollow(&shown) && !is_hollow(&value) {
            let fields = settings.fields.get(&operation.id).map_or(&[][..], Vec::as_slice).join("`, `");
            notes.push(format!(
                "The program keeps only the fields `{fields}`, and the answer has none of them."
            ));
        }
        let exact = exact_text(&shown, self.text().as_str());
        let is_exact = exact.is_none();
        // A value nested too deeply for JSON text came from JSON text, so there is none.
        let written = match exact {
            Some(text) => ToolOutput::json(&text),
            None => ToolOutput::json(&shown),
        };
        let mut output = written.unwrap_or_else(|_| ToolOutput::text(shown.to_string()));
        if !notes.is_empty() {
            output = output.with_message(notes.join(" "));
        }
        // Programs such as MCP clients refuse a structured value that does not fit.
        if fits && is_exact && shown == value {
            output = output.with_structured(value);
        }
        (output, misfit)
    }

    fn empty(&self) -> String {
        let place = self.place().map(|place| format!(", at {place}")).unwrap_or_default();
        format!("The service has answered {} without content{place}.", self.status)
    }

    pub(crate) fn described<'a>(&self, operation: &'a Operation) -> Option<&'a Response> {
        let code = self.status.as_str();
        let range = format!("{}XX", code.get(..1).unwrap_or_default());
        for status in [code, &range, "default"] {
            let mut responses = operation.responses.iter();
            if let Some(found) = responses.find(|response| response.status.eq_ignore_ascii_case(status)) {
                return Some(found);
            }
        }
        None
    }

    /// Returns the place of the schema for the answer's media type, or else for JSON.
    fn schema_place<'a>(&self, operation: &'a Operation) -> Option<&'a str> {
        let content = &self.described(operation)?.content;
        let own = media_type(&self.headers).unwrap_or_default();
        let mut found = content.iter().find(|(media_type, _)| essence(media_type) == own);
        if found.is_none() {
            found = content.iter().find(|(name, _)| BodyKind::from_media_type(name) == BodyKind::Json);
        }
        found?.1.as_deref()
    }

    fn has_next_page(&self) -> bool {
        let mut links =
            self.headers.get_all(LINK).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
        links.any(|links| links.contains("rel=\"next\"") || links.contains("rel=next"))
    }
}

/// Parts of names of parameters that choose a part of a list.
const PAGING: [&str; 9] = ["page", "cursor", "offset", "limit", "after", "before", "skip", "marker", "count"];

/// Returns how to get other parts of a list, from the parameters' names.
pub(crate) fn paging(operation: &Operation) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for parameter in &operation.parameters {
        let name = parameter.name.to_ascii_lowercase();
        if parameter.location == Location::Query && PAGING.iter().any(|part| name.contains(part)) {
            names.push(format!("`{}`", parameter.argument));
        }
    }
    if names.is_empty() {
        return None;
    }
    Some(format!("To get other parts, use {}.", names.join(", ")))
}

fn json(text: String) -> Content {
    match serde_json::from_str(&text) {
        Ok(value) => Content::Json(value),
        Err(_) => Content::Text(text),
    }
}

fn misfit(schema: &Value, value: &Value) -> Option<String> {
    const SHOWN: usize = 3;
    let violations = violations(schema, value);
    if violations.is_empty() {
        return None;
    }
    let shown: Vec<String> = violations.iter().take(SHOWN).map(ToString::to_string).collect();
    let mut text = format!("The answer does not match the document: {}", shown.join("; "));
    if violations.len() > SHOWN {
        text.push_str(&format!("; and {} more", violations.len() - SHOWN));
    }
    Some(text)
}
