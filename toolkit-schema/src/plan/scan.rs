//! The scan of a JSON text by a compiled plan. The caller parses the same text, so that the scan need not find mistakes
//! in its syntax.

use super::{At, Field, MOST_FIELDS, Matcher, NULL, Object};
use crate::depth::MAX_DEPTH;

/// The number of digits that every 64-bit integer can have.
pub(super) const DIGITS: usize = 18;

/// The maximum number of members of a map, which are compared with each other.
const MOST_MEMBERS: usize = 8;

/// Returns the length of the value at the start of `text` if the value certainly conforms to the matcher at `at`.
pub(super) fn accepts(matchers: &[Matcher], at: At, text: &str) -> Option<usize> {
    let mut scanner = Scanner { matchers, text: text.as_bytes(), at: 0, depth: 0 };
    scanner.value(at)?;
    Some(scanner.at)
}

/// Returns the bit for the JSON type of a value that begins with `first`.
fn bit_of(first: u8) -> u8 {
    match first {
        b'n' => NULL,
        b't' | b'f' => 1 << 1,
        b'"' => 1 << 2,
        b'[' => 1 << 3,
        b'{' => 1 << 4,
        _ => 1 << 5,
    }
}

/// Returns the number of bytes before the first quote or backslash.
#[inline]
fn plain_length(text: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    // Subtracting one sets the highest bit of a byte that is 0.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
    let (words, rest) = text.as_chunks();
    for (index, bytes) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*bytes);
        let found = zeros(word ^ (ONES * u64::from(b'"'))) | zeros(word ^ (ONES * u64::from(b'\\')));
        if found != 0 {
            return index * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let length = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')).unwrap_or(rest.len());
    words.len() * 8 + length
}

/// A position in a JSON text.
struct Scanner<'a> {
    matchers: &'a [Matcher],
    text: &'a [u8],
    at: usize,
    depth: usize,
}

impl<'a> Scanner<'a> {
    /// Reads one value. Returns `None` if it does not certainly conform to the matcher.
    #[inline(always)]
    fn value(&mut self, matcher: At) -> Option<()> {
        let first = self.next()?;
        match self.matchers.get(matcher)? {
            Matcher::Text { least: 0, most: usize::MAX } => self.string(first).map(drop),
            Matcher::Integer { least, most } => {
                let number = self.integer(first)?;
                (*least..=*most).contains(&number).then_some(())
            }
            Matcher::Number { longest } => self.number(first, *longest),
            matcher => self.other(first, matcher),
        }
    }

    #[inline(never)]
    fn other(&mut self, first: u8, matcher: &'a Matcher) -> Option<()> {
        match matcher {
            Matcher::Unknown => None,
            Matcher::Any => self.any(first),
            Matcher::Null if first == b'n' => self.skip(4),
            Matcher::Boolean if first == b't' => self.skip(4),
            Matcher::Boolean if first == b'f' => self.skip(5),
            Matcher::Text { least, most } => {
                let (content, is_plain) = self.string(first)?;
                let length = std::str::from_utf8(content).ok().filter(|_| is_plain)?.chars().count();
                (*least..=*most).contains(&length).then_some(())
            }
            Matcher::Words(words) => {
                let (content, is_plain) = self.string(first)?;
                (is_plain && words.iter().any(|word| word.as_bytes() == content)).then_some(())
            }
            Matcher::List { item, least, most } => self.deeper(|this| this.list(first, *item, *least, *most)),
            Matcher::Map(item) => self.deeper(|this| this.map(first, *item)),
            Matcher::Object(object) => self.deeper(|this| this.object(first, object)),
            Matcher::ByType(by_type) => {
                let bit = bit_of(first);
                let (_, matcher) = by_type.iter().find(|(bits, _)| *bits == bit)?;
                self.value(*matcher)
            }
            _ => None,
        }
    }

