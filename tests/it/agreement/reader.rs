//! What middleware reads of a call, and what the tool decodes.

use std::sync::{Arc, Mutex};
use tokio::runtime::Runtime;
use toolkit::middleware::{Next, ToolRequest};
use toolkit::prelude::*;
use toolkit::serde_json::Value;

/// What middleware reads of a call: the arguments, and their canonical form.
type Read = (Value, Option<String>);

/// Reads the arguments of calls as middleware does, and decodes them as the tool does.
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
        let middleware = move |request: ToolRequest, _: Next| {
            let canonical = request.canonical_arguments().map(str::to_owned);
            let value = request.arguments_value().ok().cloned();
            *written.lock().expect("no panic") = value.map(|value| (value, canonical));
            std::future::ready(Ok(ToolOutput::text("")))
        };
        let registry = ToolRegistry::from_tools([tool.clone()]).expect("one tool");
        let dispatcher = Dispatcher::new(registry).expect("one tool").with_middleware(middleware);
        Self { tool, dispatcher, read, runtime }
    }

    /// Returns what middleware reads, or `None` if it cannot read the arguments.
    pub(super) fn read(&self, text: &str) -> Option<Read> {
        let call = ToolCall::new("1", self.tool.definition().name.as_str(), text);
        self.runtime.block_on(self.dispatcher.dispatch([call]));
        self.read.lock().expect("no panic").take()
    }

    pub(super) fn canonical(&self, text: &str) -> Option<String> {
        self.read(text)?.1
    }

    /// Returns what the tool decodes, or `None` if it refuses the arguments.
    pub(super) fn decoded(&self, text: &str) -> Option<String> {
        let context = ToolContext::new(self.tool.definition().name.clone());
        let outcome = self.tool.call(text, &context).try_ready().expect("the tool is synchronous");
        outcome.ok().map(|output| output.to_text().into_owned())
    }
}
