//! The messages of a call: a line of JSON and the text of the arguments, answered by frames of one byte for
//! their kind and a body.

use crate::subjects::NamespaceVersion;
use bytes::{BufMut, Bytes, BytesMut};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use toolkit_core::context::{ToolActions, TraceContext};
use toolkit_core::events::ToolEvent;
use toolkit_core::output::serde::tool_output;
use toolkit_core::redaction::{Redactor, Unread};
use toolkit_core::{ToolError, ToolOutput};

/// The bytes of a message that are not the body of a chunk.
const OVERHEAD: usize = 1_024;

/// The length beyond which results get their own thread, so that signs of life do not wait.
pub(crate) const LARGE: usize = 256 * 1_024;

/// Describes a call to a worker, beside its arguments.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct CallHead<'a> {
    /// The name of the tool on the worker.
    #[serde(borrow)]
    pub(crate) tool: Cow<'a, str>,
    /// The id of the call, the same each time that it is sent.
    #[serde(borrow)]
    pub(crate) id: Cow<'a, str>,
    /// The milliseconds until the deadline. No clock is compared with another.
    pub(crate) left_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<Cow<'a, str>>,
    /// A signed token that says who calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<TraceContext>,
    /// A secret by which a ledger recognizes the calls of an anonymous caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) owner: Option<Cow<'a, str>>,
}

impl<'a> CallHead<'a> {
    /// Writes a line with the head, and the arguments.
    pub(crate) fn write(&self, arguments: &str) -> serde_json::Result<Bytes> {
        let mut message = Vec::with_capacity(arguments.len() + 160);
        serde_json::to_writer(&mut message, self)?;
        message.push(b'\n');
        message.extend_from_slice(arguments.as_bytes());
        Ok(message.into())
    }

