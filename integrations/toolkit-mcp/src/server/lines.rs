//! The transport over streams of bytes: one JSON-RPC message per line.
//!
//! The transport stores the arguments of each call as the client wrote them, so that the decoder sees the exact
//! numbers. It also stops reading while a slow client leaves responses unread.

use super::arguments::{RawArguments, raw_arguments};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequest, CallToolRequestMethod, CallToolRequestParams, ClientRequest, ErrorData, InputResponses,
    JsonObject, JsonRpcMessage, JsonRpcVersion2_0, RequestId, RequestMetaObject,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{Mutex, Notify};
use tokio::time::timeout;
use toolkit_core::CancellationToken;

/// The maximum size of a message, in bytes.
const MAX_MESSAGE: usize = 16 << 20;

/// The number of unsent messages at which the transport stops reading.
const MAX_UNSENT: usize = 256;

/// The time for unsent messages after the end of the connection.
const CLOSING: Duration = Duration::from_secs(1);

pub(super) struct LineTransport<R, W> {
    read: BufReader<R>,
    line: Vec<u8>,
    /// Whether the rest of a line beyond the maximum size is being skipped.
    is_skipping: bool,
    write: Arc<Mutex<Option<W>>>,
    unsent: Arc<Unsent>,
    /// Cancelled when unsent messages are abandoned.
    abandoned: CancellationToken,
}

/// The number of messages that are not written yet.
#[derive(Default)]
struct Unsent {
    count: AtomicUsize,
    written: Notify,
}

/// Counts one message as unsent while this guard exists.
struct UnsentGuard(Arc<Unsent>);

impl Drop for UnsentGuard {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::AcqRel);
        self.0.written.notify_one();
    }
}

/// The outcome of an attempt to read a line.
enum Line {
    Complete,
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> LineTransport<R, W> {
    pub(super) fn new(read: R, write: W) -> Self {
        Self {
            read: BufReader::new(read),
            line: Vec::new(),
            is_skipping: false,
            write: Arc::new(Mutex::new(Some(write))),
            unsent: Arc::default(),
            abandoned: CancellationToken::new(),
        }
    }

    /// Reads the next line into `self.line`. This method is cancel safe: dropping the future loses no bytes.
    async fn read_line(&mut self) -> io::Result<Line> {
        loop {
            let available = self.read.fill_buf().await?;
            if available.is_empty() {
                return Ok(if self.line.is_empty() { Line::End } else { Line::Complete });
            }
            let newline = available.iter().position(|byte| *byte == b'\n');
            let taken = newline.unwrap_or(available.len());
            let was_skipping = self.is_skipping;
            if !was_skipping {
                if self.line.len() + taken > MAX_MESSAGE {
                    self.is_skipping = true;
                    self.line.clear();
                } else {
                    self.line.extend_from_slice(available.get(..taken).unwrap_or_default());
                }
            }
            self.read.consume(taken + usize::from(newline.is_some()));
            if newline.is_some() {
                if !std::mem::take(&mut self.is_skipping) {
                    return Ok(Line::Complete);
                }
                return Ok(Line::TooLong);
            }
        }
    }

    /// Sends an error in a separate task, because the future of the reader may be dropped.
    fn answer(&mut self, error: ErrorData, id: Option<RequestId>) {
        tokio::spawn(self.send(JsonRpcMessage::error(error, id)));
    }
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> Transport<RoleServer>
    for LineTransport<R, W>
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let write = self.write.clone();
        self.unsent.count.fetch_add(1, Ordering::AcqRel);
        let guard = UnsentGuard(self.unsent.clone());
        let abandoned = self.abandoned.clone();
        let sending = async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            drop(message);
            let mut write = write.lock().await;
            let Some(write) = write.as_mut() else { return Err(io::ErrorKind::NotConnected.into()) };
            write.write_all(&line).await?;
            write.flush().await?;
            drop(guard);
            Ok(())
        };
        async move {
            abandoned
                .run_until_cancelled(sending)
                .await
                .unwrap_or_else(|| Err(io::ErrorKind::NotConnected.into()))
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            while self.unsent.count.load(Ordering::Acquire) >= MAX_UNSENT {
                self.unsent.written.notified().await;
            }
            match self.read_line().await {
                Ok(Line::Complete) => {}
                Ok(Line::TooLong) => {
                    let message = format!("the message is longer than {MAX_MESSAGE} bytes");
                    self.answer(ErrorData::invalid_request(message, None), None);
                    continue;
                }
                Ok(Line::End) | Err(_) => return None,
            }
            let line = std::mem::take(&mut self.line);
            let parsed = parse(&line);
            self.line = line;
            self.line.clear();
            match parsed {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(refusal) => self.answer(refusal.error, refusal.id),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // A client that reads nothing would keep the lock for ever.
        match timeout(CLOSING, self.write.lock()).await {
            Ok(mut write) => drop(write.take()),
            Err(_) => self.abandoned.cancel(),
        }
        Ok(())
    }
}

/// Parses one line. Returns `None` for an empty line.
fn parse(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Box<Refusal>> {
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    if line.is_empty() {
        return Ok(None);
    }
    if let Ok(call) = serde_json::from_slice::<CallLine<'_>>(line)
        && call.has_object()
    {
        return Ok(Some(call.into_message()));
    }
    let mut message: RxJsonRpcMessage<RoleServer> =
        serde_json::from_slice(line).map_err(|error| Box::new(Refusal::of(line, &error)))?;
    if let JsonRpcMessage::Request(request) = &mut message
        && let ClientRequest::CallToolRequest(call) = &mut request.request
        && let Some(arguments) = raw_arguments(line)
    {
        call.params.arguments = None;
        call.extensions.insert(RawArguments(arguments));
    }
    Ok(Some(message))
}

/// A message with a call. The SDK would buffer every line, and would try each kind of message in turn. To avoid both, a
/// call in its usual form is parsed directly. The SDK parses a message with other members.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallLine<'a> {
    #[serde(rename = "jsonrpc")]
    _jsonrpc: JsonRpcVersion2_0,
    id: RequestId,
    #[serde(rename = "method")]
    _method: CallToolRequestMethod,
    #[serde(borrow)]
    params: CallParams<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallParams<'a> {
    #[serde(rename = "_meta")]
    meta: Option<JsonObject>,
    name: String,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    input_responses: Option<InputResponses>,
    request_state: Option<String>,
}

impl CallLine<'_> {
    /// Returns the name of the called tool.
    #[cfg(feature = "server-http")]
    pub(super) fn name(&self) -> &str {
        &self.params.name
    }

