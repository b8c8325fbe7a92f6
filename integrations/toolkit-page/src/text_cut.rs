//! Long texts, cut.

use std::borrow::Cow;

/// Returns at most `limit` bytes of a text, and how many more it has.
pub(crate) fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let (kept, rest) = text.split_at(end);
    Cow::Owned(format!("{kept} … {} bytes more", rest.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_never_split() {
        assert_eq!(cut("äö", 4), "äö");
        assert_eq!(cut("äö", 3), "ä … 2 bytes more");
        assert_eq!(cut("äö", 1), " … 4 bytes more");
    }
}
