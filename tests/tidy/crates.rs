//! Crates that do not know each other, and a core that knows no provider.

use std::fs;

use super::prose::comment_lines;
use super::{root, rust_files};

const PROVIDERS: [&str; 4] = ["openai", "anthropic", "gemini", "google"];

/// Files of the core with a provider's rule, whose document their comments name.
const SOURCES_OF_RULES: [&str; 3] = ["call/choice.rs", "call/extras.rs", "name.rs"];

/// These have models, or messages of users. The command line and the page show what each API gets.
const SPEAK_TO_PROVIDERS: [&str; 6] = [
    "toolkit-agent",
    "toolkit-cli",
    "toolkit-evals",
    "toolkit-frontends",
    "toolkit-llm-http",
    "toolkit-page",
];

/// The packages that each crate must not depend on, in any build.
const APART: [(&str, &[&str]); 4] = [
    ("toolkit-docstring", &["toolkit-schema", "toolkit-core", "toolkit-llm", "toolkit-ai", "toolkit"]),
    ("toolkit-schema", &["toolkit-core", "toolkit-llm", "toolkit-ai", "toolkit"]),
    ("toolkit-core", &["toolkit-llm", "toolkit-ai", "toolkit"]),
    ("toolkit-llm", &["toolkit-ai", "toolkit"]),
];

/// A manifest's `[dependencies]`, with those of targets and builds.
fn dependencies(folder: &str) -> Vec<String> {
    let manifest =
        fs::read_to_string(root().join(folder).join("Cargo.toml")).expect("the manifest can be read");
    let mut names = Vec::new();
    let mut is_inside = false;
    for line in manifest.lines() {
        if let Some(header) = line.strip_prefix('[') {
            is_inside = header.contains("dependencies") && !header.contains("dev-dependencies");
        } else if is_inside && let Some((name, _)) = line.split_once('=') {
            names.push(name.trim().trim_end_matches(".workspace").to_owned());
        }
    }
    names
}

#[test]
fn crates_depend_only_downward() {
    let mut faults = Vec::new();
    for (package, apart) in APART {
        let named = dependencies(package);
        faults.extend(
            named
                .iter()
                .filter(|name| apart.contains(&name.as_str()))
                .map(|name| format!("{package}: {name}")),
        );
    }
    assert_eq!(faults, [""; 0]);
}

#[test]
fn an_integration_without_a_provider_compiles_no_wire() {
    let folders = fs::read_dir(root().join("integrations")).expect("the folder can be read");
    for folder in folders {
        let name = folder.expect("the folder can be read").file_name().to_string_lossy().into_owned();
        let named = dependencies(&format!("integrations/{name}"));
        let is_lean =
            !named.iter().any(|name| ["toolkit-llm", "toolkit-ai", "toolkit"].contains(&name.as_str()));
        assert!(is_lean || SPEAK_TO_PROVIDERS.contains(&name.as_str()), "{name} depends on toolkit-llm");
    }
}

#[test]
fn the_core_names_no_provider() {
    let source = root().join("toolkit-core/src");
    let mut faults = Vec::new();
    for (path, text) in rust_files("toolkit-core/src") {
        let has_rule = SOURCES_OF_RULES.iter().any(|file| path == source.join(file));
        let prose: Vec<usize> = comment_lines(&text).into_iter().map(|(line, _)| line).collect();
        for (at, line) in text.lines().enumerate() {
            let lower = line.to_lowercase();
            let Some(name) = PROVIDERS.iter().find(|name| lower.contains(**name)) else { continue };
            // Examples in docs are user code.
            let is_example = line.trim().starts_with("//") && !prose.contains(&(at + 1));
            let is_rule = has_rule && prose.contains(&(at + 1));
            if !is_example && !is_rule {
                faults.push(format!("{}:{}: {name}: {}", path.display(), at + 1, line.trim()));
            }
        }
    }
    assert!(faults.is_empty(), "{} lines name a provider:\n{}", faults.len(), faults.join("\n"));
}
