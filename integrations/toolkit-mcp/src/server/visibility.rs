//! Which tools, prompts and resources a client sees and may use.

use super::caller::{Caller, LogLevel};
use super::input::Inputs;
use super::server_settings::ServerSettings;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use std::panic::{AssertUnwindSafe, catch_unwind};
use toolkit_core::ToolDefinition;

/// The view of the client of one request.
pub(super) struct View<'a> {
    settings: &'a ServerSettings,
    /// The client, if there are filters.
    caller: Option<Caller>,
}

impl<'a> View<'a> {
    pub(super) fn new(settings: &'a ServerSettings, context: RequestContext<RoleServer>) -> Self {
        let has_filters = !settings.filters.is_empty();
        let caller = has_filters.then(|| Caller::new(context, Inputs::default(), LogLevel::Info));
        Self { settings, caller }
    }

    /// Returns whether there is anything that clients may not see.
    pub(super) fn is_filtered(&self) -> bool {
        self.caller.is_some()
    }

    /// Returns whether the client sees a tool, a prompt or a resource.
    pub(super) fn has(&self, definition: &ToolDefinition) -> bool {
        self.caller.as_ref().is_none_or(|caller| is_visible(self.settings, caller, definition))
    }
}

/// Returns whether a client sees a tool, a prompt or a resource.
pub(super) fn is_visible(settings: &ServerSettings, caller: &Caller, definition: &ToolDefinition) -> bool {
    let decide = || settings.filters.iter().all(|filter| filter(caller, definition));
    // A panic would end the task of the request without a response.
    catch_unwind(AssertUnwindSafe(decide)).unwrap_or(false)
}
