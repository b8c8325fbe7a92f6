//! Lists of tools as a server sent them. The types of the SDK keep only the members that they know.

use rmcp::RoleClient;
use rmcp::model::{CustomResult, JsonRpcMessage, ListToolsResult, RequestId, ServerResult};
use rmcp::service::RxJsonRpcMessage;
use serde::Deserialize;
use serde_json::{Value, from_str};
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use toolkit_core::__private::lock;

/// The last list of tools, until it is taken. Clones share it. A client requests one page after the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawLists(Arc<Mutex<Option<RawList>>>);

#[derive(Debug, Deserialize)]
struct RawList {
    id: RequestId,
    result: Value,
}

impl RawLists {
    pub(crate) fn keep(&self, message: &str) {
        if let Ok(list) = from_str::<RawList>(message)
            && list.result.get("tools").is_some_and(Value::is_array)
        {
            *lock(&self.0) = Some(list);
        }
    }

    /// Returns a list as it was sent, without the tools that the SDK refuses, and other messages unchanged.
    pub(crate) fn restore(&self, mut message: RxJsonRpcMessage<RoleClient>) -> RxJsonRpcMessage<RoleClient> {
        if let JsonRpcMessage::Response(response) = &mut message
            && let ServerResult::ListToolsResult(list) = &response.result
            && let Some(raw) = lock(&self.0).take_if(|raw| raw.id == response.id)
        {
            response.result = ServerResult::CustomResult(CustomResult(accepted(raw.result, list)));
        }
        message
    }
}

fn accepted(mut raw: Value, list: &ListToolsResult) -> Value {
    if let Some(tools) = raw.get_mut("tools").and_then(Value::as_array_mut)
        && tools.len() != list.tools.len()
    {
        let names: HashSet<Option<&str>> = list.tools.iter().map(|tool| Some(&*tool.name)).collect();
        tools.retain(|tool| names.contains(&tool.get("name").and_then(Value::as_str)));
    }
    raw
}
