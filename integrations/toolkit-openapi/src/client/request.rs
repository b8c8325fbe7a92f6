//! An operation and its arguments as an HTTP request.
//!
//! The arguments never choose the server: each value is encoded for its place, and a path keeps the number of
//! its segments.

mod attachments;
mod field;
mod multipart;
mod pairs;
mod style;
mod written_body;

pub use attachments::Attachments;
pub(crate) use field::Arguments;
pub(crate) use style::Escape;

use crate::client::operation::{BodyKind, Location, OWN_HEADERS, Operation, Parameter, Serialization, Style};
use bytes::Bytes;
use field::refused;
use http::header::{ACCEPT, CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue};
use http::{Request, Uri};
use pairs::{Reserved, content, joined, pairs};
use percent_encoding::percent_decode_str;
use serde_json::Value;
use style::{Pair, Unwritable, Writer, literal, text};
use toolkit_core::ToolError;

/// Creates the request for a call, without authentication.
///
/// # Errors
/// An argument cannot be written in its place. The error names it.
pub(crate) fn request(
    operation: &Operation,
    base_url: &str,
    arguments: Arguments<'_>,
) -> Result<Request<Bytes>, ToolError> {
    let mut address = format!("{}{}", base_url.trim_end_matches('/'), path(operation, arguments)?);
    append_query(&mut address, &query(operation, arguments)?);
    let uri = match address.parse::<Uri>() {
        Ok(uri) => uri,
        Err(error) => {
            let message = format_args!("the address of the request is invalid ({error}); send less in it");
            return Err(ToolError::retry(message));
        }
    };
    let mut headers = headers(operation, arguments)?;
    let mut content = Bytes::new();
    let reserved = Reserved { location: "query", credentials: &operation.credentials };
    if let Some(body) = &operation.body
        && let Some(written) = written_body::write(body, reserved, arguments)?
    {
        let media_type = HeaderValue::from_str(&written.media_type)
            .map_err(|_| ToolError::failed("the document has an illegal media type for the body"))?;
        headers.insert(CONTENT_TYPE, media_type);
        content = written.bytes;
    }
    let mut request = Request::new(content);
    *request.method_mut() = operation.method.clone();
    *request.uri_mut() = uri;
    *request.headers_mut() = headers;
    Ok(request)
}

/// Appends the encoded `query` to an address, which may have one.
pub(crate) fn append_query(address: &mut String, query: &str) {
    if !query.is_empty() {
        address.push(if address.contains('?') { '&' } else { '?' });
        address.push_str(query);
    }
}

fn parameters(operation: &Operation, location: Location) -> impl Iterator<Item = &Parameter> {
    operation.parameters.iter().filter(move |parameter| parameter.location == location)
}

fn path(operation: &Operation, arguments: Arguments<'_>) -> Result<String, ToolError> {
    let (template, query) = operation.path.split_once('?').unwrap_or((&operation.path, ""));
    let mut path = String::new();
    for segment in template.trim_start_matches('/').split('/') {
        let written = path_segment(segment, operation, arguments)?;
        path.push('/');
        path.push_str(&written);
    }
    append_query(&mut path, &literal(query));
    Ok(path)
}

/// Writes a segment of the path. None may become `.` or `..`, which readers of URLs remove even if they are
/// encoded.
fn path_segment(
    mut template: &str,
    operation: &Operation,
    arguments: Arguments<'_>,
) -> Result<String, ToolError> {
    let mut segment = String::new();
    let mut last = "";
    while let Some((before, rest)) = template.split_once('{')
        && let Some((name, after)) = rest.split_once('}')
    {
        segment.push_str(&literal(before));
        let parameter = parameters(operation, Location::Path).find(|parameter| parameter.name == name);
        let argument = parameter.map_or(name, |parameter| &parameter.argument);
        let written = match (parameter, arguments.value(argument)) {
            (Some(parameter), Some(value)) => in_path(parameter, value).map_err(|e| refused(argument, e))?,
            _ => None,
        };
        match written {
            Some(written) if !written.is_empty() => segment.push_str(&written),
            _ => return Err(refused(argument, "a part of the path, must not be empty")),
        }
        last = argument;
        template = after;
    }
    segment.push_str(&literal(template));
    let decoded = percent_decode_str(&segment).decode_utf8_lossy();
    if decoded.split(['/', '\\']).any(|part| matches!(part, "." | "..")) {
        return Err(refused(last, "a part of the path, must not have `.` or `..` between slashes"));
    }
    Ok(segment)
}

fn in_path(parameter: &Parameter, value: &Value) -> Result<Option<String>, Unwritable> {
    match &parameter.serialization {
        Serialization::Content(media_type) => Ok(Some(Escape::Reserved.apply(&content(media_type, value)))),
        Serialization::Plain => Ok(Some(Escape::Reserved.apply(&text(value)))),
        Serialization::Style { style, explode, .. } => {
            let writer = Writer { style: *style, explode: *explode, escape: Escape::Reserved };
            writer.text(&parameter.name, value)
        }
    }
}

