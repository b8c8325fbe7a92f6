//! Variables in the values of a file.

use crate::dialect::Syntax;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Clone, PartialEq, Eq, Default)]
pub(crate) struct Variables {
    pub(crate) syntax: Syntax,
    /// The folder of the file's project.
    pub(crate) project: Option<PathBuf>,
    /// The defaults of what the program asks its user for.
    pub(crate) inputs: Arc<BTreeMap<String, String>>,
    /// The variables that an entry sets for its own texts.
    pub(crate) own: BTreeMap<String, String>,
    pub(crate) env_file: Option<String>,
    /// The variables to pass on, if they are set.
    pub(crate) passed: Vec<String>,
    /// The headers whose values are in variables, with a text before the value.
    pub(crate) headers: Vec<(String, &'static str, String)>,
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Variables").field("syntax", &self.syntax).finish_non_exhaustive()
    }
}

/// A reference, with its place and what its marks enclose.
struct Reference<'a> {
    start: usize,
    end: usize,
    inside: &'a str,
}

/// Returns the first reference. An unclosed one is text.
fn reference(text: &str, syntax: Syntax) -> Option<Reference<'_>> {
    for (start, _) in text.match_indices(['$', '{']) {
        let rest = &text[start..];
        let found = match syntax {
            Syntax::Braces | Syntax::Dollars if rest.starts_with("${") => in_braces(text, start, 2),
            Syntax::Curly if rest.starts_with("{env:") || rest.starts_with("{file:") => {
                in_braces(text, start, 1)
            }
            Syntax::Dollars if rest.starts_with('$') => after_dollar(text, start),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Returns the reference at `start`, whose opening mark has `skip` bytes.
fn in_braces(text: &str, start: usize, skip: usize) -> Option<Reference<'_>> {
    let inside = text[start + skip..].split_once('}')?.0;
    Some(Reference { start, end: start + skip + inside.len() + 1, inside })
}

/// Returns the reference at `start`, such as `$HOME`.
fn after_dollar(text: &str, start: usize) -> Option<Reference<'_>> {
    let name = text[start + 1..].split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()?;
    if !name.starts_with(|c: char| !c.is_ascii_digit()) {
        return None;
    }
    Some(Reference { start, end: start + 1 + name.len(), inside: name })
}

fn expand(
    text: &str,
    syntax: Syntax,
    value: impl Fn(&str, Option<&str>) -> Result<String, String>,
) -> Result<String, String> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some(Reference { start, end, inside }) = reference(rest, syntax) {
        let name = inside.strip_prefix("env:").unwrap_or(inside);
        expanded.push_str(&rest[..start]);
        expanded += &match name.split_once(":-") {
            Some((name, default)) => value(name, Some(default))?,
            None => value(name, None)?,
        };
        rest = &rest[end..];
    }
    expanded.push_str(rest);
    Ok(expanded)
}

pub(crate) type Lookup<'a> = dyn Fn(&str) -> Option<String> + 'a;

impl Variables {
    pub(crate) fn expand(&self, text: &str, lookup: &Lookup<'_>) -> Result<String, String> {
        expand(text, self.syntax, |name, default| self.value(name, default, lookup))
    }

    /// Variables in `set` have their value there.
    pub(crate) fn expand_with(
        &self,
        text: &str,
        set: &BTreeMap<String, String>,
        lookup: &Lookup<'_>,
    ) -> Result<String, String> {
        expand(text, self.syntax, |name, default| match set.get(name) {
            Some(value) => Ok(value.clone()),
            None => self.value(name, default, lookup),
        })
    }

    pub(crate) fn with_defaults(&self, text: &str, mark: &str) -> Result<String, String> {
        expand(text, self.syntax, |_, default| Ok(default.unwrap_or(mark).to_owned()))
    }

    fn value(&self, name: &str, default: Option<&str>, lookup: &Lookup<'_>) -> Result<String, String> {
        if let Some(value) = lookup(name)
            && (default.is_none() || !value.is_empty())
        {
            return Ok(value);
        }
        match (self.own_value(name, lookup), default) {
            (Some(value), _) => Ok(value),
            (None, Some(default)) => Ok(default.to_owned()),
            (None, None) => Err(self.missing(name)),
        }
    }

    fn own_value(&self, name: &str, lookup: &Lookup<'_>) -> Option<String> {
        let project = self.project.as_ref();
        let text = |path: &Path| Some(path.to_string_lossy().into_owned());
        if let Some(id) = name.strip_prefix("input:") {
            return self.inputs.get(id).cloned();
        }
        if let Some(path) = name.strip_prefix("file:") {
            let read = fs::read_to_string(self.path(path, lookup)).ok()?;
            return Some(read.trim_end().to_owned());
        }
        match name {
            "userHome" => home(lookup),
            "workspaceFolder" | "CLAUDE_PROJECT_DIR" => text(project?),
            "workspaceFolderBasename" => text(Path::new(project?.file_name()?)),
            "pathSeparator" | "/" => Some(std::path::MAIN_SEPARATOR_STR.to_owned()),
            _ => None,
        }
    }

    pub(crate) fn missing(&self, name: &str) -> String {
        if let Some(id) = name.strip_prefix("input:") {
            return format!("the input `{id}` has no value; return one for the name `{name}`");
        }
        match (name.strip_prefix("file:"), self.syntax) {
            (Some(path), _) => format!("the file `{path}` cannot be read; check its path"),
            (_, Syntax::Braces | Syntax::Dollars) => {
                format!("the variable `{name}` is not set; set it, or write `${{{name}:-default}}`")
            }
            _ => format!("the variable `{name}` is not set; set it"),
        }
    }

    /// Resolves a path relative to the project; `~` is the home.
    pub(crate) fn path(&self, path: &str, lookup: &Lookup<'_>) -> String {
        let home = home(lookup);
        if let (Some(rest), Some(home)) = (path.strip_prefix("~/"), &home) {
            return Path::new(home).join(rest).to_string_lossy().into_owned();
        }
        // The file of a user is in the home folder, and belongs to no project.
        let project = self.project.as_ref().filter(|project| home.as_ref().map(Path::new) != Some(project));
        let Some(project) = project else { return path.to_owned() };
        let joined: PathBuf = project.join(path).components().collect();
        joined.to_string_lossy().into_owned()
    }

    /// Reads a file with one `NAME=value` per line.
    pub(crate) fn env_file(&self, path: &str, lookup: &Lookup<'_>) -> Result<Vec<(String, String)>, String> {
        let text = fs::read_to_string(self.path(path, lookup))
            .map_err(|error| format!("the `envFile` cannot be read: {error}"))?;
        let mut variables = Vec::new();
        for line in text.lines().map(str::trim) {
            if line.starts_with('#') {
                continue;
            }
            let assignment = line.strip_prefix("export ").unwrap_or(line);
            if let Some((name, value)) = assignment.split_once('=') {
                variables.push((name.trim().to_owned(), unquoted(value.trim()).to_owned()));
            }
        }
        Ok(variables)
    }
}

fn unquoted(value: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(rest) = value.strip_prefix(quote)
            && let Some(inside) = rest.strip_suffix(quote)
        {
            return inside;
        }
    }
    value
}

fn home(lookup: &Lookup<'_>) -> Option<String> {
    lookup("HOME").or_else(|| lookup("USERPROFILE"))
}
