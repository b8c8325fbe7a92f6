//! Invisible characters: they can hide text from a human, or change the meaning of text on the screen.

use std::str::Chars;

/// Returns whether the character is invisible and never needed in text for humans.
///
/// These are control characters except line breaks and tabs, direction marks, characters without width,
/// the fillers of Hangul, and the Unicode blocks that can carry hidden text.
fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{200b}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => true,
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' => true,
        character => carries_text(character) || character.is_control(),
    }
}

/// Returns whether a sequence of such characters can carry any text.
///
/// These are the copies of ASCII letters in the block Tags, and 240 variation selectors.
fn carries_text(character: char) -> bool {
    matches!(character, '\u{e0000}'..='\u{e0fff}')
}

fn is_selector(character: char) -> bool {
    matches!(character, '\u{fe00}'..='\u{fe0f}')
}

/// Returns whether a selector shows the character before it as text or as emoji.
///
/// A selector elsewhere, or a second one, can carry hidden text.
fn chooses_form(selector: char, before: Option<char>) -> bool {
    let has_forms = matches!(
        before,
        Some(
            '#'
            | '*'
            | '0'..='9'
            | '\u{a9}'
            | '\u{ae}'
            | '\u{203c}'..='\u{2bff}'
            | '\u{3030}'
            | '\u{303d}'
            | '\u{3297}'
            | '\u{3299}'
            | '\u{1f000}'..='\u{1faff}',
        )
    );
    has_forms && matches!(selector, '\u{fe0e}' | '\u{fe0f}')
}

/// Returns whether the character is invisible but needed in some scripts and emoji.
///
/// Two strings that differ only in such characters look alike.
fn is_mark(character: char) -> bool {
    is_selector(character)
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200c}'..='\u{200f}'
                | '\u{2800}'
                | '\u{fff0}'..='\u{fff8}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
        )
}

/// Returns `text` without the characters that `is_removed`, and selectors that choose no form.
fn visible(text: &str, is_removed: fn(char) -> bool) -> Visible<'_> {
    Visible { characters: text.chars(), before: None, is_removed }
}

struct Visible<'a> {
    characters: Chars<'a>,
    /// The last visible character.
    before: Option<char>,
    is_removed: fn(char) -> bool,
}

impl Iterator for Visible<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        for character in self.characters.by_ref() {
            let is_visible = if is_selector(character) {
                chooses_form(character, self.before)
            } else {
                !(self.is_removed)(character)
            };
            if is_visible {
                self.before = Some(character);
                return self.before;
            }
        }
        None
    }
}

/// Returns `text` without hidden characters, which a model may read but a human does not see.
#[must_use]
pub fn clean(text: &str) -> String {
    visible(text, is_hidden).collect()
}

/// Returns whether `text` has no hidden characters.
#[must_use]
pub fn is_clean(text: &str) -> bool {
    visible(text, is_hidden).eq(text.chars())
}

/// Returns whether `text` has characters that a reader cannot see. The `\r` in the line ends of some systems is none.
#[must_use]
pub fn hides_text(text: &str) -> bool {
    visible(text, is_hidden).ne(text.chars().filter(|character| *character != '\r'))
}

/// Returns `text` without the characters that can carry hidden text.
///
/// Other invisible characters stay, such as the control characters of a terminal.
#[must_use]
pub fn without_hidden_text(text: String) -> String {
    // The first bytes of these characters and the selectors in UTF-8.
    if !text.bytes().any(|byte| matches!(byte, 0xef | 0xf3)) {
        return text;
    }
    visible(&text, carries_text).collect()
}

