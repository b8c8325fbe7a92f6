//! The spellings of characters in JSON and URLs.

use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escapes {
    /// `\/`, `\n`, `\u002f`.
    Json,
    /// `%2F`.
    Url,
}

/// Where an escape begins or ends: in the decoded text, and in its source.
pub(super) type EscapeEnd = (usize, usize);

impl Escapes {
    /// Returns what an escaped text means, or `None` if it has no escapes.
    pub(super) fn decoded(self, text: &str, mut steps: Option<&mut Vec<EscapeEnd>>) -> Option<String> {
        let sign = match self {
            Self::Json => '\\',
            Self::Url => '%',
        };
        let mut at = text.find(sign)?;
        let mut decoded = String::with_capacity(text.len());
        let mut end = 0;
        loop {
            let rest = text.get(at..).unwrap_or_default();
            let escape = match self {
                Self::Json => json_escape(rest),
                Self::Url => url_escape(rest),
            };
            decoded.push_str(text.get(end..at).unwrap_or_default());
            let (character, length) = escape.unwrap_or((sign, sign.len_utf8()));
            decoded.push(character);
            end = at + length;
            if let Some(steps) = &mut steps
                && escape.is_some()
            {
                // A match may begin or end on either side of the character.
                steps.extend([(decoded.len() - character.len_utf8(), at), (decoded.len(), end)]);
            }
            match text.get(end..).unwrap_or_default().find(sign) {
                Some(next) => at = end + next,
                None => break,
            }
        }
        decoded.push_str(text.get(end..).unwrap_or_default());
        Some(decoded)
    }
}

/// Returns the source of a part of the decoded text.
pub(super) fn place(steps: &[EscapeEnd], decoded: &Range<usize>) -> Range<usize> {
    source_of(steps, decoded.start)..source_of(steps, decoded.end)
}

fn source_of(steps: &[EscapeEnd], at: usize) -> usize {
    let count = steps.partition_point(|(end, _)| *end <= at);
    let (end, source) = count.checked_sub(1).and_then(|last| steps.get(last)).copied().unwrap_or_default();
    source + (at - end)
}

/// Returns the character and the length of an escape in JSON at the beginning of a text.
fn json_escape(text: &str) -> Option<(char, usize)> {
    let character = match text.as_bytes().get(1)? {
        b'u' => return unicode_escape(text),
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        byte @ (b'"' | b'\\' | b'/') => char::from(*byte),
        _ => return None,
    };
    Some((character, 2))
}

/// Returns the character of `\u002f`, or of the two escapes of a surrogate pair.
fn unicode_escape(text: &str) -> Option<(char, usize)> {
    let first = utf16_unit(text, 0)?;
    if let Some(character) = char::from_u32(first) {
        return Some((character, 6));
    }
    let halves = [u16::try_from(first).ok()?, u16::try_from(utf16_unit(text, 6)?).ok()?];
    let character = char::decode_utf16(halves).next()?.ok()?;
    Some((character, 12))
}

/// Returns the number of the escape `\u002f` at an offset.
fn utf16_unit(text: &str, at: usize) -> Option<u32> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    if is_hex(digits) { u32::from_str_radix(digits, 16).ok() } else { None }
}

fn is_hex(digits: &str) -> bool {
    digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn hex_digit(byte: u8) -> Option<u32> {
    char::from(byte).to_digit(16)
}

/// Returns the character of `%2F`, or of several escapes for its bytes.
fn url_escape(text: &str) -> Option<(char, usize)> {
    let mut bytes = Vec::new();
    for part in text.as_bytes().chunks(3).take(4) {
        let [b'%', high, low] = part else { break };
        let byte = hex_digit(*high)? * 16 + hex_digit(*low)?;
        bytes.push(u8::try_from(byte).ok()?);
        if let Ok(character) = std::str::from_utf8(&bytes) {
            return Some((character.chars().next()?, bytes.len() * 3));
        }
    }
    None
}

/// Returns a cut text without a partial escape or character at its end.
pub(super) fn without_cut_escape(text: &str) -> &str {
    for length in 1..=text.len().min(6) {
        let (Some(before), Some(end)) = (text.get(..text.len() - length), text.get(text.len() - length..))
        else {
            continue;
        };
        let is_cut = matches!(end, "\\" | "\u{fffd}")
            || end.strip_prefix("\\u").is_some_and(|digits| digits.len() <= 4 && is_hex(digits))
            || end.strip_prefix('%').is_some_and(|digits| digits.len() <= 2 && is_hex(digits));
        if is_cut {
            return before;
        }
    }
    text
}
