//! The handler of one session: answers the requests of the protocol.

mod changes;
mod request_spans;

use super::caller::{LogLevel, is_stateless};
use super::calls::{CallSession, View, prompts, resources, tool_call};
use super::protocol::complete;
use super::server_settings::{ServerSettings, live};
use crate::request_span::RequestTarget;
use changes::{ServerChanges, notify, notify_subscription};
#[expect(deprecated, reason = "logging is still part of the protocol")]
use rmcp::model::SetLevelRequestParams;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, ErrorCode, ErrorData, GetPromptRequestMethod, GetPromptRequestParams,
    GetPromptResponse, Implementation, InitializeRequestParams, InitializeResult, ListPromptsRequestMethod,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, PromptsCapability, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ResourcesCapability, ServerCapabilities, ServerConfig, SetLevelRequestMethod,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock};
use tokio_util::sync::{CancellationToken, DropGuard};
use toolkit_core::__private::lock;
use toolkit_core::name::WireNames;
use toolkit_core::{Dispatcher, RunContext, Session, ToolDefinition, ToolRegistry};

/// The maximum number of resources that a session can subscribe to.
const MAX_SUBSCRIPTIONS: usize = 1_000;

pub(super) struct ClientRequestHandler {
    settings: Arc<ServerSettings>,
    /// The minimum severity of log messages in the session.
    log_level: Mutex<LogLevel>,
    run: OnceLock<RunContext>,
    /// The changes since the beginning of the session, boxed because requests without a session have none.
    changes: Mutex<Option<Box<ServerChanges>>>,
    /// The URIs of subscribed resources.
    subscribed: OnceLock<Arc<Mutex<HashSet<String>>>>,
    /// Ends the task that announces changes. A client may repeat the handshake, but there must be only one
    /// such task.
    announcing: OnceLock<DropGuard>,
}

impl ClientRequestHandler {
    pub(super) fn new(settings: Arc<ServerSettings>) -> Self {
        Self {
            settings,
            log_level: Mutex::new(LogLevel::Info),
            run: OnceLock::new(),
            changes: Mutex::default(),
            subscribed: OnceLock::new(),
            announcing: OnceLock::new(),
        }
    }

    /// Returns the run context of the dispatcher. A session for the state of tools is added if it has none.
    fn run(&self) -> RunContext {
        self.run.get_or_init(|| self.new_run()).clone()
    }

    fn new_run(&self) -> RunContext {
        let run = self.settings.dispatcher.run_context().map(|run| (**run).clone()).unwrap_or_default();
        match run.session() {
            Some(_) => run,
            None => run.with_session(Session::new(self.settings.next_session_id())),
        }
    }

    fn session(&self) -> CallSession<'_> {
        CallSession { settings: &self.settings, run: self.run(), log_level: *lock(&self.log_level) }
    }
}

fn sees_tool(view: &View<'_>, registry: &ToolRegistry, names: &WireNames, tool: &Tool) -> bool {
    if !view.is_filtered() {
        return true;
    }
    registry.get(names.unspell(&tool.name)).is_some_and(|tool| view.has(tool.definition()))
}

/// Returns the values that begin with what the user has typed, if the client sees the definition.
fn completed(
    view: &View<'_>,
    definition: Option<&ToolDefinition>,
    request: &CompleteRequestParams,
) -> CompleteResult {
    match definition {
        Some(definition) if view.has(definition) => {
            CompleteResult::new(complete(definition, &request.argument.name, &request.argument.value))
        }
        _ => CompleteResult::default(),
    }
}

impl ServerHandler for ClientRequestHandler {
    fn get_info(&self) -> ServerConfig {
        let settings = &*self.settings;
        let mut capabilities = ServerCapabilities::builder().enable_tools().enable_completions().build();
        capabilities.logging = Some(Default::default());
        if let Some(tools) = &mut capabilities.tools {
            tools.list_changed = live(&settings.dispatcher).map(|_| true);
        }
        if let Some(prompts) = &settings.prompts {
            let mut published = PromptsCapability::default();
            published.list_changed = live(prompts).map(|_| true);
            capabilities.prompts = Some(published);
        }
        if settings.outputs.is_some() || settings.resources.is_some() {
            let mut published = ResourcesCapability::default();
            published.subscribe = settings.resources.as_ref().map(|_| true);
            published.list_changed = settings.resources.as_ref().and_then(live).map(|_| true);
            capabilities.resources = Some(published);
        }
        let mut server = Implementation::new(&settings.name, &settings.version);
        server.title.clone_from(&settings.title);
        let info = ServerConfig::new(capabilities).with_server_info(server);
        match &settings.instructions {
            Some(instructions) => info.with_instructions(instructions),
            None => info,
        }
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        // Changes are announced even if the client lists the tools before it confirms the handshake.
        let changes = ServerChanges::new(&self.settings);
        *lock(&self.changes) = if changes.are_possible() { Some(Box::new(changes)) } else { None };
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let changes = lock(&self.changes).take();
        let end = CancellationToken::new();
        if let Some(mut changes) = changes
            && self.announcing.set(end.clone().drop_guard()).is_ok()
        {
            let subscribed = self.subscribed.get_or_init(Arc::default).clone();
            tokio::spawn(end.run_until_cancelled_owned(async move {
                while let Some(change) = changes.next().await
                    && notify(&context.peer, &subscribed, change).await.is_ok()
                {}
            }));
        }
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // The SDK leaves out what the server's capabilities do not have.
        if ServerChanges::new(&self.settings).are_possible() { Some(requested.clone()) } else { None }
    }

