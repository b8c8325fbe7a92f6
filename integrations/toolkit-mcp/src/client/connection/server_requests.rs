//! The handler for requests and notifications of a server.

// Logging is deprecated since 2026-07-28, but servers of earlier versions use it.
#![expect(deprecated)]

use crate::client::event::McpEvent;
use crate::client::settings::{ClientSettings, elicit};
use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, ErrorData, FormElicitationCapability, Implementation,
    LoggingMessageNotificationParam, ResourceUpdatedNotificationParam, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore, broadcast};
use tokio::time::Instant;
use toolkit_core::__private::lock;
use toolkit_core::foreign::shorten;

/// The limit in characters of JSON.
const LONGEST_LOG: usize = 8_192;

/// Further questions are declined.
pub(crate) const MOST_QUESTIONS: usize = 16;

/// Further questions are declined.
const MOST_QUESTIONS_PER_MINUTE: usize = 60;

const MINUTE: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy)]
pub(crate) struct QuestionCount {
    since: Instant,
    questions: usize,
}

impl Default for QuestionCount {
    fn default() -> Self {
        Self { since: Instant::now(), questions: 0 }
    }
}

impl QuestionCount {
    /// Counts a question. Returns `false` if there are too many.
    fn has_room(&mut self) -> bool {
        if self.since.elapsed() > MINUTE {
            *self = Self::default();
        }
        self.questions += 1;
        self.questions <= MOST_QUESTIONS_PER_MINUTE
    }
}

#[derive(Clone)]
pub(crate) struct ServerRequestHandler {
    pub(crate) settings: Arc<ClientSettings>,
    pub(crate) events: broadcast::Sender<McpEvent>,
    pub(crate) tools_changed: Arc<Notify>,
    pub(crate) questions: Arc<Semaphore>,
    /// The questions of all connections, which a server may end and begin as often as it likes.
    pub(crate) asked: Arc<Mutex<QuestionCount>>,
}

impl ServerRequestHandler {
    pub(crate) async fn elicit(&self, request: ElicitRequestParams) -> ElicitResult {
        let Ok(_permit) = self.questions.try_acquire() else {
            return ElicitResult::new(ElicitationAction::Decline);
        };
        if self.settings.elicitation.is_some() && !lock(&self.asked).has_room() {
            return ElicitResult::new(ElicitationAction::Decline);
        }
        elicit(self.settings.elicitation.as_deref(), &self.settings.name, request).await
    }

    pub(super) fn log(&self, message: LoggingMessageNotificationParam) {
        let level_name = serde_json::to_value(message.level).unwrap_or_default();
        let level = level_name.as_str().unwrap_or_default().to_owned();
        let text = message.data.to_string();
        let is_short = text.len() <= LONGEST_LOG;
        let data = if is_short { message.data } else { shorten(text, LONGEST_LOG).into() };
        self.emit(McpEvent::Log { level, logger: message.logger, data });
    }

    pub(crate) fn emit(&self, event: McpEvent) {
        let _ = self.events.send(event);
    }
}

impl ClientHandler for ServerRequestHandler {
    fn get_info(&self) -> ClientConfig {
        let ClientSettings { client_name, client_version, elicitation, .. } = &*self.settings;
        let mut capabilities = ClientCapabilities::default();
        if elicitation.is_some() {
            let forms = ElicitationCapability::new().with_form(FormElicitationCapability::default());
            capabilities.elicitation = Some(forms.with_url(UrlElicitationCapability::default()));
        }
        ClientConfig::new(capabilities, Implementation::new(client_name, client_version))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        // The server may withdraw the question, or the connection may end.
        Ok(tokio::select! {
            answer = self.elicit(request) => answer,
            () = context.ct.cancelled() => ElicitResult::new(ElicitationAction::Cancel),
        })
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.emit(McpEvent::ResourcesChanged);
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.emit(McpEvent::PromptsChanged);
    }

    async fn on_resource_updated(
        &self,
        update: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.emit(McpEvent::ResourceUpdated { uri: update.uri });
    }

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.log(message);
    }
}
