//! The scripts of the conformance suite.

use std::path::{Path, PathBuf};
use std::process::Command;

fn program(name: &str) -> PathBuf {
    let folders = std::env::var_os("PATH").unwrap();
    let mut programs = std::env::split_paths(&folders).map(|folder| folder.join(name));
    programs.find(|program| program.exists()).unwrap_or_else(|| panic!("`{name}` is not installed"))
}

#[test]
fn a_script_that_cannot_run_says_so_and_fails() {
    // A machine with only the program that scripts call first.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("without-python");
    std::fs::create_dir_all(&folder).unwrap();
    let _ = std::os::unix::fs::symlink(program("dirname"), folder.join("dirname"));
    let matrix = "../../../tests/full/mcp-matrix.sh";
    for script in ["run.sh", "peers.sh", "clients.sh", "starts.sh", matrix] {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/conformance/").to_owned() + script;
        let output = Command::new(program("bash")).arg(path).env("PATH", &folder).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*text), (Some(77), "cannot run: no python3\n"), "{script}");
    }
}
