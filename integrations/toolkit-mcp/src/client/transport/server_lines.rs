//! Messages of servers over lines.

use super::wire::{INVALID, Wire};
use crate::client::event::McpEvent;
use crate::client::tools::cut_deep_values;
use crate::line_transport::{LineFault, LineRole, LineTransport, read_by_method};
use crate::unsent::Unsent;
use rmcp::RoleClient;
use rmcp::model::{
    CallToolResult, CancelledNotification, ClientNotification, CustomResult, ErrorData, ProgressNotification,
    RequestId, ServerNotification, ServerRequest, ServerResult, ToolListChangedNotification,
};
use serde_json::{Map, Value, from_slice, from_str, from_value};
use std::io;
use std::sync::Arc;
use toolkit_core::redaction::Unread;

pub(crate) type ServerLines<R, W> = LineTransport<RoleClient, R, W>;

/// The limit in bytes of an invalid message in an event.
const SHOWN: usize = 256;

impl LineRole for RoleClient {
    type Reports = Arc<Wire>;

    fn unsent(wire: &Arc<Wire>) -> Unsent {
        wire.unsent.clone()
    }

    fn request(_: &str, _: Option<&str>, line: &[u8]) -> serde_json::Result<ServerRequest> {
        from_slice(line)
    }

    fn notification(method: &str, line: &[u8]) -> serde_json::Result<ServerNotification> {
        let message = read_by_method!(line, method,
            "notifications/cancelled" => CancelledNotification,
            "notifications/progress" => ProgressNotification,
            "notifications/tools/list_changed" => ToolListChangedNotification,
        );
        if message.is_ok() {
            return message;
        }
        let mut corrected: Value = from_slice(line)?;
        corrected.get_mut("params").map(to_object);
        from_value(corrected)
    }

    fn result(result: &str) -> serde_json::Result<ServerResult> {
        if let Ok(result) = from_str::<CallToolResult>(result) {
            return Ok(result.into());
        }
        let mut members = match from_str(result) {
            Ok(members) => members,
            Err(error) => from_str(&cut_deep_values(result).ok_or(error)?)?,
        };
        correct(&mut members);
        if !members.get("tools").is_some_and(Value::is_array) {
            return from_value(members);
        }
        // The SDK keeps only the members of a tool that it knows.
        match from_value(members.clone())? {
            ServerResult::ListToolsResult(_) => Ok(ServerResult::CustomResult(CustomResult(members))),
            other => Ok(other),
        }
    }

    fn cancelled(notification: &ClientNotification) -> Option<&RequestId> {
        match notification {
            ClientNotification::CancelledNotification(cancelled) => cancelled.params.request_id.as_ref(),
            _ => None,
        }
    }

    fn fault(wire: &Arc<Wire>, line: &[u8], fault: LineFault) -> Option<(ErrorData, Option<RequestId>)> {
        let redactor = wire.secrets.redactor();
        let redacted = Unread::cut(line).text(&redactor);
        let message = redacted.as_str();
        let most = SHOWN.min(message.len());
        let end = (0..=most).rev().find(|end| message.is_char_boundary(*end)).unwrap_or(0);
        let text = message.get(..end).unwrap_or_default().to_owned();
        let error = redactor.redact(&fault.error);
        wire.emit(McpEvent::InvalidMessage { text, error: error.clone() });
        let id = fault.id?;
        Some((ErrorData::new(INVALID, error, None), Some(id)))
    }

    fn lost(wire: &Arc<Wire>, error: &io::Error) {
        wire.ends_because(format!("reading from the server failed: {error}"));
    }
}

/// Replaces `[]`, which PHP writes for an empty object.
fn to_object(value: &mut Value) {
    if value.as_array().is_some_and(Vec::is_empty) {
        *value = Value::Object(Map::new());
    }
}

/// Replaces `[]` as the metadata and among the capabilities.
fn correct(result: &mut Value) {
    if let Some(meta) = result.get_mut("_meta") {
        to_object(meta);
    }
    let Some(capabilities) = result.get_mut("capabilities") else { return };
    to_object(capabilities);
    if let Value::Object(members) = capabilities {
        for capability in members.values_mut() {
            to_object(capability);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line_transport::read;
    use rmcp::model::JsonRpcMessage;

    fn result(line: &str) -> ServerResult {
        let message = read::<RoleClient>(line.as_bytes()).expect(line);
        let JsonRpcMessage::Response(response) = message else { panic!("{line}") };
        response.result
    }

    #[test]
    fn frequent_mistakes_of_servers_are_corrected() {
        let server = r#""protocolVersion":"2024-11-05","serverInfo":{"name":"s","version":"1"}"#;
        let initialized = |capabilities: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"capabilities":{capabilities},{server}}}}}"#)
        };
        for (line, correct) in [
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]},"error":null}"#.to_owned(),
                r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#.to_owned(),
            ),
            (initialized(r#"{"tools":{},"logging":[]}"#), initialized(r#"{"tools":{},"logging":{}}"#)),
            (initialized(r#"{"tools":[],"prompts":[]}"#), initialized(r#"{"tools":{},"prompts":{}}"#)),
            (initialized("[]"), initialized("{}")),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"_meta":[]}}"#.to_owned(),
                r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"_meta":{}}}"#.to_owned(),
            ),
        ] {
            assert_eq!(format!("{:?}", result(&line)), format!("{:?}", result(&correct)));
        }
    }

    #[test]
    fn a_notification_with_a_list_of_parameters_is_read() {
        let line = br#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":[]}"#;
        let JsonRpcMessage::Notification(message) = read::<RoleClient>(line).expect("a message") else {
            panic!("a notification")
        };
        assert!(matches!(message.notification, ServerNotification::ToolListChangedNotification(_)));
    }

    #[test]
    fn the_kind_of_a_result_is_found_by_its_members() {
        for (members, expected) in [
            (r#""content":[{"type":"text","text":"a"}],"resultType":"complete""#, "CallToolResult"),
            (r#""structuredContent":null"#, "CallToolResult"),
            (r#""resultType":"input_required","requestState":"s""#, "InputRequiredResult"),
            (r#""tools":[],"ttlMs":5"#, "CustomResult"),
            (r#""content":[{"type":"hologram"}]"#, "CustomResult"),
            ("", "EmptyResult"),
        ] {
            let result = result(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{{members}}}}}"#));
            assert!(format!("{result:?}").starts_with(expected), "{result:?}");
        }
    }

    #[test]
    fn a_malformed_message_is_refused() {
        for line in [
            r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            "[]",
        ] {
            assert!(read::<RoleClient>(line.as_bytes()).is_err(), "{line}");
        }
    }
}
