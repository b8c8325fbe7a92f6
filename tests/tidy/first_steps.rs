//! What a newcomer meets: dependencies, examples, features and scripts that are as the documents say.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{root, rust_files};

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect(path)
}

/// Returns the lines of a table of a manifest, without comments.
fn table<'a>(manifest: &'a str, name: &str) -> Vec<&'a str> {
    let lines = manifest.lines().skip_while(|line| line.trim() != format!("[{name}]")).skip(1);
    lines.take_while(|line| !line.starts_with('[')).filter(|line| line.contains(" = ")).collect()
}

/// Returns the dependencies of a manifest with the version or path and its features left out.
fn names(lines: &[&str]) -> BTreeSet<String> {
    lines.iter().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

fn readme_dependencies() -> String {
    let readme = read("README.md");
    let (_, block) = readme.split_once("```toml\n").expect("the README has dependencies");
    block.split_once("```").expect("the block ends").0.to_owned()
}

#[test]
fn the_readmes_examples_run_with_its_dependencies_alone() {
    let readme = readme_dependencies();
    let manifest = read("tests/readme/Cargo.toml");
    let readme = table(&readme, "dependencies");
    let manifest = table(&manifest, "dependencies");
    let of_chapters = OF_CHAPTERS.map(str::to_owned);
    assert_eq!(names(&manifest), names(&readme).into_iter().chain(of_chapters).collect());
    for line in readme.iter().filter(|line| !line.starts_with("toolkit-ai ")) {
        assert!(manifest.contains(line), "`{line}` is not in the manifest");
    }
    let chapters = fs::read_dir(root().join("docs/guide")).expect("the guide");
    let program = read("tests/readme/src/lib.rs");
    for chapter in chapters {
        let name = chapter.expect("a chapter").file_name().into_string().expect("a name");
        // The chapters on agents, MCP, OpenAPI and many machines need their crates, which run their examples.
        let of_crates = ["README.md", "agents.md", "mcp.md", "openapi.md", "many-machines.md", "fleet.md"];
        if !of_crates.contains(&&*name) {
            assert!(program.contains(&format!("\"{name}\"")), "`{name}` is not compiled");
        }
    }
}

/// Dependencies that a chapter of the guide names itself.
const OF_CHAPTERS: [&str; 2] = ["chrono", "uuid"];

/// Returns the lines of the Rust examples in the documentation of a file.
fn examples(path: &Path, text: &str) -> Vec<(usize, String)> {
    let is_source = path.extension().is_some_and(|extension| extension == "rs");
    let mut lines = Vec::new();
    let mut language = None;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let Some(line) = (if is_source { comment } else { Some(line) }) else {
            language = None;
            continue;
        };
        match (line.trim_start().strip_prefix("```"), &language) {
            (Some(opened), None) => language = Some(opened.split(',').next().unwrap_or_default().to_owned()),
            (Some(_), Some(_)) => language = None,
            (None, Some(language)) if ["", "rust", "no_run"].contains(&language.as_str()) => {
                lines.push((number + 1, line.trim_start().trim_start_matches("# ").to_owned()));
            }
            _ => {}
        }
    }
    lines
}

/// Returns the crate that a line of code imports from.
fn crate_imported<'a>(code: &'a str, candidates: &BTreeSet<String>) -> Option<&'a str> {
    let name = code.trim().strip_prefix("use ")?.split("::").next()?;
    candidates.contains(name).then_some(name)
}

