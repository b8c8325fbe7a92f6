//! Corrections of texts that are almost JSON: Markdown fences and control characters in strings.

/// Removes a Markdown code fence around a JSON text, and escapes control characters inside strings. Returns `None` if
/// nothing changes.
///
/// A backslash directly before a control character is dropped, because it is not a valid escape.
#[must_use]
pub fn mend(text: &str) -> Option<String> {
    let text = text.trim();
    let fenced = text.strip_prefix("```").and_then(|inner| inner.strip_suffix("```"));
    let of_language = |c: char| c.is_ascii_alphanumeric();
    let inner = fenced.map_or(text, |inner| inner.trim_start_matches(' ').trim_start_matches(of_language));
    let (mut mended, mut is_inside, mut is_escaped) = (String::with_capacity(inner.len()), false, false);
    let mut characters = inner.chars().peekable();
    while let Some(c) = characters.next() {
        is_inside ^= c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        if is_inside && is_escaped && characters.peek().is_some_and(char::is_ascii_control) {
            is_escaped = false;
            continue;
        }
        match c {
            c if is_inside && c.is_ascii_control() => mended.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => mended.push(c),
        }
    }
    (mended != text).then_some(mended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_character_in_a_string_is_itself_with_or_without_a_backslash() {
        for control in (0..0x20).chain([0x7f]).map(char::from) {
            for (before, kept) in [("", ""), ("\\", ""), (r"\\", r"\"), (r"\\\", r"\"), (r"\n", "\n")] {
                let text = format!("{{\"a{before}{control}b\": \"{before}{control}\"}}\n");
                let mended = mend(&text).unwrap_or_else(|| text.clone());
                let value: serde_json::Value = serde_json::from_str(&mended).unwrap();
                assert_eq!(
                    value,
                    serde_json::json!({format!("a{kept}{control}b"): format!("{kept}{control}")})
                );
            }
        }
    }

    #[test]
    fn a_fence_is_removed_and_valid_text_stays() {
        assert_eq!(mend("```json\n{\"a\": 1}\n```").as_deref(), Some("\n{\"a\": 1}\n"));
        assert_eq!(mend(" {\"a\": \"\\n\"}\n"), None);
    }
}
