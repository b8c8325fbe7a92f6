//! Real questions and schemas: calls are accepted or refused as a JSON Schema validator decides.
//!
//! A line of `*.jsonl` is a question with tools and calls. Those of `tests/data/bfcl` are always checked. All
//! questions are in `TOOLKIT_BFCL`, by default `../shared/bfcl`, which must exist where `CI` is `true`. Tools
//! become `DynamicTool`, and calls go through a dispatcher. Valid calls are then spoiled in every known way,
//! and have to be refused with the parameter's name. Calls are also written as responses of each provider,
//! whole and as streams cut at random, with the same results. Last, all questions search all tools, with at
//! least past success. `cargo test --test bfcl --features jsonschema -- parallel` reads only the files with
//! `parallel` in their name, `-- search` only searches.

#[path = "bfcl/chance.rs"]
mod chance;
#[path = "bfcl/provider.rs"]
mod provider;
#[path = "bfcl/question.rs"]
mod question;
#[path = "bfcl/search.rs"]
mod search;
#[path = "bfcl/spoil.rs"]
mod spoil;
#[path = "bfcl/wire.rs"]
mod wire;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use question::{Question, Tally};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let filters: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    match check(&filters, &mut io::stdout().lock()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(problem) => {
            let _ = writeln!(io::stderr(), "bfcl: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the number of calls with another outcome than expected.
fn check(filters: &[&String], out: &mut impl Write) -> Result<usize, String> {
    let mut say = |line: String| writeln!(out, "{line}").map_err(|error| error.to_string());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let mut passed = 0;
    let mut failed = 0;
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = files(&tests.join("data/bfcl"))?;
    let all = all_questions(tests)?.map(|folder| files(&folder)).transpose()?;
    for (name, path) in own.into_iter().chain(all.clone().unwrap_or_default()) {
        if !filters.is_empty() && !filters.iter().any(|filter| name.contains(filter.as_str())) {
            continue;
        }
        let mut tally = Tally::default();
        let text = fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
        for (line, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
            let place = |error: String| format!("{name}:{}: {error}", line + 1);
            let question = Question::read(text).map_err(place)?;
            runtime.block_on(question.check(&mut tally)).map_err(place)?;
        }
        let calls = tally.agree + tally.differ;
        let folder = path.parent().unwrap_or(tests).display();
        say(format!("{folder}/{name}: agree {} of {calls}", tally.agree))?;
        say(format!(
            "  {} calls refused, {} of {} spoiled ones",
            tally.refused, tally.caught, tally.spoiled
        ))?;
        tally.wire.lines().try_for_each(&mut say)?;
        tally
            .faults
            .iter()
            .chain(&tally.wire.faults)
            .take(20)
            .map(|fault| format!("  {fault}"))
            .try_for_each(&mut say)?;
        passed += tally.agree + tally.caught + tally.wire.arrived();
        failed += tally.differ + (tally.spoiled - tally.caught);
        failed += tally.wire.expected() - tally.wire.arrived();
    }
    match all {
        Some(all) if filters.is_empty() || filters.iter().any(|filter| *filter == "search") => {
            failed += search::check(&all, &mut say)?;
        }
        _ => say("no search: it needs the tools of all questions".to_owned())?,
    }
    say(format!("\n{passed} passed, {failed} failed"))?;
    Ok(failed)
}

/// The folder of all questions, or `None` if it is absent by default outside of CI.
fn all_questions(tests: &Path) -> Result<Option<PathBuf>, String> {
    let asked = env::var_os("TOOLKIT_BFCL");
    let is_needed = asked.is_some() || env::var_os("CI").is_some_and(|ci| ci == "true");
    let folder = tests.join("..").join(asked.unwrap_or_else(|| "../shared/bfcl".into()));
    match folder.is_dir() {
        true => Ok(Some(folder)),
        false if is_needed => Err(format!("no questions at {}", folder.display())),
        false => Ok(None),
    }
}

fn files(folder: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| error.to_string())? {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.push((name, path));
        }
    }
    files.sort();
    if files.is_empty() { Err(format!("no questions in {}", folder.display())) } else { Ok(files) }
}
