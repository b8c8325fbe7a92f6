//! Bytes as text: the encodings of RFC 4648 that schemas name.

use data_encoding::{BASE32, BASE64, BASE64URL, HEXLOWER, HEXUPPER_PERMISSIVE};

/// Returns whether `text` is valid in an encoding such as `base64`, as any is in an unknown one.
pub(crate) fn decodes(encoding: &str, text: &str) -> bool {
    let decoder = match encoding {
        "base64" => &BASE64,
        "base64url" => &BASE64URL,
        "base32" => &BASE32,
        "base16" => &HEXUPPER_PERMISSIVE,
        _ => return true,
    };
    decoder.decode(text.as_bytes()).is_ok()
}

/// Encodes standard Base64 with padding.
#[must_use]
pub fn base64(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}
