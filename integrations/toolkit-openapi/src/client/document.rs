//! A document: its version, and the targets of its references.

mod address;
mod budget;
mod issue;
mod json_path;
mod limits;
mod node;
mod overlay;
mod parse;
#[cfg(feature = "yaml")]
mod yaml_nesting;

pub(crate) use address::join;
pub(crate) use budget::{Budget, Meter, allowed, of_text, of_value};
pub use issue::OpenApiIssue;
pub(crate) use issue::OperationFault;
pub use limits::OpenApiLimits;
pub(crate) use node::{Node, below};
pub(crate) use overlay::apply_overlay;
pub(crate) use parse::{TextRole, parse_document};

use crate::error::{OpenApiError, OpenApiErrorKind};
use node::push_below;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use toolkit_core::schema::__private::MAX_DEPTH;

/// The root's member with the documents given by the program, by address.
const MORE_DOCUMENTS: &str = "x-toolkit-documents";

const LONGEST_ADDRESS: usize = 4 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    Swagger2,
    OpenApi30,
    OpenApi31,
    OpenApi32,
}

/// A parsed document, together with those that the program gave for its references.
///
/// All documents are in one JSON value, so that a JSON pointer names a place in any of them.
#[derive(Debug)]
pub(crate) struct Document {
    root: Value,
    version: Version,
    address: String,
    /// The documents, this one first, and the schemas with `$id`.
    resources: Vec<Resource>,
    by_place: HashMap<String, usize>,
    by_address: HashMap<String, String>,
    /// The places of `$anchor`, by the resource's place and the name.
    anchors: BTreeMap<(String, String), String>,
}

#[derive(Debug)]
struct Resource {
    address: String,
    place: String,
}

impl Document {
    /// Creates a document that came from `address`, which may be empty. References to other documents are
    /// only resolved in `more`: addresses with texts.
    ///
    /// # Errors
    /// The version is not supported, or another document cannot be parsed.
    pub(crate) fn new(
        mut root: Value,
        address: &str,
        more: &[(String, String)],
        limits: &OpenApiLimits,
    ) -> Result<Self, OpenApiError> {
        let mut others = Map::new();
        for (other, text) in more {
            let value = parse_document(text, TextRole::Referenced(other), limits)?;
            others.insert(join(address, other), value);
        }
        let version =
            version(&root).map_err(|fault| OpenApiError::of_document(OpenApiErrorKind::Document, fault))?;
        let mut document = Self {
            root: Value::Null,
            version,
            address: address.to_owned(),
            resources: Vec::new(),
            by_place: HashMap::new(),
            by_address: HashMap::new(),
            anchors: BTreeMap::new(),
        };
        document.set_resource(address.to_owned(), "");
        let more = below("", MORE_DOCUMENTS);
        for other in others.keys() {
            document.set_resource(other.clone(), &below(&more, other));
        }
        if let Value::Object(members) = &mut root {
            members.shift_remove(MORE_DOCUMENTS);
            if !others.is_empty() {
                members.insert(MORE_DOCUMENTS.to_owned(), others.into());
            }
        }
        if version >= Version::OpenApi31 {
            document.find_identifiers(&root, &mut String::new(), 0);
        }
        for Resource { address, place } in &document.resources {
            document.by_address.entry(address.clone()).or_insert_with(|| place.clone());
        }
        document.root = root;
        Ok(document)
    }

    fn set_resource(&mut self, address: String, place: &str) -> usize {
        let resource = Resource { address, place: place.to_owned() };
        if let Some(index) = self.by_place.get(place).copied() {
            self.resources[index] = resource;
            return index;
        }
        let index = self.resources.len();
        self.by_place.insert(place.to_owned(), index);
        self.resources.push(resource);
        index
    }

