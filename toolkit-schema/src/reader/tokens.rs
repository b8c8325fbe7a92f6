//! The tokens of JSON, each with its matcher's part.

use super::{DIGITS, ReadError, Reader};
use crate::plan::Matcher;
use serde_json::Value;
use std::borrow::Cow;

/// A number as serde's visitors take it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Number<'t> {
    Unsigned(u64),
    Negative(i64),
    /// An integer beyond 64 bits.
    Wide(&'t str),
    /// A number with a fraction or an exponent, or `-0`.
    Fraction(&'t str),
}

impl Number<'_> {
    /// Returns the number nearest to a wide integer or a fraction.
    ///
    /// # Errors
    /// It is beyond the range of `f64`.
    pub(super) fn float(text: &str) -> Result<f64, ReadError> {
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(serde::de::Error::custom("number out of range")),
        }
    }
}

/// Returns the number of bytes before the first quote, backslash or control character.
#[inline]
fn plain_length(text: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let (words, rest) = text.as_chunks();
    for (index, bytes) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*bytes);
        let quotes = word ^ (ONES * u64::from(b'"'));
        let backslashes = word ^ (ONES * u64::from(b'\\'));
        // Subtracting one sets the highest bit of a zero byte, and subtracting 32 that of a control
        // character.
        let found = (quotes.wrapping_sub(ONES) & !quotes)
            | (backslashes.wrapping_sub(ONES) & !backslashes)
            | (word.wrapping_sub(ONES * 32) & !word);
        if found & HIGH != 0 {
            return index * 8 + (found & HIGH).trailing_zeros() as usize / 8;
        }
    }
    let end = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..32));
    words.len() * 8 + end.unwrap_or(rest.len())
}

impl<'t> Reader<'t> {
    /// Skips white space, and returns the next byte without consuming it.
    #[inline]
    pub(super) fn skip_white_space(&mut self) -> Option<u8> {
        loop {
            match self.text.as_bytes().get(self.at) {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                next => return next.copied(),
            }
        }
    }

    /// Returns the next byte after white space, without consuming it.
    #[inline]
    pub(super) fn peek(&mut self) -> Result<u8, ReadError> {
        match self.skip_white_space() {
            Some(byte) => Ok(byte),
            None => Err(self.refuse()),
        }
    }

    /// Consumes the byte if it comes next, and returns whether it did.
    #[inline]
    pub(super) fn accept(&mut self, byte: u8) -> bool {
        let is_next = self.text.as_bytes().get(self.at) == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn literal(&mut self, literal: &str) -> Result<(), ReadError> {
        let rest = self.text.as_bytes().get(self.at..);
        if !rest.is_some_and(|rest| rest.starts_with(literal.as_bytes())) {
            return Err(self.refuse());
        }
        self.at += literal.len();
        Ok(())
    }

    pub(super) fn checked_null(&mut self, matcher: &Matcher) -> Result<(), ReadError> {
        match matcher {
            Matcher::Free | Matcher::Any | Matcher::Null => self.literal("null"),
            _ => Err(self.refuse()),
        }
    }

    pub(super) fn checked_bool(&mut self, first: u8, matcher: &Matcher) -> Result<bool, ReadError> {
        if !matches!(matcher, Matcher::Free | Matcher::Any | Matcher::Boolean) {
            return Err(self.refuse());
        }
        let is_true = first == b't';
        self.literal(if is_true { "true" } else { "false" })?;
        Ok(is_true)
    }

    /// Reads a string from its opening quote.
    pub(super) fn checked_text(&mut self, matcher: &Matcher) -> Result<Cow<'t, str>, ReadError> {
        let text = self.string()?;
        let is_accepted = match matcher {
            Matcher::Text { least: 0, most: usize::MAX } | Matcher::Free | Matcher::Any => true,
            Matcher::Text { least, most } => (*least..=*most).contains(&text.chars().count()),
            Matcher::Words(words) => words.iter().any(|word| **word == *text),
            _ => false,
        };
        if is_accepted { Ok(text) } else { Err(self.refuse()) }
    }

