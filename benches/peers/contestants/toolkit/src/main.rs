//! Calls through the registry, as the other contestants are called.

use harness::Contestant;
use peer_toolkit::Answer;
use std::sync::Arc;
use toolkit_ai::prelude::*;

struct Registry {
    registry: ToolRegistry,
    dispatcher: Dispatcher,
}

impl Contestant for Registry {
    type Output = Answer;

    fn new() -> Self {
        let registry = peer_toolkit::registry();
        let dispatcher = Dispatcher::new(registry.clone()).expect("valid settings");
        Self { registry, dispatcher }
    }

    async fn call(&self, tool: &str, arguments: &str) -> Result<Answer, String> {
        match self.registry.call(tool, arguments).await {
            Ok(output) => Ok(Answer(output)),
            Err(error) => Err(error.to_string()),
        }
    }

    fn definitions(&self) -> String {
        peer_toolkit::definitions(&self.registry)
    }

    async fn at_once(self: &Arc<Self>, arguments: Vec<String>) -> Vec<Result<Answer, String>> {
        peer_toolkit::dispatch(&self.dispatcher, arguments).await
    }
}

fn main() -> std::process::ExitCode {
    harness::run::<Registry>()
}
