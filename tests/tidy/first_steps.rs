//! What a newcomer meets is as the documents say: dependencies, examples, features and scripts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::{root, rust_files};

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect(path)
}

fn table<'a>(manifest: &'a str, name: &str) -> Vec<&'a str> {
    let lines = manifest.lines().skip_while(|line| line.trim() != format!("[{name}]")).skip(1);
    lines.take_while(|line| !line.starts_with('[')).filter(|line| line.contains(" = ")).collect()
}

/// Returns a manifest's dependencies, without versions and features.
fn names(lines: &[&str]) -> BTreeSet<String> {
    lines.iter().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

fn readme_dependencies() -> String {
    let readme = read("README.md");
    let (_, block) = readme.split_once("```toml\n").expect("the README has dependencies");
    block.split_once("```").expect("the block ends").0.to_owned()
}

pub(crate) fn pages(folder: &str) -> Vec<PathBuf> {
    let mut pages = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// The packages and features of `toolkit-ai` that a page adds.
#[derive(Default)]
struct Additions {
    packages: BTreeSet<String>,
    features: BTreeSet<String>,
}

impl Additions {
    /// Reads `cargo add …` and manifest lines.
    fn of(page: &str) -> Self {
        let mut additions = Self::default();
        for line in page.lines() {
            let line = line.split('#').next().unwrap_or_default();
            let (package, features) = match (line.strip_prefix("cargo add "), line.split_once(" = {")) {
                (Some(rest), _) => match rest.split_once("--features ") {
                    Some((package, features)) => (package, features),
                    None => (rest, ""),
                },
                (None, Some((package, rest))) if rest.contains("version = ") => {
                    (package, rest.split_once("features = [").map_or("", |(_, features)| features))
                }
                _ => continue,
            };
            let package = package.split(' ').next().unwrap_or_default();
            additions.packages.insert(package.to_owned());
            if package == "toolkit-ai" {
                let features = features.split(|c: char| !c.is_alphanumeric() && c != '-');
                additions.features.extend(features.filter(|name| !name.is_empty()).map(str::to_owned));
            }
        }
        additions
    }
}

/// What uses a part of the facade, and the features with it.
const PARTS: [(&str, &[&str]); 8] = [
    ("toolkit_ai::agent", &["agent"]),
    ("toolkit_ai::llm_http", &["anthropic", "gemini", "ollama", "openai"]),
    ("toolkit_ai::mcp", &["mcp", "mcp-http", "mcp-auth"]),
    ("toolkit_ai::openapi", &["openapi"]),
    ("McpUrl", &["mcp-http", "mcp-auth"]),
    ("JwtVerifier", &["mcp-jwt"]),
    ("DynamicTool::", &["jsonschema"]),
    (" Cache::new", &["cache"]),
];

/// The package of the documents' programs has exactly what they tell readers to add.
#[test]
fn programs_of_documents_run_with_what_their_page_adds() {
    let readme = readme_dependencies();
    let manifest = read("tests/readme/Cargo.toml");
    let readme = table(&readme, "dependencies");
    let manifest = table(&manifest, "dependencies");
    for line in readme.iter().filter(|line| !line.starts_with("toolkit-ai ")) {
        assert!(manifest.contains(line), "`{line}` is not in the manifest");
    }

    let of_readme = names(&readme);
    let mut added = of_readme.clone();
    let facade = names(&table(&read("Cargo.toml"), "features"));
    let mut wrong = Vec::new();
    for path in pages("docs/guide") {
        let text = fs::read_to_string(&path).expect("a text");
        let page = path.display();
        let additions = Additions::of(&text);
        let unknown = additions.features.iter().filter(|feature| !facade.contains(*feature));
        wrong.extend(unknown.map(|feature| format!("{page}: there is no feature `{feature}`")));
        for (number, line) in examples(&path, &text) {
            for (part, features) in PARTS.iter().filter(|(part, _)| line.contains(part)) {
                if !features.iter().any(|feature| additions.features.contains(*feature)) {
                    wrong.push(format!("{page}:{number}: `{part}` needs one of the features {features:?}"));
                }
            }
        }
        added.extend(additions.packages);
    }
    assert_eq!(wrong, [""; 0]);
    assert_eq!(names(&manifest).difference(&added).collect::<Vec<_>>(), [""; 0]);
}

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
            // Another crate's program is not compiled.
            (Some(opened), None) if opened.ends_with(",ignore") => language = Some("ignore".to_owned()),
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

fn crate_imported<'a>(code: &'a str, candidates: &BTreeSet<String>) -> Option<&'a str> {
    let name = code.trim().strip_prefix("use ")?.split("::").next()?;
    candidates.contains(name).then_some(name)
}

#[test]
fn doc_examples_import_what_the_readme_or_their_page_adds() {
    let readme = readme_dependencies();
    let mut allowed = names(&table(&readme, "dependencies"));
    // The name of the library.
    allowed.insert("toolkit_ai".to_owned());
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
            // Users of `tower` have its crate.
            let mut more = if text.contains("tower") { vec!["tower"] } else { Vec::new() };
            // This module is for crates that import tools, so the facade lacks it.
            if path.components().any(|part| part.as_os_str().to_string_lossy().starts_with("foreign")) {
                more.push("toolkit_core");
            }
            check(&path, &text, &more);
        }
    }
    // These crates are useful alone.
    for (folder, alone) in [("toolkit-schema/src", "toolkit_schema"), ("toolkit-llm/src", "toolkit_llm")] {
        for (path, text) in rust_files(folder) {
            check(&path, &text, &[alone]);
        }
    }
    for path in [pages("docs/guide"), pages("src/docs")].concat() {
        let text = fs::read_to_string(&path).expect("a text");
        let added: Vec<String> =
            Additions::of(&text).packages.iter().map(|package| package.replace('-', "_")).collect();
        check(&path, &text, &added.iter().map(String::as_str).collect::<Vec<_>>());
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

/// Returns whether a script runs another, by a shell path or a Python import.
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
    // From CI's two rings on, scripts may run others.
    let mut runners = vec![PathBuf::from(".ci/run"), PathBuf::from("tests/full/run")];
    while let Some(runner) = runners.pop() {
        let text = read(&runner.to_string_lossy());
        runners.extend(left.extract_if(.., |script| runs(&runner, &text, script)));
    }
    assert!(left.is_empty(), "nothing runs {left:?}");
}
