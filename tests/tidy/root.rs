//! The names at the root of the facade: a reviewed list, and a short one.

use std::collections::BTreeSet;
use std::fs;

use super::root;

/// No more types, traits and macros are at the root; everything else is in a module.
const MOST: usize = 48;

/// The macros at the root. Other names in small letters are modules.
const MACROS: [&str; 3] = ["tool", "tools", "toolset"];

/// The public names that a `lib.rs` declares at its root, without those hidden by two underscores.
fn root_names(source: &str) -> BTreeSet<String> {
    let code: String = source
        .lines()
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

/// The names that a `use` brings: the last part of each path, or the part after `as`.
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

#[test]
fn the_names_at_the_root_are_the_reviewed_ones() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("the file can be read");
    let declared = root_names(&read("src/lib.rs"));
    let reviewed = read("tests/root_names.txt");
    let reviewed: BTreeSet<String> =
        reviewed.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    let new: Vec<_> = declared.difference(&reviewed).filter(|name| *name != "Readme").collect();
    let gone: Vec<_> = reviewed.difference(&declared).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "not in tests/root_names.txt: {new:?}; gone from src/lib.rs: {gone:?}"
    );
}

#[test]
fn few_names_are_at_the_root() {
    let reviewed = fs::read_to_string(root().join("tests/root_names.txt")).expect("the file can be read");
    let is_module = |name: &&str| name.starts_with(char::is_lowercase) && !MACROS.contains(name);
    let names: Vec<&str> = reviewed.lines().filter(|name| !is_module(name)).collect();
    println!("{} names at the root, {} modules", names.len(), reviewed.lines().count() - names.len());
    assert!(names.len() <= MOST, "{} names at the root, at most {MOST}", names.len());
}

#[test]
fn names_are_found_in_every_form_of_use() {
    let source = "pub mod a;\n#[cfg(x)]\npub use b::{C, d::{E, f as g}};\npub use h as i;\n/// D.\npub mod j {\n pub use k::L;\n}\npub struct M;\npub use {n::o, n::__p};";
    let names: Vec<String> = root_names(source).into_iter().collect();
    assert_eq!(names, ["C", "E", "M", "a", "g", "i", "j", "o"]);
}
