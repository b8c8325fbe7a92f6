//! Decodes streamed bytes into events.
//!
//! The bytes are server-sent events, or JSON objects that begin on a line of their own.

use super::scan::ObjectScanner;

/// The maximum size of one event in bytes, beyond that of any model's answer.
pub(crate) const LONGEST: usize = 64 << 20;

/// The beginnings of the lines of a server-sent event.
const FIELDS: [&[u8]; 5] = [b"data", b"event", b"id", b"retry", b":"];

pub(crate) const TOO_LONG: &str = "an event of at most 64 MiB";

/// Decodes the events in the bytes of a response, which may be split anywhere.
///
/// The format is that of the HTML standard, section "Server-sent events".
#[derive(Debug, Default)]
pub(crate) struct SseDecoder {
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    /// A JSON object that goes on in the next line.
    ///
    /// Google writes an error in lines, also after events.
    object: Vec<u8>,
    scanner: ObjectScanner,
    after_carriage_return: bool,
    is_started: bool,
}

impl SseDecoder {
    /// Processes the next bytes.
    ///
    /// Returns the `data` of each event completed by them.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, &'static str> {
        let mut events = Vec::new();
        for part in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let (text, end) = match part.split_last() {
                Some((end @ (b'\n' | b'\r'), text)) => (text, Some(*end)),
                _ => (part, None),
            };
            if self.after_carriage_return && text.is_empty() && end == Some(b'\n') {
                self.after_carriage_return = false;
                continue;
            }
            self.after_carriage_return = end == Some(b'\r');
            self.line.extend_from_slice(text);
            if self.line.len() + self.object.len() + self.data.as_ref().map_or(0, Vec::len) > LONGEST {
                *self = Self { is_started: true, ..Self::default() };
                return Err(TOO_LONG);
            }
            if end.is_some() {
                events.extend(self.end_line());
            }
        }
        Ok(events)
    }

    /// Returns the last event, which may lack an empty line.
    pub(crate) fn finish(&mut self) -> Option<String> {
        let completed = self.end_line();
        completed.or_else(|| self.data.take().map(text))
    }

    fn end_line(&mut self) -> Option<String> {
        let mut line = std::mem::take(&mut self.line);
        if !self.is_started {
            self.is_started = true;
            if line.starts_with("\u{feff}".as_bytes()) {
                line.drain(..3);
            }
        }
        if line.is_empty() {
            return self.data.take().map(text);
        }
        // No field of an event begins with `{`, and no line of an object with the name of a field.
        let is_field = FIELDS.iter().any(|field| line.starts_with(field));
        if !is_field && (self.scanner.is_open() || line.starts_with(b"{")) {
            return self.push_object(&line);
        }
        (self.object, self.scanner) = Default::default();
        let value = match line.strip_prefix(b"data") {
            Some([]) => &[][..],
            Some([b':', b' ', value @ ..] | [b':', value @ ..]) => value,
            _ => return None,
        };
        match &mut self.data {
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            None => self.data = Some(value.to_vec()),
        }
        None
    }

    /// Adds a line to the object.
    ///
    /// Returns the object at its end.
    fn push_object(&mut self, line: &[u8]) -> Option<String> {
        for byte in line.iter().chain(b"\n") {
            self.scanner.push_byte(*byte);
        }
        self.object.extend_from_slice(line);
        self.object.push(b'\n');
        if self.scanner.is_open() {
            return None;
        }
        let object = std::mem::take(&mut self.object);
        let scanner = std::mem::take(&mut self.scanner);
        // What is no object is refused as an event.
        let is_event = scanner.is_complete() || line.ends_with(b"}");
        if is_event { Some(text(object.trim_ascii_end().to_vec())) } else { None }
    }
}

fn text(data: Vec<u8>) -> String {
    String::from_utf8(data).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut decoder = SseDecoder::default();
        let mut events: Vec<String> =
            pieces.into_iter().flat_map(|piece| decoder.push(piece).unwrap()).collect();
        events.extend(decoder.finish());
        events
    }

    #[track_caller]
    fn check(body: &str, events: &[&str]) {
        assert_eq!(decode([body.as_bytes()]), events);
    }

    #[test]
    fn events_end_at_an_empty_line() {
        check("data: a\n\ndata: b\n\n", &["a", "b"]);
        check("data: a\r\n\r\ndata: b\r\rdata:c\n\n", &["a", "b", "c"]);
        check("\u{feff}data: a\n\n", &["a"]);
        check("event: x\nid: 1\n: comment\nretry: 3\ndata: a\n\n", &["a"]);
        check("data: a\ndata:  b\ndata\n\n", &["a\n b\n"]);
        check("event: ping\n\n", &[]);
        check("database: x\n\n", &[]);
    }

    #[test]
    fn a_line_of_json_is_an_event() {
        check("{\"a\": 1}\n{\"b\": 2}\r\n\n{\"c\": 3}", &["{\"a\": 1}", "{\"b\": 2}", "{\"c\": 3}"]);
        check("{\n", &[]);
    }

    #[test]
    fn an_object_may_go_on_in_the_next_lines() {
        let error = "{\n  \"error\": {\n    \"message\": \"}\"\n\n  }\n}";
        let read = error.replace("\n\n", "\n");
        check(error, &[&read]);
        check(&format!("data: a\n\n{error}\r\ndata: b\n\n"), &["a", &read, "b"]);
        check(&format!("{{\"a\": 1}}\n{error}\n{{\"b\": 2}}"), &["{\"a\": 1}", &read, "{\"b\": 2}"]);
        check("{\ndata: a\n\n", &["a"]);
    }

    #[test]
    fn an_event_without_its_empty_line_counts() {
        check("data: a\n\ndata: b", &["a", "b"]);
        check("data: a\n", &["a"]);
        check("", &[]);
    }

    #[test]
    fn an_endless_event_is_refused_and_the_next_is_read() {
        let mut decoder = SseDecoder::default();
        let long = vec![b'x'; LONGEST + 1];
        assert_eq!(decoder.push(&long), Err(TOO_LONG));
        assert_eq!(decoder.push(b"\n\ndata: a\n\n"), Ok(vec!["a".to_owned()]));
    }

    proptest! {
        #[test]
        fn cuts_make_no_difference(
            texts in proptest::collection::vec("[a-zé日😀\\\\\"]{0,9}", 0..5),
            line_break in proptest::sample::select(vec!["\n", "\r", "\r\n"]),
            sizes in proptest::collection::vec(1_usize..6, 1..9),
        ) {
            let body: String =
                texts.iter().map(|text| format!("data: {text}{line_break}{line_break}")).collect();
            let mut rest = body.as_bytes();
            let mut pieces = Vec::new();
            for size in sizes.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (piece, after) = rest.split_at(rest.len().min(*size));
                pieces.push(piece);
                rest = after;
            }
            prop_assert_eq!(decode(pieces), texts);
        }
    }
}
