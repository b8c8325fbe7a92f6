//! Texts for coding agents, `docs/llms.txt` and `docs/SKILL.md`: made of the book and up to date.
//!
//! `TOOLKIT_UPDATE=1 cargo test -p toolkit-tests --test tidy agents` writes them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::first_steps::pages;
use super::prose::{paragraphs, sentences};
use super::{root, sources};

const SKILL: &str = "docs/SKILL.md";

/// An agent reads the whole skill.
const LINES: usize = 400;

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect(path)
}

fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        let Some((name, (_, after))) =
            link.split_once("](").and_then(|(name, rest)| Some((name, rest.split_once(')')?)))
        else {
            break;
        };
        plain += before;
        plain += name;
        rest = after;
    }
    plain + rest
}

fn first_sentence(page: &str) -> String {
    let paragraphs = paragraphs(page);
    let first = paragraphs.first().map(String::as_str).unwrap_or_default();
    without_links(sentences(first).first().copied().unwrap_or_default())
}

/// Returns a line of `llms.txt` for a link, if its page is written.
fn listed(entry: &str) -> Option<String> {
    let (name, path) = entry.trim_start_matches(['-', ' ', '[']).trim_end_matches(')').split_once("](")?;
    (!path.is_empty()).then(|| {
        let about = first_sentence(&read(&format!("docs/guide/{path}"))).replace("After this page, ", "");
        format!("- [{name}](guide/{path}): {about}\n")
    })
}

/// Returns the list of pages as <https://llmstxt.org> defines it.
fn llms_txt() -> String {
    let about = first_sentence(&read("README.md"));
    let mut text = format!(
        "# toolkit\n\n> {about}\n\n\
         [SKILL.md](SKILL.md) says what is needed to write programs. The programs of all pages are complete, and CI runs them.\n"
    );
    let summary = read("docs/guide/SUMMARY.md");
    for line in summary.lines().skip(1) {
        if let Some(part) = line.strip_prefix("# ") {
            text += &format!("\n## {part}\n\n");
        } else if let Some(entry) = listed(line.trim()) {
            text += if text.contains("\n## ") { "" } else { "\n## Guide\n\n" };
            text += &entry;
        }
    }
    text += "\n## Optional\n\n";
    for path in ["../examples/README.md", "../ARCHITECTURE.md", "decisions/README.md"] {
        let page = read(&format!("docs/{path}"));
        let name = page.lines().next().unwrap_or_default().trim_start_matches("# ");
        text += &format!("- [{name}]({path}): {}\n", first_sentence(&page));
    }
    text
}

/// Splits a page into programs, tables and paragraphs.
fn blocks(page: &str) -> Vec<String> {
    let mut blocks = vec![String::new()];
    let mut is_code = false;
    for line in page.lines() {
        let is_fence = line.starts_with("```");
        if !is_code && (is_fence || line.is_empty()) {
            blocks.push(String::new());
        }
        if let Some(last) = blocks.last_mut()
            && (is_code || !line.is_empty())
        {
            *last += line;
            *last += "\n";
        }
        is_code ^= is_fence;
    }
    blocks
}

/// Returns the block of the book that an instruction names: a `program`, its `tools` before `main`, or a
/// `table` by its head.
fn block(book: &[String], instruction: &str) -> String {
    let (kind, part) = instruction.split_once(' ').expect("an instruction has a kind and a part");
    let is_meant = |block: &&String| match kind {
        "program" | "tools" => block.starts_with("```rust") && block.contains(part),
        _ => block.starts_with(part),
    };
    let mut found: Vec<&String> = book.iter().filter(is_meant).collect();
    found.dedup();
    assert_eq!(found.len(), 1, "`{instruction}` names {} blocks of the book", found.len());
    let text: String = found[0].lines().map(|line| without_page_links(line) + "\n").collect();
    match text.split_once("\n\n#[tokio::main]") {
        Some((tools, _)) if kind == "tools" => format!("{tools}\n```\n"),
        _ => text,
    }
}

/// Links between pages lead nowhere in the skill.
fn without_page_links(line: &str) -> String {
    if line.contains(".md") { without_links(line) } else { line.to_owned() }
}

/// Returns the skill with current blocks, each below a line `<!-- program … -->`.
fn skill() -> String {
    let guide = pages("docs/guide").into_iter().chain([root().join("README.md")]);
    let mut book = Vec::new();
    for page in guide {
        book.extend(blocks(&fs::read_to_string(page).expect("a page can be read")));
    }
    let written = read(SKILL);
    let mut lines = written.lines();
    let mut text = String::new();
    while let Some(line) = lines.next() {
        text += &format!("{line}\n");
        let Some(instruction) = line.strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->")) else {
            continue;
        };
        text += &block(&book, instruction);
        // The old block ends with its fence, and a table at an empty line.
        let first = lines.next().unwrap_or_default();
        let end = if first.starts_with("```") { "```" } else { "" };
        let after = lines.by_ref().find(|line| *line == end);
        if end.is_empty() && after.is_some() {
            text.push('\n');
        }
    }
    text
}

