//! Settings from the `Cargo.toml` of the crate being compiled.
//!
//! The table `[package.metadata.toolkit]` sets defaults for attributes. If the setting `crate` is absent, generated
//! code uses the name under which the crate depends on the package `toolkit-ai`.

mod manifest;

use crate::diag::{Diag, hint};
use manifest::Entry;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;
use std::{env, fs, mem};
use syn::LitStr;

const PACKAGE: &str = "toolkit-ai";

/// The settings of the crate being compiled, from its table `[package.metadata.toolkit]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Settings {
    /// The path of the `toolkit` crate in generated code. If `None`, the path is `::toolkit`.
    pub(crate) krate: Option<String>,
    /// The namespace of tool functions that set no namespace themselves.
    namespace: Option<String>,
    /// `true` if undocumented tools and parameters are errors.
    pub(crate) strict_docs: bool,
    /// Messages about mistakes in the settings that have not been reported yet.
    problems: Vec<String>,
    /// The path of the `Cargo.toml`, if it contains the settings table and is not tracked by the compiler yet.
    source: Option<PathBuf>,
}

/// The settings read last, with the path of their manifest and the time of the manifest's last change.
type Last = Option<(PathBuf, Option<SystemTime>, Settings)>;

#[cfg(not(test))]
static LAST: Mutex<Last> = Mutex::new(None);

// Each test has a manifest of its own.
#[cfg(test)]
thread_local!(static LAST: Mutex<Last> = const { Mutex::new(None) });

fn with_last<T>(use_last: impl FnOnce(&mut Last) -> T) -> T {
    let locked = |last: &Mutex<Last>| use_last(&mut last.lock().unwrap_or_else(PoisonError::into_inner));
    #[cfg(not(test))]
    return locked(&LAST);
    #[cfg(test)]
    LAST.with(locked)
}

impl Settings {
    /// Reads the manifest of the crate again if it has changed. Each use of a macro calls this function once.
    ///
    /// In a language server, one process expands the macros of many crates, and expands them again after each edit.
    pub(crate) fn refresh() {
        let Some(folder) = env::var_os("CARGO_MANIFEST_DIR") else { return };
        Self::refresh_from(Path::new(&folder).join("Cargo.toml"));
    }

    /// Reads the manifest at `path` again if it is another one, or has changed.
    pub(crate) fn refresh_from(path: PathBuf) {
        let changed = fs::metadata(&path).and_then(|metadata| metadata.modified()).ok();
        with_last(|last| {
            if last.as_ref().is_none_or(|(last, time, _)| (last, time) != (&path, &changed)) {
                let settings = Self::read(&path);
                *last = Some((path, changed, settings));
            }
        });
    }

    /// Returns the settings of the crate being compiled.
    pub(crate) fn current() -> Self {
        Self::last(|settings| settings.clone())
    }