    /// Calls `read` one level deeper.
    #[inline]
    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Option<()>) -> Option<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        read(self)?;
        self.depth -= 1;
        Some(())
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.at += bytes;
        Some(())
    }

    /// Skips white space and returns the next byte without consuming it.
    #[inline]
    fn next(&mut self) -> Option<u8> {
        loop {
            match *self.text.get(self.at)? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// Reads a string. Returns its content as written, and whether it has no escapes.
    #[inline]
    fn string(&mut self, first: u8) -> Option<(&'a [u8], bool)> {
        if first != b'"' {
            return None;
        }
        let start = self.at + 1;
        let mut end = start;
        let mut is_plain = true;
        loop {
            end += plain_length(self.text.get(end..)?);
            if *self.text.get(end)? == b'"' {
                break;
            }
            is_plain = false;
            end += 2;
        }
        self.at = end + 1;
        Some((self.text.get(start..end)?, is_plain))
    }

    /// Reads an integer of at most 18 digits.
    fn integer(&mut self, first: u8) -> Option<i64> {
        let is_negative = first == b'-';
        self.at += usize::from(is_negative);
        let start = self.at;
        let mut number = 0_i64;
        for byte in self.text.get(start..)? {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            number = number.checked_mul(10)?.checked_add(i64::from(digit))?;
            self.at += 1;
        }
        let is_whole = !matches!(self.text.get(self.at), Some(b'.' | b'e' | b'E'));
        // Serde takes `-0` for a number with a fraction.
        let is_zero = is_negative && number == 0;
        (is_whole && !is_zero && self.at > start).then_some(if is_negative { -number } else { number })
    }

    fn number(&mut self, first: u8, longest: usize) -> Option<()> {
        if !matches!(first, b'-' | b'0'..=b'9') {
            return None;
        }
        let rest = self.text.get(self.at..)?;
        let is_part = |byte: &u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
        let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        self.at += length;
        (length <= longest).then_some(())
    }

    /// Reads a single value other than a long number. Lists and objects are left to the full check.
    fn any(&mut self, first: u8) -> Option<()> {
        match first {
            b'n' | b't' => self.skip(4),
            b'f' => self.skip(5),
            b'"' => self.string(first).map(drop),
            b'[' | b'{' => None,
            _ => self.number(first, DIGITS),
        }
    }

    /// Reads the comma or the closing bracket after a part. Returns whether it was the closing bracket.
    #[inline]
    fn ends(&mut self, close: u8) -> Option<bool> {
        let byte = self.next()?;
        self.at += 1;
        Some(byte == close)
    }

    fn list(&mut self, first: u8, item: At, least: usize, most: usize) -> Option<()> {
        if first != b'[' {
            return None;
        }
        self.at += 1;
        let mut count = 0;
        if self.next()? == b']' {
            self.at += 1;
        } else {
            loop {
                self.value(item)?;
                count += 1;
                if self.ends(b']')? {
                    break;
                }
            }
        }
        (least..=most).contains(&count).then_some(())
    }

    fn object(&mut self, first: u8, object: &Object) -> Option<()> {
        if !self.begins_object(first)? {
            return (object.required == 0).then_some(());
        }
        let mut seen = 0_u64;
        let mut guess = 0;
        loop {
            let named = object.fields.get(guess).filter(|field| self.accepts_key(&field.key));
            let (index, field) = match named {
                Some(field) => (guess, field),
                None => self.other_key(object)?,
            };
            let bit = 1_u64 << (index % MOST_FIELDS);
            if seen & bit != 0 {
                return None;
            }
            seen |= bit;
            guess = index + 1;
            if field.is_optional && self.next()? == b'n' {
                self.at += 4;
            } else {
                self.value(field.at)?;
            }
            if self.ends(b'}')? {
                return (seen & object.required == object.required).then_some(());
            }
        }
    }

    fn map(&mut self, first: u8, item: At) -> Option<()> {
        if !self.begins_object(first)? {
            return Some(());
        }
        let mut names: Vec<&[u8]> = Vec::new();
        loop {
            let name = self.key()?;
            if names.len() == MOST_MEMBERS || names.contains(&name) {
                return None;
            }
            names.push(name);
            self.value(item)?;
            if self.ends(b'}')? {
                return Some(());
            }
        }
    }

    /// Reads the opening bracket of an object. Returns whether a member follows; if not, reads the closing bracket.
    #[inline]
    fn begins_object(&mut self, first: u8) -> Option<bool> {
        if first != b'{' {
            return None;
        }
        self.at += 1;
        let is_empty = self.next()? == b'}';
        self.at += usize::from(is_empty);
        Some(!is_empty)
    }

    /// Consumes `key`, a name in quotes with a colon, if the next member begins with it.
    #[inline]
    fn accepts_key(&mut self, key: &[u8]) -> bool {
        let is_same =
            self.next().is_some() && self.text.get(self.at..).is_some_and(|rest| rest.starts_with(key));
        if is_same {
            self.at += key.len();
        }
        is_same
    }

    /// Reads the name of a member and the colon after it. Returns the field with its index.
    #[inline(never)]
    fn other_key<'o>(&mut self, object: &'o Object) -> Option<(usize, &'o Field)> {
        let name = self.key()?;
        object.fields.iter().enumerate().find(|(_, field)| field.name() == Some(name))
    }

    /// Reads a name without escapes, and the colon after it.
    fn key(&mut self) -> Option<&'a [u8]> {
        let first = self.next()?;
        let (name, is_plain) = self.string(first)?;
        self.next()?;
        self.at += 1;
        is_plain.then_some(name)
    }
}
