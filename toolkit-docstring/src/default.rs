//! Default values stated in text, such as `Defaults to 10.`, `(default: 10)` and `default=10`.

use crate::prose::{outside_brackets, unwrap_mark};

const WORD: &str = "default";

pub(crate) fn find(description: &str) -> Option<String> {
    let lowercase = description.to_ascii_lowercase();
    for (place, _) in lowercase.match_indices(WORD) {
        let Some((before, clause)) = description.split_at_checked(place) else { continue };
        if before.ends_with(is_word_char) {
            continue;
        }
        let in_brackets = before.trim_end().ends_with(['(', '[', '（']);
        let stated = match after_announcement(clause) {
            None if in_brackets => after_word(clause),
            announced => announced,
        };
        if let Some(value) = stated.and_then(value) {
            return Some(value);
        }
    }
    None
}

/// Returns the value of a text that states only a default value, such as `default 10`.
pub(crate) fn parse(text: &str) -> Option<String> {
    value(after_announcement(text).or_else(|| after_word(text))?)
}

fn after_announcement(clause: &str) -> Option<&str> {
    let word_end = strip_word(clause)?;
    let rest = word_end.strip_prefix(['s', 'S']).unwrap_or(word_end);
    let text = rest.trim_start();
    if let Some((to, value)) = text.split_at_checked(3)
        && to.eq_ignore_ascii_case("to ")
        && rest.starts_with(' ')
    {
        return Some(value);
    }
    text.strip_prefix([':', '=', '：']).filter(|value| !value.starts_with([':', '=']))
}

fn after_word(clause: &str) -> Option<&str> {
    let rest = strip_word(clause)?;
    if rest.starts_with(char::is_whitespace) { Some(rest) } else { None }
}

fn strip_word(clause: &str) -> Option<&str> {
    let (word, rest) = clause.split_at_checked(WORD.len())?;
    if word.eq_ignore_ascii_case(WORD) { Some(rest) } else { None }
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '.')
}

fn value(text: &str) -> Option<String> {
    let text = text.trim_start();
    let stated = quoted(text).unwrap_or_else(|| sentence(text)).trim().trim_end_matches('.');
    let value = unwrap_mark(stated, '`').unwrap_or(stated).trim();
    if value.is_empty() { None } else { Some(value.to_owned()) }
}

fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next()?;
    if !matches!(quote, '`' | '\'' | '"') {
        return None;
    }
    let (end, _) = text.match_indices(quote).nth(1)?;
    text.get(..=end)
}

fn sentence(text: &str) -> &str {
    for (place, c) in outside_brackets(text) {
        let before = text.get(..place).unwrap_or(text);
        let after = text.get(place + c.len_utf8()..).unwrap_or_default();
        let is_end = match c {
            ';' | '。' | '；' | '，' | '\n' => true,
            '.' | ',' => after.is_empty() || after.starts_with(char::is_whitespace),
            ')' | ']' | '）' => !before.contains(['(', '[', '（']),
            _ => false,
        };
        if is_end {
            return before;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{find, parse};

    fn check(description: &str, expected: Option<&str>) {
        assert_eq!(find(description).as_deref(), expected, "{description:?}");
    }

    #[test]
    fn defaults_are_found_in_descriptions() {
        check("The limit. Defaults to 10.", Some("10"));
        check("The limit. Defaults to `10`.", Some("10"));
        check("The limit, defaults to 1.5", Some("1.5"));
        check("Default: 10. More.", Some("10"));
        check("default = 10", Some("10"));
        check("Limit (default: 10).", Some("10"));
        check("Limit (default 10).", Some("10"));
        check("Limit [default: 10]", Some("10"));
        check("Defaults to 'a. b'.", Some("'a. b'"));
        check("Defaults to (1, 2).", Some("(1, 2)"));
        check("Defaults to [1, 2], or more", Some("[1, 2]"));
        check("Defaults to f(x), or more", Some("f(x)"));
        check("Defaults to the current directory.", Some("the current directory"));
        check("The default mode. Default: fast", Some("fast"));
        check("Defaults to ten\n\nMore.", Some("ten"));
        check("限制，默认 (default: 十)", Some("十"));
    }

    #[test]
    fn other_uses_of_the_word_are_no_defaults() {
        for text in [
            "",
            "default",
            "The default mode",
            "Default::default()",
            "is_default: yes",
            "Defaults to",
            "Defaults to .",
            "default = ",
            "defaulted to 3",
            "the default value is 3",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn clauses_consist_of_a_default() {
        let check = |text: &str, expected| assert_eq!(parse(text).as_deref(), expected, "{text}");
        check("default 10", Some("10"));
        check("default: 10", Some("10"));
        check("Defaults to 10", Some("10"));
        check("default", None);
        check("defaultdict", None);
    }
}
