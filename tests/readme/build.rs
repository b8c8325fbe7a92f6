//! Collects the guide's programs: all pages as doctests, and programs with output. The changelog's new names
//! become one more program.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let guide = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("../../docs/guide");
    println!("cargo::rerun-if-changed={}", guide.display());
    let mut pages = Vec::new();
    collect(&guide, &mut pages)?;
    pages.sort();

    let mut doctests = String::new();
    let mut modules = String::new();
    let mut shown = String::new();
    for page in pages {
        let name = page.strip_prefix(&guide)?.to_string_lossy().replace('\\', "/");
        let text = fs::read_to_string(&page)?;
        if text.contains("```rust") {
            let item = camel_case(&name);
            writeln!(doctests, "#[doc = include_str!({page:?})]\npub struct {item};")?;
        }
        for (line, program, output) in shown_outputs(&text) {
            let module = format!("{}_{line}", camel_case(&name).to_lowercase());
            // On one thread, concurrent calls always print in the same order.
            let program = program.replace("#[tokio::main]", "#[tokio::main(flavor = \"current_thread\")]");
            let run = "pub fn run() { std::process::Termination::report(main()); }";
            writeln!(modules, "mod {module} {{\n{program}\n{run}\n}}")?;
            writeln!(shown, "(\"{name}:{line}\", {module}::run as fn(), {output:?}),")?;
        }
    }
    let changelog = guide.join("../../CHANGELOG.md");
    println!("cargo::rerun-if-changed={}", changelog.display());
    writeln!(doctests, "#[doc = {:?}]\npub struct NewNames;", new_names(&fs::read_to_string(changelog)?))?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    fs::write(out.join("pages.rs"), doctests)?;
    let table = format!("{modules}\nconst SHOWN: &[(&str, fn(), &str)] = &[\n{shown}];\n");
    fs::write(out.join("shown_outputs.rs"), table)?;
    Ok(())
}

fn collect(folder: &Path, pages: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    Ok(())
}

/// Returns a program that imports the changelog's new names, or a method's type, and contains new runs.
fn new_names(changelog: &str) -> String {
    let mut program = String::from(
        "```\n#![allow(unused_imports, unused_must_use, unused_variables, unused_mut, clippy::all)]\n",
    );
    program += RUNS;
    let rows =
        changelog.lines().filter(|line| line.starts_with("| `agent.") || line.starts_with("| `sessions."));
    for row in rows {
        let new = row.split(" | ").nth(1).unwrap_or_default();
        for form in new.split('`').filter(|text| text.contains('(')) {
            let form = form.replace("::<T>", "::<String>");
            let copies = "let mut conversation = conversation.clone(); \
                let (decisions, context) = (decisions.clone(), context.clone());";
            program += &format!("    {{ {copies} let _ = {form}; }}\n");
        }
    }
    program += "}\n";
    for row in changelog.lines().filter(|line| line.starts_with("| `toolkit")) {
        let name = row.rsplit('`').nth(1).unwrap_or_default();
        let name = name.trim_end_matches("::…");
        let name = imported(name);
        program += &format!("mod row{} {{ use {name}; }}\n", program.len());
    }
    program + "```"
}

/// The beginning of a function, with the names in the runs.
const RUNS: &str = "use toolkit_ai::agent::{Agent, Conversation, Decisions, Limits, Sessions};
#[allow(clippy::too_many_arguments)]
fn runs(
    agent: &Agent, conversation: &Conversation, sessions: &Sessions, input: &str, user: &str, id: &str, limits: Limits,
    token: toolkit_ai::CancellationToken, context: toolkit_ai::RunContext, decisions: Decisions,
    mode: toolkit_ai::llm::model::answer::AnswerMode,
) {
";

/// Returns a method's type, because `use` imports no methods, or the path.
fn imported(name: &str) -> &str {
    let is_type = |path: &str| {
        let last = path.rsplit("::").next().unwrap_or_default();
        last.starts_with(char::is_uppercase)
    };
    match name.rsplit_once("::") {
        Some((owner, method)) if is_type(owner) && method.starts_with(char::is_lowercase) => owner,
        _ => name,
    }
}

/// Returns a page's item, as `AgentsFirstAgent` for `agents/first-agent.md`.
fn camel_case(page: &str) -> String {
    let words = page.trim_end_matches(".md").split(|c: char| !c.is_alphanumeric());
    words.map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}

/// Returns each program before "It prints" or the like, with its output and line.
fn shown_outputs(page: &str) -> Vec<(usize, String, String)> {
    let mut found = Vec::new();
    let mut program = None;
    let mut announced = false;
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(language) = line.strip_prefix("```") else {
            announced =
                if line.is_empty() { announced } else { line.ends_with(':') && line.contains("prints") };
            continue;
        };
        let block = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
        let block: String = block.flat_map(|line| [line, "\n"]).collect();
        match (language, announced, &program) {
            ("rust", ..) => program = Some((number + 1, block)),
            ("text", true, Some((line, program))) => found.push((*line, program.clone(), block)),
            _ => {}
        }
        announced = false;
    }
    found
}
