//! The page about error texts, as the book has it: what it quotes exists in the sources, and every kind of error has a row.

use super::{first_steps, root, sources};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

const PAGE: &str = "docs/guide/troubleshooting.md";

/// Begins a line in whose place the book has the table of the types that it links to.
pub(crate) const MARKER: &str = "Table in the book: ";

/// The section of the page, and the enum whose variants have rows there, with its file.
const KINDS: &[(&str, &str, &str)] = &[
    ("Building", "BuildProblem", "toolkit-core/src/error/build_problem.rs"),
    ("Building", "ToolFault", "toolkit-core/src/error/build_problem.rs"),
    ("What the model reads", "ErrorKind", "toolkit-core/src/error/kind.rs"),
    ("Models", "ModelErrorKind", "toolkit-llm/src/model/error.rs"),
    ("Runs of agents", "AgentError", "integrations/toolkit-agent/src/error.rs"),
    ("MCP servers", "McpErrorKind", "integrations/toolkit-mcp/src/mcp_error.rs"),
    ("OpenAPI", "OpenApiErrorKind", "integrations/toolkit-openapi/src/error.rs"),
    ("Fleets", "FleetErrorKind", "integrations/toolkit-nats/src/fleet_error.rs"),
    ("Fleets", "CallFailure", "integrations/toolkit-nats/src/caller/call_failure.rs"),
];

/// Stands for the variable part of a message.
const GAP: char = '…';

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect(path)
}

/// Returns a page as the book has it, or why it has none. Without Python, which only CI must have, there is nothing.
fn built(page: impl AsRef<Path>) -> Option<Result<String, String>> {
    let mut command = Command::new("python3");
    let output = command.arg(root().join("docs/errors.py")).arg(root().join(page)).output();
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            let missing = format!("the rows of the book are not checked: python3: {error}");
            assert!(env::var("CI").as_deref() != Ok("true"), "{missing}");
            // `println!` is captured in a passing test.
            let _ = writeln!(std::io::stderr(), "{missing}");
            return None;
        }
    };
    let text = |bytes| String::from_utf8(bytes).expect("a text");
    Some(if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) })
}

/// Returns the string literals of code as the program has them, on one line. The arguments of a format string are gaps.
fn literals(code: &str) -> Vec<String> {
    let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n").replace("'\"'", "");
    let mut literals = Vec::new();
    let mut characters = code.chars().peekable();
    while characters.by_ref().any(|c| c == '"') {
        let mut literal = String::new();
        while let Some(c) = characters.next().filter(|c| *c != '"') {
            match c {
                '\\' if characters.next_if_eq(&'\n').is_some() => {
                    while characters.next_if(|c| c.is_whitespace()).is_some() {}
                }
                '\\' => literal.extend(characters.next()),
                c => literal.push(c),
            }
        }
        if !literal.contains('\n') {
            literals.push(with_gaps(&literal));
        }
    }
    literals
}

/// Replaces the arguments of a format string by gaps.
fn with_gaps(literal: &str) -> String {
    let literal = literal.replace("{{", "\0").replace("}}", "\u{1}");
    let mut text = String::new();
    let mut rest = literal.as_str();
    while let Some((before, (_, after))) =
        rest.split_once('{').and_then(|(before, after)| Some((before, after.split_once('}')?)))
    {
        text.push_str(before);
        text.push(GAP);
        rest = after;
    }
    text.push_str(rest);
    text.replace('\0', "{").replace('\u{1}', "}")
}

/// Returns whether a text has the fixed parts of a message, in their order.
fn has_message(text: &str, message: &str) -> bool {
    let mut rest = text;
    message.split(GAP).all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

/// Returns a page's messages: the code in the tables' columns `message` and `what the model reads`.
fn quoted(page: &str) -> Vec<String> {
    let mut messages = Vec::new();
    let mut column = None;
    for line in page.lines() {
        let Some(row) = line.strip_prefix("| ") else {
            column = None;
            continue;
        };
        let cells: Vec<&str> = row.split(" |").map(str::trim).collect();
        let header = cells.iter().position(|cell| ["message", "what the model reads"].contains(cell));
        column = header.or(column);
        let cell = column.and_then(|column| cells.get(column)).filter(|_| header.is_none());
        let Some((_, code)) = cell.and_then(|cell| cell.split_once('`')) else { continue };
        // A message with backticks stands in two.
        let code =
            code.strip_prefix('`').map_or_else(|| code.split('`').next(), |code| code.split("``").next());
        messages.extend(code.map(|code| code.trim().to_owned()));
    }
    messages
}

fn variants<'a>(code: &'a str, name: &str) -> Vec<&'a str> {
    let mut lines = code.lines().skip_while(|line| !line.contains(&format!("pub enum {name} {{")));
    let indent = lines.next().map_or(0, |line| line.len() - line.trim_start().len());
    let body = lines.take_while(|line| line.trim() != "}" || line.len() > indent + 1);
    let outermost = body.filter(|line| line.len() - line.trim_start().len() == indent + 4);
    let names = outermost.filter_map(|line| line.trim().split(|c: char| !c.is_alphanumeric()).next());
    names.filter(|name| name.starts_with(char::is_uppercase)).collect()
}

