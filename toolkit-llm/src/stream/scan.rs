//! A scanner to find the end of a JSON object that is received in pieces.

/// Scans a JSON object in pieces, reading each character once.
///
/// The scanner counts brackets outside of strings, without checking whether the JSON is valid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ObjectScanner {
    #[default]
    Blank,
    /// The position is inside `depth` brackets.
    Open { depth: usize, text: Text },
    /// The object has ended, followed by at most white space.
    Complete,
    /// The text is no object, or continues after it.
    NoObject,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Text {
    Outside,
    Within,
    /// After a backslash in a string.
    Escaped,
}

impl ObjectScanner {
    /// Scans the next piece by bytes.
    ///
    /// No byte of a character beyond ASCII equals a bracket or a quote.
    pub(crate) fn push(&mut self, piece: &str) {
        for byte in piece.bytes() {
            self.push_byte(byte);
        }
    }

    pub(crate) fn push_byte(&mut self, byte: u8) {
        *self = match (*self, byte) {
            (Self::Open { depth, text }, _) => Self::inside(depth, text, byte),
            (Self::Blank | Self::Complete, b' ' | b'\t' | b'\n' | b'\r') => *self,
            (Self::Blank, b'{') => Self::Open { depth: 1, text: Text::Outside },
            _ => Self::NoObject,
        };
    }

    fn inside(depth: usize, text: Text, byte: u8) -> Self {
        let (depth, text) = match (text, byte) {
            (Text::Within, b'\\') => (depth, Text::Escaped),
            (Text::Within, b'"') => (depth, Text::Outside),
            (Text::Within | Text::Escaped, _) => (depth, Text::Within),
            (Text::Outside, b'"') => (depth, Text::Within),
            (Text::Outside, b'{' | b'[') => (depth + 1, text),
            (Text::Outside, b'}' | b']') if depth == 1 => return Self::Complete,
            (Text::Outside, b'}' | b']') => (depth - 1, text),
            (Text::Outside, _) => (depth, text),
        };
        Self::Open { depth, text }
    }

    pub(crate) fn is_blank(self) -> bool {
        self == Self::Blank
    }

    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::Open { .. })
    }

    pub(crate) fn is_complete(self) -> bool {
        self == Self::Complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Map, Value};

    fn scan(text: &str) -> ObjectScanner {
        let mut scanner = ObjectScanner::default();
        scanner.push(text);
        scanner
    }

    #[test]
    fn objects_are_complete_at_their_end() {
        for text in
            ["{}", " {\"a\": [1, {\"b\": 2}]}\n", r#"{"a": "}"}"#, r#"{"a": "\"}"}"#, r#"{"é": "\\"}"#]
        {
            assert!(scan(text).is_complete(), "{text}");
            let last = text.rfind('}').unwrap();
            assert!(scan(&text[..last]).is_open(), "{text}");
        }
    }

    #[test]
    fn what_is_no_object_is_neither_open_nor_complete() {
        for text in ["[1]", "null", "\"{}\"", "{} {}", "{},", "x{}"] {
            assert!(!scan(text).is_open() && !scan(text).is_complete(), "{text}");
        }
        assert!(scan("").is_blank() && scan(" \n").is_blank() && !scan("{").is_blank());
    }

    proptest! {
        #[test]
        fn every_object_however_it_is_cut(members in proptest::collection::btree_map(any::<String>(), any::<String>(), 0..4), at in any::<proptest::sample::Index>()) {
            let members: Map<String, Value> = members.into_iter().map(|(name, text)| (name, text.into())).collect();
            let text = Value::Object(members).to_string();
            let cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let (head, tail) = text.split_at(cuts[at.index(cuts.len())]);
            let mut scanner = scan(head);
            prop_assert!(!scanner.is_complete());
            scanner.push(tail);
            prop_assert!(scanner.is_complete());
        }
    }
}
