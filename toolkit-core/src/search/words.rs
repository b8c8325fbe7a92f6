//! Splitting of texts into sentences and words for tool search.

use super::stem::stem;
use crate::name::fnv1a;
use std::mem;

/// Returns `text` up to the end of its first sentence or line.
pub(super) fn first_sentence(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or_default();
    for (at, mark) in line.match_indices(['.', '!', '?', '。', '！', '？']) {
        let (before, after) = line.split_at(at + mark.len());
        // A dot within a word, as in `example.com`, ends no sentence. A Chinese full stop needs no space.
        if !before.ends_with(|c: char| c.is_ascii()) || after.starts_with(char::is_whitespace) {
            return before.trim_end();
        }
    }
    line.trim_end()
}

/// Calls `take` with each word, in lowercase.
///
/// Punctuation, spaces and camel case separate words: `readFile`, `read_file` and "Read file" are all
/// `read` and `file`. Chinese, Japanese and Korean have no spaces, so every two adjacent characters are a
/// word.
pub(super) fn each_word(text: &str, take: &mut dyn FnMut(&str)) {
    let mut word = Word::default();
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        if is_unspaced(c) {
            word.end(take);
            word.pair(c, characters.peek().copied().filter(|next| is_unspaced(*next)), take);
        } else if c.is_alphanumeric() {
            let is_camel = c.is_uppercase()
                && (word.ends_small
                    || (word.ends_capital && characters.peek().is_some_and(|c| c.is_lowercase())));
            if is_camel {
                word.end(take);
            }
            word.push(c);
        } else {
            word.end(take);
        }
    }
    word.end(take);
}

/// Returns a hash of the word's stem.
pub(super) fn word_key(word: &str) -> u64 {
    fnv1a(stem(word), 0)
}

#[derive(Default)]
struct Word {
    text: String,
    ends_small: bool,
    ends_capital: bool,
    /// Whether a pair with the previous character contained the current one.
    in_pairs: bool,
}

impl Word {
    fn push(&mut self, c: char) {
        self.text.extend(c.to_lowercase());
        self.ends_capital = c.is_uppercase();
        self.ends_small = !self.ends_capital;
        self.in_pairs = false;
    }

    fn end(&mut self, take: &mut dyn FnMut(&str)) {
        if !self.text.is_empty() {
            take(&self.text);
            self.text.clear();
        }
        (self.ends_small, self.ends_capital) = (false, false);
    }

    /// Passes `c` and the next character to `take` as one word, or else `c` alone, unless the previous pair
    /// has it.
    fn pair(&mut self, c: char, next: Option<char>, take: &mut dyn FnMut(&str)) {
        let has_been_taken = mem::replace(&mut self.in_pairs, next.is_some());
        if next.is_some() || !has_been_taken {
            let pair: String = [Some(c), next].into_iter().flatten().collect();
            take(&pair);
        }
    }
}

fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{3040}'..='\u{30FF}' // Hiragana, Katakana
        | '\u{31F0}'..='\u{31FF}' // Katakana phonetic extensions
        | '\u{3400}'..='\u{4DBF}' // Han
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7AF}' // Hangul
        | '\u{F900}'..='\u{FAFF}' // Han compatibility ideographs
        | '\u{FF66}'..='\u{FF9F}' // Halfwidth Katakana
        | '\u{20000}'..='\u{323AF}' // Han in the supplementary planes
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut words = Vec::new();
        each_word(text, &mut |word| words.push(word.to_owned()));
        assert_eq!(words, expected, "{text}");
    }

    #[test]
    fn names_are_split_into_words() {
        check("search_web", &["search", "web"]);
        check("fs.readFile", &["fs", "read", "file"]);
        check("HTTPServer-listAll", &["http", "server", "list", "all"]);
        check("base64Encode v2", &["base64", "encode", "v2"]);
        check("ÜberGröße", &["über", "größe"]);
        check("--__ ", &[]);
    }

    #[test]
    fn a_sentence_ends_at_a_mark_before_a_blank() {
        let check = |text, expected| assert_eq!(first_sentence(text), expected);
        check("Current weather for a city. Uses an API.", "Current weather for a city.");
        check("  Reads example.com\nand more", "Reads example.com");
        check("读取文件。再写。", "读取文件。");
        check("Why? Because.", "Why?");
        check("", "");
    }

    #[test]
    fn unspaced_scripts_are_split_into_pairs() {
        check("发送邮件", &["发送", "送邮", "邮件"]);
        check("发 mail 件を", &["发", "mail", "件を"]);
        check("用API发送", &["用", "api", "发送"]);
        check("가게", &["가게"]);
    }
}
