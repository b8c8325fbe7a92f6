//! The tools with rmcp: a router made once, measured without its transport.

use harness::{Address, Contestant, Item, Output, Priority, chat_definitions, lines, search, summary};
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, NumberOrString};
use rmcp::service::{RequestContext, RunningService, serve_directly};
use rmcp::{RoleServer, ServerHandler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::time::Duration;

#[derive(Debug, Deserialize, JsonSchema)]
struct Add {
    /// The first summand
    a: i64,
    /// The second summand
    b: i64,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct SearchWeb {
    /// The search query string
    query: String,
    /// Maximum number of results to return
    max_results: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct CreateOrder {
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
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Wait {
    /// A number that is returned
    index: u32,
}

#[derive(Debug, Clone)]
struct Server;

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[tool_router]
impl Server {
    /// Add two integers.
    #[rmcp::tool]
    fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> String {
        json(&(a + b))
    }

    /// Search the web and return URLs.
    #[rmcp::tool]
    fn search_web(&self, Parameters(SearchWeb { query, max_results }): Parameters<SearchWeb>) -> String {
        json(&search(&query, max_results))
    }

    /// Create an order.
    #[rmcp::tool]
    fn create_order(&self, Parameters(order): Parameters<CreateOrder>) -> String {
        let unused = (order.email, order.priority, order.shipping, order.tags, order.note, order.placed_at);
        json(&summary(order.customer, lines(&order.items), order.discount, order.express, unused))
    }

    /// Wait for ten milliseconds.
    #[rmcp::tool]
    async fn wait(&self, Parameters(Wait { index }): Parameters<Wait>) -> String {
        tokio::time::sleep(Duration::from_millis(10)).await;
        json(&index)
    }
}

impl ServerHandler for Server {}

struct Answer(CallToolResult);

impl Output for Answer {
    fn text(&self) -> Cow<'_, str> {
        let block = self.0.content.first().and_then(|block| block.as_text());
        Cow::Borrowed(block.map_or("", |block| &block.text))
    }
}

struct Rmcp {
    router: ToolRouter<Server>,
    server: RunningService<RoleServer, Server>,
}

impl Contestant for Rmcp {
    type Output = Answer;

    fn new() -> Self {
        // Only a running server has the peer for a call's context.
        let (near, _) = tokio::io::duplex(64);
        Self { router: Server::tool_router(), server: serve_directly(Server, near, None) }
    }

    async fn call(&self, tool: &str, arguments: &str) -> Result<Answer, String> {
        let arguments = serde_json::from_str(arguments).map_err(|error| error.to_string())?;
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = RequestContext::new(NumberOrString::Number(1), self.server.peer().clone());
        let context = ToolCallContext::new(self.server.service(), params, request);
        let response = self.router.call(context).await.map_err(|error| error.message.into_owned())?;
        let CallToolResponse::Complete(result) = response else { return Err("input is required".to_owned()) };
        if result.is_error == Some(true) {
            Err(Answer(result).text().into_owned())
        } else {
            Ok(Answer(result))
        }
    }

    fn definitions(&self) -> String {
        let tools = self.router.list_all();
        chat_definitions(
            tools.iter().map(|tool| {
                (&*tool.name, tool.description.as_deref().unwrap_or_default(), &*tool.input_schema)
            }),
        )
    }
}

fn main() -> std::process::ExitCode {
    harness::run::<Rmcp>()
}
