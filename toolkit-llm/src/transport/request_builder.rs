//! The request body while it is being built.

use super::request_facts::RequestFacts;
use super::server::Server;
use crate::ApiFormat;
use crate::model::ModelRequest;
use serde_json::{Map, Value, json};
use toolkit_core::schema::SchemaLoss;

/// A request body while it is being built, with the losses so far.
pub(crate) struct RequestBuilder<'a> {
    pub(crate) format: ApiFormat,
    pub(crate) facts: &'static RequestFacts,
    pub(crate) server: Server,
    pub(crate) model: &'a str,
    pub(crate) request: &'a ModelRequest,
    pub(crate) body: Map<String, Value>,
    pub(crate) losses: Vec<SchemaLoss>,
}

impl<'a> RequestBuilder<'a> {
    pub(super) fn new(format: ApiFormat, server: Server, model: &'a str, request: &'a ModelRequest) -> Self {
        let server = match server {
            Server::Own if request.options.standard_fields => Server::Standard,
            server => server,
        };
        let facts = format.request_facts(server);
        Self { format, facts, server, model, request, body: Map::new(), losses: Vec::new() }
    }

    /// Sets the value at `path`. The path consists of names separated by `/`. Missing objects are created.
    pub(crate) fn set(&mut self, path: &str, value: impl Into<Value>) {
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

    /// Reports that an option is lost or changed.
    pub(crate) fn lose(&mut self, option: &str, reason: impl Into<String>) {
        self.losses.push(SchemaLoss::new(format!("/options/{option}"), option, reason));
    }

    /// Reports that the options for thinking are lost, as far as they are set.
    pub(crate) fn lose_thinking(&mut self, reason: &str) {
        let options = &self.request.options;
        if options.thinking.is_some() {
            self.lose("thinking", reason);
        }
        if options.show_thinking {
            self.lose("show_thinking", reason);
        }
    }
}
