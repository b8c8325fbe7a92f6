//! Compact JSON, written with its levels counted.
//!
//! Functions are always inlined where the text is then known: a few stores replace a copy of unknown length,
//! and an entry of a log has twenty names.

/// Writes the JSON of `serde_json`, and counts its levels.
pub(super) struct JsonWriter<'a> {
    pub(super) json: &'a mut Vec<u8>,
    pub(super) depth: usize,
    pub(super) deepest: usize,
    /// Whether the next text is raw JSON.
    pub(super) is_raw: bool,
}

impl<'a> JsonWriter<'a> {
    pub(super) fn new(json: &'a mut Vec<u8>) -> Self {
        Self { json, depth: 0, deepest: 0, is_raw: false }
    }

    /// Returns the number of levels written.
    pub(super) fn deepest(&self) -> usize {
        self.deepest
    }

    #[inline(always)]
    pub(super) fn write(&mut self, json: &[u8]) {
        self.json.extend_from_slice(json);
    }

    /// Writes the name of a field or a variant. Names in code need no escapes.
    #[inline(always)]
    pub(super) fn write_name(&mut self, name: &'static str) {
        debug_assert!(name.bytes().all(is_plain_byte), "the name `{name}` needs escapes");
        self.write(b"\"");
        self.write(name.as_bytes());
        self.write(b"\"");
    }

    pub(super) fn write_text(&mut self, text: &str) {
        self.json.push(b'"');
        let (words, rest) = text.as_bytes().as_chunks();
        for word in words {
            if is_plain_word(*word) {
                self.write(word);
            } else {
                self.write_bytes(word);
            }
        }
        self.write_bytes(rest);
        self.json.push(b'"');
    }

    fn write_bytes(&mut self, text: &[u8]) {
        if text.iter().all(|byte| is_plain_byte(*byte)) {
            return self.write(text);
        }
        for byte in text {
            match *byte {
                b'"' => self.write(b"\\\""),
                b'\\' => self.write(b"\\\\"),
                b'\n' => self.write(b"\\n"),
                b'\r' => self.write(b"\\r"),
                b'\t' => self.write(b"\\t"),
                0x08 => self.write(b"\\b"),
                0x0c => self.write(b"\\f"),
                control @ ..0x20 => {
                    self.write(b"\\u00");
                    self.write(&[hex_digit(control >> 4), hex_digit(control & 0x0f)]);
                }
                plain => self.json.push(plain),
            }
        }
    }

    /// Writes JSON unchanged, and counts its levels.
    pub(super) fn write_raw(&mut self, json: &str) {
        self.deepest = self.deepest.max(self.depth + levels(json));
        self.write(json.as_bytes());
    }

    /// Ends one array or object for each byte.
    #[inline(always)]
    pub(super) fn end(&mut self, end: &[u8]) {
        self.depth -= end.len();
        self.write(end);
    }

    /// Begins the object of an enum variant with data.
    #[inline(always)]
    pub(super) fn begin_variant(&mut self, variant: &'static str) {
        self.json.push(b'{');
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        self.write_name(variant);
        self.json.push(b':');
    }
}

fn hex_digit(value: u8) -> u8 {
    if value < 10 { b'0' + value } else { b'a' + value - 10 }
}

fn is_plain_byte(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != b'\\'
}

fn is_plain_word(word: [u8; 8]) -> bool {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const HIGH_BITS: u64 = u64::from_ne_bytes([0x80; 8]);
    let word = u64::from_ne_bytes(word);
    // A subtraction sets the high bit of a byte below the number, or of one above such a byte.
    let controls = word.wrapping_sub(ONES * 0x20) & !word;
    let quotes = word ^ (ONES * b'"' as u64);
    let quotes = quotes.wrapping_sub(ONES) & !quotes;
    let slashes = word ^ (ONES * b'\\' as u64);
    let slashes = slashes.wrapping_sub(ONES) & !slashes;
    (controls | quotes | slashes) & HIGH_BITS == 0
}

/// Returns the levels of nesting of a JSON text.
fn levels(json: &str) -> usize {
    let mut depth = 0_usize;
    let mut deepest = 0;
    let mut in_string = false;
    let mut is_escaped = false;
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}
