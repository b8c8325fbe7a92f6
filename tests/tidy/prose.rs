//! Reads the prose of sources and documents: doc comments, comments, their sentences.

/// A block of doc comments or of a document.
pub(crate) struct Block {
    /// The line on which it begins.
    pub(crate) line: usize,
    pub(crate) text: String,
    /// The name of the function that it documents.
    pub(crate) function: Option<String>,
}

/// The doc comments of a source file.
pub(crate) fn doc_blocks(source: &str) -> Vec<Block> {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let marker = ["///", "//!"]
            .into_iter()
            .find(|marker| lines[at].starts_with(marker) && !lines[at].starts_with("////"));
        let Some(marker) = marker else {
            at += 1;
            continue;
        };
        let start = at;
        let mut text = String::new();
        while at < lines.len() && lines[at].starts_with(marker) {
            let line = &lines[at][3..];
            text.push_str(line.strip_prefix(' ').unwrap_or(line));
            text.push('\n');
            at += 1;
        }
        let function = if marker == "///" { documented_function(&lines[at..]) } else { None };
        blocks.push(Block { line: start + 1, text, function });
    }
    blocks
}

/// The function that the lines after a doc comment declare.
fn documented_function(lines: &[&str]) -> Option<String> {
    let item = lines
        .iter()
        .find(|line| !line.starts_with("#[") && !line.starts_with("//") && !line.ends_with(']'))?;
    let words: Vec<&str> = item.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "fn")?;
    let modifiers = ["pub", "pub(crate)", "pub(super)", "const", "async", "unsafe", "extern"];
    let is_item = words[..at].iter().all(|word| modifiers.contains(word) || word.starts_with("pub("));
    let name = words.get(at + 1).filter(|_| is_item)?;
    Some(name.split(['(', '<']).next().unwrap_or(name).to_owned())
}

/// The paragraphs of Markdown without code, tables and headings; items of lists stand alone.
pub(crate) fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    let mut is_code = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") {
            is_code = !is_code;
        }
        let is_item = line.starts_with("- ")
            || line.starts_with("* ")
            || line.split_once(". ").is_some_and(|(number, _)| number.parse::<u8>().is_ok());
        if is_code
            || line.is_empty()
            || line.starts_with('|')
            || line.starts_with('#')
            || line.starts_with("```")
        {
            paragraphs.push(String::new());
        } else if is_item {
            paragraphs.push(line.to_owned());
        } else if let Some(last) = paragraphs.last_mut() {
            last.push(' ');
            last.push_str(line);
        }
    }
    paragraphs.retain(|paragraph| !paragraph.trim().is_empty());
    paragraphs.iter().map(|paragraph| paragraph.trim().to_owned()).collect()
}

/// The sentences of a paragraph. Text in back-ticks does not end one.
pub(crate) fn sentences(paragraph: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut is_code = false;
    let mut characters = paragraph.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        is_code ^= c == '`';
        let is_end = matches!(c, '.' | '?' | '!')
            && !is_code
            && characters.peek().is_none_or(|(_, next)| next.is_whitespace());
        if is_end {
            sentences.push(paragraph[start..=at].trim());
            start = at + 1;
        }
    }
    sentences.push(paragraph[start..].trim());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// The first sentence of a block; `None` if it begins with something else.
pub(crate) fn first_sentence(text: &str) -> Option<String> {
    let first = text.split("\n\n").next()?;
    let paragraphs = paragraphs(first);
    let sentence = sentences(paragraphs.first()?).first().map(|sentence| (*sentence).to_owned());
    sentence.filter(|_| {
        !first.trim_start().starts_with(['#', '|', '`'])
            || first.trim_start().starts_with("`") && !first.trim_start().starts_with("```")
    })
}

/// The words of a sentence, in small letters and without marks.
pub(crate) fn words(sentence: &str) -> Vec<String> {
    let words = sentence
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
    words.filter(|word| !word.is_empty()).collect()
}

/// Comments that are no docs, and doc comments, line by line; code within docs excepted.
pub(crate) fn comment_lines(source: &str) -> Vec<(usize, String)> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for (at, line) in source.lines().enumerate() {
        let comment =
            line.trim().strip_prefix("//").or_else(|| line.split_once(" // ").map(|(_, comment)| comment));
        let Some(comment) = comment else {
            is_code = false;
            continue;
        };
        let comment = comment.trim_start_matches(['/', '!']).trim();
        if comment.starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            lines.push((at + 1, comment.to_owned()));
        }
    }
    lines
}
