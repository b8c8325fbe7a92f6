//! Messages as lines of JSON over a pair of byte streams, for servers and clients.

use crate::error_data::read_error;
use crate::unsent::Unsent;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, JsonRpcVersion2_0, RequestId};
use rmcp::service::{RxJsonRpcMessage, ServiceRole, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde::de::{Error, IgnoredAny};
use serde_json::value::RawValue;
use serde_json::{from_slice, to_vec};
use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio::time::timeout;
use toolkit_core::CancellationToken;

/// The time for messages in writing after the end of the connection.
const CLOSING: Duration = Duration::from_secs(1);

/// The capacity that is kept between two lines, in bytes.
const KEPT_CAPACITY: usize = 1 << 16;

pub(crate) const MAX_BATCH: usize = 100;

/// The code of the error for each pending request after an overlong message. The protocol does not
/// use it.
pub(crate) const TOO_LARGE: ErrorCode = ErrorCode(-39_001);

/// The role of this program in a connection over lines.
pub(crate) trait LineRole: ServiceRole {
    type Reports: Send + 'static;

    fn unsent(reports: &Self::Reports) -> Unsent;

    fn request(method: &str, params: Option<&str>, line: &[u8]) -> serde_json::Result<Self::PeerReq>;

    fn notification(method: &str, line: &[u8]) -> serde_json::Result<Self::PeerNot>;

    fn result(result: &str) -> serde_json::Result<Self::PeerResp>;

    /// Returns the id of the request that a notification cancels.
    fn cancelled(notification: &Self::Not) -> Option<&RequestId>;

    /// Returns the error for a faulty line, with the id of its request. A server sends it; a client
    /// receives it in place of the line.
    fn fault(
        reports: &Self::Reports,
        line: &[u8],
        fault: LineFault,
    ) -> Option<(ErrorData, Option<RequestId>)>;

    /// Handles the failure of the reader.
    fn lost(_: &Self::Reports, _: &io::Error) {}
}

/// Reads the messages with a known method as the type of this method. The SDK tries each kind of
/// message in turn, so it reads only rare or malformed messages.
macro_rules! read_by_method {
    ($line:expr, $method:expr, $($name:literal => $kind:ty,)+) => {
        match $method {
            $($name => serde_json::from_slice::<$kind>($line).map(Into::into).or_else(|_| serde_json::from_slice($line)),)+
            _ => serde_json::from_slice($line),
        }
    };
}
pub(crate) use read_by_method;

pub(crate) struct LineFault {
    pub(crate) kind: LineFaultKind,
    pub(crate) error: String,
    pub(crate) id: Option<RequestId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineFaultKind {
    TooLong,
    NotJson,
    NotMessage,
}

/// The members of a message, with the text of its values.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(rename = "jsonrpc")]
    _jsonrpc: JsonRpcVersion2_0,
    id: Option<RequestId>,
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

pub(crate) fn read<Role: LineRole>(line: &[u8]) -> serde_json::Result<RxJsonRpcMessage<Role>> {
    let Envelope { id, method, params, result, error, .. } = from_slice(line)?;
    match (method, id, result, error) {
        (Some(method), Some(id), None, None) => {
            let request = Role::request(&method, params.map(RawValue::get), line)?;
            Ok(JsonRpcMessage::request(request, id))
        }
        (Some(method), None, None, None) => {
            Ok(JsonRpcMessage::notification(Role::notification(&method, line)?))
        }
        (None, Some(id), Some(result), None) => Ok(JsonRpcMessage::response(Role::result(result.get())?, id)),
        (None, id, None, Some(error)) => Ok(JsonRpcMessage::error(read_error(error.get())?, id)),
        _ => Err(Error::custom("neither a request nor a notification nor a response")),
    }
}

/// Returns the messages of a batch, a feature of protocol version 2025-03-26; `None` if the text is
/// no array, or has no elements or too many.
pub(crate) fn batch(text: &[u8]) -> Option<Vec<&RawValue>> {
    let is_array = text.trim_ascii_start().starts_with(b"[");
    // Ignored elements take no memory.
    let length = if is_array { from_slice::<Vec<IgnoredAny>>(text).ok()?.len() } else { 0 };
    if (1..=MAX_BATCH).contains(&length) { from_slice(text).ok() } else { None }
}

impl LineFault {
    fn new<Role: LineRole>(line: &[u8], error: &serde_json::Error) -> Self {
        #[derive(Deserialize)]
        struct Members {
            id: Option<RequestId>,
            method: Option<IgnoredAny>,
        }
        let kind = if error.is_data() { LineFaultKind::NotMessage } else { LineFaultKind::NotJson };
        let members: Option<Members> = from_slice(line).ok();
        // No request of a client waits for a request of its server.
        let answered = members.filter(|members| members.method.is_none() || !Role::IS_CLIENT);
        Self { kind, error: error.to_string(), id: answered.and_then(|members| members.id) }
    }
}

/// A reader of lines that keeps at most `limit` bytes of each.
pub(crate) struct LineReader<R> {
    reader: BufReader<R>,
    limit: usize,
    line: Vec<u8>,
    /// The length with the bytes beyond the limit.
    length: usize,
    is_complete: bool,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(reader: R, limit: usize) -> Self {
        Self { reader: BufReader::new(reader), limit, line: Vec::new(), length: 0, is_complete: false }
    }

    /// Reads the next line; `false` at the end. Cancel safe: dropping the future loses no bytes.
    pub(crate) async fn advance(&mut self) -> io::Result<bool> {
        if std::mem::take(&mut self.is_complete) {
            self.line.clear();
            self.line.shrink_to(KEPT_CAPACITY);
            self.length = 0;
        }
        loop {
            let available = self.reader.fill_buf().await?;
            let is_end = available.is_empty();
            let newline = available.iter().position(|byte| *byte == b'\n');
            let part = &available[..newline.unwrap_or(available.len())];
            let kept = part.len().min(self.limit - self.line.len());
            self.line.extend_from_slice(&part[..kept]);
            self.length += part.len();
            let consumed = part.len() + usize::from(newline.is_some());
            self.reader.consume(consumed);
            if newline.is_some() || is_end {
                self.is_complete = true;
                return Ok(newline.is_some() || self.length > 0);
            }
        }
    }

    fn replace(&mut self, message: &str) {
        self.line.clear();
        self.line.extend_from_slice(message.as_bytes());
        self.length = message.len();
    }

    /// Returns the kept bytes without surrounding white space.
    pub(crate) fn line(&self) -> &[u8] {
        self.line.trim_ascii()
    }

    /// Returns the message of the line; `None` if it is empty.
    fn message<Role: LineRole>(&self) -> Option<Result<RxJsonRpcMessage<Role>, LineFault>> {
        if self.length > self.limit {
            let error = format!("the message is longer than {} bytes", self.limit);
            return Some(Err(LineFault { kind: LineFaultKind::TooLong, error, id: None }));
        }
        let line = self.line();
        let text = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if text.is_empty() {
            return None;
        }
        Some(read::<Role>(text).map_err(|error| LineFault::new::<Role>(text, &error)))
    }
}

/// A transport over a pair of byte streams, with one message in each line. A faulty line does not
/// end the connection. An overlong line may be the response to any pending request, so each of them
/// ends with an error.
pub(crate) struct LineTransport<Role: LineRole, R, W> {
    reader: LineReader<R>,
    writer: Arc<Mutex<Option<W>>>,
    unsent: Unsent,
    /// Cancelled when unsent messages are abandoned.
    abandoned: CancellationToken,
    reports: Role::Reports,
    batch: VecDeque<Box<RawValue>>,
    pending: HashSet<RequestId>,
    /// The requests that an overlong line ends.
    failed: Vec<RequestId>,
}

impl<Role: LineRole, R: AsyncRead + Unpin, W> LineTransport<Role, R, W> {
    pub(crate) fn new(reader: R, writer: W, limit: usize, reports: Role::Reports) -> Self {
        Self {
            reader: LineReader::new(reader, limit),
            writer: Arc::new(Mutex::new(Some(writer))),
            unsent: Role::unsent(&reports),
            abandoned: CancellationToken::new(),
            reports,
            batch: VecDeque::new(),
            pending: HashSet::new(),
            failed: Vec::new(),
        }
    }
}

impl<Role, R, W> Transport<Role> for LineTransport<Role, R, W>
where
    Role: LineRole,
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<Role>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        match &message {
            JsonRpcMessage::Request(request) => drop(self.pending.insert(request.id.clone())),
            JsonRpcMessage::Notification(notification) => {
                if let Some(id) = Role::cancelled(&notification.notification) {
                    self.pending.remove(id);
                }
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        let writer = self.writer.clone();
        // A client counts the requests of the server, but not its own: the server may wait until it
        // reads.
        let counted = if Role::IS_CLIENT { None } else { Some(self.unsent.count()) };
        let abandoned = self.abandoned.clone();
        let sending = async move {
            let _counted = counted;
            let mut line = to_vec(&message)?;
            line.push(b'\n');
            drop(message);
            let mut locked = writer.lock().await;
            let open = locked.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            open.write_all(&line).await?;
            open.flush().await
        };
        async move {
            let sent = abandoned.run_until_cancelled(sending).await;
            sent.unwrap_or_else(|| Err(io::ErrorKind::NotConnected.into()))
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<Role>> {
        loop {
            if let Some(id) = self.failed.pop() {
                let error = ErrorData::new(TOO_LARGE, "a message is too large", None);
                return Some(JsonRpcMessage::error(error, Some(id)));
            }
            self.unsent.has_room().await;
            if let Some(message) = self.batch.pop_front() {
                self.reader.replace(message.get());
            } else {
                match self.reader.advance().await {
                    Ok(true) => {}
                    Ok(false) => return None,
                    Err(error) => {
                        Role::lost(&self.reports, &error);
                        return None;
                    }
                }
                if let Some(messages) = batch(self.reader.line()) {
                    self.batch = messages.into_iter().map(RawValue::to_owned).collect();
                    continue;
                }
            }
            let fault = match self.reader.message::<Role>() {
                None => continue,
                Some(Ok(message)) => {
                    let answered = match &message {
                        JsonRpcMessage::Response(response) => Some(&response.id),
                        JsonRpcMessage::Error(error) => error.id.as_ref(),
                        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
                    };
                    answered.map(|id| self.pending.remove(id));
                    return Some(message);
                }
                Some(Err(fault)) => fault,
            };
            if fault.kind == LineFaultKind::TooLong {
                self.failed.extend(self.pending.drain());
            }
            let Some((error, id)) = Role::fault(&self.reports, self.reader.line(), fault) else { continue };
            if Role::IS_CLIENT {
                return Some(JsonRpcMessage::error(error, id));
            }
            // The future of the reader may be dropped.
            tokio::spawn(self.send(JsonRpcMessage::error(error, id)));
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // Writing may never end if the other side does not read.
        let Ok(mut locked) = timeout(CLOSING, self.writer.lock()).await else {
            self.abandoned.cancel();
            return Ok(());
        };
        if let Some(mut writer) = locked.take() {
            let _ = timeout(CLOSING, writer.shutdown()).await;
        }
        Ok(())
    }
}

#[cfg(feature = "server")]
#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::RoleServer;
    use serde_json::{Value, from_str, json, to_value};
    use tokio::io::{AsyncReadExt, duplex, split};

    /// Sends bytes to a server in pieces, and returns the received messages and the errors that were sent back.
    async fn receive(bytes: &[u8], limit: usize) -> (Vec<Value>, Vec<Value>) {
        let (near, far) = duplex(1 << 16);
        let (reader, writer) = split(near);
        let mut transport = LineTransport::<RoleServer, _, _>::new(reader, writer, limit, ());
        let (mut answers, mut requests) = split(far);
        for piece in bytes.chunks(7) {
            requests.write_all(piece).await.expect("a reader");
        }
        requests.shutdown().await.expect("a reader");
        let mut messages = Vec::new();
        while let Some(message) = transport.receive().await {
            messages.push(to_value(message).expect("JSON"));
        }
        tokio::task::yield_now().await;
        transport.close().await.expect("an open transport");
        let mut errors = String::new();
        answers.read_to_string(&mut errors).await.expect("text");
        (messages, errors.lines().map(|line| from_str(line).expect("JSON")).collect())
    }

    #[tokio::test]
    async fn faulty_lines_are_answered_and_the_next_messages_are_received() {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let long = "x".repeat(200);
        let text = format!("Hello\n\n\u{feff}{ping}\r\n{long}\n{{\"id\":5,\"method\":\"ping\"}}\n{ping}");
        let (messages, errors) = receive(text.as_bytes(), 100).await;
        let methods: Vec<_> = messages.iter().map(|message| &message["method"]).collect();
        assert_eq!(methods, ["ping", "ping"]);
        let codes: Vec<_> = errors.iter().map(|error| json!([error["error"]["code"], error["id"]])).collect();
        assert_eq!(codes, [json!([-32_700, null]), json!([-32_600, null]), json!([-32_600, 5])]);
        assert_eq!(errors[1]["error"]["message"], "the message is longer than 100 bytes");
    }

    #[tokio::test]
    async fn a_line_is_cut_at_the_limit() {
        let mut lines = LineReader::new(&b"a\n  long line  \n\nend"[..], 8);
        let mut read = Vec::new();
        while lines.advance().await.expect("no failure") {
            read.push(String::from_utf8_lossy(lines.line()).into_owned());
        }
        assert_eq!(read, ["a", "long l", "", "end"]);
    }
}
