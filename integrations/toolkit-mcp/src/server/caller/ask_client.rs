//! Approval of calls by the user of the client.

use super::Caller;
use super::input::{APPROVAL, Elicited};
use serde_json::json;
use toolkit_core::foreign::show_invisible;
use toolkit_core::middleware::{Approval, ApprovalRequest};

/// Asks the user of the client to approve a call, for
/// [`Permissions::with_handler`](toolkit_core::middleware::Permissions::with_handler).
///
/// The call is refused if the user does not accept, if the client cannot ask, or if the call does not come
/// from an MCP client.
///
/// ```
/// use toolkit_ai::middleware::{PermissionRule, Permissions};
/// use toolkit_ai::mcp::server::ask_client;
///
/// let permissions = Permissions::new()
///     .rule(PermissionRule::ask("it sends a message").for_tool("send_*")?)
///     .rule(PermissionRule::allow())
///     .with_handler(ask_client);
/// # Ok::<(), toolkit_ai::BuildError>(())
/// ```
pub async fn ask_client(question: ApprovalRequest) -> Approval {
    let Some(caller) = Caller::from_context(question.request.context()) else {
        return Approval::Deny("the call needs approval, and there is no client to ask".to_owned());
    };
    if !caller.can_elicit() {
        return Approval::Deny("the call needs approval, and the client cannot ask its user".to_owned());
    }
    let name = &question.request.definition().name;
    let arguments = question.request.arguments_json().unwrap_or_default();
    let text = format!("Allow the tool `{name}` to run? Reason: {}. Arguments: {arguments}", question.reason);
    let message = show_invisible(&text);
    let schema = json!({"type": "object", "properties": {}});
    match caller.elicit(APPROVAL, message, schema).await {
        Ok(Elicited::Accepted(_)) => Approval::Approve,
        Ok(Elicited::Declined) => Approval::Deny("the user refused it".to_owned()),
        Ok(Elicited::Cancelled) => Approval::Deny("the user did not decide".to_owned()),
        Err(error) => Approval::Deny(error.message().to_owned()),
    }
}