    /// Reports mistakes in the settings. Returns code that makes the compiler build the crate again when the settings
    /// change.
    ///
    /// Only the first call in a crate reports mistakes and returns code. All other calls return no code.
    pub(crate) fn report_once(diag: &mut Diag) -> TokenStream {
        let (problems, source) =
            Self::last(|settings| (mem::take(&mut settings.problems), settings.source.take()));
        for problem in problems {
            diag.error_at(
                Span::call_site(),
                format!("`[package.metadata.toolkit]` in Cargo.toml: {problem}"),
            );
        }
        let source = source.as_deref().and_then(Path::to_str);
        source.map_or_else(TokenStream::new, |source| {
            quote!(
                const _: &[u8] = ::core::include_bytes!(#source);
            )
        })
    }

    pub(crate) fn namespace(&self) -> Option<LitStr> {
        self.namespace.as_ref().map(|namespace| LitStr::new(namespace, Span::call_site()))
    }

    fn last<T: Default>(read: impl FnOnce(&mut Self) -> T) -> T {
        with_last(|last| last.as_mut().map(|(_, _, settings)| read(settings)).unwrap_or_default())
    }

    fn read(path: &Path) -> Self {
        let Ok(text) = fs::read_to_string(path) else { return Self::default() };
        let entries = manifest::entries(&text);
        let workspace = || {
            let roots = path.ancestors().skip(1).map(|folder| folder.join("Cargo.toml"));
            let mut roots = roots.filter_map(|root| Some(manifest::entries(&fs::read_to_string(root).ok()?)));
            roots
                .find(|entries| entries.iter().any(|entry| entry.is_below(&["workspace"])))
                .unwrap_or_default()
        };
        let mut settings = Self::of(&entries, workspace);
        settings.source = settings.source.map(|_| path.to_owned());
        settings
    }

    /// Returns the settings from `entries`, the content of a `Cargo.toml`. `workspace` reads the manifest of the
    /// crate's workspace.
    fn of(entries: &[Entry], workspace: impl FnOnce() -> Vec<Entry>) -> Self {
        let mut settings =
            Self { krate: dependency(entries, workspace).map(|name| format!("::{name}")), ..Self::default() };
        for entry in entries {
            let Some([key]) = entry.below(&["package", "metadata", "toolkit"]) else { continue };
            settings.source = Some(PathBuf::new());
            match (key.as_str(), entry.value.as_str()) {
                ("crate", path) if path.starts_with("crate::") || path.starts_with("::") => {
                    settings.krate = Some(path.to_owned());
                }
                ("crate", path) => settings.krate = Some(format!("::{path}")),
                ("namespace", namespace) => settings.namespace = Some(namespace.to_owned()),
                ("strict_docs", flag @ ("true" | "false")) => settings.strict_docs = flag == "true",
                ("strict_docs", other) => {
                    settings.problems.push(format!("`strict_docs` is `{other}`; write `true` or `false`"));
                }
                (other, _) => {
                    let hint = hint(other, &["crate", "namespace", "strict_docs"]);
                    settings.problems.push(format!("there is no setting `{other}`{hint}"));
                }
            }
        }
        settings
    }
}

/// Returns the name under which the manifest depends on `toolkit-ai`. Returns `None` if the dependency is not renamed.
///
/// `workspace` reads the manifest of the workspace. It is called only if the crate inherits a dependency from the
/// workspace.
fn dependency(entries: &[Entry], workspace: impl FnOnce() -> Vec<Entry>) -> Option<String> {
    let is_own = |entry: &&Entry| !entry.is_below(&["workspace"]);
    let is_inherited = |entry: &Entry| entry.key() == "workspace" && entry.value == "true";
    let root = if entries.iter().filter(is_own).any(is_inherited) { workspace() } else { Vec::new() };
    // The table `dependencies` comes first, because the library cannot use dependencies that are only for its tests.
    let name = ["dependencies", "dev-dependencies", "build-dependencies"].iter().find_map(|table| {
        let names = entries.iter().filter(is_own).filter_map(|entry| {
            let (_, name) = entry.dependency().filter(|(of, _)| of == table)?;
            let is_facade = match is_inherited(entry) {
                true => root.iter().any(|entry| entry.names_facade() == Some(name)),
                false => entry.names_facade().is_some(),
            };
            is_facade.then_some(name)
        });
        names.into_iter().next()
    });
    name.filter(|name| *name != PACKAGE).map(|name| name.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_names_the_facade_and_sets_defaults() {
        let with = |text: &str| Settings::of(&manifest::entries(text), Vec::new);
        let krate = |text: &str| with(text).krate;
        let renamed = Some("::my_tools".to_owned());
        for (text, expected) in [
            ("[dependencies]\ntoolkit-ai = \"0.1\"", None),
            ("[dependencies]\nserde = { package = \"serde-lite\", version = \"1\" }", None),
            (
                "[dependencies]\nmy-tools = { version = \"0.1\", package = \"toolkit-ai\" } # ours",
                renamed.clone(),
            ),
            ("[dependencies]\nmy-tools.package = 'toolkit-ai'", renamed.clone()),
            (
                "[dependencies.my-tools]\nfeatures = [\n  \"cache\", # [x]\n]\npackage = \"toolkit-ai\"",
                renamed.clone(),
            ),
            ("[target.'cfg(unix)'.dependencies]\nmy_tools = {package=\"toolkit-ai\"}", renamed.clone()),
            ("[dev-dependencies]\n\"my-tools\" = {path = \"..\", package = \"toolkit-ai\"}", renamed.clone()),
            ("[package.metadata.toolkit]\ncrate = \"frame::kit\"", Some("::frame::kit".to_owned())),
            ("[package.metadata]\ntoolkit = { crate = \"crate::kit\" }", Some("crate::kit".to_owned())),
            (
                "[dependencies]\ntoolkit-ai = \"0.1\"\n[dev-dependencies]\nkit = {package = \"toolkit-ai\"}",
                None,
            ),
            (
                "[dev-dependencies]\ntoolkit-ai = {path = \".\"}\n[dependencies]\nmy-tools = {package = \"toolkit-ai\"}",
                renamed.clone(),
            ),
            // A dependency of the workspace counts only for packages that inherit it.
            (
                "[workspace.dependencies]\nkit = { package = \"toolkit-ai\" }\n[dependencies]\nmy-tools = { package = \"toolkit-ai\" }",
                renamed.clone(),
            ),
            (
                "[workspace.dependencies]\nkit = { package = \"toolkit-ai\" }\n[dependencies]\nserde = \"1\"",
                None,
            ),
            ("[package]\ndescription = \"\"\"\n[dependencies]\nx = {package = \"toolkit-ai\"}\n\"\"\"", None),
        ] {
            assert_eq!(krate(text), expected, "{text}");
        }
        let settings = with("[package.metadata.toolkit]\nnamespace = \"acme\"\nstrict_docs = true\n");
        assert_eq!((settings.namespace.as_deref(), settings.strict_docs), (Some("acme"), true));
        assert_eq!(settings.problems, [""; 0]);
        let wrong = with("[package.metadata.toolkit]\nstrict-docs = true\nstrict_docs = 1\n");
        assert_eq!(
            wrong.problems,
            [
                "there is no setting `strict-docs`; did you mean `strict_docs`?",
                "`strict_docs` is `1`; write `true` or `false`"
            ]
        );
    }

    #[test]
    fn a_dependency_of_the_workspace_is_found() {
        let member = "[dependencies]\nserde.workspace = true\nkit = { workspace = true }";
        let root =
            "[workspace.dependencies]\nserde = \"1\"\nkit = { package = \"toolkit-ai\", path = \".\" }";
        let settings = Settings::of(&manifest::entries(member), || manifest::entries(root));
        assert_eq!(settings.krate.as_deref(), Some("::kit"));
    }
}
