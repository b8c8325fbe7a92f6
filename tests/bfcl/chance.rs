//! The same chance in every run.

/// A generator of numbers (xorshift64*).
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn of(text: &str) -> Self {
        Self(
            text.bytes().fold(0x9e37_79b9_7f4a_7c15, |seed, byte| {
                (seed ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            }) | 1,
        )
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit.max(1)
    }

    /// A text in pieces of one to seven characters.
    pub(crate) fn cut(&mut self, text: &str) -> Vec<String> {
        let mut characters = text.chars().peekable();
        let mut pieces = Vec::new();
        while characters.peek().is_some() {
            let length = 1 + self.below(7);
            pieces.push(characters.by_ref().take(length).collect());
        }
        pieces
    }

    /// Bytes in pieces of one to forty.
    pub(crate) fn cut_bytes<'a>(&mut self, mut bytes: &'a [u8]) -> Vec<&'a [u8]> {
        let mut pieces = Vec::new();
        while !bytes.is_empty() {
            let (piece, rest) = bytes.split_at(bytes.len().min(1 + self.below(40)));
            pieces.push(piece);
            bytes = rest;
        }
        pieces
    }
}
