//! Bytes as text: the encodings of RFC 4648 that schemas name, as small as what tools need of them.

/// An encoding: each digit stands for `bits` bits.
struct Encoding {
    bits: usize,
    /// The number of digits that stand for whole bytes. A shorter group is padded with `=` up to this length.
    group: usize,
    value_of: fn(u8) -> Option<u8>,
}

/// Returns whether `text` is valid in a content encoding such as `base64`. Returns `true` for an unknown
/// encoding.
pub(crate) fn decodes(encoding: &str, text: &str) -> bool {
    let encoding = match encoding {
        "base64" => Encoding { bits: 6, group: 4, value_of: |digit| base64_value(digit, b'+', b'/') },
        "base64url" => Encoding { bits: 6, group: 4, value_of: |digit| base64_value(digit, b'-', b'_') },
        "base32" => Encoding { bits: 5, group: 8, value_of: base32_value },
        "base16" => Encoding { bits: 4, group: 2, value_of: base16_value },
        _ => return true,
    };
    text.as_bytes().chunks(encoding.group).all(|group| encoding.accepts(group))
}

impl Encoding {
    /// Returns whether a group of digits and padding stands for bytes. Each group may be padded, as it is where encoded
    /// texts were joined.
    fn accepts(&self, group: &[u8]) -> bool {
        let mut digits = group;
        while let [before @ .., b'='] = digits {
            digits = before;
        }
        let mut last = 0;
        for digit in digits {
            let Some(value) = (self.value_of)(*digit) else { return false };
            last = value;
        }
        // The bits after the last whole byte are fewer than those of a digit, and are 0.
        let rest = digits.len() * self.bits % 8;
        group.len() == self.group && !digits.is_empty() && rest < self.bits && last & ((1 << rest) - 1) == 0
    }
}

fn base64_value(digit: u8, plus: u8, slash: u8) -> Option<u8> {
    match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        _ if digit == plus => Some(62),
        _ if digit == slash => Some(63),
        _ => None,
    }
}

fn base32_value(digit: u8) -> Option<u8> {
    match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'2'..=b'7' => Some(digit - b'2' + 26),
        _ => None,
    }
}

fn base16_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// Encodes standard Base64 with padding.
#[must_use]
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let mut bits = 0;
        for (index, byte) in group.iter().enumerate() {
            bits |= usize::from(*byte) << (16 - 8 * index);
        }
        for index in 0..4 {
            let digit = DIGITS.get(bits >> (18 - 6 * index) & 63).filter(|_| index <= group.len());
            text.push(digit.map_or('=', |digit| char::from(*digit)));
        }
    }
    text
}

/// Encodes bytes as lower-case hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::{BASE32, BASE64, BASE64URL, HEXLOWER, HEXUPPER_PERMISSIVE};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bytes_are_encoded_as_another_library_does(bytes: Vec<u8>) {
            prop_assert_eq!(base64(&bytes), BASE64.encode(&bytes));
            prop_assert_eq!(hexadecimal(&bytes), HEXLOWER.encode(&bytes));
        }

        #[test]
        fn encoded_bytes_decode(bytes: Vec<u8>) {
            for (name, encoding) in
                [("base64", BASE64), ("base64url", BASE64URL), ("base32", BASE32), ("base16", HEXUPPER_PERMISSIVE)]
            {
                prop_assert!(decodes(name, &encoding.encode(&bytes)), "{}", name);
            }
        }

        #[test]
        fn a_text_decodes_if_another_library_decodes_it(text in "[AQgw7f2_+/é-]{0,9}={0,4}[AQ]{0,3}={0,3}") {
            for (name, encoding) in
                [("base64", BASE64), ("base64url", BASE64URL), ("base32", BASE32), ("base16", HEXUPPER_PERMISSIVE)]
            {
                prop_assert_eq!(decodes(name, &text), encoding.decode(text.as_bytes()).is_ok(), "{}", name);
            }
        }
    }
}
