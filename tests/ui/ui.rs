//! Compile errors of the macros: each case in `cases/` with its expected text.
//!
//! The texts depend on the compiler, so the cases run on the one they were written with. In CI (the variable `CI`
//! is set) any other compiler is a failure.

#![allow(clippy::expect_used)]

#[path = "../compiler.rs"]
mod compiler;

use std::path::{Path, PathBuf};

#[test]
fn compile_errors_have_the_expected_text() {
    if compiler::is_expected() {
        trybuild::TestCases::new().compile_fail("cases/*.rs");
    }
}

/// The first lines of an error and its labels name only what users can write. Notes of the compiler about bounds
/// name items by the place of their definition.
#[test]
fn no_first_line_and_no_label_names_a_module_of_the_core() {
    for (path, text) in expected_texts() {
        let named = text.lines().filter(|line| line.contains("toolkit_core::"));
        let named: Vec<&str> = named
            .filter(|line| !line.starts_with("note: required by") && !line.contains("help: the trait "))
            .collect();
        assert!(named.is_empty(), "{}: {named:#?}", path.display());
    }
}

/// Users of a message can find what it names: nothing in it is private to the macros.
#[test]
fn no_message_names_a_private_module() {
    for (path, text) in expected_texts() {
        assert!(!text.contains("__private"), "{}", path.display());
    }
}

/// Returns the expected text of each case, with its path.
fn expected_texts() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let entries = std::fs::read_dir(folder).expect("the folder of the cases");
    let paths = entries.map(|entry| entry.expect("a file").path());
    let texts: Vec<(PathBuf, String)> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "stderr"))
        .map(|path| (path.clone(), std::fs::read_to_string(path).expect("a text")))
        .collect();
    assert!(!texts.is_empty(), "there are cases");
    texts
}
