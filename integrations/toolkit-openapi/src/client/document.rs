//! A document: its version, and the targets of its references.

use super::address::join;
use super::parse::parse_document;
use super::{OpenApiError, OpenApiLimits};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use toolkit_core::schema::__private::MAX_DEPTH;

/// The member of the root that holds the documents given by the program, by their addresses.
const MORE_DOCUMENTS: &str = "x-toolkit-documents";

/// The version of a document, as far as versions differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    Swagger2,
    OpenApi30,
    OpenApi31,
    OpenApi32,
}

/// A parsed document, together with the documents that the program gave for its references.
///
/// All documents are in one JSON value, so that a JSON pointer names a place in any of them.
#[derive(Debug)]
pub(crate) struct Document {
    root: Value,
    version: Version,
    address: String,
    /// The addresses of documents, and of schemas with `$id`, with their places. The document itself is the first.
    resources: Vec<(String, String)>,
    /// The places of `$anchor`, by the place of the resource and the name.
    anchors: BTreeMap<(String, String), String>,
}

/// A value in a document, with its place as a JSON pointer.
#[derive(Debug, Clone)]
pub(crate) struct Node<'d> {
    pub(crate) value: &'d Value,
    pub(crate) place: String,
}

impl<'d> Node<'d> {
    /// Returns the member called `name`.
    pub(crate) fn get(&self, name: &str) -> Option<Self> {
        Some(Self { value: self.value.get(name)?, place: below(&self.place, name) })
    }

    /// Returns the members of the object called `name`.
    pub(crate) fn members(&self, name: &str) -> Vec<(&'d str, Self)> {
        let Some(Self { value: Value::Object(members), place }) = self.get(name) else { return Vec::new() };
        let node = |name: &str, value| Self { value, place: below(&place, name) };
        members.iter().map(|(name, value)| (name.as_str(), node(name, value))).collect()
    }

    /// Returns the items of the list called `name`.
    pub(crate) fn items(&self, name: &str) -> Vec<Self> {
        let Some(Self { value: Value::Array(items), place }) = self.get(name) else { return Vec::new() };
        let items = items.iter().enumerate();
        items.map(|(index, value)| Self { value, place: format!("{place}/{index}") }).collect()
    }

    /// Returns the string called `name`.
    pub(crate) fn text(&self, name: &str) -> Option<&'d str> {
        self.value.get(name)?.as_str()
    }

    /// Returns whether the member called `name` is `true`.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.value.get(name) == Some(&Value::Bool(true))
    }
}

impl Document {
    /// Creates a document that came from `address`, which may be empty. References to other documents are only resolved in
    /// `more`: pairs of an address and a text.
    ///
    /// # Errors
    /// The version is not supported, or another document cannot be parsed.
    pub(super) fn new(
        mut root: Value,
        address: &str,
        more: &[(String, String)],
        limits: &OpenApiLimits,
    ) -> Result<Self, OpenApiError> {
        let mut others = Map::new();
        for (other, text) in more {
            others.insert(join(address, other), parse_document(text, limits)?);
        }
        let version = version(&root).map_err(OpenApiError::Document)?;
        let mut resources = vec![(address.to_owned(), String::new())];
        let more = below("", MORE_DOCUMENTS);
        resources.extend(others.keys().map(|other| (other.clone(), below(&more, other))));
        if let Value::Object(members) = &mut root {
            members.shift_remove(MORE_DOCUMENTS);
            if !others.is_empty() {
                members.insert(MORE_DOCUMENTS.to_owned(), others.into());
            }
        }
        let mut document =
            Self { root, version, address: address.to_owned(), resources, anchors: BTreeMap::new() };
        if version >= Version::OpenApi31 {
            document.find_identifiers();
        }
        Ok(document)
    }

    /// Finds the schemas with `$id` and `$anchor`.
    fn find_identifiers(&mut self) {
        let root = std::mem::take(&mut self.root);
        let mut pending = vec![(&root, String::new())];
        while let Some((value, place)) = pending.pop() {
            let text = |name: &str| value.get(name).and_then(Value::as_str);
            // `$self` is the address of a document of OpenAPI 3.2.
            if let Some(id) = text("$id").or_else(|| text("$self").filter(|_| place.is_empty())) {
                let resource = (join(&self.base(&place).0, id.trim_end_matches('#')), place.clone());
                let at = self.resources.iter().position(|(_, known)| *known == place);
                match at.and_then(|at| self.resources.get_mut(at)) {
                    Some(known) => *known = resource,
                    None => self.resources.push(resource),
                }
            }
            for anchor in ["$anchor", "$dynamicAnchor"].iter().filter_map(|keyword| text(keyword)) {
                let key = (self.base(&place).1.clone(), anchor.to_owned());
                self.anchors.insert(key, place.clone());
            }
            let inside: Vec<_> = match value {
                Value::Object(members) => {
                    members.iter().map(|(name, value)| (value, below(&place, name))).collect()
                }
                Value::Array(items) => items
                    .iter()
                    .enumerate()
                    .map(|(index, value)| (value, format!("{place}/{index}")))
                    .collect(),
                _ => Vec::new(),
            };
            pending
                .extend(inside.into_iter().filter(|(value, _)| value.is_object() || value.is_array()).rev());
        }
        self.root = root;
    }

