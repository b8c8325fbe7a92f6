//! Calls through a dispatcher, for permissions, retries, limits or listeners.

use harness::Contestant;
use peer_toolkit::Answer;
use std::sync::Arc;
use toolkit_ai::prelude::*;

struct Dispatched(Dispatcher);

impl Contestant for Dispatched {
    type Output = Answer;

    fn new() -> Self {
        Self(Dispatcher::new(peer_toolkit::registry()).expect("valid settings"))
    }

    async fn call(&self, tool: &str, arguments: &str) -> Result<Answer, String> {
        let results = self.0.dispatch([ToolCall::new("call_1", tool, arguments)]).await;
        results.into_iter().map(peer_toolkit::answer).next().unwrap_or_else(|| Err("no result".to_owned()))
    }

    fn definitions(&self) -> String {
        peer_toolkit::definitions(&self.0.registry())
    }

    async fn at_once(self: &Arc<Self>, arguments: Vec<String>) -> Vec<Result<Answer, String>> {
        peer_toolkit::dispatch(&self.0, arguments).await
    }
}

fn main() -> std::process::ExitCode {
    harness::run::<Dispatched>()
}
