//! What a program sets of a client.

mod client_settings;
mod elicitation;
mod limits;

pub(super) use client_settings::ClientSettings;
pub use client_settings::{McpBackoff, McpProtocol};
pub(super) use elicitation::elicit;
pub use elicitation::{ElicitationAnswer, ElicitationHandler, ElicitationKind, ElicitationRequest};
pub use limits::McpLimits;
