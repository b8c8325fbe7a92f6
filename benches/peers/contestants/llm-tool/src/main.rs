//! The tools with llm-tool, without its search for control tokens in results.

use harness::{Address, Contestant, Item, Priority, chat_definitions, lines, search, summary};
use llm_tool::{
    BatchExecutionMode, BatchToolCallStr, OutputSanitization, ToolContext, ToolRegistry, llm_tool,
};
use std::sync::Arc;
use std::time::Duration;

/// Add two integers.
#[llm_tool(sanitize = false)]
fn add(
    /// The first summand
    a: i64,
    /// The second summand
    b: i64,
) -> i64 {
    a + b
}

/// Search the web and return URLs.
#[llm_tool(sanitize = false)]
fn search_web(
    /// The search query string
    query: String,
    /// Maximum number of results to return
    max_results: Option<u32>,
) -> Vec<String> {
    search(&query, max_results)
}

/// Create an order.
#[llm_tool(sanitize = false)]
fn create_order(
    /// Who orders
    customer: String,
    /// Where the confirmation goes
    email: String,
    /// How fast the order is handled
    priority: Priority,
    /// What is ordered
    items: Vec<Item>,
    /// Where it goes
    shipping: Address,
    /// Free labels
    tags: Vec<String>,
    /// A note for the carrier
    note: Option<String>,
    /// Whether it is sent by express
    express: bool,
    /// What is taken off, as a fraction
    discount: f64,
    /// When it was placed, in seconds since 1970
    placed_at: u64,
) -> Summary {
    summary(customer, lines(&items), discount, express, (email, priority, shipping, tags, note, placed_at))
}

/// Wait for ten milliseconds.
#[llm_tool(sanitize = false)]
async fn wait(
    /// A number that is returned
    index: u32,
) -> u32 {
    tokio::time::sleep(Duration::from_millis(10)).await;
    index
}

struct LlmTool {
    registry: ToolRegistry,
    context: ToolContext,
}

impl Contestant for LlmTool {
    type Output = String;

    fn new() -> Self {
        let registry = ToolRegistry::new()
            .with_output_floor(OutputSanitization::None)
            .with_tool(Add)
            .with_tool(SearchWeb)
            .with_tool(CreateOrder)
            .with_tool(Wait);
        Self { registry, context: ToolContext::new() }
    }

    async fn call(&self, tool: &str, arguments: &str) -> Result<String, String> {
        match self.registry.dispatch_str(tool, arguments, &self.context).await {
            Ok(output) => Ok(output.into_content()),
            Err(error) => Err(error.message),
        }
    }

    fn definitions(&self) -> String {
        let definitions = self.registry.definitions_slice();
        chat_definitions(
            definitions.iter().map(|tool| (&*tool.name, &*tool.description, &tool.parameter_schema)),
        )
    }

    async fn at_once(self: &Arc<Self>, arguments: Vec<String>) -> Vec<Result<String, String>> {
        let calls: Vec<_> = arguments
            .iter()
            .map(|text| BatchToolCallStr { id: "", name: "wait", arguments_json: text })
            .collect();
        let outcomes =
            self.registry.dispatch_batch_str(&calls, BatchExecutionMode::Parallel, &self.context).await;
        outcomes
            .into_iter()
            .map(|outcome| match outcome.result {
                Ok(output) => Ok(output.into_content()),
                Err(error) => Err(error.message),
            })
            .collect()
    }
}

fn main() -> std::process::ExitCode {
    harness::run::<LlmTool>()
}
