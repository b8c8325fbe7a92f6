//! A scanner that finds the end of a JSON object while its text arrives.

/// Follows the text of a JSON object that arrives in pieces, each character once.
///
/// It counts brackets outside strings, which finds the end of an object, not whether it is correct JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ObjectScanner {
    place: Place,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    /// Nothing but white space so far.
    #[default]
    Before,
    /// Within `depth` brackets.
    Inside { depth: usize, text: Text },
    /// The object ended, and nothing but white space followed.
    After,
    /// It is no object, or more followed.
    NoObject,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Text {
    Outside,
    Within,
    /// After a `\`.
    Escaped,
}

impl ObjectScanner {
    /// Takes the next piece.
    pub(crate) fn push(&mut self, piece: &str) {
        for byte in piece.bytes() {
            self.place = self.place.after(byte);
        }
    }

    /// Returns whether there was nothing but white space.
    pub(crate) fn is_blank(self) -> bool {
        self.place == Place::Before
    }

    /// Returns whether an object has begun and not ended.
    pub(crate) fn is_open(self) -> bool {
        matches!(self.place, Place::Inside { .. })
    }

    /// Returns whether all of it was one object, to its end.
    pub(crate) fn is_complete(self) -> bool {
        self.place == Place::After
    }
}

impl Place {
    /// Moves past a byte. No byte of a character beyond ASCII looks like a bracket or quote.
    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Inside { depth, text }, _) => Self::inside(depth, text, byte),
            (Self::Before | Self::After, b' ' | b'\t' | b'\n' | b'\r') => self,
            (Self::Before, b'{') => Self::Inside { depth: 1, text: Text::Outside },
            _ => Self::NoObject,
        }
    }

    fn inside(depth: usize, text: Text, byte: u8) -> Self {
        match (text, byte) {
            (Text::Escaped, _) => Self::Inside { depth, text: Text::Within },
            (Text::Within, b'\\') => Self::Inside { depth, text: Text::Escaped },
            (Text::Within, b'"') => Self::Inside { depth, text: Text::Outside },
            (Text::Outside, b'"') => Self::Inside { depth, text: Text::Within },
            (Text::Outside, b'{' | b'[') => Self::Inside { depth: depth + 1, text },
            (Text::Outside, b'}' | b']') if depth == 1 => Self::After,
            (Text::Outside, b'}' | b']') => Self::Inside { depth: depth - 1, text },
            _ => Self::Inside { depth, text },
        }
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
        /// However the text is cut, it is complete at its last bracket and not before.
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
