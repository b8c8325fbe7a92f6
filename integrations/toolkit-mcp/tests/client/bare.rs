//! A server of the official SDK alone.

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ElicitRequest,
    ElicitRequestParams, ErrorData, InputRequest, InputRequiredResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, RequestParamsMeta, ServerCapabilities, ServerConfig,
    ServerRequest, Tool,
};
use rmcp::service::{Peer, RequestContext, RoleServer, serve_server};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::duplex;
use tokio::task::JoinHandle;
use toolkit_mcp::client::McpEndpoint;

/// A few tools, and a record of calls.
#[derive(Clone, Default)]
pub(super) struct Bare {
    pub(super) tools: Arc<Mutex<Vec<Value>>>,
    /// The `_meta` of each call.
    pub(super) metas: Arc<Mutex<Vec<Value>>>,
    /// The names of calls that were cancelled.
    pub(super) cancelled: Arc<Mutex<Vec<String>>>,
    /// The task of each connection.
    pub(super) tasks: Arc<Mutex<Vec<JoinHandle<()>>>>,
    /// The time for one page of the tool list.
    pub(super) pause: Arc<Mutex<Duration>>,
    /// The client of the last request.
    pub(super) peer: Arc<Mutex<Option<Peer<RoleServer>>>>,
}

pub(super) fn tool(name: &str, schema: Value) -> Value {
    json!({"name": name, "description": format!("Runs {name}."), "inputSchema": schema})
}

impl Bare {
    pub(super) fn new() -> Self {
        let numbers = json!({"type": "object", "required": ["a", "b"], "additionalProperties": false,
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}});
        let object = json!({"type": "object"});
        let names = ["count", "wait", "ask", "meta", "fail", "repeat"];
        let mut tools = vec![tool("add", numbers)];
        tools.extend(names.map(|name| tool(name, object.clone())));
        Self { tools: Arc::new(Mutex::new(tools)), ..Self::default() }
    }

    pub(super) fn hang_up(&self) {
        self.tasks.lock().unwrap().drain(..).for_each(|task| task.abort());
    }

    /// Returns an endpoint with a new connection in memory each time.
    pub(super) fn endpoint(&self) -> McpEndpoint {
        let server = self.clone();
        McpEndpoint::streams_from(move || {
            let server = server.clone();
            async move {
                let (near, far) = duplex(1 << 16);
                let tasks = server.tasks.clone();
                let task = tokio::spawn(async move {
                    if let Ok(running) = serve_server(server, far).await {
                        let _ = running.waiting().await;
                    }
                });
                tasks.lock().unwrap().push(task);
                Ok(tokio::io::split(near))
            }
        })
    }
}

fn text(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        ServerConfig::new(capabilities).with_instructions("Be kind.")
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        *self.peer.lock().unwrap() = Some(context.peer);
        let pause = *self.pause.lock().unwrap();
        tokio::time::sleep(pause).await;
        let start: usize = page.and_then(|page| page.cursor?.parse().ok()).unwrap_or_default();
        let tools = self.tools.lock().unwrap().clone();
        let page: Vec<Tool> = tools
            .iter()
            .skip(start)
            .take(3)
            .map(|tool| serde_json::from_value(tool.clone()).unwrap())
            .collect();
        let mut result = ListToolsResult::with_all_items(page);
        result.next_cursor = (start + 3 < tools.len()).then(|| (start + 3).to_string());
        Ok(result)
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(params.arguments.clone().unwrap_or_default());
        self.metas.lock().unwrap().push(json!(context.meta));
        let _ = params.meta();
        match &*params.name {
            "add" => {
                Ok(text((arguments["a"].as_i64().unwrap() + arguments["b"].as_i64().unwrap()).to_string()))
            }
            "count" => {
                let token = context.meta.get_progress_token().expect("a token");
                for number in 1..=3 {
                    let mut report = ProgressNotificationParam::new(token.clone(), f64::from(number));
                    report.total = Some(4.0);
                    report.message = Some(format!("step {number}"));
                    context.peer.notify_progress(report).await.unwrap();
                }
                Ok(text("counted"))
            }
            "wait" => {
                tokio::select! {
                    () = context.ct.cancelled() => {
                        self.cancelled.lock().unwrap().push("wait".to_owned());
                        Ok(text("cancelled"))
                    }
                    () = tokio::time::sleep(Duration::from_secs(60)) => Ok(text("waited")),
                }
            }
            "ask" => self.ask(&params, &context).await,
            "meta" => Ok(text(context.meta.get_traceparent().unwrap_or("none"))),
            "fail" => Ok(CallToolResult::error(vec![ContentBlock::text("the shop is closed")]).into()),
            "repeat" if arguments["times"].is_u64() => {
                Ok(text("x".repeat(arguments["times"].as_u64().unwrap() as usize)))
            }
            _ => Err(ErrorData::internal_error("the disk is full", None)),
        }
    }
}

impl Bare {
    /// Asks the user for a name, by the version of the protocol.
    async fn ask(
        &self,
        params: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let question: ElicitRequestParams = serde_json::from_value(json!({
            "mode": "form", "message": "Who are you?",
            "requestedSchema": {"type": "object", "properties": {
                "name": {"type": "string"}, "size": {"type": "string", "default": "large"},
            }},
        }))
        .unwrap();
        let is_stateless = context.protocol_version().is_some_and(|version| !version.has_initialize());
        let answer = match (is_stateless, &params.input_responses) {
            (true, None) => {
                let question = InputRequest::Elicitation(ElicitRequest::new(question));
                let questions = [("name".to_owned(), question)].into();
                return Ok(InputRequiredResult::new(Some(questions), Some("state 1".to_owned())).into());
            }
            (true, Some(answers)) => {
                assert_eq!(params.request_state.as_deref(), Some("state 1"));
                answers["name"].clone()
            }
            (false, _) => {
                let question = ServerRequest::ElicitRequest(ElicitRequest::new(question));
                json!(context.peer.send_request(question).await.unwrap())
            }
        };
        Ok(text(answer.to_string()))
    }
}
