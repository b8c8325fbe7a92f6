//! Encodings of text within text: escapes of JSON, Rust, URLs and HTML, and Base64.

use data_encoding::{BASE64_NOPAD, BASE64URL_NOPAD};
use std::ops::Range;

/// A character of a decoded text, with the byte range of its encoded form in the original text.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    pub(super) character: char,
    pub(super) bytes: Range<usize>,
}

/// An encoding: the characters that can begin an escape, and a function to decode one escape. The function receives the
/// rest of the text and returns the decoded character and the number of units decoded.
type Decode = (&'static str, fn(&[Unit]) -> Option<(char, usize)>);

/// The maximum length of the encoded form of one character, in characters. Examples are `%F0%9F%91%8D` and
/// `\ud83d\udc4d`.
const LONGEST: usize = 12;

const BACKSLASH: Decode = ("\\", backslash);
const BACKSLASH_ONCE: Decode = ("\\", backslash_once);
const PERCENT: Decode = ("%", percent);
const FORM: Decode = ("%+", percent_or_plus);
const HTML: Decode = ("&", html);

/// Returns `text` itself, followed by `text` decoded with each encoding. Encodings that do not change the text are left
/// out.
pub(super) fn readings(text: &str) -> Vec<Vec<Unit>> {
    let unit =
        |(start, character): (usize, char)| Unit { character, bytes: start..start + character.len_utf8() };
    let plain: Vec<Unit> = text.char_indices().map(unit).collect();
    // Some encodings are applied twice: a URL in JSON, or a URL as the parameter of another URL.
    let first = |decode| decoded(&plain, decode);
    let [backslash, once, percent, form, html] = [BACKSLASH, BACKSLASH_ONCE, PERCENT, FORM, HTML].map(first);
    let again = |units: &Option<Vec<Unit>>, decode| decoded(units.as_deref()?, decode);
    let twice = [
        again(&backslash, PERCENT),
        again(&backslash, FORM),
        again(&backslash, HTML),
        again(&once, BACKSLASH_ONCE),
        again(&percent, PERCENT),
    ];
    [Some(plain), backslash, once, percent, form, html].into_iter().chain(twice).flatten().collect()
}

/// Returns the units decoded with one encoding, or `None` if there is nothing to decode.
fn decoded(units: &[Unit], (beginnings, decode): Decode) -> Option<Vec<Unit>> {
    if !characters(units).any(|c| beginnings.contains(c)) {
        return None;
    }
    let mut decoded = Vec::with_capacity(units.len());
    let (mut left, mut has_changed) = (units, false);
    while let Some(first) = left.first() {
        let (character, count) =
            decode(left).or_else(|| cut(left, beginnings)).unwrap_or((first.character, 1));
        let end = left.get(count - 1).map_or(first.bytes.end, |last| last.bytes.end);
        decoded.push(Unit { character, bytes: first.bytes.start..end });
        has_changed |= count > 1 || character != first.character;
        left = left.get(count..).unwrap_or_default();
    }
    has_changed.then_some(decoded)
}

/// Reads an encoded character cut off by an ellipsis. Returns the ellipsis.
fn cut(units: &[Unit], beginnings: &str) -> Option<(char, usize)> {
    characters(units).next().filter(|c| beginnings.contains(*c))?;
    let length = characters(units).take(LONGEST).position(|c| c == '…')?;
    let is_encoding = |c: char| c.is_ascii_alphanumeric() || matches!(c, '\\' | '%' | '#' | '{');
    characters(units).take(length).skip(1).all(is_encoding).then_some(('…', length + 1))
}

/// Returns the characters of the units.
fn characters(units: &[Unit]) -> impl Iterator<Item = char> {
    units.iter().map(|unit| unit.character)
}

/// Parses `digits` as a number. Returns `None` unless there are only digits of the radix.
fn number(digits: impl Iterator<Item = char>, radix: u32) -> Option<u32> {
    let digits: String = digits.collect();
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    if is_number { u32::from_str_radix(&digits, radix).ok() } else { None }
}

/// Reads an escape of JSON or Rust. Nested escapes have several backslashes.
fn backslash(units: &[Unit]) -> Option<(char, usize)> {
    escape(units, characters(units).take_while(|c| *c == '\\').count())
}

/// Reads an escape of JSON or Rust with one backslash.
fn backslash_once(units: &[Unit]) -> Option<(char, usize)> {
    match units {
        [Unit { character: '\\', .. }, Unit { character: '\\', .. }, ..] => Some(('\\', 2)),
        _ => escape(units, characters(units).take_while(|c| *c == '\\').count()),
    }
}

/// Reads an escape that begins with `slashes` backslashes.
fn escape(units: &[Unit], slashes: usize) -> Option<(char, usize)> {
    if slashes == 0 {
        return None;
    }
    let escaped = units.get(slashes..).unwrap_or_default();
    let character = match characters(escaped).next() {
        Some('u') => return unicode(escaped).map(|(character, count)| (character, slashes + count)),
        Some('x') => {
            let code = number(characters(escaped).skip(1).take(2), 16)?;
            return Some((char::from_u32(code)?, slashes + 3));
        }
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('0') => '\0',
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some(quote @ ('"' | '\'' | '/')) => quote,
        _ => return if slashes > 1 { Some(('\\', slashes)) } else { None },
    };
    Some((character, slashes + 1))
}

/// Reads `u00e9`, a surrogate pair such as `ud83d\udc4d`, or `u{e9}`.
fn unicode(units: &[Unit]) -> Option<(char, usize)> {
    let after = units.get(1..).unwrap_or_default();
    if characters(after).next() == Some('{') {
        let length = characters(after).take(8).position(|c| c == '}')?;
        let code = number(characters(after).take(length).skip(1), 16)?;
        return Some((char::from_u32(code)?, length + 2));
    }
    let four = |units: &[Unit]| number(characters(units).take(4), 16).filter(|_| units.len() >= 4);
    let first = four(after)?;
    if let Some(character) = char::from_u32(first) {
        return Some((character, 5));
    }
    let rest = after.get(4..).unwrap_or_default();
    let slashes = characters(rest).take_while(|c| *c == '\\').count();
    let low = rest.get(slashes..).filter(|low| characters(low).next() == Some('u'))?;
    let second = four(low.get(1..)?)?;
    let pair = [u16::try_from(first).ok()?, u16::try_from(second).ok()?];
    let character = char::decode_utf16(pair).next()?.ok()?;
    Some((character, 5 + slashes + 5))
}

/// Reads a percent-encoded character of up to four bytes.
fn percent(units: &[Unit]) -> Option<(char, usize)> {
    let mut bytes = Vec::new();
    for encoded in units.chunks(3).take(4) {
        if characters(encoded).next() != Some('%') || encoded.len() < 3 {
            break;
        }
        bytes.push(u8::try_from(number(characters(encoded).skip(1), 16)?).ok()?);
        if let Ok(text) = str::from_utf8(&bytes) {
            return Some((text.chars().next()?, bytes.len() * 3));
        }
    }
    None
}

/// Reads a percent-encoded character, or `+` for a space.
fn percent_or_plus(units: &[Unit]) -> Option<(char, usize)> {
    if characters(units).next() == Some('+') { Some((' ', 1)) } else { percent(units) }
}

/// Reads a character reference of HTML.
fn html(units: &[Unit]) -> Option<(char, usize)> {
    if characters(units).next() != Some('&') {
        return None;
    }
    let length = characters(units).take(10).position(|c| c == ';')?;
    let name: String = characters(units).take(length).skip(1).collect();
    let character = match (name.as_str(), name.strip_prefix('#')) {
        ("amp", _) => '&',
        ("lt", _) => '<',
        ("gt", _) => '>',
        ("quot", _) => '"',
        ("apos", _) => '\'',
        ("nbsp", _) => ' ',
        (_, Some(code)) => {
            let code = match code.strip_prefix(['x', 'X']) {
                Some(code) => number(code.chars(), 16),
                None => number(code.chars(), 10),
            };
            char::from_u32(code?)?
        }
        _ => return None,
    };
    Some((character, length + 1))
}

/// Returns the forms that `bytes` can take within a longer Base64 text: one for each alphabet and each offset in a
/// group of three bytes. Digits that also depend on neighbouring bytes are left out.
pub(super) fn base64_forms(bytes: &[u8]) -> Vec<String> {
    let mut forms = Vec::new();
    for offset in 0..3 {
        let shifted: Vec<u8> = std::iter::repeat_n(0, offset).chain(bytes.iter().copied()).collect();
        // The first digits depend on the bytes before, and the last ones on the bytes after.
        let digits = (offset * 8).div_ceil(6)..shifted.len() * 8 / 6;
        for encoded in [BASE64_NOPAD.encode(&shifted), BASE64URL_NOPAD.encode(&shifted)] {
            forms.extend(encoded.get(digits.clone()).map(str::to_owned));
        }
    }
    forms
}