    pub(crate) fn read(message: &'a [u8]) -> Option<(Self, &'a str)> {
        let (head, arguments) = std::str::from_utf8(message).ok()?.split_once('\n')?;
        Some((serde_json::from_str(head).ok()?, arguments))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Refusal {
    Full,
    Draining,
    /// The worker was paused, so the call may be old.
    Stalled,
    /// The worker does not serve this version of the namespace, or the message is malformed.
    NotServed,
    LedgerDown,
    /// The caller is not who it says.
    Denied(String),
    IdTaken,
    /// The call is claimed, and its outcome unknown: the worker was lost, or has stopped it.
    ClaimLost,
    Running,
    /// The worker does not run the call. Whatever it has sent about it was sent before.
    NotRunning,
    Stopped,
    NoSuchCall,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
struct OutputForm(#[serde(with = "tool_output")] ToolOutput);

/// The end of a call, as sent and as the ledger stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CallOutcome {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    output: Option<OutputForm>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<ToolError>,
    #[serde(default, skip_serializing_if = "ToolActions::is_empty")]
    pub(crate) actions: ToolActions,
}

impl CallOutcome {
    pub(crate) fn new(outcome: Result<ToolOutput, ToolError>, actions: ToolActions) -> Self {
        match outcome {
            Ok(output) => Self { output: Some(OutputForm(output)), error: None, actions },
            Err(error) => Self { output: None, error: Some(error), actions },
        }
    }

    /// Returns the output or the error; `None` without either.
    pub(crate) fn into_result(self) -> Option<Result<ToolOutput, ToolError>> {
        match self {
            Self { error: Some(error), .. } => Some(Err(error)),
            Self { output: Some(OutputForm(output)), .. } => Some(Ok(output)),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Frame {
    /// The worker still runs the call.
    Beat,
    Refused(Refusal),
    /// The finished fraction, and a message for users.
    Progress(f64, String),
    /// An event of the call in the worker's dispatcher.
    Event(Box<ToolEvent>),
    /// A part of a body that is longer than a message may be, with its number.
    Chunk(u32, Bytes),
    /// The last part of a body, with the number of chunks before it.
    End(u32, Bytes),
}

impl Frame {
    pub(crate) fn write(&self) -> Bytes {
        match self {
            Self::Beat => Bytes::from_static(b"~"),
            Self::Refused(refusal) => json(b'-', refusal),
            Self::Progress(fraction, message) => json(b'%', &(fraction, message)),
            Self::Event(event) => json(b'!', event),
            Self::Chunk(number, body) => part(b'+', *number, body),
            Self::End(chunks, body) => part(b'=', *chunks, body),
        }
    }

    /// Reads a frame. [`read_json`] reads the joined parts of a body.
    pub(crate) fn read(message: &Bytes, redactor: &Redactor) -> Option<Self> {
        let body = message.get(1..)?;
        Some(match message[0] {
            b'~' => Self::Beat,
            b'-' => Self::Refused(read_json(body, redactor)?),
            b'%' => {
                let (fraction, message) = read_json(body, redactor)?;
                Self::Progress(fraction, message)
            }
            b'!' => Self::Event(read_json(body, redactor)?),
            kind @ (b'+' | b'=') => {
                let number = u32::from_be_bytes(body.get(..4)?.try_into().ok()?);
                let body = message.slice(5..);
                if kind == b'+' { Self::Chunk(number, body) } else { Self::End(number, body) }
            }
            _ => return None,
        })
    }
}

/// Reads another program's message, without the secrets of this one.
pub(crate) fn read_json<T: DeserializeOwned>(body: &[u8], redactor: &Redactor) -> Option<T> {
    if redactor.is_empty() {
        return serde_json::from_slice(body).ok();
    }
    serde_json::from_str(Unread::new(body).text(redactor).as_str()).ok()
}

fn json(kind: u8, body: &impl Serialize) -> Bytes {
    let mut bytes = vec![kind];
    bytes.extend_from_slice(&serde_json::to_vec(body).unwrap_or_default());
    Bytes::from(bytes)
}

fn part(kind: u8, number: u32, body: &[u8]) -> Bytes {
    let mut bytes = BytesMut::with_capacity(body.len() + 5);
    bytes.put_u8(kind);
    bytes.put_u32(number);
    bytes.put_slice(body);
    bytes.freeze()
}

/// Splits a body into frames that fit a message.
pub(crate) fn frames_of(body: &Bytes, max_payload: usize) -> impl Iterator<Item = Frame> {
    let length = max_payload.saturating_sub(OVERHEAD).max(OVERHEAD);
    let chunks = body.len().saturating_sub(1) / length;
    (0..=chunks).map(move |number| frame_of(body, number, chunks, length))
}

/// Returns the frame with this number. All but the last have this length.
fn frame_of(body: &Bytes, number: usize, chunks: usize, length: usize) -> Frame {
    let start = number * length;
    let part = body.slice(start..body.len().min(start + length));
    let count = u32::try_from(number).unwrap_or(u32::MAX);
    if number == chunks { Frame::End(count, part) } else { Frame::Chunk(count, part) }
}

/// The chunks of a body that have arrived.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    parts: Vec<Bytes>,
    length: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AssemblyFault {
    Gap,
    TooLong,
}

impl Assembly {
    pub(crate) fn add(&mut self, number: u32, part: Bytes, limit: usize) -> Result<(), AssemblyFault> {
        if usize::try_from(number).ok() != Some(self.parts.len()) {
            return Err(AssemblyFault::Gap);
        }
        self.length += part.len();
        if self.length > limit {
            return Err(AssemblyFault::TooLong);
        }
        self.parts.push(part);
        Ok(())
    }

    /// Adds the last part, and returns the body.
    pub(crate) fn end(&mut self, chunks: u32, last: Bytes, limit: usize) -> Result<Bytes, AssemblyFault> {
        if chunks == 0 && self.parts.is_empty() && last.len() <= limit {
            return Ok(last);
        }
        self.add(chunks, last, limit)?;
        let mut body = BytesMut::with_capacity(self.length);
        self.parts.drain(..).for_each(|part| body.put_slice(&part));
        Ok(body.freeze())
    }
}

/// What a worker announces about itself, each second and on request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Announcement {
    pub(crate) worker: String,
    pub(crate) versions: Vec<NamespaceVersion>,
    /// Whether a ledger allows a call to be sent again.
    #[serde(default)]
    pub(crate) has_ledger: bool,
    #[serde(default)]
    pub(crate) is_full: bool,
    #[serde(default)]
    pub(crate) is_leaving: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn frames_round_trip() {
        let refusal = Refusal::Denied("expired".to_owned());
        for frame in [
            Frame::Beat,
            Frame::Refused(refusal),
            Frame::Progress(0.5, "half\n".to_owned()),
            Frame::Chunk(7, Bytes::from_static(b"abc")),
            Frame::End(0, Bytes::new()),
        ] {
            assert_eq!(Frame::read(&frame.write(), &Redactor::new()), Some(frame));
        }
    }

    proptest! {
        #[test]
        fn a_call_of_any_text_is_read_as_written(tool in ".*", id in ".*", arguments in ".*", left_ms: u64) {
            let head = CallHead {
                tool: tool.into(), id: id.into(), left_ms, run: None, token: Some("a\nb".into()), trace: None,
                owner: Some("\"\n".into()),
            };
            let message = head.write(&arguments).unwrap();
            prop_assert_eq!(CallHead::read(&message), Some((head, arguments.as_str())));
        }

        #[test]
        fn a_body_of_any_length_is_put_together(length in 0_usize..20_000, max_payload in 2_000_usize..6_000) {
            let body: Bytes = (0..length).map(|at| u8::try_from(at % 251).unwrap_or_default()).collect::<Vec<u8>>().into();
            let mut assembly = Assembly::default();
            let mut ended = None;
            for frame in frames_of(&body, max_payload) {
                prop_assert!(frame.write().len() <= max_payload);
                match frame {
                    Frame::Chunk(number, part) => assembly.add(number, part, length).unwrap(),
                    Frame::End(chunks, last) => ended = Some(assembly.end(chunks, last, length).unwrap()),
                    _ => prop_assert!(false),
                }
            }
            prop_assert_eq!(ended, Some(body));
        }

        #[test]
        fn no_message_panics_a_reader(message in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = CallHead::read(&message);
            let _ = Frame::read(&message.into(), &Redactor::new());
        }
    }

    proptest! {
        #[test]
        fn nothing_that_a_worker_sends_shows_a_secret(secret in "[!-~/\"\\\\]{8,40}") {
            let redactor = Redactor::from(vec![secret.clone()]);
            let text = format!("it is {secret}!");
            // PHP and others escape more than they must.
            let escaped = |json: Vec<u8>| String::from_utf8(json).unwrap().replace('/', "\\/");
            let read = |frame: Frame| Frame::read(&escaped(frame.write().to_vec()).into(), &redactor);
            let refused = read(Frame::Refused(Refusal::Denied(text.clone())));
            prop_assert_eq!(refused, Some(Frame::Refused(Refusal::Denied("it is …!".to_owned()))));
            let reported = read(Frame::Progress(0.5, text.clone()));
            prop_assert_eq!(reported, Some(Frame::Progress(0.5, "it is …!".to_owned())));
            let value = serde_json::json!({text.clone(): [text]});
            let outcome = CallOutcome::new(Ok(ToolOutput::json(&value).unwrap()), ToolActions::default());
            let body = escaped(serde_json::to_vec(&outcome).unwrap());
            let output = read_json::<CallOutcome>(body.as_bytes(), &redactor).and_then(CallOutcome::into_result);
            let output = output.unwrap().unwrap();
            prop_assert_eq!(output.to_text(), r#"{"it is …!":["it is …!"]}"#);
        }
    }

    #[test]
    fn a_missing_chunk_and_a_long_body_are_faults() {
        let part = Bytes::from_static(b"12345");
        let mut assembly = Assembly::default();
        assert_eq!(assembly.add(1, part.clone(), 100), Err(AssemblyFault::Gap));
        assert_eq!(assembly.add(0, part.clone(), 100), Ok(()));
        assert_eq!(assembly.end(1, part, 9), Err(AssemblyFault::TooLong));
    }
}
