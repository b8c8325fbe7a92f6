//! The words of a line, as shells split them.

use crate::exit::{Exit, Failure};

/// Splits a line at blanks. Quotes keep blanks, and a backslash keeps the next character.
pub(crate) fn split(line: &str) -> Result<Vec<String>, Failure> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        if c == '\\' && quote != Some('\'') {
            word.get_or_insert_default().extend(rest.next());
        } else if quote == Some(c) {
            quote = None;
        } else if quote.is_none() && (c == '\'' || c == '"') {
            quote = Some(c);
            word.get_or_insert_default();
        } else if quote.is_none() && c.is_whitespace() {
            words.extend(word.take());
        } else {
            word.get_or_insert_default().push(c);
        }
    }
    if let Some(open) = quote {
        return Err(Failure::new(Exit::Usage, format!("the quote `{open}` is not closed")));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn quotes_and_backslashes_keep_blanks() {
        let words = split(r#"call add --text 'a "b" c' --path my\ file --empty "" x"y z""#).unwrap();
        let expected = ["call", "add", "--text", "a \"b\" c", "--path", "my file", "--empty", "", "xy z"];
        assert_eq!(words, expected);
        assert!(split("  ").unwrap().is_empty());
        assert_eq!(split("call 'open").unwrap_err().message, "the quote `'` is not closed");
    }
}
