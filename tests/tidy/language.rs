//! The language of docs and comments: short sentences, verbs first, no riddles.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::prose::{comment_lines, doc_blocks, first_sentence, paragraphs, sentences, words};
use super::{SOURCES, root, rust_files};

/// A sentence has fewer words.
const WORDS: usize = 40;

/// The least share of functions whose first sentence opens with a verb, in percent.
const VERBS: usize = 90;

/// The share of first sentences with a relative construction is less, in percent.
const RELATIVES: usize = 1;

/// Phrases that a reader has to guess at. Each stands for a name: the dispatcher, the caller, the model, the tool.
const RIDDLES: [&str; 24] = [
    "whoever",
    "whomever",
    "nobody",
    "somebody",
    "anybody",
    "everybody",
    "no one ",
    "who is told",
    "who asks",
    "who calls",
    "who reads",
    "what can be meant",
    "what is meant",
    "what was meant",
    "what came of",
    "what became of",
    "what is given",
    "what it is given",
    "what stands",
    "is told of",
    "tells of",
    "has no sense",
    "how much it is",
    "is not for free",
];

/// Words that open a relative construction.
const RELATIVE: [&str; 8] = ["who", "whoever", "whom", "whose", "what", "whatever", "whichever", "wherever"];

/// Verbs in the third person are words that end with `s`, except these: nouns, pronouns and adverbs.
const NO_VERBS: &str = "access address alias aliases always arguments as bytes calls' characters choices class codes \
    constraints contents counts' crates definitions details docs does' errors events examples facts fields files \
    formats functions headers hints ids indices instructions items its keys keywords kinds less limits lines losses \
    messages methods milliseconds modules names neighbours numbers options others parameters parts pieces plus \
    properties providers reasons registries replies requests responses rows rules' schemas seconds sentences \
    statistics status tags texts thirds this those tokens tools types us values violations wires words yes";

/// Functions whose first sentence reads better without a verb: reviewed, and few.
const NO_VERB_NEEDED: [&str; 0] = [];

fn is_verb(word: &str) -> bool {
    let is_listed = |word: &str| NO_VERBS.split_whitespace().any(|noun| noun == word);
    word.ends_with('s') && word.len() > 1 && !word.ends_with("ss") && !is_listed(word)
}

fn is_relative(sentence: &str) -> bool {
    let words = words(sentence);
    words.iter().any(|word| RELATIVE.contains(&word.as_str()))
        || sentence.contains("that which")
        || sentence.contains("those which")
}

/// The room of a file: its crate, and the first folder or file in it.
fn room(path: &Path) -> String {
    let inside = path.strip_prefix(root()).unwrap_or(path);
    let (package, file) = inside.to_str().and_then(|path| path.split_once("src/")).unwrap_or_default();
    let file = file.split('/').next().unwrap_or_default().trim_end_matches(".rs");
    format!("{}/{file}", if package.is_empty() { "toolkit" } else { package.trim_end_matches('/') })
}

fn sources() -> impl Iterator<Item = (PathBuf, String)> {
    SOURCES.iter().flat_map(rust_files)
}

/// Faults for each room, printed with their number.
#[derive(Default)]
struct Faults(BTreeMap<String, Vec<String>>);

impl Faults {
    fn add(&mut self, path: &Path, line: usize, text: &str) {
        let place = path.strip_prefix(root()).unwrap_or(path).display();
        self.0.entry(room(path)).or_default().push(format!("{place}:{line}: {text}"));
    }