/// Returns the messages of a page that no source has.
fn unknown(messages: &[String]) -> Vec<&String> {
    let sources = sources();
    let code = sources.iter().filter(|(path, _)| !path.components().any(|part| part.as_os_str() == "tests"));
    let mut texts: Vec<String> = code
        .flat_map(|(_, text)| literals(text.split("#[cfg(test)]\nmod ").next().unwrap_or(text)))
        .collect();
    for folder in ["tests/ui/cases", "tests/renamed/ui"] {
        for file in fs::read_dir(root().join(folder)).expect("there are ui tests") {
            let path = file.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "stderr") {
                texts.extend(fs::read_to_string(path).expect("a text").lines().map(str::to_owned));
            }
        }
    }
    let exists = |message: &&String| texts.iter().any(|text| has_message(text, message));
    messages.iter().filter(|message| !exists(message)).collect()
}

#[test]
fn quoted_messages_exist() {
    let mut messages = vec!["no tool has … this text".to_owned()];
    let mut pages = first_steps::pages("docs/guide");
    pages.retain(|page| {
        fs::read_to_string(page).expect("a text").lines().any(|line| line.starts_with(MARKER))
    });
    assert!(pages.len() > 1, "{pages:?}");
    for page in pages {
        let Some(built) = built(page) else { return };
        let built = built.expect("all types of the page exist");
        assert!(!built.contains(MARKER));
        messages.extend(quoted(&built));
    }
    assert!(messages.len() > 100, "{}", messages.len());
    assert_eq!(unknown(&messages), [&messages[0]]);
}

#[test]
fn planted_faults_of_tables_are_found() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("error-texts");
    fs::create_dir_all(&folder).expect("the folder can be made");
    let page = folder.join("page.md");
    let table = |kind: &str, documentation: &str| {
        let source = format!(
            "pub enum Kind {{\n    /// {documentation}\n    Lost,\n    /// Never.\n    Other(u8),\n}}\n"
        );
        fs::write(folder.join("kind.rs"), source).expect("the source can be written");
        fs::write(&page, format!("{MARKER}[`{kind}`](kind.rs)\n")).expect("the page can be written");
        built(&page)
    };
    let Some(right) =
        table("Kind", "It is [lost](crate::Lost).\n    ///\n    /// - `no message of a tool`: look for it.")
    else {
        return;
    };
    let right = right.expect("the page is right");
    assert!(
        right.ends_with(
            "| `Lost` | `no message of a tool` | It is lost. Look for it. |\n| `Other` |  | Never. |\n"
        ),
        "{right}"
    );
    assert_eq!(unknown(&quoted(&right)), ["no message of a tool"]);
    let missing = table("Knd", "It is lost.").expect("python").expect_err("a fault");
    assert!(missing.contains("there is no enum `Knd`"), "{missing}");
    let wrong = table("Kind", "- It is lost.").expect("python").expect_err("a fault");
    assert!(wrong.contains("`Kind::Lost`: a list item is no message with advice"), "{wrong}");
}

/// A failing `main` prints its error with `Debug`.
#[test]
fn errors_have_the_same_text_in_debug() {
    let mut errors = 0;
    let mut faults = Vec::new();
    let sources = sources();
    let published =
        sources.iter().filter(|(path, _)| !path.components().any(|part| part.as_os_str() == "tests"));
    for (path, text) in published {
        for line in text.lines() {
            let implemented = ["impl Error for ", "impl std::error::Error for "];
            let Some(rest) = implemented.iter().find_map(|start| line.strip_prefix(start)) else { continue };
            let name = rest.split(' ').next().unwrap_or_default();
            let is_declared = |line: &&str| {
                line.starts_with(&format!("pub struct {name}"))
                    || line.starts_with(&format!("pub enum {name}"))
            };
            let Some(declaration) = text.lines().find(is_declared) else { continue };
            errors += 1;
            let (before, _) = text.split_once(declaration).unwrap_or_default();
            let attributes = before.rsplit("\n\n").next().unwrap_or_default();
            if attributes.contains("derive(Debug") {
                faults.push(format!("{}: {name}", path.display()));
            }
        }
    }
    assert!(errors > 15, "{errors}");
    assert_eq!(faults, [""; 0]);
}

#[test]
fn every_kind_of_error_has_a_row() {
    let Some(page) = built(PAGE) else { return };
    let page = page.expect("all types of the page exist");
    let mut missing = Vec::new();
    for (heading, name, file) in KINDS {
        let section = page.split("\n## ").find(|section| section.starts_with(heading)).unwrap_or_default();
        let code = read(file);
        let variants = variants(&code, name);
        assert!(variants.len() > 2, "{name}: {variants:?}");
        let is_missing = |variant: &&str| !section.contains(&format!("| `{variant}` |"));
        missing.extend(variants.into_iter().filter(is_missing).map(|variant| format!("{name}::{variant}")));
    }
    assert_eq!(missing, [""; 0]);
}

#[test]
fn messages_are_found_by_their_fixed_parts() {
    let code = "// \"no\"\nwrite!(f, \"tool `{name}` is \\\n    {} of {{two}}\")";
    assert_eq!(literals(code), ["tool `…` is … of {two}"]);
    assert!(has_message("tool `…` is … of two", "tool `…` is … of"));
    assert!(!has_message("tool `…` is … of two", "tool `…` was"));
    let page = "| kind | message |\n| --- | --- |\n| `A` | `` tool `…` is `` |\n| `B` | |\n\n| do |\n| `c` |";
    assert_eq!(quoted(page), ["tool `…` is"]);
    assert_eq!(
        variants("pub enum E {\n    One(u8),\n    Two {\n        A: u8,\n    },\n}\n", "E"),
        ["One", "Two"]
    );
}
