//! The handler of one session: answers the requests of the protocol.

use super::caller::LogLevel;
use super::changes::Changes;
use super::completion::complete;
use super::input::is_stateless;
use super::server_settings::ServerSettings;
use super::tool_call::{self, CallSession};
use crate::locks::lock;
#[expect(deprecated, reason = "logging is still part of the protocol")]
use rmcp::model::SetLevelRequestParams;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, ErrorCode, ErrorData, Implementation, InitializeRequestParams,
    InitializeResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ServerCapabilities, ServerConfig, SetLevelRequestMethod, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use std::sync::{Arc, Mutex, OnceLock};
use tokio_util::sync::{CancellationToken, DropGuard};
use toolkit_core::{RunContext, Session};

/// The handler for the requests of one session.
pub(super) struct ClientRequestHandler {
    settings: Arc<ServerSettings>,
    /// The minimum severity of log messages in the session.
    log_level: Mutex<LogLevel>,
    run: OnceLock<RunContext>,
    /// The changes of a live registry since the beginning of the session.
    changes: Mutex<Option<Changes>>,
    /// Ends the task that announces the changes to the client. A client may repeat the handshake, but there must be only
    /// one such task.
    announcing: OnceLock<DropGuard>,
}

impl ClientRequestHandler {
    pub(super) fn new(settings: Arc<ServerSettings>) -> Self {
        Self {
            settings,
            log_level: Mutex::new(LogLevel::Info),
            run: OnceLock::new(),
            changes: Mutex::default(),
            announcing: OnceLock::new(),
        }
    }

    /// Returns the run context for the calls of this session. It is the run context of the dispatcher. If this has no
    /// session for the state of tools, a session is added.
    fn run(&self) -> RunContext {
        let new = || {
            let run = self.settings.dispatcher.run_context().map(|run| (**run).clone()).unwrap_or_default();
            match run.session() {
                Some(_) => run,
                None => run.with_session(Session::new(self.settings.next_session_id())),
            }
        };
        self.run.get_or_init(new).clone()
    }
}

impl ServerHandler for ClientRequestHandler {
    fn get_info(&self) -> ServerConfig {
        let settings = &*self.settings;
        let mut capabilities = ServerCapabilities::builder().enable_tools().enable_completions().build();
        capabilities.logging = Some(Default::default());
        if let Some(tools) = &mut capabilities.tools {
            tools.list_changed = settings.live().map(|_| true);
        }
        if settings.outputs.is_some() {
            capabilities.resources = Some(Default::default());
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
        // Changes from now on are announced, even if the client lists the tools before it confirms the
        // handshake.
        let changes = self.settings.live().map(Changes::new);
        *lock(&self.changes) = changes;
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let changes = lock(&self.changes).take();
        let end = CancellationToken::new();
        if let Some(changes) = changes
            && self.announcing.set(end.clone().drop_guard()).is_ok()
        {
            let announcing =
                async move { changes.announce(|| context.peer.notify_tool_list_changed()).await };
            tokio::spawn(end.run_until_cancelled_owned(announcing));
        }
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.settings.live().map(|_| SubscriptionFilter::builder().tools_list_changed().build())
    }

    fn listen(
        &self,
        subscription: SubscriptionContext,
    ) -> impl Future<Output = Result<(), ErrorData>> + Send + '_ {
        Box::pin(async move {
            if let Some(live) = self.settings.live() {
                let sink = subscription.sink();
                let announcing = Changes::new(live).announce(|| sink.notify_tool_list_changed());
                tokio::select! {
                    () = subscription.cancelled() => {}
                    () = announcing => {}
                }
            } else {
                subscription.cancelled().await;
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
        let tools = settings.tools(&settings.dispatcher.registry(), !is_stateless(&context));
        let Some((tools, next)) = tools.page(cursor.as_deref(), settings.page_size) else {
            return Err(ErrorData::invalid_params("the cursor is not one of this server", None));
        };
        let mut result = ListToolsResult::with_all_items(tools);
        if is_stateless(&context) {
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

    // Boxed, because the SDK moves the future of a request several times, and the future of a call is large.
    fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<CallToolResponse, ErrorData>> + Send + '_ {
        let log_level = *lock(&self.log_level);
        let session = CallSession { settings: &self.settings, run: self.run(), log_level };
        Box::pin(tool_call::run(session, request, context))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // A known method arrives here if its parameters do not have the form that the protocol demands.
        let method = request.method;
        Err(match method.as_str() {
            "tools/call" | "tools/list" | "completion/complete" | "resources/read" => {
                ErrorData::invalid_params(format!("the parameters of `{method}` are not valid"), None)
            }
            _ => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None),
        })
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        // The protocol has references to prompts and resources only, so a client refers to a tool as if it
        // were a prompt.
        let Some(name) = request.r#ref.as_prompt_name() else { return Ok(CompleteResult::default()) };
        let registry = self.settings.dispatcher.registry();
        let names = self.settings.names(&registry);
        let tool = registry.get(names.unspell(name));
        Ok(tool.map_or_else(CompleteResult::default, |tool| {
            CompleteResult::new(complete(tool.definition(), &request.argument.name, &request.argument.value))
        }))
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
        *lock(&self.log_level) = LogLevel::of(request.level);
        Ok(())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        // Full outputs are not listed: a result links to its full output, and no client sees outputs of other
        // clients.
        Ok(ListResourcesResult::default())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::default())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let kept = self.settings.outputs.as_ref().and_then(|outputs| outputs.read(&request.uri));
        match kept {
            Some(contents) => Ok(ReadResourceResult::new(vec![contents]).into()),
            None => {
                let message = format!("Resource `{}` not found", request.uri);
                Err(ErrorData::resource_not_found(message, Some(serde_json::json!({ "uri": request.uri }))))
            }
        }
    }
}
