//! Name patterns with wildcards.

/// Returns whether a text matches a pattern, where `*` is any text.
pub(super) fn matches(text: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return text == pattern };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let mut parts = rest.split('*');
    let last = parts.next_back().unwrap_or_default();
    for part in parts {
        match text.split_once(part) {
            Some((_, after)) => text = after,
            None => return false,
        }
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_are_any_text() {
        for (text, pattern, expected) in [
            ("fs-read", "fs-read", true),
            ("fs-read", "fs-*", true),
            ("fs-read", "*", true),
            ("fs-read", "*-read", true),
            ("fs-read", "f*r*d", true),
            ("fs-read", "fs-read*", true),
            ("fs-read", "fs", false),
            ("fs-read", "*write", false),
            ("fs-read", "fs-read*d", false),
            ("aa", "a*a", true),
            ("a", "a*a", false),
        ] {
            assert_eq!(matches(text, pattern), expected, "{text} {pattern}");
        }
    }
}
