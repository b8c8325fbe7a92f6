//! For a program's own tests: a file that shows every change of its tools in a review.
//!
//! ```no_run
//! #[test]
//! fn the_tools_are_as_they_were() {
//!     toolkit::testing::assert_tools_unchanged("tests/tools.json");
//! }
//! ```
//!
//! The first run writes the file, to be committed. After that the test fails when a tool is gone or new, or when its
//! description, its parameters or its result have changed, and says of each change whether it breaks calls that were
//! right before. With `TOOLKIT_UPDATE=1` in the environment the file is written anew.

use crate::{BuildError, ToolRegistry};
use std::path::{Path, PathBuf};
use std::{env, fmt, fs, io};

pub use toolkit_core::testing::{ToolChange, ToolChanges, changes, record};

/// The variable that asks for the file to be written anew.
const UPDATE: &str = "TOOLKIT_UPDATE";

/// Compares all [discovered](ToolRegistry::discover) tools with the record in a file, and writes it if it is
/// not there. A relative path begins at the package, where `cargo test` runs.
///
/// # Panics
/// If the tools are not as recorded, if two have one name, or if the file cannot be read or written.
#[track_caller]
pub fn assert_tools_unchanged(path: impl AsRef<Path>) {
    let check = || check(&ToolRegistry::discover().map_err(Problem::Build)?, path.as_ref(), must_update());
    fail_unless_ok(check());
}

/// Like [`assert_tools_unchanged`], for the tools of a registry.
///
/// # Panics
/// If the tools are not as recorded, or if the file cannot be read or written.
#[track_caller]
pub fn assert_registry_unchanged(registry: &ToolRegistry, path: impl AsRef<Path>) {
    fail_unless_ok(check(registry, path.as_ref(), must_update()));
}

#[track_caller]
#[expect(clippy::panic, reason = "that is how a test fails")]
fn fail_unless_ok(result: Result<(), Problem>) {
    if let Err(problem) = result {
        panic!("{problem}");
    }
}

fn must_update() -> bool {
    env::var_os(UPDATE).is_some_and(|value| !value.is_empty() && value != "0")
}

fn check(registry: &ToolRegistry, path: &Path, update: bool) -> Result<(), Problem> {
    let fault = |error| Problem::File(path.to_owned(), error);
    let recorded = match fs::read_to_string(path) {
        Ok(recorded) if !update => recorded,
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(fault(error)),
        _ => {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).map_err(fault)?;
            }
            return fs::write(path, record(registry)).map_err(fault);
        }
    };
    let changes = changes(&recorded, registry).map_err(|error| fault(error.into()))?;
    if changes.is_empty() { Ok(()) } else { Err(Problem::Changed(path.to_owned(), changes)) }
}

/// Why a test fails.
enum Problem {
    Build(BuildError),
    File(PathBuf, io::Error),
    Changed(PathBuf, ToolChanges),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build(error) => write!(f, "{error}"),
            Self::File(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Changed(path, changes) => {
                let path = path.display();
                write!(
                    f,
                    "the tools are not as `{path}` says:\n{changes}\nif that is meant, run once more with {UPDATE}=1"
                )
            }
        }
    }
}