    fn count(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    fn print(&self, title: &str) {
        println!("{title}: {}", self.count());
        self.0.iter().for_each(|(room, faults)| println!("  {room}: {}", faults.len()));
    }

    /// Fails with all faults if there are more than allowed.
    fn assert_at_most(&self, most: usize, title: &str) {
        self.print(title);
        let all: Vec<&str> = self.0.values().flatten().map(String::as_str).collect();
        assert!(all.len() <= most, "{title}: {} of at most {most}\n{}", all.len(), all.join("\n"));
    }
}

#[test]
fn doc_examples_import_the_facade() {
    let mut faults = Faults::default();
    for (path, text) in ["src", "toolkit-core/src", "toolkit-wire/src"].into_iter().flat_map(rust_files) {
        for block in doc_blocks(&text) {
            let mut is_code = false;
            for (at, line) in block.text.lines().enumerate() {
                is_code ^= line.trim_start().starts_with("```");
                if is_code && (line.contains("toolkit_core") || line.contains("toolkit_wire")) {
                    faults.add(&path, block.line + at, line.trim());
                }
            }
        }
    }
    faults.assert_at_most(0, "lines of doc examples that name an internal crate");
}

#[test]
fn sentences_of_docs_are_short() {
    let mut faults = Faults::default();
    for (path, text) in sources() {
        for block in doc_blocks(&text) {
            for paragraph in paragraphs(&block.text) {
                let long =
                    sentences(&paragraph).into_iter().filter(|sentence| words(sentence).len() >= WORDS);
                long.for_each(|sentence| faults.add(&path, block.line, sentence));
            }
        }
    }
    faults.assert_at_most(0, "sentences of 40 words and more");
}

#[test]
fn sentences_of_documents_are_short() {
    let mut faults = Vec::new();
    let folders = [
        "",
        "docs",
        "docs/guide",
        "docs/decisions",
        "src/docs",
        "benches",
        "tests",
        "integrations/toolkit-agent",
        "integrations/toolkit-mcp",
    ];
    for folder in folders {
        let entries = fs::read_dir(root().join(folder)).into_iter().flatten().flatten();
        for path in
            entries.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "md"))
        {
            let text = fs::read_to_string(&path).expect("the document can be read");
            for paragraph in paragraphs(&text) {
                let long =
                    sentences(&paragraph).into_iter().filter(|sentence| words(sentence).len() >= WORDS);
                faults.extend(long.map(|sentence| format!("{}: {sentence}", path.display())));
            }
        }
    }
    assert!(
        faults.is_empty(),
        "{} sentences of {WORDS} words and more:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn riddles_do_not_come_back() {
    let mut faults = Faults::default();
    for (path, text) in sources() {
        for (line, comment) in comment_lines(&text) {
            let lower = comment.to_lowercase();
            if let Some(riddle) = RIDDLES.iter().find(|riddle| lower.contains(**riddle)) {
                faults.add(&path, line, &format!("`{}`: {comment}", riddle.trim()));
            }
        }
    }
    faults.assert_at_most(0, "comments with a riddle");
}

#[test]
fn first_sentences_of_functions_open_with_a_verb() {
    let mut functions = 0;
    let mut faults = Faults::default();
    for (path, text) in sources() {
        for block in doc_blocks(&text) {
            let Some(name) = block.function else { continue };
            let Some(sentence) = first_sentence(&block.text) else { continue };
            functions += 1;
            let is_verb = words(&sentence).first().is_some_and(|word| is_verb(word));
            if !is_verb && !NO_VERB_NEEDED.contains(&name.as_str()) {
                faults.add(&path, block.line, &format!("`{name}`: {sentence}"));
            }
        }
    }
    println!("{} of {functions} first sentences of functions open with a verb", functions - faults.count());
    faults.assert_at_most(
        functions * (100 - VERBS) / 100,
        "first sentences of functions without a verb in front",
    );
}

#[test]
fn first_sentences_have_no_relative_constructions() {
    let mut all = 0;
    let mut faults = Faults::default();
    for (path, text) in sources() {
        for block in doc_blocks(&text) {
            let Some(sentence) = first_sentence(&block.text) else { continue };
            all += 1;
            if is_relative(&sentence) {
                faults.add(&path, block.line, &sentence);
            }
        }
    }
    println!("{} of {all} first sentences have a relative construction", faults.count());
    faults.assert_at_most(
        (all * RELATIVES).saturating_sub(1) / 100,
        "first sentences with a relative construction",
    );
}

#[test]
fn prose_and_code_are_distinguished() {
    let source = "/// Returns the name.\n///\n/// ```\n/// let x = 1. + 2.;\n/// ```\n#[must_use]\npub fn name(&self) {}\n//! Whole. Two.";
    let blocks = doc_blocks(source);
    let functions: Vec<_> = blocks.iter().map(|block| block.function.as_deref()).collect();
    assert_eq!(functions, [Some("name"), None]);
    assert_eq!(first_sentence(&blocks[0].text).as_deref(), Some("Returns the name."));
    assert_eq!(paragraphs(&blocks[0].text), ["Returns the name."]);
    assert_eq!(sentences("One `a. b` here. Two? Three"), ["One `a. b` here.", "Two?", "Three"]);
    assert!(is_verb("returns") && !is_verb("arguments") && !is_verb("a"));
    assert!(is_relative("Tells whoever asks.") && !is_relative("Returns the tool that is called."));
}
