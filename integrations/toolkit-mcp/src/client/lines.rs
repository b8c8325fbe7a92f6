//! Messages as lines of JSON over a pair of byte streams.

use super::event::McpEvent;
use super::scan::{Envelope, EnvelopeScanner};
use super::wire::Wire;
use rmcp::RoleClient;
use rmcp::model::{
    CallToolResult, ContentBlock, ErrorCode, ErrorData, JsonRpcMessage, JsonRpcVersion2_0, MetaObject,
    RequestId, ResultType,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio::time::timeout;

/// The code of the error that replaces an oversized answer. The protocol does not use this code.
pub(super) const TOO_LARGE: ErrorCode = ErrorCode(-39_001);

/// The code of the error that replaces a malformed answer.
pub(super) const INVALID: ErrorCode = ErrorCode(-39_002);

/// The maximum number of bytes of an invalid message that an event contains.
const SHOWN: usize = 256;

/// The time that a closing transport waits for the end of a write in progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// A transport over a pair of byte streams, with one message per line.
///
/// The transport skips a line if the line is too long or is not a message. If the skipped line answers a
/// request, the transport delivers an error for this request.
pub(super) struct Lines<R, W> {
    reader: BufReader<R>,
    line: Line,
    writer: Arc<Mutex<Option<W>>>,
    wire: Arc<Wire>,
}

/// The line being read.
struct Line {
    limit: usize,
    /// The bytes of the line. Empty if the line is too long.
    bytes: Vec<u8>,
    /// For a line that is too long: the number of bytes so far, and the scanner for its id. `None` for any other line.
    excess: Option<(usize, EnvelopeScanner)>,
}

impl Line {
    fn push(&mut self, bytes: &[u8]) {
        if let Some((length, scanner)) = &mut self.excess {
            *length += bytes.len();
            scanner.feed(bytes);
        } else if self.bytes.len().saturating_add(bytes.len()) > self.limit {
            let mut scanner = EnvelopeScanner::default();
            let known = std::mem::take(&mut self.bytes);
            scanner.feed(&known);
            scanner.feed(bytes);
            self.excess = Some((known.len() + bytes.len(), scanner));
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Ends the line and returns the message. If the line is an answer that is too large or malformed,
    /// returns an error response to its request instead.
    fn end(&mut self, wire: &Wire) -> Option<RxJsonRpcMessage<RoleClient>> {
        let bytes = std::mem::take(&mut self.bytes);
        let (text, error, code, envelope) = match self.excess.take() {
            Some((length, scanner)) => {
                let error = format!("the message has {length} bytes, more than {}", self.limit);
                (String::new(), error, TOO_LARGE, scanner.end())
            }
            None => {
                let line = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes).trim_ascii();
                if line.is_empty() {
                    return None;
                }
                match read(line) {
                    Ok(message) => return Some(message),
                    Err(error) => {
                        let mut scanner = EnvelopeScanner::default();
                        scanner.feed(line);
                        let text = String::from_utf8_lossy(&line[..line.len().min(SHOWN)]).into_owned();
                        (text, error.to_string(), INVALID, scanner.end())
                    }
                }
            }
        };
        wire.emit(McpEvent::InvalidMessage { text, error: error.clone() });
        match envelope {
            Envelope { id: Some(id), has_method: false } => {
                Some(JsonRpcMessage::error(ErrorData::new(code, error, None), Some(id)))
            }
            _ => None,
        }
    }
}

/// Parses one message. The SDK would buffer every line, and would try each kind of message in turn. To avoid both, a
/// call result in its usual form is parsed directly. The SDK parses every other line.
fn read(line: &[u8]) -> Result<RxJsonRpcMessage<RoleClient>, serde_json::Error> {
    if let Ok(line) = serde_json::from_slice::<ResultLine>(line) {
        return Ok(line.into_message());
    }
    if let Ok(mut message) = serde_json::from_slice(line)
        && correct(&mut message)
    {
        return serde_json::from_value(message);
    }
    serde_json::from_slice(line)
}

/// Corrects two frequent mistakes in a response: `"error": null` beside the result, and `[]`, which PHP writes for an
/// empty object, among the capabilities. Returns whether the message has changed.
fn correct(message: &mut Value) -> bool {
    let Some(members) = message.as_object_mut().filter(|members| members.contains_key("result")) else {
        return false;
    };
    let mut is_changed = members.get("error").is_some_and(Value::is_null);
    members.retain(|name, member| name != "error" || !member.is_null());
    let mut to_object = |value: &mut Value| {
        if value.as_array().is_some_and(Vec::is_empty) {
            *value = Value::Object(Map::new());
            is_changed = true;
        }
    };
    if let Some(capabilities) = message.pointer_mut("/result/capabilities") {
        to_object(capabilities);
        capabilities.as_object_mut().into_iter().flat_map(Map::values_mut).for_each(to_object);
    }
    is_changed
}

/// A line with the result of a call.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResultLine {
    #[serde(rename = "jsonrpc")]
    _jsonrpc: JsonRpcVersion2_0,
    id: RequestId,
    result: PlainResult,
}

/// The result of a call in its usual form: it has `content` and only these members. No other kind of result
/// has `content`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PlainResult {
    result_type: Option<Complete>,
    content: Vec<ContentBlock>,
    #[serde(default, deserialize_with = "present")]
    structured_content: Option<Value>,
    is_error: Option<bool>,
    #[serde(rename = "_meta")]
    meta: Option<MetaObject>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Complete {
    Complete,
}

/// Reads a member, even if its value is `null`. Serde calls this function only if the member is present.
fn present<'de, D: Deserializer<'de>>(member: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(member).map(Some)
}

impl ResultLine {
    fn into_message(self) -> RxJsonRpcMessage<RoleClient> {
        let mut result = CallToolResult::success(self.result.content);
        result.result_type = self.result.result_type.map(|Complete::Complete| ResultType::COMPLETE);
        result.structured_content = self.result.structured_content;
        (result.is_error, result.meta) = (self.result.is_error, self.result.meta);
        JsonRpcMessage::response(result.into(), self.id)
    }
}

impl<R: AsyncRead + Unpin, W> Lines<R, W> {
    /// Creates a transport for messages of at most `limit` bytes.
    pub(super) fn new(reader: R, writer: W, limit: usize, wire: Arc<Wire>) -> Self {
        let line = Line { limit, bytes: Vec::new(), excess: None };
        Self { reader: BufReader::new(reader), line, writer: Arc::new(Mutex::new(Some(writer))), wire }
    }
}

impl<R, W> Transport<RoleClient> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let writer = self.writer.clone();
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut writer = writer.lock().await;
            let writer = writer.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            writer.write_all(&line).await?;
            writer.flush().await
        }
    }

    /// Reads the next message. This method is cancel safe: dropping the future loses no data.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let available = match self.reader.fill_buf().await {
                Ok([]) => return None,
                Ok(available) => available,
                Err(error) => {
                    self.wire.ends_because(format!("reading from the server failed: {error}"));
                    return None;
                }
            };
            let end = available.iter().position(|byte| *byte == b'\n');
            let length = end.unwrap_or(available.len());
            self.line.push(&available[..length]);
            self.reader.consume(length + usize::from(end.is_some()));
            if end.is_some()
                && let Some(message) = self.line.end(&self.wire)
            {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // If the server does not read, writing a message may never end.
        if let Ok(mut writer) = timeout(PATIENCE, self.writer.lock()).await
            && let Some(mut writer) = writer.take()
        {
            let _ = timeout(PATIENCE, writer.shutdown()).await;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::broadcast;

    fn lines(text: &[u8], limit: usize) -> (Vec<String>, Vec<String>) {
        let (events, mut received) = broadcast::channel(16);
        let wire = Wire::new(events);
        let mut line = Line { limit, bytes: Vec::new(), excess: None };
        let mut messages = Vec::new();
        for bytes in text.split(|byte| *byte == b'\n') {
            bytes.chunks(3).for_each(|bytes| line.push(bytes));
            let message = line.end(&wire);
            messages.extend(message.map(|message| serde_json::to_string(&message).expect("JSON")));
        }
        let mut errors = Vec::new();
        while let Ok(McpEvent::InvalidMessage { text, error }) = received.try_recv() {
            errors.push(format!("{text}: {error}"));
        }
        (messages, errors)
    }

    #[test]
    fn garbage_between_messages_is_reported_and_ignored() {
        let text = b"Server started\n\n\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n\xff\xfe";
        let (messages, errors) = lines(text, 100);
        assert_eq!(messages, [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert!(errors[0].starts_with("Server started: expected value"), "{errors:?}");
    }

    #[test]
    fn an_answer_that_is_too_long_becomes_an_error_of_its_request() {
        let long = format!(r#"{{"result":{{"id":9,"text":"{}"}},"jsonrpc":"2.0","id":7}}"#, "x".repeat(100));
        let text = format!("{long}\n{}", r#"{"jsonrpc":"2.0","id":8,"result":{}}"#);
        let (messages, errors) = lines(text.as_bytes(), 100);
        let error = "the message has 152 bytes, more than 100";
        let first = format!(r#"{{"jsonrpc":"2.0","id":7,"error":{{"code":-39001,"message":"{error}"}}}}"#);
        assert_eq!(messages, [&first, r#"{"jsonrpc":"2.0","id":8,"result":{}}"#]);
        assert_eq!(errors, [format!(": {error}")]);
    }

    #[test]
    fn an_answer_that_is_malformed_becomes_an_error_of_its_request() {
        let text = br#"{"jsonrpc":"1.0","id":"a","result":5}"#;
        let (messages, errors) = lines(text, 1_000);
        assert!(
            messages[0].starts_with(r#"{"jsonrpc":"2.0","id":"a","error":{"code":-39002"#),
            "{messages:?}"
        );
        assert_eq!(errors.len(), 1);
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
            (
                r#"{"jsonrpc":"2.0","error":null,"id":1,"result":{"content":[]}}"#.to_owned(),
                r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#.to_owned(),
            ),
            (initialized(r#"{"tools":{},"logging":[]}"#), initialized(r#"{"tools":{},"logging":{}}"#)),
            (initialized(r#"{"tools":[],"prompts":[]}"#), initialized(r#"{"tools":{},"prompts":{}}"#)),
            (initialized("[]"), initialized("{}")),
        ] {
            let [line, correct] = [line, correct].map(|line| read(line.as_bytes()).expect(&line));
            assert_eq!(format!("{line:?}"), format!("{correct:?}"));
        }
    }

    #[test]
    fn a_result_is_read_as_the_sdk_reads_it() {
        let members = [
            r#""content":[]"#,
            r#""content":[{"type":"text","text":"a\u00e9"},{"type":"image","mimeType":"image/png","data":"aGk="}]"#,
            r#""content":[{"type":"text","text":"a","annotations":{"priority":0.5},"_meta":{"a":1}}],"isError":true"#,
            r#""content":[{"type":"resource","resource":{"uri":"a:b","text":"t"}}],"structuredContent":null"#,
            r#""content":[],"structuredContent":{"n":1e400}"#,
            r#""content":[],"structuredContent":{"n":1.5},"resultType":"complete","_meta":{"a":[]},"isError":null"#,
            r#""content":[],"resultType":"input_required","requestState":"s""#,
            r#""content":[],"resultType":"task""#,
            r#""content":null,"isError":false"#,
            r#""content":[{"type":"hologram"}]"#,
            r#""content":[],"tools":[]"#,
            r#""content":[],"action":"accept""#,
            r#""content":[],"content":[]"#,
            r#""structuredContent":[1]"#,
            r#""tools":[],"ttlMs":5"#,
            "",
        ];
        let messages = [
            r#"{"jsonrpc":"2.0","id":1,"result":{RESULT}}"#,
            r#"{"result":{RESULT},"id":"one","jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{RESULT},"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{RESULT},"error":{"code":1,"message":""}}"#,
            r#"{"jsonrpc":"2.0","id":null,"result":{RESULT}}"#,
            r#"{"id":1,"result":{RESULT}}"#,
        ];
        for message in messages {
            for members in members {
                let line = message.replace("RESULT", members);
                let sdk: Option<RxJsonRpcMessage<RoleClient>> = serde_json::from_str(&line).ok();
                assert_eq!(format!("{:?}", read(line.as_bytes()).ok()), format!("{sdk:?}"), "{line}");
            }
        }
    }
}
