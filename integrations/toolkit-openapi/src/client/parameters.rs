//! The parameters of an operation, in all versions.

use super::arguments::ArgumentNames;
use super::document::{Document, Node, Version};
use super::operation::{Location, Parameter, Serialization, Style};
use super::reader::OperationFault;
use super::schema::SchemaWriter;
use super::schema_parts::with_example;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The headers that the client writes itself. OpenAPI ignores the first three, too.
const OWN_HEADERS: [&str; 17] = [
    "accept",
    "content-type",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "origin",
    "proxy-authorization",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A parameter as the document declares it.
pub(super) struct Declared<'d> {
    pub(super) node: Node<'d>,
    pub(super) name: &'d str,
    pub(super) location: &'d str,
}

/// Returns the parameters of a path and an operation: those of the operation override those of the path.
///
/// # Errors
/// A parameter cannot be read.
pub(super) fn declared<'d>(
    document: &'d Document,
    path: &Node<'d>,
    operation: &Node<'d>,
) -> Result<Vec<Declared<'d>>, OperationFault> {
    let mut all: Vec<Declared<'d>> = Vec::new();
    for node in path.items("parameters").into_iter().chain(operation.items("parameters")) {
        let at = node.place.clone();
        let node = document.resolve(node).map_err(|reason| OperationFault::new(&at, reason))?;
        let missing = |member: &str| OperationFault::new(&at, format!("a parameter has no `{member}`"));
        let name = node.text("name").ok_or_else(|| missing("name"))?;
        let location = node.text("in").ok_or_else(|| missing("in"))?;
        let declared = Declared { node, name, location };
        match all.iter_mut().find(|known| known.name == name && known.location == location) {
            Some(known) => *known = declared,
            None => all.push(declared),
        }
    }
    Ok(all)
}

/// Returns whether the client writes the parameter itself: it is one of its headers, or a credential.
pub(super) fn is_own(document: &Document, parameter: &Declared<'_>) -> bool {
    let name = parameter.name.to_ascii_lowercase();
    parameter.location == "header" && OWN_HEADERS.contains(&name.as_str())
        || is_credential(document, parameter)
}

fn is_credential(document: &Document, parameter: &Declared<'_>) -> bool {
    let schemes = match document.version() {
        Version::Swagger2 => document.root().members("securityDefinitions"),
        _ => {
            document.root().get("components").map(|node| node.members("securitySchemes")).unwrap_or_default()
        }
    };
    schemes.into_iter().any(|(_, scheme)| {
        let names = scheme.text("name").is_some_and(|name| name.eq_ignore_ascii_case(parameter.name));
        scheme.text("type") == Some("apiKey") && scheme.text("in") == Some(parameter.location) && names
    })
}

/// A parameter with the schema of its argument.
pub(super) struct ReadParameter {
    pub(super) parameter: Parameter,
    pub(super) schema: Value,
    pub(super) is_required: bool,
}

/// Reads one parameter.
///
/// # Errors
/// The location is unknown.
pub(super) fn read_parameter<'d>(
    document: &'d Document,
    declared: &Declared<'d>,
    names: &mut ArgumentNames,
    writer: &mut SchemaWriter<'d>,
) -> Result<ReadParameter, OperationFault> {
    let Declared { node, name, location } = declared;
    let location = match *location {
        "path" => Location::Path,
        "query" => Location::Query,
        "querystring" => Location::QueryString,
        "header" => Location::Header,
        "cookie" => Location::Cookie,
        other => {
            return Err(OperationFault::new(
                &node.place,
                format!("a parameter is in `{other}`, which is unknown"),
            ));
        }
    };
    let content = node.members("content").into_iter().next();
    let serialization = match &content {
        Some((media_type, _)) => Serialization::Content((*media_type).to_owned()),
        None if document.version() == Version::Swagger2 => collection_format(node, location),
        None => style(node, location),
    };
    let schema = content.map_or_else(|| node.get("schema"), |(_, media)| media.get("schema"));
    let none = BTreeSet::new();
    let mut schema = match schema {
        Some(schema) => writer.schema(&schema, 1, &none),
        None if document.version() == Version::Swagger2 => writer.schema(node, 1, &none),
        None => Value::Object(Map::new()),
    };
    describe(&mut schema, node, writer);
    let argument = names.take(name, location);
    let parameter = Parameter { argument, name: (*name).to_owned(), location, serialization };
    let is_required = node.flag("required") || location == Location::Path;
    Ok(ReadParameter { parameter, schema, is_required })
}

/// Adds the description of a parameter or a member to its schema.
pub(super) fn describe<'d>(schema: &mut Value, node: &Node<'d>, writer: &mut SchemaWriter<'d>) {
    let Value::Object(keywords) = schema else { return };
    if let Some(description) = node.text("description") {
        keywords.insert("description".to_owned(), writer.text(description, &node.place).into());
    }
    if node.flag("deprecated") {
        keywords.insert("deprecated".to_owned(), true.into());
    }
    with_example(keywords, node);
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

/// Reads `style`, `explode` and `allowReserved` of a parameter, or of the encoding of a member.
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