fn query(operation: &Operation, arguments: Arguments<'_>) -> Result<String, ToolError> {
    let reserved = Reserved { location: "query", credentials: &operation.credentials };
    let mut query = joined(&all_pairs(operation, Location::Query, reserved, arguments)?, "&");
    for parameter in parameters(operation, Location::QueryString) {
        let Some(value) = arguments.value(&parameter.argument) else { continue };
        let written =
            whole_query(parameter, value, reserved).map_err(|reason| refused(&parameter.argument, reason))?;
        if !query.is_empty() && !written.is_empty() {
            query.push('&');
        }
        query.push_str(&written);
    }
    Ok(query)
}

/// Writes a value that is the whole query: an object as a form, others in their media type.
fn whole_query(parameter: &Parameter, value: &Value, reserved: Reserved<'_>) -> Result<String, Unwritable> {
    match (&parameter.serialization, value) {
        (Serialization::Content(media_type), Value::Object(_))
            if BodyKind::from_media_type(media_type) == BodyKind::Form =>
        {
            let writer = Writer { style: Style::Form, explode: true, escape: Escape::Reserved };
            let pairs = writer.pairs(&parameter.name, value)?;
            reserved.check_pairs(&pairs, "")?;
            Ok(joined(&pairs, "&"))
        }
        (Serialization::Content(media_type), value) => {
            Ok(Escape::Reserved.apply(&content(media_type, value)))
        }
        (Serialization::Style { .. } | Serialization::Plain, value) => {
            Ok(Escape::Reserved.apply(&text(value)))
        }
    }
}

fn all_pairs(
    operation: &Operation,
    location: Location,
    reserved: Reserved<'_>,
    arguments: Arguments<'_>,
) -> Result<Vec<Pair>, ToolError> {
    let mut all = Vec::new();
    for parameter in parameters(operation, location) {
        if let Some(value) = arguments.value(&parameter.argument) {
            let written = pairs(&parameter.name, &parameter.serialization, value, reserved);
            all.extend(written.map_err(|reason| refused(&parameter.argument, reason))?);
        }
    }
    Ok(all)
}

fn headers(operation: &Operation, arguments: Arguments<'_>) -> Result<HeaderMap, ToolError> {
    let mut headers = HeaderMap::new();
    for parameter in parameters(operation, Location::Header) {
        let Some(value) = arguments.value(&parameter.argument) else { continue };
        if OWN_HEADERS.iter().any(|own| parameter.name.eq_ignore_ascii_case(own)) {
            continue;
        }
        let Ok(name) = parameter.name.parse::<HeaderName>() else {
            let message = format_args!("the document has an illegal header name, `{}`", parameter.name);
            return Err(ToolError::failed(message));
        };
        let written = match &parameter.serialization {
            Serialization::Content(media_type) => Some(content(media_type, value)),
            Serialization::Plain => Some(text(value).into_owned()),
            Serialization::Style { explode, .. } => {
                let writer = Writer { style: Style::Simple, explode: *explode, escape: Escape::Nothing };
                writer.text(&parameter.name, value).map_err(|reason| refused(&parameter.argument, reason))?
            }
        };
        let Some(written) = written else { continue };
        match HeaderValue::from_str(&written) {
            Ok(value) if written.is_ascii() => {
                headers.insert(name, value);
            }
            _ => {
                let reason = "a header, must be ASCII without line breaks and controls";
                return Err(refused(&parameter.argument, reason));
            }
        }
    }
    let reserved = Reserved { location: "cookie", credentials: &operation.credentials };
    let cookies = joined(&all_pairs(operation, Location::Cookie, reserved, arguments)?, "; ");
    if !cookies.is_empty() {
        headers.insert(COOKIE, HeaderValue::from_str(&cookies).map_err(|_| illegal_cookie())?);
    }
    headers.insert(ACCEPT, accepted(operation));
    Ok(headers)
}

fn illegal_cookie() -> ToolError {
    ToolError::retry("a cookie has an illegal character; leave it out")
}

/// Returns the described media types of successes.
fn accepted(operation: &Operation) -> HeaderValue {
    let mut types: Vec<&str> = Vec::new();
    for response in &operation.responses {
        if !response.status.starts_with('2') {
            continue;
        }
        for (media_type, _) in &response.content {
            if !types.contains(&media_type.as_str()) {
                types.push(media_type);
            }
        }
    }
    let all = HeaderValue::from_static("*/*");
    if types.is_empty() { all } else { HeaderValue::from_str(&types.join(", ")).unwrap_or(all) }
}

#[cfg(test)]
mod tests;