    /// Returns the `_meta` of the call.
    #[cfg(feature = "server-http")]
    pub(super) fn meta(&self) -> Option<&JsonObject> {
        self.params.meta.as_ref()
    }

    /// Returns whether the arguments are an object or missing.
    pub(super) fn has_object(&self) -> bool {
        self.params.arguments.is_none_or(|arguments| arguments.get().starts_with('{'))
    }

    pub(super) fn into_message(self) -> RxJsonRpcMessage<RoleServer> {
        let CallParams { meta, name, arguments, input_responses, request_state } = self.params;
        let mut params = CallToolRequestParams::new(name);
        (params.input_responses, params.request_state) = (input_responses, request_state);
        let mut call = CallToolRequest::new(params);
        if let Some(meta) = meta {
            call.extensions.insert(RequestMetaObject::from(meta));
        }
        if let Some(arguments) = arguments {
            call.extensions.insert(RawArguments(arguments.get().into()));
        }
        JsonRpcMessage::request(call.into(), self.id)
    }
}

/// The error for a line that is not a message, and the id of the request if the line contains an id.
struct Refusal {
    error: ErrorData,
    id: Option<RequestId>,
}

impl Refusal {
    fn of(line: &[u8], error: &serde_json::Error) -> Self {
        #[derive(Deserialize)]
        struct Identified {
            id: Option<RequestId>,
        }
        let (error, id) = match serde_json::from_slice::<Identified>(line) {
            Ok(Identified { id }) => {
                (ErrorData::invalid_request("the message is not a valid request", None), id)
            }
            Err(_) if error.is_data() => {
                (ErrorData::invalid_request("the message is not a request", None), None)
            }
            Err(_) => (ErrorData::parse_error("the message is not JSON", None), None),
        };
        Self { error, id }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a line with the SDK and with this transport, and returns both messages as text. The second message has
    /// its arguments parsed from the stored text.
    fn read(line: &str) -> (Option<String>, Option<String>) {
        let sdk: Option<RxJsonRpcMessage<RoleServer>> = serde_json::from_str(line).ok();
        let own = parse(line.as_bytes()).ok().flatten().map(|mut message| {
            if let JsonRpcMessage::Request(request) = &mut message
                && let ClientRequest::CallToolRequest(call) = &mut request.request
            {
                let kept: Option<RawArguments> = call.extensions.remove();
                call.params.arguments =
                    kept.map(|RawArguments(text)| serde_json::from_str(&text).expect("an object"));
            }
            message
        });
        (sdk.map(|message| format!("{message:?}")), own.map(|message| format!("{message:?}")))
    }

    #[test]
    fn a_call_is_read_as_the_sdk_reads_it() {
        let params = [
            r#"{"name":"add"}"#,
            r#"{"name":"add","arguments":null}"#,
            r#"{"arguments":{"a":[1,{"b":"\u00e9\""}]},"name":"\u0061dd"}"#,
            r#"{"name":"add","arguments":{},"_meta":{"progressToken":5,"a/b":{"c":null}}}"#,
            r#"{"name":"add","_meta":null,"other":[1,2]}"#,
            r#"{"name":"add","requestState":"s","inputResponses":{"k":{"action":"accept","content":{"a":1}}}}"#,
            r#"{"name":"add","arguments":[1]}"#,
            r#"{"name":"add","arguments":"text"}"#,
            r#"{"name":5}"#,
            r#"{"arguments":{}}"#,
            "null",
            "[]",
        ];
        let messages = [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":PARAMS}"#,
            r#"{"params":PARAMS,"method":"tools/call","id":"one","jsonrpc":"2.0"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":PARAMS,"more":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":PARAMS,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":PARAMS,"error":null}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"tools/call","params":PARAMS}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":PARAMS}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":PARAMS}"#,
            r#"{"jsonrpc":"2.0","method":"tools/call","params":PARAMS}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":PARAMS}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":PARAMS}"#,
        ];
        for message in messages {
            for params in params {
                let line = message.replace("PARAMS", params);
                let (sdk, own) = read(&line);
                assert_eq!(own, sdk, "{line}");
            }
        }
    }
}