    /// Returns the address and the place of the innermost resource that contains `place`.
    fn base(&self, place: &str) -> &(String, String) {
        let contains = |(_, resource): &&(String, String)| {
            place.strip_prefix(resource.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let around = self.resources.iter().filter(contains).max_by_key(|(_, resource)| resource.len());
        around.unwrap_or(&self.resources[0])
    }

    /// Returns the version of the document.
    pub(crate) fn version(&self) -> Version {
        self.version
    }

    /// Returns the address that the document came from; `None` for a text or a file.
    pub(crate) fn address(&self) -> Option<&str> {
        Some(self.address.as_str()).filter(|address| !address.is_empty())
    }

    /// Returns the whole document.
    pub(crate) fn root(&self) -> Node<'_> {
        Node { value: &self.root, place: String::new() }
    }

    /// Returns the value at a place.
    pub(crate) fn at(&self, place: &str) -> Option<Node<'_>> {
        Some(Node { value: self.root.pointer(place)?, place: place.to_owned() })
    }

    /// Follows the references of `node` until a value is no reference.
    ///
    /// # Errors
    /// A reference has no target, points to a document that the program did not give, or leads back to itself.
    pub(crate) fn resolve<'d>(&'d self, node: Node<'d>) -> Result<Node<'d>, String> {
        self.follow(node, |_| true)
    }

    /// Follows the references of a schema that consists of a reference only.
    ///
    /// # Errors
    /// Those of [`resolve`](Self::resolve).
    pub(crate) fn resolve_plain<'d>(&'d self, node: Node<'d>) -> Result<Node<'d>, String> {
        self.follow(node, |value| value.as_object().is_some_and(|keywords| keywords.len() == 1))
    }

    fn follow<'d>(&'d self, mut node: Node<'d>, follows: fn(&Value) -> bool) -> Result<Node<'d>, String> {
        for _ in 0..MAX_DEPTH {
            match node.text("$ref").filter(|_| follows(node.value)) {
                Some(reference) => node = self.target(reference, &node.place)?,
                None => return Ok(node),
            }
        }
        let place = node.place;
        Err(format!(
            "the references at `{place}` lead back to themselves, or are more than {MAX_DEPTH} in a row"
        ))
    }

    /// Returns the target of a reference that stands at `place`.
    ///
    /// # Errors
    /// The reference has no target, or points to a document that the program did not give.
    pub(crate) fn target(&self, reference: &str, place: &str) -> Result<Node<'_>, String> {
        let (resource, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let (address, root) = self.base(place);
        let root = if resource.is_empty() {
            root
        } else {
            let wanted = join(address, resource);
            let found = self.resources.iter().find(|(address, _)| *address == wanted);
            let (_, root) = found.ok_or_else(|| {
                format!("`{reference}` is in another document, which is never fetched; add it with `with_document`")
            })?;
            root
        };
        let missing = || format!("there is no `{reference}`");
        let fragment: Cow<'_, str> = percent_decode_str(fragment).decode_utf8().map_err(|_| missing())?;
        let target = if fragment.is_empty() || fragment.starts_with('/') {
            format!("{root}{fragment}")
        } else {
            self.anchors.get(&(root.clone(), fragment.into_owned())).ok_or_else(missing)?.clone()
        };
        self.at(&target).ok_or_else(missing)
    }

    /// Returns the security scheme called `name`.
    pub(crate) fn security_scheme(&self, name: &str) -> Option<&Value> {
        let folder = if self.version == Version::Swagger2 {
            "/securityDefinitions"
        } else {
            "/components/securitySchemes"
        };
        Some(self.resolve(self.at(&below(folder, name))?).ok()?.value)
    }

    /// Returns the URL of the first server of the document, without a slash at its end.
    pub(crate) fn server(&self) -> Option<String> {
        if self.version == Version::Swagger2 {
            return self.swagger_server();
        }
        // The default is a server at `/`.
        self.server_of(&self.root()).or_else(|| self.absolute("/"))
    }

    /// Returns the URL of the first server that `node` itself names, with its variables at their defaults and without a
    /// slash at its end. `node` is the document, a path or an operation.
    pub(crate) fn server_of(&self, node: &Node<'_>) -> Option<String> {
        let server = node.items("servers").into_iter().next()?;
        let mut url = server.text("url")?.to_owned();
        for (name, variable) in server.members("variables") {
            let first = || variable.items("enum").into_iter().next().map(|item| item.value);
            let value = variable.value.get("default").or_else(first).map(plain).unwrap_or_default();
            url = url.replace(&format!("{{{name}}}"), &value);
        }
        self.absolute(&url)
    }

    fn swagger_server(&self) -> Option<String> {
        let root = self.root();
        let path = root.text("basePath").unwrap_or("/");
        let Some(host) = root.text("host") else { return self.absolute(path) };
        let schemes = root.items("schemes");
        let schemes: Vec<&str> = schemes.iter().filter_map(|scheme| scheme.value.as_str()).collect();
        let of_document = self.address.split_once("://").map(|(scheme, _)| scheme);
        let scheme =
            if schemes.contains(&"https") { "https" } else { schemes.first().copied().or(of_document)? };
        let slash = if path.starts_with('/') { "" } else { "/" };
        self.absolute(&format!("{scheme}://{host}{slash}{path}"))
    }

    /// Returns the absolute form of a server's URL; `None` if it is relative, and the document has no address.
    fn absolute(&self, url: &str) -> Option<String> {
        let url = join(&self.base("").0, url);
        url.contains("://").then(|| url.trim_end_matches('/').to_owned())
    }
}

/// Returns a single value as text.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn version(root: &Value) -> Result<Version, String> {
    // YAML reads `2.0` as a number.
    let text = |name: &str| root.get(name).map(plain);
    match (text("swagger"), text("openapi")) {
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

/// Returns the place of the member called `name` of the value at `place`.
pub(crate) fn below(place: &str, name: &str) -> String {
    if name.contains(['~', '/']) {
        return format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"));
    }
    format!("{place}/{name}")
}
