//! The request body while it is being built, and the kinds of servers that accept different fields.

use crate::ApiFormat;
use crate::model::ModelRequest;
use serde_json::{Map, Value, json};
use toolkit_core::schema::SchemaLoss;

/// The reason reported for an option whose field only some servers with the API understand.
const STANDARD: &str = "only the standard fields of the API are sent";

/// The kind of server that receives the requests. Servers with the same API accept different fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Server {
    /// The API's own provider, or a server that accepts the same fields.
    #[default]
    Own,
    /// The server accepts only [standard fields](crate::ModelOptions::standard_fields).
    Standard,
    /// The server belongs to Mistral and uses the Chat Completions API.
    Mistral,
    /// The server is Vertex AI, with models of Anthropic. The URL contains the model, and the body contains
    /// the version of the API.
    Vertex,
}

impl Server {
    /// Returns whether tool definitions for this server contain only standard fields.
    pub(super) const fn has_standard_tools(self) -> bool {
        matches!(self, Self::Standard | Self::Mistral)
    }
}

/// A request body while it is being built, with the losses so far.
pub(super) struct Draft<'a> {
    pub(super) format: ApiFormat,
    pub(super) server: Server,
    pub(super) model: &'a str,
    pub(super) request: &'a ModelRequest,
    pub(super) body: Map<String, Value>,
    pub(super) losses: Vec<SchemaLoss>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(format: ApiFormat, server: Server, model: &'a str, request: &'a ModelRequest) -> Self {
        let server = match server {
            Server::Own if request.options.standard_fields => Server::Standard,
            server => server,
        };
        Self { format, server, model, request, body: Map::new(), losses: Vec::new() }
    }

    /// Returns whether the request may contain only the standard fields of the Chat Completions API.
    pub(super) fn is_standard_chat(&self) -> bool {
        self.format == ApiFormat::OpenAiChat && self.server == Server::Standard
    }

    /// Sets the value at `path`. The path consists of names separated by `/`. Missing objects are created.
    pub(super) fn set(&mut self, path: &str, value: impl Into<Value>) {
        let mut names = path.split('/').filter(|name| !name.is_empty()).peekable();
        let mut fields = &mut self.body;
        while let Some(name) = names.next() {
            if names.peek().is_none() {
                fields.insert(name.to_owned(), value.into());
                return;
            }
            let inner = fields.entry(name).or_insert_with(|| json!({}));
            if !inner.is_object() {
                *inner = json!({});
            }
            let Some(inner) = inner.as_object_mut() else { return };
            fields = inner;
        }
    }

    /// Reports that an option is lost, because its field is not a standard field of the API.
    pub(super) fn lose_as_extra(&mut self, option: &str) {
        self.lose(option, STANDARD);
    }

    /// Reports that an option is lost or changed.
    pub(super) fn lose(&mut self, option: &str, reason: impl Into<String>) {
        self.losses.push(SchemaLoss::new(format!("/options/{option}"), option, reason));
    }
}
