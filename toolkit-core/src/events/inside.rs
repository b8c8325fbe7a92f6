//! What happens to a call inside of its dispatcher: waits, and decisions of rules.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A resource that a call waits for.
///
/// ```
/// use toolkit_ai::events::ToolEventKind;
/// use toolkit_ai::{ClosureTool, Dispatcher, ToolCall};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let save = ClosureTool::without_arguments("save", "Saves.", || tokio::task::yield_now())?;
/// let dispatcher = Dispatcher::new([save])?.with_max_concurrency(1);
/// let mut events = dispatcher.events();
/// dispatcher.dispatch(["1", "2"].map(|id| ToolCall::new(id, "save", "{}"))).await;
/// drop(dispatcher);
///
/// let mut waits = Vec::new();
/// while let Some(event) = events.next().await {
///     if let ToolEventKind::Waiting { resource, .. } = event?.kind {
///         waits.push(serde_json::to_string(&resource)?);
///     }
/// }
/// assert_eq!(waits, [r#"{"resource":"dispatcher","limit":1}"#]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "resource", rename_all = "snake_case")]
#[non_exhaustive]
pub enum WaitResource {
    /// The [lane](crate::ToolMetadata::lane): another call has the same value of its parameter.
    #[non_exhaustive]
    Lane {
        /// The name of the parameter.
        parameter: String,
        /// The value, if the dispatcher [includes contents](crate::Dispatcher::with_event_contents).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<String>,
    },
    /// The [exclusive](crate::ToolMetadata::exclusive) tool: another call of it runs.
    Exclusive,
    /// A permit of the tool, of [`max_concurrency`](crate::ToolMetadata::max_concurrency).
    // The error messages of compilers would name the trait and the dispatcher with their paths, if variants had their names.
    #[serde(rename = "tool")]
    #[non_exhaustive]
    ToolPermit {
        /// How many calls of the tool may run at once.
        limit: usize,
    },
    /// A permit of the dispatcher, of [`with_max_concurrency`](crate::Dispatcher::with_max_concurrency).
    #[serde(rename = "dispatcher")]
    #[non_exhaustive]
    DispatcherPermit {
        /// How many calls may run at once.
        limit: usize,
    },
}

/// The decision of [permissions](crate::middleware::Permissions) about a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RuleDecision {
    /// What is decided.
    pub effect: RuleEffect,
    /// The position of the deciding rule, from 0. `None` if no rule applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<usize>,
    /// The rule in words, such as ``rule `deny` for the tool `fs-*` ``.
    pub description: String,
    /// The reason of the rule to deny or to ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The arguments that the rule has read, if it has conditions and the dispatcher [includes
    /// contents](crate::Dispatcher::with_event_contents).
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "super::text",
        deserialize_with = "shared_text"
    )]
    pub normal_arguments: Option<Arc<str>>,
}

/// What a rule decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RuleEffect {
    /// The call may run.
    Allow,
    /// The call may not run.
    Deny,
    /// The call needs approval.
    Ask,
}

fn shared_text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Arc<str>>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(Arc::from))
}
