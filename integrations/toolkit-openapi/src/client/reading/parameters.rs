//! The parameters of an operation, in all versions.

use super::arguments::ArgumentsDraft;
use crate::client::document::{Document, Node, OperationFault, Version, below};
use crate::client::operation::{CredentialNames, Location, OWN_HEADERS, Parameter, Serialization, Style};
use crate::client::schema::{SchemaWriter, with_example};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

pub(super) struct Declared<'d> {
    pub(super) node: Node<'d>,
    pub(super) name: &'d str,
    pub(super) location: &'d str,
}

/// Returns the parameters of an operation, which override those of the path.
///
/// # Errors
/// A parameter cannot be read.
pub(super) fn declared<'d>(
    document: &'d Document,
    path: &Node<'d>,
    operation: &Node<'d>,
) -> Result<Vec<Declared<'d>>, OperationFault> {
    for around in [path, operation] {
        if around.value.get("parameters").is_some_and(|parameters| !parameters.is_array()) {
            return Err(OperationFault::new(&below(&around.place, "parameters"), "parameters are a list"));
        }
    }
    let mut all: Vec<Declared<'d>> = Vec::new();
    let mut indices: HashMap<(&str, &str), usize> = HashMap::new();
    for node in path.items("parameters").into_iter().chain(operation.items("parameters")) {
        let at = node.place.clone();
        let node = resolved(document, node)?;
        let Some(name) = node.text("name") else {
            return Err(OperationFault::new(&at, "a parameter has no `name`"));
        };
        let Some(location) = node.text("in") else {
            return Err(OperationFault::new(&at, "a parameter has no `in`"));
        };
        let declared = Declared { node, name, location };
        match indices.entry((name, location)) {
            Entry::Occupied(index) => all[*index.get()] = declared,
            Entry::Vacant(index) => {
                index.insert(all.len());
                all.push(declared);
            }
        }
    }
    Ok(all)
}

/// Follows the references of a part of an operation.
///
/// # Errors
/// A reference cannot be followed.
pub(super) fn resolved<'d>(document: &'d Document, node: Node<'d>) -> Result<Node<'d>, OperationFault> {
    let at = node.place.clone();
    document.resolve(node).map_err(|reason| OperationFault::new(&at, reason))
}

/// Returns whether the client writes the parameter itself: one of its headers, or a credential.
pub(super) fn is_own(credentials: &CredentialNames, parameter: &Declared<'_>) -> bool {
    let is_listed = OWN_HEADERS.iter().any(|own| parameter.name.eq_ignore_ascii_case(own));
    parameter.location == "header" && is_listed || credentials.contains(parameter.location, parameter.name)
}

/// Reads one parameter, and adds its argument.
///
/// # Errors
/// The location is unknown.
pub(super) fn read_parameter<'d>(
    declared: &Declared<'d>,
    arguments: &mut ArgumentsDraft<'d>,
) -> Result<Parameter, OperationFault> {
    let Declared { node, name, location: place } = declared;
    let location = match *place {
        "path" => Location::Path,
        "query" => Location::Query,
        "querystring" => Location::QueryString,
        "header" => Location::Header,
        "cookie" => Location::Cookie,
        other => {
            let reason = format!("a parameter is in `{other}`, which is unknown");
            return Err(OperationFault::new(&node.place, reason));
        }
    };
    let is_swagger = arguments.writer.document.version() == Version::Swagger2;
    let content = node.members("content").into_iter().next();
    let serialization = match &content {
        Some((media_type, _)) => Serialization::Content((*media_type).to_owned()),
        None if is_swagger => collection_format(node, location),
        None => style(node, location),
    };
    let schema_node = match content {
        Some((_, media)) => resolved(arguments.writer.document, media)?.get("schema"),
        None => node.get("schema"),
    };
    let mut schema = match &schema_node {
        Some(schema_node) => arguments.schema(schema_node),
        None if is_swagger => arguments.schema(node),
        None => json!({}),
    };
    describe(&mut schema, node, &mut arguments.writer);
    let is_required = node.flag("required") || location == Location::Path;
    let argument = arguments.add(name, place, schema, is_required);
    Ok(Parameter { argument, name: (*name).to_owned(), location, serialization })
}

/// Adds a parameter's or a member's description to its schema.
pub(super) fn describe<'d>(schema: &mut Value, node: &Node<'d>, writer: &mut SchemaWriter<'d>) {
    let Value::Object(keywords) = schema else { return };
    if let Some(description) = node.text("description") {
        keywords.insert("description".to_owned(), writer.text(description, &node.place).into());
    }
    if node.flag("deprecated") {
        keywords.insert("deprecated".to_owned(), true.into());
    }
    with_example(keywords, node, &mut writer.meter);
}

/// Reads `collectionFormat` of Swagger.
pub(super) fn collection_format(node: &Node<'_>, location: Location) -> Serialization {
    let in_query = matches!(location, Location::Query | Location::Cookie | Location::QueryString);
    let (style, explode) = match node.text("collectionFormat") {
        Some("ssv") => (Style::SpaceDelimited, false),
        Some("tsv") => (Style::Tab, false),
        Some("pipes") => (Style::PipeDelimited, false),
        Some("multi") => (Style::Form, true),
        _ if in_query => (Style::Form, false),
        _ => (Style::Simple, false),
    };
    Serialization::Style { style, explode, allow_reserved: false }
}

/// Reads `style`, `explode` and `allowReserved` of a parameter, or of a member's encoding.
pub(super) fn style(node: &Node<'_>, location: Location) -> Serialization {
    let default = match location {
        Location::Path | Location::Header => Style::Simple,
        Location::Query | Location::QueryString | Location::Cookie => Style::Form,
    };
    let style = match node.text("style") {
        Some("simple") => Style::Simple,
        Some("label") => Style::Label,
        Some("matrix") => Style::Matrix,
        Some("form" | "cookie") => Style::Form,
        Some("spaceDelimited") => Style::SpaceDelimited,
        Some("pipeDelimited") => Style::PipeDelimited,
        Some("deepObject") => Style::DeepObject,
        _ => default,
    };
    let explode = node.value.get("explode").and_then(Value::as_bool);
    Serialization::Style {
        style,
        explode: explode.unwrap_or(style == Style::Form),
        allow_reserved: node.flag("allowReserved") || node.text("style") == Some("cookie"),
    }
}