    /// Finds the schemas with `$id` and `$anchor` in `value`, at `place` in the resource with the index
    /// `resource`.
    fn find_identifiers(&mut self, value: &Value, place: &mut String, mut resource: usize) {
        resource = self.by_place.get(place.as_str()).copied().unwrap_or(resource);
        let mut id = value.get("$id").and_then(Value::as_str);
        // `$self` is the address of a document of OpenAPI 3.2.
        if id.is_none() && place.is_empty() {
            id = value.get("$self").and_then(Value::as_str);
        }
        if let Some(id) = id {
            let address = join(&self.resources[resource].address, id.trim_end_matches('#'));
            if address.len() <= LONGEST_ADDRESS {
                resource = self.set_resource(address, place);
            }
        }
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(Value::String(anchor)) = value.get(keyword) {
                let key = (self.resources[resource].place.clone(), anchor.clone());
                self.anchors.insert(key, place.clone());
            }
        }
        let here = place.len();
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    if holds_values(value) {
                        push_below(place, name);
                        self.find_identifiers(value, place, resource);
                        place.truncate(here);
                    }
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    if holds_values(value) {
                        push_below(place, &index.to_string());
                        self.find_identifiers(value, place, resource);
                        place.truncate(here);
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the innermost resource that contains `place`.
    fn base(&self, mut place: &str) -> &Resource {
        loop {
            if let Some(index) = self.by_place.get(place) {
                return &self.resources[*index];
            }
            place = place.rfind('/').map_or("", |end| &place[..end]);
        }
    }

    pub(crate) fn version(&self) -> Version {
        self.version
    }

    /// Returns the document's address; `None` for a text or a file.
    pub(crate) fn address(&self) -> Option<&str> {
        Some(self.address.as_str()).filter(|address| !address.is_empty())
    }

    pub(crate) fn root(&self) -> Node<'_> {
        Node { value: &self.root, place: String::new() }
    }

