//! Prose: the short sentences of doc comments and documents, and comments.

use super::{first_steps, root, sources};
use std::fs;

/// A sentence has fewer words.
const WORDS: usize = 40;

/// Returns a file's doc comments, each with its first line.
fn doc_blocks(source: &str) -> Vec<(usize, String)> {
    let mut blocks: Vec<(usize, String)> = Vec::new();
    let mut is_inside = false;
    for (line, text) in (1..).zip(source.lines().map(str::trim)) {
        let doc = ["///", "//!"].iter().find_map(|marker| text.strip_prefix(marker));
        if let Some(doc) = doc {
            if !is_inside {
                blocks.push((line, String::new()));
            }
            if let Some((_, block)) = blocks.last_mut() {
                *block += doc.strip_prefix(' ').unwrap_or(doc);
                block.push('\n');
            }
        }
        is_inside = doc.is_some();
    }
    blocks
}

/// The paragraphs and items of Markdown, without code, tables and headings.
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

/// The sentences of a paragraph, which text in back-ticks does not end.
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

/// Comments line by line, without code in docs.
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

fn long_sentences(text: &str) -> Vec<String> {
    let paragraphs = paragraphs(text);
    let sentences = paragraphs.iter().flat_map(|paragraph| sentences(paragraph));
    let is_word = |word: &&str| word.contains(char::is_alphanumeric);
    let long = sentences.filter(|sentence| sentence.split_whitespace().filter(is_word).count() >= WORDS);
    long.map(str::to_owned).collect()
}

#[test]
fn sentences_are_short() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        for (line, block) in doc_blocks(&text) {
            let long = long_sentences(&block).into_iter();
            faults.extend(long.map(|sentence| format!("{}:{line}: {sentence}", path.display())));
        }
    }
    let folders = [
        "",
        "docs",
        "docs/decisions",
        "src/docs",
        "benches",
        "tests",
        "integrations/toolkit-agent",
        "integrations/toolkit-evals",
        "integrations/toolkit-agent-stores",
        "integrations/toolkit-mcp",
        "integrations/toolkit-mcp-config",
        "integrations/toolkit-http",
        "integrations/toolkit-openapi",
        "integrations/toolkit-frontends",
        "integrations/toolkit-nats",
        "integrations/toolkit-cli",
    ];
    let mut documents = first_steps::pages("docs/guide");
    for folder in folders {
        for entry in fs::read_dir(root().join(folder)).into_iter().flatten().flatten() {
            documents.push(entry.path());
        }
    }
    for path in documents.iter().filter(|path| path.extension().is_some_and(|extension| extension == "md")) {
        let text = fs::read_to_string(path).expect("the document can be read");
        let long = long_sentences(&text).into_iter();
        faults.extend(long.map(|sentence| format!("{}: {sentence}", path.display())));
    }
    assert!(
        faults.is_empty(),
        "{} sentences of {WORDS} words and more:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn prose_and_code_are_distinguished() {
    let source = "/// Returns the name.\n///\n/// ```\n/// let x = 1. + 2.;\n/// ```\npub fn name(&self) {}\n//! Whole. Two.";
    let blocks = doc_blocks(source);
    assert_eq!(blocks.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 7]);
    assert_eq!(paragraphs(&blocks[0].1), ["Returns the name."]);
    assert_eq!(sentences("One `a. b` here. Two? Three"), ["One `a. b` here.", "Two?", "Three"]);
}
