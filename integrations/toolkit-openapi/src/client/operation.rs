//! An operation of a document, as far as a request and the reading of its answer need it.

mod credential_names;
mod media_kind;

pub(crate) use credential_names::{CredentialNames, OWN_HEADERS};
pub(crate) use media_kind::{BodyKind, OCTETS, essence};

use crate::client::document::of_text;
use http::Method;
use std::sync::Arc;

/// An operation: how the arguments of a call become a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Operation {
    /// The `operationId`, or the method and the path: `GET /users/{id}`.
    pub(crate) id: String,
    pub(crate) method: Method,
    /// The path below the server's URL, with the names of parameters in braces and without a fragment: `/users/{id}`.
    pub(crate) path: String,
    /// The URL of the server that the document names for this operation alone, without a slash at its end.
    pub(crate) server: Option<String>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<Body>,
    /// The answers that the document describes, in its order.
    pub(crate) responses: Vec<Response>,
    /// The ways to authenticate. One of them is enough; an empty list in it, or an empty list of ways, needs none.
    pub(crate) security: Vec<Vec<SecurityRequirement>>,
    /// The names that only the program sends.
    pub(crate) credentials: Arc<CredentialNames>,
}

/// A parameter in the path, the query, a header or a cookie.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    /// The name of the argument.
    pub(crate) argument: String,
    /// The name in the request.
    pub(crate) name: String,
    pub(crate) location: Location,
    pub(crate) serialization: Serialization,
}

/// The place of a parameter in the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Location {
    Path,
    Query,
    /// The whole query is the value of this parameter.
    QueryString,
    Header,
    Cookie,
}

/// How the value of a parameter, or of a member of a form, becomes text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Serialization {
    Style {
        style: Style,
        explode: bool,
        /// Whether reserved characters (`:/?#[]@!$&'()*+,;=`) stay as they are.
        allow_reserved: bool,
    },
    /// The value is written in this media type.
    Content(String),
    /// The default of forms (OpenAPI 3.1, section 4.8.15), by the value of the call. A scalar is its text. An object and a
    /// list of objects are JSON. Another list is one pair or part for each item.
    Plain,
}

/// The styles of OpenAPI 3, with those of Swagger's `collectionFormat` (`tsv` is [`Tab`](Self::Tab)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Style {
    Simple,
    Label,
    Matrix,
    Form,
    SpaceDelimited,
    PipeDelimited,
    DeepObject,
    Tab,
}

/// The body of a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Body {
    /// The media type that is sent.
    pub(crate) media_type: String,
    pub(crate) is_required: bool,
    pub(crate) source: BodySource,
}

/// The arguments that a body is made of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum BodySource {
    /// The value of one argument.
    Whole(String),
    /// An object, whose members are arguments beside the parameters.
    Members(Vec<BodyMember>),
}

/// A member of a body that is an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BodyMember {
    /// The name of the argument.
    pub(crate) argument: String,
    /// The name in the body.
    pub(crate) name: String,
    /// In a form or in multipart: how the value is written. In JSON it has no meaning.
    pub(crate) serialization: Serialization,
    /// Whether the value is bytes, such as the content of a file.
    pub(crate) is_binary: bool,
}

/// An answer that the document describes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Response {
    /// The status, such as `200`, `4XX` or `default`.
    pub(crate) status: String,
    pub(crate) description: String,
    /// The media types with the place of their schema in the document, as a JSON pointer.
    pub(crate) content: Vec<(String, Option<String>)>,
}

/// A security scheme that a way to authenticate needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SecurityRequirement {
    /// The name of the scheme in the document.
    pub(crate) scheme: String,
    pub(crate) scopes: Vec<String>,
}

impl SecurityRequirement {
    /// Returns the number of values that the requirement counts as.
    pub(crate) fn cost(&self) -> usize {
        let scopes = self.scopes.iter().map(|scope| of_text(scope.len()));
        of_text(self.scheme.len()) + scopes.sum::<usize>()
    }
}
