//! The scripts of the conformance suite.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the path of a program.
fn program(name: &str) -> PathBuf {
    let folders = std::env::var_os("PATH").unwrap();
    let mut programs = std::env::split_paths(&folders).map(|folder| folder.join(name));
    programs.find(|program| program.exists()).unwrap_or_else(|| panic!("`{name}` is not installed"))
}

#[test]
fn a_script_that_cannot_run_says_so_and_is_an_error_in_ci() {
    // A machine without Python: only the program that the scripts call first.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("without-python");
    std::fs::create_dir_all(&folder).unwrap();
    let _ = std::os::unix::fs::symlink(program("dirname"), folder.join("dirname"));
    let matrix = "../../../tests/full/mcp-matrix.sh";
    for script in ["run.sh", "peers.sh", "clients.sh", "starts.sh", matrix] {
        for (ci, code) in [(Some("true"), 1), (Some("false"), 0), (None, 0)] {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/conformance/").to_owned() + script;
            let mut command = Command::new(program("bash"));
            command.arg(path).env("PATH", &folder).env_remove("CI");
            if let Some(ci) = ci {
                command.env("CI", ci);
            }
            let output = command.output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert_eq!(output.status.code(), Some(code), "{script} with CI {ci:?}: {text}");
            assert_eq!(text, "MCP check: cannot run, no python3\n");
        }
    }
}
