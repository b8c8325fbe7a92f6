//! The house's rules beyond the compiler: floors, sizes, root names, crates, documents.

#![allow(clippy::expect_used, clippy::print_stdout)]

#[path = "tidy/agents.rs"]
mod agents;
#[path = "tidy/book.rs"]
mod book;
#[path = "tidy/crates.rs"]
mod crates;
#[path = "tidy/dependencies.rs"]
mod dependencies;
#[path = "tidy/error_texts.rs"]
mod error_texts;
#[path = "tidy/first_steps.rs"]
mod first_steps;
#[path = "tidy/floors.rs"]
mod floors;
#[path = "tidy/gallery.rs"]
mod gallery;
#[path = "tidy/map.rs"]
mod map;
#[path = "tidy/pictures.rs"]
mod pictures;
#[path = "tidy/prose.rs"]
mod prose;
#[path = "tidy/root.rs"]
mod root;
#[path = "tidy/shapes.rs"]
mod shapes;
#[path = "tidy/speech.rs"]
mod speech;

use std::fs;
use std::path::{Path, PathBuf};

/// No source file is longer.
const LONGEST: usize = 400;

fn root() -> &'static Path {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("the tests are a folder of the workspace")
}

fn rust_files(folder: impl AsRef<Path>) -> Vec<(PathBuf, String)> {
    fn collect(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                collect(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("the file can be read");
                files.push((path, text));
            }
        }
    }
    let mut files = Vec::new();
    collect(&root().join(folder), &mut files);
    files.sort();
    files
}

const SOURCES: &[&str] = &[
    "src",
    "toolkit-docstring/src",
    "toolkit-macros/src",
    "toolkit-schema/src",
    "toolkit-core/src",
    "toolkit-llm/src",
    "integrations/toolkit-llm-http/src",
    "integrations/toolkit-agent/src",
    "integrations/toolkit-evals/src",
    "integrations/toolkit-agent-stores/src",
    "integrations/toolkit-mcp/src",
    "integrations/toolkit-mcp-config/src",
    "integrations/toolkit-http/src",
    "integrations/toolkit-openapi/src",
    "integrations/toolkit-frontends/src",
    "integrations/toolkit-nats/src",
    "integrations/toolkit-cli/src",
];

fn sources() -> Vec<(PathBuf, String)> {
    SOURCES.iter().flat_map(rust_files).collect()
}

/// The siblings that a file names with `super::file` or a root's `crate::file`, outside of tests.
fn siblings_named(path: &Path, text: &str) -> Vec<PathBuf> {
    let folder = path.parent().expect("a file is in a folder");
    let prefix = if folder.ends_with("src") { "crate::" } else { "super::" };
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let names = code.flat_map(|line| line.split(prefix).skip(1)).map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        folder.join(&rest[..end]).with_extension("rs")
    });
    names.filter(|sibling| sibling != path).collect()
}

/// The files in circles of use, and those that use them.
fn circles(files: &[(PathBuf, String)]) -> Vec<PathBuf> {
    let mut left: Vec<(&PathBuf, Vec<PathBuf>)> =
        files.iter().map(|(path, text)| (path, siblings_named(path, text))).collect();
    loop {
        let open: Vec<PathBuf> = left.iter().map(|(path, _)| (*path).clone()).collect();
        left.retain(|(_, named)| named.iter().any(|sibling| open.contains(sibling)));
        if left.len() == open.len() {
            return open;
        }
    }
}

#[test]
fn files_of_a_folder_use_one_another_in_one_direction() {
    assert_eq!(circles(&sources()), Vec::<PathBuf>::new());
    let file = |name: &str, text: &str| (PathBuf::from(format!("a/{name}.rs")), text.to_owned());
    let files = [
        file("base", ""),
        file("body", "use super::{base, head};\nuse super::head::Head;"),
        file("head", "use super::base::Base;\nfn tail() { super::tail::cut() }"),
        file("tail", "use super::body::Body;"),
    ];
    assert_eq!(circles(&files).len(), 3);
    let file = |name: &str, text: &str| (PathBuf::from(format!("a/src/{name}.rs")), text.to_owned());
    let files = [file("one", "use crate::other::Other;"), file("other", "fn first() { crate::one::one() }")];
    assert_eq!(circles(&files).len(), 2);
}