#[test]
fn doc_examples_run_in_a_new_program_with_the_readmes_dependencies() {
    let readme = readme_dependencies();
    let mut allowed = names(&table(&readme, "dependencies"));
    // The name of the library.
    allowed.insert("toolkit".to_owned());
    let workspace = names(&table(&read("Cargo.toml"), "workspace.dependencies"));
    let crates: BTreeSet<String> = workspace.iter().map(|name| name.replace('-', "_")).collect();
    let mut wrong = Vec::new();
    let mut check = |path: &Path, text: &str, more: &[&str]| {
        for (number, line) in examples(path, text) {
            let imported = crate_imported(&line, &crates);
            let other = imported.filter(|name| !allowed.contains(*name) && !more.contains(name));
            wrong.extend(other.map(|name| format!("{}:{number}: `{name}`", path.display())));
        }
    };
    for folder in ["src", "toolkit-core/src"] {
        for (path, text) in rust_files(folder) {
            // Users of the feature `tower` have its crate.
            let more: &[&str] = if text.contains("tower") { &["tower"] } else { &[] };
            check(&path, &text, more);
        }
    }
    // The crates for schemas and for models are useful alone.
    for (folder, alone) in [("toolkit-schema/src", "toolkit_schema"), ("toolkit-llm/src", "toolkit_llm")] {
        for (path, text) in rust_files(folder) {
            check(&path, &text, &[alone]);
        }
    }
    for folder in ["docs/guide", "src/docs"] {
        for file in fs::read_dir(root().join(folder)).expect("a folder") {
            let path = file.expect("a file").path();
            let more: &[&str] = match path.file_name().and_then(|name| name.to_str()) {
                Some("parameters.md") => &OF_CHAPTERS,
                Some("agents.md") => &["toolkit_agent"],
                Some("mcp.md") => &["toolkit_mcp", "toolkit_agent"],
                Some("openapi.md") => &["toolkit_openapi"],
                Some("fleet.md") => &["toolkit_nats"],
                Some("many-machines.md") => &["toolkit_mcp", "toolkit_nats"],
                _ => &[],
            };
            check(&path, &fs::read_to_string(&path).expect("a text"), more);
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn every_feature_is_in_the_table_of_its_crate() {
    let mut missing = Vec::new();
    let crates = [
        ".",
        "toolkit-schema",
        "toolkit-core",
        "toolkit-llm",
        "integrations/toolkit-llm-http",
        "integrations/toolkit-agent",
        "integrations/toolkit-agent-stores",
        "integrations/toolkit-mcp",
        "integrations/toolkit-http",
    ];
    for folder in crates {
        let manifest = read(&format!("{folder}/Cargo.toml"));
        let documents =
            [format!("{folder}/README.md"), format!("{folder}/src/lib.rs")].map(|path| read(&path));
        for feature in names(&table(&manifest, "features"))
            .iter()
            .filter(|name| !name.starts_with('_') && *name != "default")
        {
            if !documents.iter().any(|document| document.contains(&format!("| `{feature}` |"))) {
                missing.push(format!("{folder}: {feature}"));
            }
        }
    }
    assert_eq!(missing, [""; 0]);
}

fn scripts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && !matches!(name, "target" | ".git") {
            scripts(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "sh" || extension == "py") {
            found.push(path.strip_prefix(root()).expect("inside of the repository").to_owned());
        }
    }
}

/// Returns whether a script runs another: a shell script names its path, a Python script imports it. A comment runs
/// nothing.
fn runs(runner: &Path, text: &str, script: &Path) -> bool {
    let stem = script.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let is_python = runner.extension().is_some_and(|extension| extension == "py");
    let is_beside = runner.parent() == script.parent();
    let path = script.to_string_lossy();
    text.lines().filter(|line| !line.trim_start().starts_with('#')).any(|line| {
        let imports = line.strip_prefix("import ").or_else(|| line.strip_prefix("from "));
        if is_python {
            is_beside && imports.and_then(|line| line.split_whitespace().next()) == Some(stem)
        } else {
            line.contains(&*path)
        }
    })
}

/// A script that CI never runs is broken before anyone notices.
#[test]
fn every_script_is_run_by_ci_and_needs_only_the_repository() {
    let mut left = Vec::new();
    scripts(root(), &mut left);
    assert!(left.len() >= 4, "{left:?}");
    for path in &left {
        let text = read(&path.to_string_lossy());
        for outside in ["../shared", "/work/", "/home/"] {
            assert!(!text.contains(outside), "{} reads {outside}", path.display());
        }
    }
    // From `.ci/run` on, each script that is run may run others.
    let mut runners = vec![PathBuf::from(".ci/run")];
    while let Some(runner) = runners.pop() {
        let text = read(&runner.to_string_lossy());
        runners.extend(left.extract_if(.., |script| runs(&runner, &text, script)));
    }
    assert!(left.is_empty(), "nothing runs {left:?}");
}
