//! `ARCHITECTURE.md` names only modules, files and functions that exist, and every module of a crate.

use crate::root;
use std::fs;
use std::path::Path;

/// The crates with a table of modules, by the heading of their section.
const TABLES: &[(&str, &str)] = &[
    ("### `toolkit-schema`", "toolkit-schema/src"),
    ("### `toolkit-core`", "toolkit-core/src"),
    ("### `toolkit-wire`", "toolkit-wire/src"),
];

fn map() -> String {
    fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the map can be read")
}

/// Returns the names between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Returns the cells of a table's rows, without its head.
fn rows(section: &str) -> impl Iterator<Item = (&str, &str)> {
    let cells = |line: &'_ str| -> Option<(usize, usize)> {
        let middle = line.strip_prefix("| ")?.find(" | ")? + 2;
        Some((middle, line.len()))
    };
    section
        .lines()
        .filter(|line| !line.starts_with("| ---"))
        .filter_map(move |line| cells(line).map(|(middle, end)| (&line[2..middle], &line[middle + 2..end])))
        .skip(1)
}

fn section<'a>(map: &'a str, heading: &str) -> &'a str {
    let rest = map.split_once(heading).expect("the section is there").1;
    rest.split_once("\n##").map_or(rest, |(section, _)| section)
}

/// Returns the modules of a crate, without `lib` and tests.
fn modules(source: &Path) -> Vec<String> {
    let entries = fs::read_dir(source).expect("the crate can be read");
    let names = entries.map(|entry| entry.expect("the folder can be read").file_name());
    let mut names: Vec<String> = names
        .filter_map(|name| name.to_str()?.strip_suffix(".rs").map(str::to_owned))
        .filter(|name| name != "lib" && !name.contains("tests"))
        .collect();
    names.sort();
    names
}

#[test]
fn every_module_has_a_row_and_every_row_a_module() {
    let map = map();
    for (heading, folder) in TABLES {
        let source = root().join(folder);
        let mut listed: Vec<&str> = rows(section(&map, heading)).flat_map(|(name, _)| quoted(name)).collect();
        listed.sort_unstable();
        assert_eq!(listed, modules(&source), "the table of {folder}");
    }
}

#[test]
fn files_of_the_index_exist() {
    let map = map();
    let mut missing = Vec::new();
    for (what, place) in rows(section(&map, "## Where is …?")) {
        let mut folder = root().to_owned();
        for name in quoted(place).filter(|name| name.contains(['/', '.'])) {
            let absolute = root().join(name);
            let relative = folder.join(name);
            let found = [absolute, relative].into_iter().find(|path| path.exists());
            match found {
                Some(path) if path.is_dir() => folder = path,
                Some(path) => folder = path.parent().expect("a file is in a folder").to_owned(),
                None => missing.push(format!("{what}: {name}")),
            }
        }
    }
    assert_eq!(missing, [""; 0]);
}

#[test]
fn decisions_have_numbers_of_their_own() {
    let mut numbers: Vec<String> = fs::read_dir(root().join("docs/decisions"))
        .expect("the decisions can be read")
        .filter_map(|entry| entry.expect("the folder can be read").file_name().into_string().ok())
        .filter_map(|name| name.split_once('-').map(|(number, _)| number.to_owned()))
        .collect();
    numbers.sort();
    let expected: Vec<String> = (1..=numbers.len()).map(|number| format!("{number:03}")).collect();
    assert_eq!(numbers, expected);
}
