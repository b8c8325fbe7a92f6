//! The names at the published crates' roots: reviewed lists, and a short one for the facade.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::root;

/// Everything else is in a module.
const MOST: usize = 48;

/// The macros at the root; other names in small letters are modules.
const MACROS: [&str; 3] = ["tool", "tools", "toolset"];

/// A `lib.rs`'s public root names, without those hidden by two underscores or only tested as documentation.
fn root_names(source: &str) -> BTreeSet<String> {
    let code: String = source
        .split("\n\n")
        .filter(|paragraph| !paragraph.contains("doctest"))
        .flat_map(str::lines)
        .map(str::trim)
        .filter(|line| !line.starts_with("//") && !line.starts_with("#["))
        .collect::<Vec<_>>()
        .join(" ");
    let mut names = BTreeSet::new();
    let mut depth = 0_usize;
    let mut rest = code.as_str();
    while let Some(c) = rest.chars().next() {
        if depth == 0
            && let Some(item) = rest.strip_prefix("pub ")
        {
            let end = item.find(';').unwrap_or(item.len());
            let words: Vec<&str> = item.split([' ', ';', '(', '<', '{']).collect();
            match words.as_slice() {
                ["use", ..] => {
                    used(item[3..end].trim(), &mut names);
                    rest = &item[end..];
                    continue;
                }
                [_, name, ..] => {
                    names.insert((*name).to_owned());
                }
                _ => {}
            }
        }
        depth = match c {
            '{' => depth + 1,
            '}' => depth.saturating_sub(1),
            _ => depth,
        };
        rest = &rest[c.len_utf8()..];
    }
    names.retain(|name| !name.starts_with("__"));
    names
}

/// The names that a `use` brings, perhaps after `as`.
fn used(tree: &str, names: &mut BTreeSet<String>) {
    let tree = tree.trim();
    if let (Some(start), Some(end)) = (tree.find('{'), tree.rfind('}')) {
        let mut depth = 0_usize;
        let parts = tree[start + 1..end].split(|c: char| {
            depth = match c {
                '{' => depth + 1,
                '}' => depth.saturating_sub(1),
                _ => depth,
            };
            c == ',' && depth == 0
        });
        return parts.filter(|part| !part.trim().is_empty()).for_each(|part| used(part, names));
    }
    let name = tree.rsplit(" as ").next().unwrap_or(tree);
    names.insert(name.rsplit("::").next().unwrap_or(name).trim().to_owned());
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect(path)
}

fn declared() -> BTreeMap<String, BTreeSet<String>> {
    let members = read("Cargo.toml");
    let (_, members) = members.split_once("members = [").expect("the workspace has members");
    let folders = members.lines().next().unwrap_or_default().split('"').filter(|it| it.contains("toolkit-"));
    let mut declared = BTreeMap::new();
    for folder in folders.chain(["."]) {
        let manifest = read(&format!("{folder}/Cargo.toml"));
        assert!(!manifest.contains("publish = false"), "{folder} is not published");
        let name = manifest.lines().find_map(|line| line.strip_prefix("name = "));
        let names = root_names(&read(&format!("{folder}/src/lib.rs")));
        declared.insert(name.expect("a package has a name").trim_matches('"').to_owned(), names);
    }
    declared
}

/// Returns each crate's reviewed names, below its line in brackets.
fn reviewed() -> BTreeMap<String, BTreeSet<String>> {
    let mut reviewed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut krate = String::new();
    for line in read("tests/root_names.txt").lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(name) => name.clone_into(&mut krate),
            None => drop(reviewed.entry(krate.clone()).or_default().insert(line.to_owned())),
        }
    }
    reviewed
}

#[test]
fn the_names_at_the_roots_are_the_reviewed_ones() {
    let declared = declared();
    let reviewed = reviewed();
    let mut changes = String::new();
    for krate in declared.keys().chain(reviewed.keys()).collect::<BTreeSet<_>>() {
        let none = BTreeSet::new();
        let is = declared.get(krate).unwrap_or(&none);
        let was = reviewed.get(krate).unwrap_or(&none);
        for name in is.symmetric_difference(was) {
            let change = if is.contains(name) { "is new" } else { "is gone" };
            changes += &format!("\n[{krate}] {name} {change}");
        }
    }
    assert!(changes.is_empty(), "tests/root_names.txt is another list:{changes}");
}

#[test]
fn few_names_are_at_the_root() {
    let reviewed = &reviewed()["toolkit-ai"];
    let is_module = |name: &&String| name.starts_with(char::is_lowercase) && !MACROS.contains(&name.as_str());
    let modules = reviewed.iter().filter(is_module).count();
    let names = reviewed.len() - modules;
    println!("{names} names at the root, {modules} modules");
    assert!(names <= MOST, "{names} names at the root, at most {MOST}");
}

#[test]
fn names_are_found_in_every_form_of_use() {
    let source = "pub mod a;\n#[cfg(x)]\npub use b::{C, d::{E, f as g}};\npub use h as i;\n/// D.\npub mod j {\n pub use k::L;\n}\npub struct M;\npub use {n::o, n::__p};";
    let names: Vec<String> = root_names(source).into_iter().collect();
    assert_eq!(names, ["C", "E", "M", "a", "g", "i", "j", "o"]);
}
