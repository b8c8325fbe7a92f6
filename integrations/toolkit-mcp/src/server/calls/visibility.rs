//! Which tools, prompts and resources a client sees and may use.

use crate::server::caller::{Caller, Inputs, LogLevel};
use crate::server::protocol::page;
use crate::server::server_settings::ServerSettings;
use rmcp::RoleServer;
use rmcp::model::{ErrorData, PaginatedRequestParams};
use rmcp::service::RequestContext;
use std::panic::{AssertUnwindSafe, catch_unwind};
use toolkit_core::ToolDefinition;

pub(crate) struct View<'a> {
    settings: &'a ServerSettings,
    /// The client, if there are filters.
    caller: Option<Caller>,
}

impl<'a> View<'a> {
    pub(crate) fn new(settings: &'a ServerSettings, context: RequestContext<RoleServer>) -> Self {
        let mut caller = None;
        if !settings.filters.is_empty() {
            caller = Some(Caller::new(context, Inputs::default(), LogLevel::Info));
        }
        Self { settings, caller }
    }

    /// Returns whether there is anything that clients may not see.
    pub(crate) fn is_filtered(&self) -> bool {
        self.caller.is_some()
    }

    pub(crate) fn has(&self, definition: &ToolDefinition) -> bool {
        self.caller.as_ref().is_none_or(|caller| is_visible(self.settings, caller, definition))
    }

    /// Returns a page of what the client sees, and the cursor of the next page.
    ///
    /// # Errors
    /// This server did not issue the cursor.
    pub(crate) fn page<'b>(
        &self,
        sorted: impl Iterator<Item = &'b ToolDefinition>,
        request: Option<PaginatedRequestParams>,
    ) -> Result<(Vec<&'b ToolDefinition>, Option<String>), ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let visible = sorted.filter(|definition| self.has(definition));
        page(visible, cursor.as_deref(), self.settings.page_size, |definition| definition.name.as_str())
    }
}

pub(crate) fn is_visible(settings: &ServerSettings, caller: &Caller, definition: &ToolDefinition) -> bool {
    // A panic would end the task of the request without a response.
    catch_unwind(AssertUnwindSafe(|| permits(settings, caller, definition))).unwrap_or(false)
}

fn permits(settings: &ServerSettings, caller: &Caller, definition: &ToolDefinition) -> bool {
    settings.filters.iter().all(|filter| filter(caller, definition))
}
