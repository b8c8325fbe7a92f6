//! Snapshot tests for a program's tools. A recorded file shows every change of the tools in a code review.
//!
//! ```no_run
//! #[test]
//! fn tools_are_unchanged() {
//!     toolkit_ai::testing::assert_tools_unchanged("tests/tools.json");
//! }
//! ```
//!
//! Run the test once with `TOOLKIT_UPDATE=1` in the environment to write the file, and commit it. Without the
//! variable, the test fails if the file is missing or the tools have changed, and says which changes break
//! existing calls.

use crate::{BuildError, ToolRegistry};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fmt, fs, io};

pub use toolkit_core::testing::{ToolChange, ToolChangeKind, ToolChanges, changes, record};

/// The environment variable for writing the file.
const UPDATE: &str = "TOOLKIT_UPDATE";

/// Compares all [discovered](ToolRegistry::discover) tools with the record in a file.
///
/// A relative path starts at the folder of the package, where `cargo test` runs. If the environment variable
/// `TOOLKIT_UPDATE` is `1`, `true`, `yes` or `on`, the file is written instead.
///
/// # Panics
/// The tools differ from the record, two have the same name, or the file is missing or cannot be read or
/// written.
#[track_caller]
pub fn assert_tools_unchanged(path: impl AsRef<Path>) {
    fail_unless_ok(match ToolRegistry::discover() {
        Ok(registry) => check(&registry, path.as_ref(), must_update()),
        Err(error) => Err(Problem::Build(error)),
    });
}

/// Compares a registry's tools with the record in a file, as [`assert_tools_unchanged`] does.
///
/// # Panics
/// The tools differ from the record, or the file is missing or cannot be read or written.
#[track_caller]
pub fn assert_registry_unchanged(registry: &ToolRegistry, path: impl AsRef<Path>) {
    fail_unless_ok(check(registry, path.as_ref(), must_update()));
}

#[track_caller]
#[expect(clippy::panic, reason = "tests fail by panicking")]
fn fail_unless_ok(result: Result<(), Problem>) {
    if let Err(problem) = result {
        panic!("{problem}");
    }
}

fn must_update() -> bool {
    env::var_os(UPDATE).is_some_and(|value| asks_for_update(&value))
}

fn asks_for_update(value: &OsStr) -> bool {
    ["1", "true", "yes", "on"].iter().any(|yes| value.eq_ignore_ascii_case(yes))
}

fn check(registry: &ToolRegistry, path: &Path, update: bool) -> Result<(), Problem> {
    let fault = |error| Problem::File(path.to_owned(), error);
    if update {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(fault)?;
        }
        return fs::write(path, record(registry)).map_err(fault);
    }
    let recorded = match fs::read_to_string(path) {
        Ok(recorded) => recorded,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Problem::Missing(path.to_owned()));
        }
        Err(error) => return Err(fault(error)),
    };
    let changes = changes(&recorded, registry).map_err(|error| fault(error.into()))?;
    if changes.is_empty() { Ok(()) } else { Err(Problem::Changed(path.to_owned(), changes)) }
}

enum Problem {
    Build(BuildError),
    Missing(PathBuf),
    File(PathBuf, io::Error),
    Changed(PathBuf, ToolChanges),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(error) => write!(f, "{error}"),
            Self::Missing(path) => {
                let path = path.display();
                write!(
                    f,
                    "the record `{path}` is missing; to write it, run again with {UPDATE}=1, then commit it"
                )
            }
            Self::File(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Changed(path, changes) => {
                let path = path.display();
                write!(
                    f,
                    "the tools differ from `{path}`:\n{changes}\nto accept the changes, run again with {UPDATE}=1"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_asks_for_an_update() {
        for (value, expected) in [
            ("1", true),
            ("true", true),
            ("YES", true),
            ("on", true),
            ("0", false),
            ("false", false),
            ("no", false),
            ("off", false),
            ("", false),
            ("2", false),
        ] {
            assert_eq!(asks_for_update(value.as_ref()), expected, "{value}");
        }
    }
}