#[test]
fn files_are_small_and_begin_with_a_sentence() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        let lines = text.lines().count();
        if lines > LONGEST {
            faults.push(format!("{} has {lines} lines", path.display()));
        }
        if !text.starts_with("//! ") {
            faults.push(format!("{} does not begin with a `//!` sentence", path.display()));
        }
    }
    assert_eq!(faults, [""; 0]);
}

#[test]
fn the_core_names_no_provider_sdk_and_does_no_io() {
    let forbidden = [
        "std::fs",
        "TcpStream",
        "TcpListener",
        "UdpSocket",
        "std::process",
        "tokio::fs",
        "tokio::net",
        "reqwest",
        "genai::",
    ];
    let mut faults = Vec::new();
    let pure = ["toolkit-schema/src", "toolkit-core/src", "toolkit-llm/src"];
    for (path, text) in pure.into_iter().flat_map(rust_files) {
        let is_record = path.to_string_lossy().contains("toolkit-llm/src/record/");
        let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        for word in forbidden {
            if code.iter().any(|line| line.contains(word)) && !(is_record && word == "std::fs") {
                faults.push(format!("{} names `{word}`", path.display()));
            }
        }
    }
    assert_eq!(faults, [""; 0]);
}

#[test]
fn generated_code_names_only_core_std_and_our_private_room() {
    let mut faults = Vec::new();
    for (path, text) in rust_files("toolkit-macros/src/expand") {
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        for (at, line) in code.enumerate() {
            for (start, _) in
                line.match_indices(" ::").chain(line.match_indices("(::")).chain(line.match_indices("<::"))
            {
                let path_text = &line[start + 1..];
                if !["::core::", "::std::", "::toolkit"].iter().any(|allowed| path_text.starts_with(allowed))
                {
                    faults.push(format!("{}, code line {at}: {path_text}", path.display()));
                }
            }
        }
    }
    assert_eq!(faults, [""; 0]);
}

#[test]
fn documented_layers_are_the_layers() {
    let page = root().join("integrations/toolkit-agent/docs/how-it-works.md");
    let page = fs::read_to_string(page).expect("there is a page");
    let rows = page.lines().skip_while(|line| *line != "| layer | files |").skip(2);
    let rows = rows.take_while(|line| line.starts_with("| "));
    // The names in backticks of the second column, before its explanation.
    let files =
        rows.filter_map(|row| row.split('|').nth(2)?.split(':').next()).flat_map(|files| files.split('`'));
    let named: Vec<&str> = files.filter(|name| name.chars().any(char::is_alphabetic)).collect();
    assert_eq!(named, floors::AGENT_FLOORS);
}

/// Hidden lines cannot be copied from the rendered page.
#[test]
fn blocks_of_documents_hide_no_lines() {
    let crates = [
        "toolkit-agent",
        "toolkit-agent-stores",
        "toolkit-evals",
        "toolkit-mcp",
        "toolkit-mcp-config",
        "toolkit-http",
        "toolkit-openapi",
        "toolkit-frontends",
        "toolkit-nats",
        "toolkit-cli",
    ];
    let mut pages: Vec<_> =
        crates.map(|name| root().join("integrations").join(name).join("README.md")).into();
    pages.push(root().join("README.md"));
    pages.extend(first_steps::pages("docs/guide"));
    for page in pages {
        let text = fs::read_to_string(&page).expect("the page can be read");
        let mut in_rust = false;
        for line in text.lines().map(str::trim) {
            match line.strip_prefix("```") {
                Some(language) => in_rust = language.starts_with("rust"),
                None => {
                    let is_hidden = in_rust && (line == "#" || line.starts_with("# "));
                    assert!(!is_hidden, "{}: `{line}` is hidden", page.display());
                }
            }
        }
    }
}

#[test]
fn the_readme_is_short() {
    let readme = fs::read_to_string(root().join("README.md")).expect("there is a README");
    assert!(readme.lines().count() <= 150, "README.md has {} lines", readme.lines().count());
}
