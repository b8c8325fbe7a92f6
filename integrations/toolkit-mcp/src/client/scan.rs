//! A scanner to find the id of a message that is too long or too malformed to parse.

use rmcp::model::RequestId;

/// The parts of a message needed to distinguish answers from requests.
#[derive(Debug, PartialEq, Eq, Default)]
pub(super) struct Envelope {
    /// The id of the message.
    pub(super) id: Option<RequestId>,
    /// Whether the message is a request or a notification.
    pub(super) has_method: bool,
}

/// The maximum length of a name or an id, in bytes.
const LONGEST: usize = 256;

/// A scanner for the members `id` and `method` of an object. The members may be at any position, and the object is not
/// stored.
#[derive(Debug, Default)]
pub(super) struct EnvelopeScanner {
    envelope: Envelope,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// The name of the current member of the outer object, with its quotes.
    name: Vec<u8>,
    /// The text of the current name or scalar of the outer object.
    text: Vec<u8>,
}

impl EnvelopeScanner {
    /// Reads the next bytes of the message.
    pub(super) fn feed(&mut self, mut bytes: &[u8]) {
        while let Some((byte, rest)) = bytes.split_first() {
            self.step(*byte);
            bytes = rest;
            // Long strings inside nested values are skipped.
            if self.in_string && !self.is_escaped && self.depth != 1 {
                let end = bytes.iter().position(|byte| matches!(byte, b'"' | b'\\'));
                bytes = &bytes[end.unwrap_or(bytes.len())..];
            }
        }
    }

    /// Returns the parts found in the message, after the last byte.
    pub(super) fn end(self) -> Envelope {
        self.envelope
    }

    fn step(&mut self, byte: u8) {
        if self.in_string {
            self.keep(byte);
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.keep(byte);
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                if self.depth == 1 {
                    self.end_member();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 => self.name = std::mem::take(&mut self.text),
            b',' if self.depth == 1 => self.end_member(),
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => self.keep(byte),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.text.len() < LONGEST {
            self.text.push(byte);
        }
    }

    fn end_member(&mut self) {
        match self.name.as_slice() {
            br#""id""# => self.envelope.id = serde_json::from_slice(&self.text).ok(),
            br#""method""# => self.envelope.has_method = true,
            _ => {}
        }
        self.name.clear();
        self.text.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_found_wherever_it_is() {
        for (message, id, has_method) in [
            (r#"{"jsonrpc":"2.0","id":5,"result":{"id":6,"method":1}}"#, Some(r"5"), false),
            (r#"{ "result" : [{"id": 6}, "\"}],\\"], "id" : "a\"b" }"#, Some(r#""a\"b""#), false),
            (r#"{"id":1,"method":"ping"}"#, Some("1"), true),
            (r#"{"method":"note","params":{}}"#, None, true),
            (r#"[{"id":1}]"#, None, false),
            (r#"{"id":null,"result":{}}"#, None, false),
            ("garbage } ] ,", None, false),
        ] {
            let mut scanner = EnvelopeScanner::default();
            message.as_bytes().chunks(2).for_each(|bytes| scanner.feed(bytes));
            let id = id.map(|id| serde_json::from_str(id).expect("an id"));
            assert_eq!(scanner.end(), Envelope { id, has_method }, "{message}");
        }
    }
}
