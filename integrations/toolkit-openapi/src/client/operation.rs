//! An operation of a document, with what requests and answers need.

mod credential_names;
mod media_kind;

pub(crate) use credential_names::{CredentialNames, OWN_HEADERS};
pub(crate) use media_kind::{BodyKind, OCTETS, essence};

use crate::client::document::of_text;
use http::Method;
use std::sync::Arc;

/// Describes how the arguments of a call become a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Operation {
    /// The `operationId`, or the method and the path: `GET /users/{id}`.
    pub(crate) id: String,
    pub(crate) method: Method,
    /// The path below the server's URL, without a fragment: `/users/{id}`.
    pub(crate) path: String,
    /// The URL of the operation's own server, without a slash at its end.
    pub(crate) server: Option<String>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<Body>,
    pub(crate) responses: Vec<Response>,
    /// The ways to authenticate, of which one is enough. An empty list at either level needs none.
    pub(crate) security: Vec<Vec<SecurityRequirement>>,
    /// The names that only the program sends.
    pub(crate) credentials: Arc<CredentialNames>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    pub(crate) argument: String,
    pub(crate) name: String,
    pub(crate) location: Location,
    pub(crate) serialization: Serialization,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Location {
    Path,
    Query,
    /// The whole query is the value.
    QueryString,
    Header,
    Cookie,
}

/// How the value of a parameter or a form member becomes text.
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
    /// The default of forms (OpenAPI 3.1, section 4.8.15): a scalar is its text, an object and a list of
    /// objects are JSON, and another list is one pair or part for each item.
    Plain,
}

/// The styles of OpenAPI 3 and of Swagger's `collectionFormat` (`tsv` is [`Tab`](Self::Tab)).
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

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Body {
    /// The media type that is sent.
    pub(crate) media_type: String,
    pub(crate) is_required: bool,
    pub(crate) source: BodySource,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum BodySource {
    /// The value of one argument.
    Whole(String),
    /// An object, whose members are arguments.
    Members(Vec<BodyMember>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BodyMember {
    pub(crate) argument: String,
    pub(crate) name: String,
    /// How the value is written in a form or in multipart. Unused in JSON.
    pub(crate) serialization: Serialization,
    pub(crate) is_binary: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Response {
    /// The status, such as `200`, `4XX` or `default`.
    pub(crate) status: String,
    pub(crate) description: String,
    /// The media types, with JSON pointers to their schemas in the document.
    pub(crate) content: Vec<(String, Option<String>)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SecurityRequirement {
    pub(crate) scheme: String,
    pub(crate) scopes: Vec<String>,
}

impl SecurityRequirement {
    pub(crate) fn cost(&self) -> usize {
        let scopes = self.scopes.iter().map(|scope| of_text(scope.len()));
        of_text(self.scheme.len()) + scopes.sum::<usize>()
    }
}
