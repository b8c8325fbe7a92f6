//! Compares toolkit, row by row, with the recorded answers of other tool systems.
//!
//! The rows of `tests/data/vectors`, enough for every rule, are always compared. All rows are in
//! `TOOLKIT_VECTORS`, by default `../shared/vectors`, which must exist where `CI` is `true`.
//! `conformance/known_differences.json` states intended differences. Any other answer fails, as does a rule
//! that no row needs. `cargo test --test conformance -- names` reads only files named so, and `--nocapture`
//! counts each rule's differences.

#[path = "conformance/answers.rs"]
mod answers;
#[path = "conformance/docstring_answers.rs"]
mod docstring_answers;
#[path = "conformance/known.rs"]
mod known;
#[path = "conformance/places.rs"]
mod places;
#[path = "conformance/report.rs"]
mod report;
#[path = "conformance/schema_answers.rs"]
mod schema_answers;
#[path = "conformance/vectors.rs"]
mod vectors;

#[path = "conformance/calls.rs"]
mod calls;
#[path = "conformance/definitions.rs"]
mod definitions;
#[path = "conformance/discovery.rs"]
mod discovery;
#[path = "conformance/docstrings.rs"]
mod docstrings;
#[path = "conformance/execute.rs"]
mod execute;
#[path = "conformance/formats.rs"]
mod formats;
#[path = "conformance/handled.rs"]
mod handled;
#[path = "conformance/kosong.rs"]
mod kosong;
#[path = "conformance/lifecycle.rs"]
mod lifecycle;
#[path = "conformance/meaning.rs"]
mod meaning;
#[path = "conformance/names.rs"]
mod names;
#[path = "conformance/neutral.rs"]
mod neutral;
#[path = "conformance/python.rs"]
mod python;
#[path = "conformance/registry.rs"]
mod registry;
#[path = "conformance/results.rs"]
mod results;
#[path = "conformance/schemas.rs"]
mod schemas;
#[path = "conformance/shapes.rs"]
mod shapes;
#[path = "conformance/think.rs"]
mod think;

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::Value;

use known::KnownDifferences;
use report::Report;
use vectors::Context;

type Check = fn(&Value, &mut Report<'_>) -> Result<(), String>;

const FILES: [(&str, Check); 20] = [
    ("normalize_names.json", names::normalize_names),
    ("update_namespace_0.11.2.json", names::update_namespace),
    ("update_namespace_0.19.0.json", names::update_namespace),
    ("from_function_names_0.11.2.json", names::from_function_names),
    ("from_function_names_0.19.0.json", names::from_function_names),
    ("docstring_params.json", docstrings::docstring_params),
    ("results_toolregistry.json", results::results),
    ("toolops_definitions.json", definitions::toolops_definitions),
    ("toolops_definitions_0.6.12_seed_era.json", definitions::toolops_definitions),
    ("schemas_toolregistry.json", definitions::schemas_toolregistry),
    ("toolops_lifecycle.json", lifecycle::toolops_lifecycle),
    ("toolcalls_toolregistry.json", calls::toolcalls_toolregistry),
    ("toolcalls_toolregistry.json", execute::execute),
    ("openjiuwen.json", shapes::openjiuwen),
    ("kosong.json", kosong::kosong),
    ("schemas_toolregistry.json", think::think),
    ("schemas_toolregistry.json", schemas::schemas),
    ("schema_diff_toolregistry.json", schemas::schema_diff),
    ("toolregistry_0.11.2_seed_era.json", registry::seed_era),
    ("discovery_toolregistry.json", discovery::discovery),
];

fn main() -> ExitCode {
    let arguments = Arguments::read(env::args().skip(1));
    if arguments.list {
        return ExitCode::SUCCESS;
    }
    match compare(&arguments, &mut io::stdout().lock()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(problem) => {
            let _ = writeln!(io::stderr(), "conformance: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the number of rows that differ otherwise than stated, and of wrong rules and files.
fn compare(arguments: &Arguments, out: &mut impl Write) -> Result<usize, String> {
    let mut say = |line: String| writeln!(out, "{line}").context("standard output");
    let rules = KnownDifferences::read()?;
    let mut counts = Counts::default();
    for folder in vectors::folders()? {
        say(format!("{}:", folder.display()))?;
        for (name, check) in FILES.into_iter().filter(|(name, _)| arguments.wants(name)) {
            let file = vectors::read(&folder, name)?;
            let mut report = Report::new(name, &rules);
            check(&file, &mut report).context(name)?;
            report.lines(&file).into_iter().try_for_each(&mut say)?;
            counts.add(&report);
        }
    }
    if arguments.reasons {
        rules.uses().try_for_each(|(reason, times)| say(format!("  {times} × {reason}")))?;
    }
    let Counts { agree, stated, mut failed } = counts;
    if arguments.filters.is_empty() {
        for rule in rules.unused() {
            say(format!("  no row needs the rule {rule}"))?;
            failed += 1;
        }
    }
    let rows = agree + stated + counts.failed;
    say(format!("\n{rows} rows: {agree} agree, {stated} differ as stated by {} rules", rules.len()))?;
    say(format!("{} passed, {failed} failed", agree + stated))?;
    Ok(failed)
}

/// The rows that agree, differ as stated, and differ otherwise.
#[derive(Default)]
struct Counts {
    agree: usize,
    stated: usize,
    failed: usize,
}

impl Counts {
    fn add(&mut self, report: &Report<'_>) {
        self.agree += report.agree();
        self.stated += report.stated();
        self.failed += report.failed();
    }
}

/// The command line, in which meaningless arguments of test harnesses are ignored.
#[derive(Default)]
struct Arguments {
    filters: Vec<String>,
    list: bool,
    reasons: bool,
}

impl Arguments {
    fn read(mut given: impl Iterator<Item = String>) -> Self {
        let mut arguments = Self::default();
        while let Some(argument) = given.next() {
            match argument.as_str() {
                "--list" => arguments.list = true,
                "--nocapture" | "--no-capture" | "--show-output" => arguments.reasons = true,
                "--color" | "--format" | "--logfile" | "--shuffle-seed" | "--skip" | "--test-threads"
                | "-Z" => {
                    given.next();
                }
                flag if flag.starts_with('-') => {}
                _ => arguments.filters.push(argument),
            }
        }
        arguments
    }

    fn wants(&self, file: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| file.contains(filter.as_str()))
    }
}
