//! What middleware reads of a call, and what tools decode.

use std::sync::{Arc, Mutex};
use tokio::runtime::Runtime;
use toolkit_ai::middleware::{Next, ToolRequest};
use toolkit_ai::prelude::*;

/// A call's arguments for middleware, and their canonical form.
type Read = (String, Option<String>);

/// Reads arguments like middleware, and decodes them like the tool.
pub(super) struct Reader<'a> {
    tool: Arc<dyn Tool>,
    dispatcher: Dispatcher,
    read: Arc<Mutex<Option<Read>>>,
    runtime: &'a Runtime,
}

impl<'a> Reader<'a> {
    pub(super) fn new(tool: Arc<dyn Tool>, runtime: &'a Runtime) -> Self {
        let read: Arc<Mutex<Option<Read>>> = Arc::default();
        let written = read.clone();
        let middleware = move |request: ToolRequest, next: Next| {
            let canonical = request.canonical_arguments().map(str::to_owned);
            *written.lock().expect("no panic") = request.arguments_json().ok().map(|json| (json, canonical));
            next.run(request)
        };
        let registry = ToolRegistry::from_tools([tool.clone()]).expect("one tool");
        let dispatcher = Dispatcher::new(registry).expect("one tool").with_middleware(middleware);
        Self { tool, dispatcher, read, runtime }
    }

    /// Calls the tool through a rule, and returns what this has read, and the outcome.
    pub(super) fn ruled(&self, text: &str) -> (Option<String>, Result<String, ToolError>) {
        let call = ToolCall::new("1", self.tool.definition().name.as_str(), text);
        let mut results = self.runtime.block_on(self.dispatcher.dispatch([call]));
        let outcome = results.remove(0).outcome.map(|output| output.to_text().into_owned());
        (self.read.lock().expect("no panic").take().map(|(json, _)| json), outcome)
    }

    pub(super) fn canonical(&self, text: &str) -> Option<String> {
        let call = ToolCall::new("1", self.tool.definition().name.as_str(), text);
        self.runtime.block_on(self.dispatcher.dispatch([call]));
        self.read.lock().expect("no panic").take()?.1
    }

    /// Returns what the tool decodes without rules.
    pub(super) fn decoded(&self, text: &str) -> Result<String, ToolError> {
        let context = ToolContext::new(self.tool.definition().name.clone());
        let outcome = self.tool.call(text, &context).try_ready().expect("the tool is synchronous");
        outcome.map(|output| output.to_text().into_owned())
    }
}