    fn listen(
        &self,
        subscription: SubscriptionContext,
    ) -> impl Future<Output = Result<(), ErrorData>> + Send + '_ {
        Box::pin(async move {
            let mut changes = ServerChanges::new(&self.settings);
            let announcing = async {
                while let Some(change) = changes.next().await
                    && notify_subscription(subscription.sink(), change).await.is_ok()
                {}
            };
            tokio::select! {
                () = subscription.cancelled() => {}
                () = announcing => {}
            }
            Ok(())
        })
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let settings = &*self.settings;
        let cursor = request.and_then(|request| request.cursor);
        let is_stateless = is_stateless(&context);
        let registry = settings.dispatcher.registry();
        let view = View::new(settings, context);
        let names = settings.names(&registry);
        let tools = settings.tools(&registry, !is_stateless);
        let (page, next) = tools
            .page(cursor.as_deref(), settings.page_size, |tool| sees_tool(&view, &registry, &names, tool))?;
        let mut result = ListToolsResult::with_all_items(page);
        if is_stateless {
            let scope = if settings.is_private { CacheScope::Private } else { CacheScope::Public };
            result = result.with_ttl_ms(settings.list_ttl_ms()).with_cache_scope(scope);
        }
        result.next_cursor = next;
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let settings = &*self.settings;
        settings.tools(&settings.dispatcher.registry(), false).get(name).map(|tool| (**tool).clone())
    }

    // Boxed, because the SDK moves the large future several times.
    fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<CallToolResponse, ErrorData>> + Send + '_ {
        let span = request_spans::open("tools/call", RequestTarget::Tool(&request.name), &context);
        let call = tool_call::run(self.session(), request, context);
        Box::pin(request_spans::answered(span, call, request_spans::is_tool_error))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // A known method arrives here if its parameters are malformed.
        let method = request.method;
        Err(match method.as_str() {
            "tools/call" | "tools/list" | "completion/complete" | "resources/read" | "prompts/get" => {
                ErrorData::invalid_params(format!("the parameters of `{method}` are not valid"), None)
            }
            _ => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None),
        })
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let settings = &*self.settings;
        let view = View::new(settings, context);
        if let Some(template) = request.r#ref.as_resource_uri() {
            let Some(dispatcher) = &settings.resources else { return Ok(CompleteResult::default()) };
            let registry = dispatcher.registry();
            let resource = resources::with_template(&registry, template);
            return Ok(completed(&view, resource, &request));
        }
        let Some(name) = request.r#ref.as_prompt_name() else { return Ok(CompleteResult::default()) };
        if let Some(prompts) = &settings.prompts
            && let Some(prompt) = prompts.registry().get(name)
        {
            return Ok(completed(&view, Some(prompt.definition()), &request));
        }
        // The protocol has no references to tools, so a client refers to a tool as if it were a prompt.
        let registry = settings.dispatcher.registry();
        let tool = registry.get(settings.names(&registry).unspell(name));
        Ok(completed(&view, tool.map(|tool| tool.definition()), &request))
    }

    #[expect(deprecated, reason = "logging is still part of the protocol")]
    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if is_stateless(&context) {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        *lock(&self.log_level) = LogLevel::from_level(request.level);
        Ok(())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        // Full outputs are not listed: only results link to them.
        let view = View::new(&self.settings, context);
        let Some(resources) = &self.settings.resources else { return Ok(ListResourcesResult::default()) };
        let (page, next) = resources::listed(resources, &view, request)?;
        let mut result = ListResourcesResult::with_all_items(page);
        result.next_cursor = next;
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let view = View::new(&self.settings, context);
        let Some(resources) = &self.settings.resources else {
            return Ok(ListResourceTemplatesResult::default());
        };
        let (page, next) = resources::listed_templates(resources, &view, request)?;
        let mut result = ListResourceTemplatesResult::with_all_items(page);
        result.next_cursor = next;
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if let Some(contents) = self.settings.outputs.as_ref().and_then(|outputs| outputs.read(&request.uri))
        {
            return Ok(ReadResourceResult::new(vec![contents]).into());
        }
        match &self.settings.resources {
            Some(resources) => {
                let target = RequestTarget::Resource(&request.uri);
                let span = request_spans::open("resources/read", target, &context);
                let read = resources::read(self.session(), resources, request, context);
                Box::pin(request_spans::answered(span, read, |_| false)).await
            }
            None => Err(resources::not_found(&request.uri)),
        }
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let resources = self.settings.resources.as_ref().map(Dispatcher::registry);
        if resources.is_none_or(|resources| resources::find(&resources, &request.uri).is_none()) {
            return Err(resources::not_found(&request.uri));
        }
        let mut subscribed = lock(self.subscribed.get_or_init(Arc::default));
        if subscribed.len() >= MAX_SUBSCRIPTIONS {
            return Err(ErrorData::invalid_request("the session has too many subscriptions", None));
        }
        subscribed.insert(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        lock(self.subscribed.get_or_init(Arc::default)).remove(&request.uri);
        Ok(())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let Some(prompts) = &self.settings.prompts else {
            return Err(ErrorData::method_not_found::<ListPromptsRequestMethod>());
        };
        let (page, next) = prompts::listed(prompts, &View::new(&self.settings, context), request)?;
        let mut result = ListPromptsResult::with_all_items(page);
        result.next_cursor = next;
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        match &self.settings.prompts {
            Some(prompts) => {
                let span = request_spans::open("prompts/get", RequestTarget::Prompt(&request.name), &context);
                let prompt = prompts::get(self.session(), prompts, request, context);
                Box::pin(request_spans::answered(span, prompt, |_| false)).await
            }
            None => Err(ErrorData::method_not_found::<GetPromptRequestMethod>()),
        }
    }
}
