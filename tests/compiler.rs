//! The compiler whose texts the tests of compile errors expect.

use std::io::Write;

const WRITTEN_WITH: &str = "1.95.";

/// Returns whether it runs, which it must where `CI` is set.
pub(crate) fn is_expected() -> bool {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = std::process::Command::new(rustc).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let found = text.split_whitespace().nth(1).unwrap_or_default();
    if found.starts_with(WRITTEN_WITH) {
        return true;
    }
    let message = format!("the expected texts are those of rustc {WRITTEN_WITH}x, and this is {found}");
    assert!(std::env::var_os("CI").is_none(), "{message}");
    // `println!` is captured in a passing test.
    let _ = writeln!(std::io::stderr(), "skipped, {message}");
    false
}
