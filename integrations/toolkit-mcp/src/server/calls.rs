//! Calls of clients: of tools, prompts and resources.

mod client_call;
pub(super) mod prompts;
pub(super) mod resources;
pub(super) mod tool_call;
mod visibility;

pub(super) use client_call::CallSession;
pub use prompts::PromptMessages;
pub use resources::ServerResource;
pub(super) use visibility::View;