fn skill_prose() -> String {
    let skill = read(SKILL);
    let prose: Vec<&str> = skill.split("```").step_by(2).collect();
    prose.concat()
}

#[test]
fn texts_for_coding_agents_are_up_to_date() {
    for (path, text) in [("docs/llms.txt", llms_txt()), (SKILL, skill())] {
        if std::env::var_os("TOOLKIT_UPDATE").is_some() {
            fs::write(root().join(path), &text).expect("the text can be written");
        }
        let is_current = fs::read_to_string(root().join(path)).is_ok_and(|written| written == text);
        assert!(is_current, "{path} is stale; run the tests with TOOLKIT_UPDATE=1");
    }
    let lines = read(SKILL).lines().count();
    assert!(lines <= LINES, "the skill has {lines} lines");
}

#[test]
fn messages_of_the_skill_exist() {
    let skill = read(SKILL);
    let (_, table) = skill.split_once("| message | cure |").expect("there is a table of messages");
    let recorded = fs::read_dir(root().join("tests/ui/cases")).expect("there are recorded messages");
    let mut texts: String =
        recorded.flatten().filter_map(|entry| fs::read_to_string(entry.path()).ok()).collect();
    texts += &read("toolkit-core/src/error/build_problem.rs");
    let messages: Vec<&str> =
        table.lines().filter_map(|row| row.strip_prefix("| `")?.split('`').next()).collect();
    assert!(messages.len() >= 10, "{messages:?}");
    let missing: Vec<&&str> = messages.iter().filter(|message| !texts.contains(**message)).collect();
    assert!(missing.is_empty(), "no message contains {missing:?}");
}

/// Returns the names before a parenthesis, in backticks.
fn called(prose: &str) -> BTreeSet<&str> {
    let code = prose.split('`').skip(1).step_by(2).filter(|code| !code.starts_with("#["));
    let before = code.flat_map(|code| code.match_indices(['(', '<']).map(move |(at, _)| &code[..at]));
    let names = before.filter_map(|text| {
        text.trim_end_matches("::").rsplit(|c: char| !c.is_alphanumeric() && c != '_').next()
    });
    names.filter(|name| name.starts_with(|c: char| c.is_lowercase())).collect()
}

/// The skill's programs are compiled, and calls in its sentences must exist too.
#[test]
fn functions_of_the_skill_exist() {
    let prose = skill_prose();
    let sources: String = sources().into_iter().map(|(_, text)| text).collect();
    let called = called(&prose);
    assert!(called.len() > 25, "{called:?}");
    let exists = |name: &str| {
        // A method, one that a macro makes, or an attribute's argument.
        let forms =
            [format!("fn {name}("), format!("fn {name}<"), format!("    {name}("), format!("\"{name}\"")];
        forms.iter().any(|form| sources.contains(form))
    };
    let missing: Vec<&&str> = called.iter().filter(|name| !exists(name)).collect();
    assert!(missing.is_empty(), "nothing is called {missing:?}");
}

/// Returns the long words of a text, without endings.
fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
    words.map(|word| word.to_lowercase().chars().take(6).collect()).collect()
}

/// Returns the passage that shares most words with a question, where rare words count more.
fn passage_for<'a>(passages: &[&'a str], question: &str) -> &'a str {
    let all: Vec<BTreeSet<String>> = passages.iter().map(|passage| words(passage)).collect();
    let weight = |word: &String| {
        let holders = all.iter().filter(|words| words.contains(word)).count();
        (passages.len() as f64 / (holders as f64 + 0.5)).ln().max(0.0)
    };
    let question = words(question);
    let score = |words: &BTreeSet<String>| words.intersection(&question).map(weight).sum::<f64>();
    // Words of the heading count twice.
    let scored = passages.iter().zip(&all).map(|(passage, text)| {
        let heading = words(passage.lines().next().unwrap_or_default());
        (*passage, score(text) + score(&heading))
    });
    scored.max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(passage, _)| passage).unwrap_or_default()
}

#[test]
fn the_skill_answers_questions() {
    let skill = read(SKILL);
    let passages: Vec<&str> = skill.split("\n## ").skip(1).collect();
    let questions: BTreeMap<String, Vec<String>> =
        serde_json::from_str(&read("tests/data/agents/questions.json")).expect("the questions are JSON");
    assert!(questions.len() >= 10);
    let mut wrong = Vec::new();
    for (question, answer) in &questions {
        let passage = passage_for(&passages, question);
        let missing: Vec<&String> = answer.iter().filter(|part| !passage.contains(*part)).collect();
        if !missing.is_empty() {
            let title = passage.lines().next().unwrap_or_default();
            wrong.push(format!("{question} finds \"{title}\", without {missing:?}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}
