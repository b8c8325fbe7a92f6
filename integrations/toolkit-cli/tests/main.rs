//! The programs as a user runs them: their output, and how they end.
#![allow(clippy::unwrap_used, clippy::panic)]

mod calls;
mod chats;
mod definitions;
mod installs;
mod readme;
mod servers;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How a program has ended.
#[derive(Debug)]
struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Ran {
    #[track_caller]
    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// A program with its words and its surroundings.
struct Program(Command);

impl Program {
    fn new(path: &Path) -> Self {
        let mut command = Command::new(path);
        for variable in ["COLUMNS", "NO_COLOR", "CLICOLOR_FORCE", "FORCE_COLOR"] {
            command.env_remove(variable);
        }
        Self(command)
    }

    fn args(mut self, words: &str) -> Self {
        self.0.args(words.split(' ').filter(|word| !word.is_empty()));
        self
    }

    fn arg(mut self, word: impl AsRef<std::ffi::OsStr>) -> Self {
        self.0.arg(word);
        self
    }

    fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    fn within(mut self, folder: &Path) -> Self {
        self.0.current_dir(folder);
        self
    }

    fn run(self) -> Ran {
        self.run_with("")
    }

    /// Runs the program with an input.
    fn run_with(mut self, input: &str) -> Ran {
        let command = self.0.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that reads nothing has closed its end.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }
}

fn weather_path() -> PathBuf {
    example("weather_cli")
}

/// An example, which `cargo test` builds with the tests.
fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let path = tests.parent().unwrap().parent().unwrap().join("examples").join(name);
    let built = path.with_extension(std::env::consts::EXE_EXTENSION);
    assert!(built.exists(), "{} is missing: run `cargo test -p toolkit-cli --all-features`", built.display());
    built
}

fn weather(words: &str) -> Program {
    Program::new(&weather_path()).args(words)
}

fn toolkit(words: &str) -> Program {
    Program::new(Path::new(env!("CARGO_BIN_EXE_toolkit"))).args(words)
}

/// Returns what a terminal would show of a command.
fn transcript(words: &str) -> String {
    let Ran { code, out, err } = weather(words).run();
    format!("$ weather {words}\n{out}{err}(exit code {code})\n")
}
