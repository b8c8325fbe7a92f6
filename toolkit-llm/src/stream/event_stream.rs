//! Decodes streamed bytes into events.
//!
//! The bytes are text, a list in JSON, or the binary event stream of Amazon Web Services.

use super::scan::ObjectScanner;
use super::sse::{LONGEST, SseDecoder, TOO_LONG};
use serde_json::Value;

/// The length of a message's prelude in bytes: two lengths and a checksum.
const PRELUDE: usize = 12;

const CHECKSUM: usize = 4;

/// Decodes the events in the bytes of a response.
///
/// The first byte after white space tells the encoding. A binary event stream begins with a zero byte, of the
/// length of its first message, and a list in JSON with `[`. Neither a server-sent event nor an object does.
#[derive(Debug, Default)]
pub(crate) enum EventDecoder {
    #[default]
    Empty,
    Text(SseDecoder),
    List(Elements),
    Binary(EventMessages),
}

impl EventDecoder {
    /// Processes the next bytes.
    ///
    /// Returns the JSON of each event completed by them.
    ///
    /// # Errors
    /// A description of the expected value, if the bytes contain something else.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, &'static str> {
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        if let (Self::Empty, Some(first)) = (&self, first) {
            *self = match first {
                0 => Self::Binary(EventMessages::default()),
                b'[' => Self::List(Elements::default()),
                _ => Self::Text(SseDecoder::default()),
            };
        }
        match self {
            Self::Empty => Ok(Vec::new()),
            Self::Text(decoder) => decoder.push(bytes),
            Self::List(elements) => elements.push(bytes),
            Self::Binary(messages) => messages.push(bytes),
        }
    }

    /// Returns the last event of a text without an empty line at its end.
    pub(crate) fn finish(&mut self) -> Option<String> {
        match self {
            Self::Text(decoder) => decoder.finish(),
            Self::Empty | Self::List(_) | Self::Binary(_) => None,
        }
    }
}

/// Decodes a list of JSON objects, which Gemini sends without `alt=sse`.
#[derive(Debug, Default)]
pub(crate) struct Elements {
    received: Vec<u8>,
    scanner: ObjectScanner,
    /// Whether a value other than an object has arrived.
    ///
    /// Nothing more is then decoded.
    is_damaged: bool,
}

impl Elements {
    fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, &'static str> {
        let mut events = Vec::new();
        for byte in bytes {
            if self.is_damaged || self.scanner.is_blank() && matches!(byte, b'[' | b',' | b']') {
                continue;
            }
            self.scanner.push_byte(*byte);
            self.received.push(*byte);
            if self.received.len() > LONGEST {
                *self = Self { is_damaged: true, ..Self::default() };
                return Err(TOO_LONG);
            }
            // What is no object is refused as an event.
            if self.scanner.is_complete() || self.scanner == ObjectScanner::NoObject {
                let is_damaged = !self.scanner.is_complete();
                events.push(String::from_utf8_lossy(&self.received).into_owned());
                *self = Self { is_damaged, ..Self::default() };
            }
        }
        Ok(events)
    }
}

/// Decodes the messages of a binary event stream (`application/vnd.amazon.eventstream`).
///
/// The format is described in the Smithy specification, "Amazon Event Stream". A message has its length, the
/// length of its headers, the checksum of both, the headers, the payload, and its own checksum.
#[derive(Debug, Default)]
pub(crate) struct EventMessages {
    received: Vec<u8>,
    /// Whether a message was damaged.
    ///
    /// The start of the next message is then unknown.
    is_damaged: bool,
}

impl EventMessages {
    fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, &'static str> {
        if self.is_damaged {
            return Ok(Vec::new());
        }
        self.received.extend_from_slice(bytes);
        let mut events = Vec::new();
        let mut at = 0;
        loop {
            match message(self.received.get(at..).unwrap_or_default()) {
                Ok(Some((event, length))) => {
                    events.extend(event);
                    at += length;
                }
                Ok(None) => break,
                // The events before the damaged message are returned now, and the error with the next bytes.
                Err(_) if !events.is_empty() => break,
                Err(expected) => {
                    *self = Self { is_damaged: true, ..Self::default() };
                    return Err(expected);
                }
            }
        }
        self.received.drain(..at);
        Ok(events)
    }
}

/// Reads the first message in `bytes`: its length, and the JSON of an event.
///
/// Returns `None` if the message is incomplete.
fn message(bytes: &[u8]) -> Result<Option<(Option<String>, usize)>, &'static str> {
    let (Some(length), Some(headers), Some(checksum)) =
        (number(bytes, 0), number(bytes, 4), number(bytes, 8))
    else {
        return Ok(None);
    };
    let fits = headers.checked_add(PRELUDE + CHECKSUM).is_some_and(|least| least <= length);
    if checksum as u32 != crc32(bytes.get(..8).unwrap_or_default()) || !fits || length > LONGEST {
        return Err("a message of an event stream with intact lengths");
    }
    let Some(message) = bytes.get(..length) else { return Ok(None) };
    let (content, end) = message.split_at(length - CHECKSUM);
    if number(end, 0).is_none_or(|checksum| checksum as u32 != crc32(content)) {
        return Err("a message of an event stream with an intact checksum");
    }
    let (headers, payload) = content.get(PRELUDE..).unwrap_or_default().split_at(headers);
    Ok(Some((event(&Headers(headers).collect::<Vec<_>>(), payload), length)))
}

