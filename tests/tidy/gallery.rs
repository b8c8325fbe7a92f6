//! The gallery lists each example, and commands name the needed features.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::root;

type Example = (String, String);

fn value<'a>(table: &'a str, key: &str) -> Option<&'a str> {
    table.lines().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix("= "))
}

fn quoted(text: &str) -> impl Iterator<Item = String> {
    text.split('"').skip(1).step_by(2).map(str::to_owned)
}

/// Adds a package's examples with their needed features.
fn add_examples(package: &str, folder: &Path, found: &mut BTreeMap<Example, BTreeSet<String>>) {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a package has a manifest");
    for entry in fs::read_dir(folder.join("examples")).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_example =
            path.extension().is_some_and(|extension| extension == "rs") || path.join("main.rs").exists();
        if is_example {
            let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
            let tables = manifest.split("[[example]]").skip(1);
            let table = tables
                .filter(|table| value(table, "name").is_some_and(|value| quoted(value).eq([name.clone()])));
            let features =
                table.filter_map(|table| value(table, "required-features")).flat_map(quoted).collect();
            found.insert((package.to_owned(), name), features);
        }
    }
}

fn examples() -> BTreeMap<Example, BTreeSet<String>> {
    let mut found = BTreeMap::new();
    add_examples("toolkit-ai", root(), &mut found);
    for entry in fs::read_dir(root().join("integrations")).expect("there are integrations").flatten() {
        add_examples(&entry.file_name().to_string_lossy(), &entry.path(), &mut found);
    }
    found
}

/// Returns a command's example and features, or `None` for all features.
fn command(line: &str) -> Option<(Example, Option<BTreeSet<String>>)> {
    let words: Vec<&str> = line[line.find("cargo run ")?..].split_whitespace().collect();
    let after =
        |flag: &str| words.iter().position(|word| *word == flag).and_then(|at| words.get(at + 1).copied());
    let name = after("--example")?.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
    let features = after("--features").unwrap_or_default().split(',').map(str::to_owned).collect();
    let is_all = words.contains(&"--all-features");
    Some(((after("-p").unwrap_or("toolkit-ai").to_owned(), name.to_owned()), (!is_all).then_some(features)))
}

#[test]
fn each_example_is_in_the_gallery_and_each_command_runs_one() {
    let examples = examples();
    assert!(examples.len() > 20, "{examples:?}");
    let mut wrong = Vec::new();
    let mut listed = BTreeSet::new();
    for page in ["README.md", "examples/README.md"] {
        let text = fs::read_to_string(root().join(page)).expect(page);
        for line in text.lines() {
            let Some((example, features)) = command(line) else { continue };
            match (examples.get(&example), features) {
                (None, _) => wrong.push(format!("{page}: there is no example for `{line}`")),
                (Some(needed), Some(features)) if !needed.is_subset(&features) => {
                    wrong.push(format!("{page}: `{line}` needs {needed:?}"));
                }
                _ => {}
            }
            if page.starts_with("examples") && line.starts_with("$ ") {
                listed.insert(example);
            }
        }
    }
    wrong.extend(
        examples.keys().filter(|example| !listed.contains(*example)).map(|example| format!("{example:?}")),
    );
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn a_command_is_read() {
    let of = |package: &str, name: &str| (package.to_owned(), name.to_owned());
    assert_eq!(
        command("$ cargo run --all-features --example providers"),
        Some((of("toolkit-ai", "providers"), None))
    );
    let features = Some(BTreeSet::from(["a".to_owned(), "b".to_owned()]));
    assert_eq!(command("`cargo run -p x --features a,b --example y`"), Some((of("x", "y"), features)));
    assert_eq!(command("cargo test"), None);
}