    /// Reads a string.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Cow<'t, str>, ReadError> {
        if !self.accept(b'"') {
            return Err(self.refuse());
        }
        let start = self.at;
        let end = start + plain_length(self.text.as_bytes().get(start..).unwrap_or_default());
        if self.text.as_bytes().get(end) != Some(&b'"') {
            return self.escaped(start, end);
        }
        self.at = end + 1;
        match self.text.get(start..end) {
            Some(text) => Ok(Cow::Borrowed(text)),
            None => Err(self.refuse()),
        }
    }

    /// Reads a string with a backslash or control character at `end`.
    #[cold]
    fn escaped(&mut self, start: usize, end: usize) -> Result<Cow<'t, str>, ReadError> {
        self.skip_from(end, false)?;
        let quoted = self.text.get(start - 1..self.at).unwrap_or_default();
        match quoted.parse() {
            Ok(Value::String(text)) => Ok(Cow::Owned(text)),
            Ok(_) => Err(self.refuse()),
            Err(error) => {
                // The place in the string is not the place in the text.
                let message = error.to_string();
                Err(serde::de::Error::custom(message.split(" at line ").next().unwrap_or_default()))
            }
        }
    }

    /// Skips a string from its opening quote. With `is_unicode`, escapes that may be invalid Unicode are
    /// refused.
    pub(super) fn skip_string(&mut self, is_unicode: bool) -> Result<(), ReadError> {
        let start = self.at + 1;
        self.skip_from(start, is_unicode)
    }

    fn skip_from(&mut self, start: usize, is_unicode: bool) -> Result<(), ReadError> {
        let bytes = self.text.as_bytes();
        let mut end = start;
        loop {
            end += plain_length(bytes.get(end..).unwrap_or_default());
            match (bytes.get(end), bytes.get(end + 1)) {
                (Some(b'"'), _) => break,
                (Some(b'\\'), Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')) => end += 2,
                (Some(b'\\'), Some(b'u')) if !is_unicode => {
                    let digits = bytes.get(end + 2..end + 6).unwrap_or_default();
                    if digits.len() < 4 || !digits.iter().all(u8::is_ascii_hexdigit) {
                        return Err(self.refuse());
                    }
                    end += 6;
                }
                _ => return Err(self.refuse()),
            }
        }
        self.at = end + 1;
        Ok(())
    }

    /// Reads an integer of few digits, or nothing before another value.
    #[inline]
    pub(super) fn small_integer(&mut self, first: u8) -> Option<i64> {
        let is_negative = first == b'-';
        let start = self.at + usize::from(is_negative);
        let rest = self.text.as_bytes().get(start..)?;
        let mut number = 0_i64;
        let mut digits = 0;
        for byte in rest {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            number = number.wrapping_mul(10).wrapping_add(i64::from(digit));
            digits += 1;
        }
        let is_whole = !matches!(rest.get(digits), Some(b'.' | b'e' | b'E'));
        // A number has no leading zeros, and serde takes `-0` for a fraction.
        let is_plain = if rest.first() == Some(&b'0') { digits == 1 && !is_negative } else { digits > 0 };
        if digits > DIGITS || !is_whole || !is_plain {
            return None;
        }
        self.at = start + digits;
        Some(if is_negative { -number } else { number })
    }

    pub(super) fn checked_number(&mut self, first: u8, matcher: &Matcher) -> Result<Number<'t>, ReadError> {
        let start = self.at;
        let number = self.number(first)?;
        let is_accepted = match (matcher, &number) {
            (Matcher::Free, _) => true,
            (Matcher::Integer { least, most, .. }, Number::Negative(number)) => {
                (*least..=*most).contains(number)
            }
            (Matcher::Integer { least, most, .. }, Number::Unsigned(number)) => {
                match i64::try_from(*number) {
                    Ok(number) => (*least..=*most).contains(&number),
                    Err(_) => *most == i64::MAX,
                }
            }
            (Matcher::Integer { is_wide, .. }, Number::Wide(_)) => *is_wide,
            (Matcher::Number { longest }, _) => self.at - start <= *longest,
            (Matcher::Any, _) => self.at - start <= DIGITS,
            _ => false,
        };
        if is_accepted { Ok(number) } else { Err(self.refuse()) }
    }

    /// Reads a number that begins with `first`.
    pub(super) fn number(&mut self, first: u8) -> Result<Number<'t>, ReadError> {
        if let Some(number) = self.small_integer(first) {
            return Ok(match u64::try_from(number) {
                Ok(number) => Number::Unsigned(number),
                Err(_) => Number::Negative(number),
            });
        }
        let start = self.at;
        let _ = self.accept(b'-');
        let has_zero = self.text.as_bytes().get(self.at) == Some(&b'0');
        let digits = self.digits()?;
        if digits > 1 && has_zero {
            return Err(self.refuse());
        }
        let mut is_fraction = false;
        if self.accept(b'.') {
            is_fraction = true;
            self.digits()?;
        }
        if self.accept(b'e') || self.accept(b'E') {
            is_fraction = true;
            let _ = self.accept(b'+') || self.accept(b'-');
            self.digits()?;
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        if is_fraction || text == "-0" {
            return Ok(Number::Fraction(text));
        }
        Ok(match (text.parse(), text.parse()) {
            (Ok(number), _) => Number::Unsigned(number),
            (_, Ok(number)) => Number::Negative(number),
            _ => Number::Wide(text),
        })
    }

    /// Reads digits and counts them.
    fn digits(&mut self) -> Result<usize, ReadError> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        if count == 0 { Err(self.refuse()) } else { Ok(count) }
    }
}