/// Returns the JSON of an event or an error: an object with its type as the only field.
fn event(headers: &[(&str, &str)], payload: &[u8]) -> Option<String> {
    if let Some(code) = header(headers, ":error-code") {
        let message = Value::from(header(headers, ":error-message").unwrap_or_default());
        return Some(format!("{{{}:{{\"message\":{message}}}}}", Value::from(format!("{code}Exception"))));
    }
    let kind = header(headers, ":exception-type").or_else(|| header(headers, ":event-type"))?;
    let data = if payload.is_empty() { "{}".into() } else { String::from_utf8_lossy(payload) };
    Some(format!("{{{}:{data}}}", Value::from(kind)))
}

fn header<'a>(headers: &[(&str, &'a str)], name: &str) -> Option<&'a str> {
    for (known, value) in headers {
        if *known == name {
            return Some(value);
        }
    }
    None
}

/// An iterator over the headers with string values.
///
/// It ends at a damaged header.
struct Headers<'a>(&'a [u8]);

impl<'a> Headers<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn take_length(&mut self) -> Option<usize> {
        Some(self.take(2)?.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)))
    }
}

impl<'a> Iterator for Headers<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let name_length = usize::from(*self.take(1)?.first()?);
            let name = std::str::from_utf8(self.take(name_length)?).ok()?;
            // The types of header values, numbered from 0: true, false, byte, short, integer, long, bytes,
            // string, time, UUID.
            let value_length = match self.take(1)?.first()? {
                0 | 1 => 0,
                2 => 1,
                3 => 2,
                4 => 4,
                6 => self.take_length()?,
                7 => {
                    let length = self.take_length()?;
                    return Some((name, std::str::from_utf8(self.take(length)?).ok()?));
                }
                5 | 8 => 8,
                9 => 16,
                _ => return None,
            };
            self.take(value_length)?;
        }
    }
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
    usize::try_from(u32::from_be_bytes(bytes)).ok()
}

/// Computes the checksum CRC-32 of IEEE 802.3, as in gzip.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| TABLE[usize::from(crc as u8 ^ byte)] ^ crc >> 8)
}

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 {
        let mut crc = at as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { 0xedb8_8320 ^ crc >> 1 } else { crc >> 1 };
            bit += 1;
        }
        table[at] = crc;
        at += 1;
    }
    table
};

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn encode(headers: &[(&str, &str)], payload: &str) -> Vec<u8> {
        let mut written = Vec::new();
        for (name, value) in headers {
            written.push(name.len() as u8);
            written.extend(name.as_bytes());
            written.push(7);
            written.extend((value.len() as u16).to_be_bytes());
            written.extend(value.as_bytes());
        }
        let length = PRELUDE + written.len() + payload.len() + CHECKSUM;
        let mut message = [(length as u32).to_be_bytes(), (written.len() as u32).to_be_bytes()].concat();
        message.extend(crc32(&message).to_be_bytes());
        message.extend(written);
        message.extend(payload.as_bytes());
        message.extend(crc32(&message).to_be_bytes());
        message
    }

    pub(crate) fn encode_event(event: &Value) -> Vec<u8> {
        let (kind, payload) = event.as_object().and_then(|fields| fields.iter().next()).unwrap();
        let headers =
            [(":message-type", "event"), (":content-type", "application/json"), (":event-type", kind)];
        encode(&headers, &payload.to_string())
    }

    #[test]
    fn a_message_of_the_specification_is_decoded() {
        // The example "one int32 header" of the specification's test vectors, with an event type added.
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        let mut headers = b"\x0aevent-size\x04\x00\x00\xa0\x0c".to_vec();
        headers.extend(b"\x0b:event-type\x07\x00\x01x");
        let found: Vec<_> = Headers(&headers).collect();
        assert_eq!(found, [(":event-type", "x")]);
    }

    #[test]
    fn messages_are_decoded_wherever_they_are_cut() {
        let body = [
            encode_event(&serde_json::json!({"a": {"text": "Grüße"}})),
            encode(&[(":message-type", "event"), (":event-type", "b")], ""),
            encode(
                &[(":message-type", "exception"), (":exception-type", "slowException")],
                r#"{"message":"m"}"#,
            ),
            encode(&[(":message-type", "error"), (":error-code", "Internal"), (":error-message", "\"")], ""),
            encode(&[(":message-type", "other")], "{}"),
        ]
        .concat();
        let expected = [
            r#"{"a":{"text":"Grüße"}}"#,
            r#"{"b":{}}"#,
            r#"{"slowException":{"message":"m"}}"#,
            r#"{"InternalException":{"message":"\""}}"#,
        ];
        for at in 0..=body.len() {
            let (head, tail) = body.split_at(at);
            let mut decoder = EventDecoder::default();
            let events = [head, tail].map(|bytes| decoder.push(bytes).unwrap()).concat();
            assert_eq!(events, expected, "cut at {at}");
            assert_eq!(decoder.finish(), None);
        }
    }

    #[test]
    fn a_damaged_message_ends_the_stream_with_one_error() {
        let good = encode_event(&serde_json::json!({"a": {}}));
        for at in 1..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x40;
            let mut decoder = EventDecoder::default();
            assert_eq!(decoder.push(&good).unwrap().len(), 1);
            assert!(decoder.push(&bad).is_err(), "byte {at}");
            assert_eq!(decoder.push(&good), Ok(Vec::new()));
        }
        let mut decoder = EventDecoder::default();
        assert_eq!(
            decoder.push(&[&good[..], &[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]].concat()).unwrap().len(),
            1
        );
        assert!(decoder.push(&[0]).is_err());
    }

    #[test]
    fn text_is_recognised_by_its_first_byte() {
        let mut decoder = EventDecoder::default();
        assert_eq!(decoder.push(b""), Ok(Vec::new()));
        assert_eq!(decoder.push(b"data: {}\n\n"), Ok(vec!["{}".to_owned()]));
    }
}
