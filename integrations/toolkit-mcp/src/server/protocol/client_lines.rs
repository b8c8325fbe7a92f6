//! Messages of clients over lines.

use super::raw_arguments::call;
use crate::line_transport::{LineFault, LineFaultKind, LineRole, read_by_method};
use crate::unsent::Unsent;
use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotification, ClientNotification, ClientRequest, ClientResult, CompleteRequest, DiscoverRequest,
    ErrorCode, ErrorData, InitializeRequest, InitializedNotification, ListToolsRequest, PingRequest,
    ProgressNotification, ReadResourceRequest, RequestId, ServerNotification, SubscriptionsListenRequest,
};

/// The limit in bytes.
pub(crate) const MAX_MESSAGE: usize = 16 << 20;

impl LineRole for RoleServer {
    type Reports = ();

    fn unsent((): &()) -> Unsent {
        Unsent::default()
    }

    fn request(method: &str, params: Option<&str>, line: &[u8]) -> serde_json::Result<ClientRequest> {
        if method == "tools/call"
            && let Some(call) = params.and_then(call)
        {
            return Ok(call.into());
        }
        read_by_method!(line, method,
            "completion/complete" => CompleteRequest,
            "initialize" => InitializeRequest,
            "ping" => PingRequest,
            "resources/read" => ReadResourceRequest,
            "server/discover" => DiscoverRequest,
            "subscriptions/listen" => SubscriptionsListenRequest,
            "tools/list" => ListToolsRequest,
        )
    }

    fn notification(method: &str, line: &[u8]) -> serde_json::Result<ClientNotification> {
        read_by_method!(line, method,
            "notifications/cancelled" => CancelledNotification,
            "notifications/initialized" => InitializedNotification,
            "notifications/progress" => ProgressNotification,
        )
    }

    fn result(result: &str) -> serde_json::Result<ClientResult> {
        serde_json::from_str(result)
    }

    fn cancelled(notification: &ServerNotification) -> Option<&RequestId> {
        match notification {
            ServerNotification::CancelledNotification(cancelled) => cancelled.params.request_id.as_ref(),
            _ => None,
        }
    }

    fn fault((): &(), _: &[u8], fault: LineFault) -> Option<(ErrorData, Option<RequestId>)> {
        let code = match fault.kind {
            LineFaultKind::NotJson => ErrorCode::PARSE_ERROR,
            LineFaultKind::TooLong | LineFaultKind::NotMessage => ErrorCode::INVALID_REQUEST,
        };
        Some((ErrorData::new(code, fault.error, None), fault.id))
    }
}

#[cfg(test)]
mod tests {
    use super::super::raw_arguments::RawArguments;
    use super::*;
    use crate::line_transport::read;
    use rmcp::model::JsonRpcMessage;

    fn request(line: &str) -> ClientRequest {
        let message = read::<RoleServer>(line.as_bytes()).expect(line);
        message.into_request().expect(line).0
    }

    #[test]
    fn a_call_keeps_the_text_of_its_arguments() {
        for (params, arguments) in [
            (r#"{"name":"add"}"#, None),
            (r#"{"name":"add","arguments":null}"#, None),
            (
                r#"{"arguments":{"b":1e400,"a":[1,{"c":"\u00e9"}]},"name":"\u0061dd"}"#,
                Some(r#"{"b":1e400,"a":[1,{"c":"\u00e9"}]}"#),
            ),
        ] {
            let line = format!(r#"{{"params":{params},"method":"tools/call","id":"one","jsonrpc":"2.0"}}"#);
            let ClientRequest::CallToolRequest(call) = request(&line) else { panic!("{line}") };
            assert_eq!(call.params.name, "add");
            let kept = call.extensions.get().map(RawArguments::as_str);
            assert_eq!(kept, arguments, "{line}");
        }
    }

    #[test]
    fn a_request_is_read_by_its_method() {
        for (method, params, expected) in [
            ("tools/call", r#"{"name":"add","_meta":{"progressToken":5}}"#, "CallToolRequest"),
            ("tools/call", r#"{"name":"add","arguments":[1]}"#, "CustomRequest"),
            ("tools/call", r#"{"name":5}"#, "CustomRequest"),
            ("tools/list", r#"{"cursor":"a"}"#, "ListToolsRequest"),
            (r"tools\/list", "{}", "ListToolsRequest"),
            ("prompts/list", "{}", "ListPromptsRequest"),
            ("no/such", "{}", "CustomRequest"),
        ] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
            let request = request(&line);
            assert!(format!("{request:?}").starts_with(expected), "{line}: {request:?}");
        }
        let line = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let message = read::<RoleServer>(line).expect("a notification");
        assert!(matches!(message, JsonRpcMessage::Notification(_)));
    }
}
