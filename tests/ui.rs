//! The compiler's explanation of each mistake in a `#[tool]` function.
//!
//! The texts depend on the compiler, so the cases run on the one that they were written with. Where `CI` is `true`
//! another one is a failure.

#![allow(clippy::expect_used, clippy::print_stdout)]

/// The compiler that wrote the `.stderr` files.
const WRITTEN_WITH: &str = "1.95.";

#[test]
fn every_mistake_is_explained() {
    let found = rustc_version();
    if !found.starts_with(WRITTEN_WITH) {
        let is_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!is_ci, "the expected texts are those of rustc {WRITTEN_WITH}x, CI has {found}");
        println!("ui: skipped, the expected texts are those of rustc {WRITTEN_WITH}x and this is {found}");
        return;
    }
    let cases = trybuild::TestCases::new();
    cases.compile_fail("ui/*.rs");
}

fn rustc_version() -> String {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = std::process::Command::new(rustc).arg("--version").output().expect("rustc runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_whitespace().nth(1).unwrap_or_default().to_owned()
}