/// Returns `text` with every invisible character written as an escape of JSON, such as `\u202e`.
///
/// Invisible characters can make a value look like another one to the user. Line breaks and tabs stay.
/// JSON text remains valid JSON with the same value.
///
/// ```
/// use toolkit_core::foreign::show_invisible;
///
/// assert_eq!(show_invisible("report\u{202e}fdp.exe"), r"report\u202efdp.exe");
/// assert_eq!(show_invisible("Grüße, 世界!"), "Grüße, 世界!");
/// ```
#[must_use]
pub fn show_invisible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) || is_mark(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                shown.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            shown.push(character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    #[test]
    fn hidden_characters_are_removed() {
        let hidden: String = "obey".chars().filter_map(|c| char::from_u32(0xe0000 + u32::from(c))).collect();
        let text = format!("Adds.\u{202e}\u{200b}{hidden}\n\tTwo\u{7} numbers. 😀");
        assert_eq!(clean(&text), "Adds.\n\tTwo numbers. 😀");
        assert!(!is_clean(&text) && is_clean(&clean(&text)));
        // Persian needs the joiner, and the emoji needs its selector.
        for text in ["می\u{200c}خواهم ❤\u{fe0f}", "1\u{fe0f}\u{20e3} ©\u{fe0e} 🏳\u{fe0f}\u{200d}🌈", "한글"]
        {
            assert_eq!((clean(text).as_str(), is_clean(text)), (text, true));
        }
        // Selectors and fillers carry bytes.
        let text = "a\u{fe0f} 😀\u{fe0f}\u{fe00}\u{fe0e}\u{e0100}\u{e01ef}\u{3164}\u{ffa0}\u{1160}b";
        assert_eq!(clean(text), "a 😀\u{fe0f}b");
    }

    #[test]
    fn results_lose_only_the_characters_that_carry_text() {
        let text = "\u{1b}[1m한\u{200b}\u{3164}\u{202e}\r\n❤\u{fe0f}";
        assert_eq!(without_hidden_text(text.to_owned()), text);
        let hiding = format!("{text}\u{e0041}\u{fe01}\u{e0101}");
        assert_eq!(without_hidden_text(hiding), text);
        assert!(!hides_text("two\r\nlines") && hides_text("two\u{e0041}"));
    }

    #[test]
    fn invisible_characters_are_shown() {
        for (text, shown) in [
            ("a\u{202e}b\u{2066}c", r"a\u202eb\u2066c"),
            ("zero\u{200b}width\u{200d}\u{feff}", r"zero\u200bwidth\u200d\ufeff"),
            ("tag\u{e0041} ❤\u{fe0f}", r"tag\udb40\udc41 ❤\ufe0f"),
            ("bell\u{7}\u{1b}[2J\u{85}\u{7f}", r"bell\u0007\u001b[2J\u0085\u007f"),
            ("lines\n\tstay", "lines\n\tstay"),
        ] {
            assert_eq!(show_invisible(text), shown);
        }
    }

    /// Generates strings in which every third character is invisible.
    fn strings() -> impl Strategy<Value = String> {
        let near = |first: u32, last: u32| (first..=last).prop_filter_map("a character", char::from_u32);
        let character = prop_oneof![
            any::<char>(),
            near(0x20, 0x7e),
            prop_oneof![
                near(0, 0x9f),
                near(0xad, 0xad),
                near(0x2000, 0x206f),
                near(0xfe00, 0xfe0f),
                near(0xe0000, 0xe01ef)
            ],
        ];
        prop::collection::vec(character, 0..20).prop_map(|characters| characters.into_iter().collect())
    }

    proptest! {
        #[test]
        fn json_stays_the_same_value_and_shows_every_character(name in strings(), text in strings()) {
            let value = serde_json::json!({ name: [text, 1.5, null] });
            let shown = show_invisible(&value.to_string());
            prop_assert_eq!(serde_json::from_str::<Value>(&shown).ok(), Some(value));
            prop_assert!(!shown.chars().any(|c| is_hidden(c) || is_mark(c) || c == '\n'), "{}", shown);
        }

        #[test]
        fn different_strings_look_different(one in strings(), other in strings()) {
            // Compared as JSON, because a string may itself contain the text of an escape.
            let shown = |text: &String| show_invisible(&Value::from(text.as_str()).to_string());
            prop_assert_eq!(one == other, shown(&one) == shown(&other));
        }

        #[test]
        fn a_clean_text_is_cleaned_once(text in strings()) {
            let cleaned = clean(&text);
            prop_assert!(is_clean(&cleaned));
            prop_assert_eq!(is_clean(&text), cleaned == text);
            prop_assert_eq!(clean(&cleaned), cleaned);
        }
    }
}