    pub(crate) fn at(&self, place: &str) -> Option<Node<'_>> {
        Some(Node { value: self.root.pointer(place)?, place: place.to_owned() })
    }

    /// Follows the references of `node` to a value that is none.
    ///
    /// # Errors
    /// A reference has no target, points to an unknown document, or leads back to itself.
    pub(crate) fn resolve<'d>(&'d self, node: Node<'d>) -> Result<Node<'d>, String> {
        self.follow(node, |_| true)
    }

    /// Follows the references of a schema that consists of a reference only.
    ///
    /// # Errors
    /// Those of [`resolve`](Self::resolve).
    pub(crate) fn resolve_plain<'d>(&'d self, node: Node<'d>) -> Result<Node<'d>, String> {
        self.follow(node, has_one_member)
    }

    fn follow<'d>(&'d self, mut node: Node<'d>, follows: fn(&Value) -> bool) -> Result<Node<'d>, String> {
        for _ in 0..MAX_DEPTH {
            match node.text("$ref") {
                Some(reference) if follows(node.value) => node = self.target(reference, &node.place)?,
                _ => return Ok(node),
            }
        }
        let place = node.place;
        Err(format!(
            "the references at `{place}` lead back to themselves, or are more than {MAX_DEPTH} in a row"
        ))
    }

    /// Returns the target of a reference at `place`.
    ///
    /// # Errors
    /// The reference has no target, or points to an unknown document.
    pub(crate) fn target(&self, reference: &str, place: &str) -> Result<Node<'_>, String> {
        let (resource, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = self.base(place);
        let root = if resource.is_empty() {
            &base.place
        } else if let Some(root) = self.by_address.get(&join(&base.address, resource)) {
            root
        } else {
            return Err(format!(
                "`{reference}` is in another document, which is never fetched; add it with `document`"
            ));
        };
        self.inside(root, fragment).ok_or_else(|| format!("there is no `{reference}`"))
    }

    /// Returns the value of a fragment in the resource at `root`.
    fn inside(&self, root: &str, fragment: &str) -> Option<Node<'_>> {
        let decoded = percent_decode_str(fragment).decode_utf8().ok()?;
        if decoded.is_empty() || decoded.starts_with('/') {
            return self.at(&format!("{root}{decoded}"));
        }
        self.at(self.anchors.get(&(root.to_owned(), decoded.into_owned()))?)
    }

    pub(crate) fn security_schemes(&self) -> Vec<(&str, Node<'_>)> {
        if self.version == Version::Swagger2 {
            return self.root().members("securityDefinitions");
        }
        self.root().get("components").map(|node| node.members("securitySchemes")).unwrap_or_default()
    }

    pub(crate) fn security_scheme(&self, name: &str) -> Option<&Value> {
        let folder = if self.version == Version::Swagger2 {
            "/securityDefinitions"
        } else {
            "/components/securitySchemes"
        };
        Some(self.resolve(self.at(&below(folder, name))?).ok()?.value)
    }

    /// Returns the URL of the document's first server, without a slash at its end.
    pub(crate) fn server(&self) -> Option<String> {
        if self.version == Version::Swagger2 {
            return self.swagger_server();
        }
        // The default is a server at `/`.
        self.server_of(&self.root()).or_else(|| self.absolute("/"))
    }

    /// Returns the URL of the own first server of a document, a path or an operation, with default variables
    /// and without a slash at its end.
    pub(crate) fn server_of(&self, node: &Node<'_>) -> Option<String> {
        let server = node.value.get("servers")?.get(0)?;
        let mut url = String::new();
        let mut rest = server.get("url")?.as_str()?;
        while let Some((before, after)) = rest.split_once('}') {
            if let Some((text, name)) = before.rsplit_once('{')
                && let Some(variable) = server["variables"].get(name)
            {
                url.push_str(text);
                if let Some(value) = variable.get("default").or_else(|| variable["enum"].get(0)) {
                    url.push_str(&plain(value));
                }
            } else {
                url.push_str(before);
                url.push('}');
            }
            if url.len() > LONGEST_ADDRESS {
                return None;
            }
            rest = after;
        }
        url.push_str(rest);
        self.absolute(&url)
    }

    fn swagger_server(&self) -> Option<String> {
        let root = self.root();
        let path = root.text("basePath").unwrap_or("/");
        let Some(host) = root.text("host") else { return self.absolute(path) };
        let schemes: Vec<&str> =
            root.items("schemes").iter().filter_map(|scheme| scheme.value.as_str()).collect();
        let scheme = match schemes.first() {
            _ if schemes.contains(&"https") => "https",
            Some(first) => first,
            None => self.address.split_once("://")?.0,
        };
        let slash = if path.starts_with('/') { "" } else { "/" };
        self.absolute(&format!("{scheme}://{host}{slash}{path}"))
    }

    /// Resolves a server's URL; `None` if it is relative, and the document has no address.
    fn absolute(&self, url: &str) -> Option<String> {
        let url = join(&self.base("").address, url);
        url.contains("://").then(|| url.trim_end_matches('/').to_owned())
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn version(root: &Value) -> Result<Version, String> {
    // YAML reads `2.0` as a number.
    match (root.get("swagger").map(plain), root.get("openapi").map(plain)) {
        (Some(swagger), _) if swagger.starts_with('2') => Ok(Version::Swagger2),
        (_, Some(openapi)) if openapi.starts_with("3.0") => Ok(Version::OpenApi30),
        (_, Some(openapi)) if openapi.starts_with("3.1") => Ok(Version::OpenApi31),
        (_, Some(openapi)) if openapi.starts_with("3.2") => Ok(Version::OpenApi32),
        (Some(other), _) | (_, Some(other)) => {
            Err(format!("has the version `{other}`; supported are OpenAPI 3.0, 3.1 and 3.2, and Swagger 2.0"))
        }
        _ => Err("has no member `openapi` or `swagger`, so it is no OpenAPI document".to_owned()),
    }
}

fn holds_values(value: &Value) -> bool {
    value.is_object() || value.is_array()
}

fn has_one_member(value: &Value) -> bool {
    value.as_object().is_some_and(|members| members.len() == 1)
}
