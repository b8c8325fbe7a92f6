//! The documents about the source name only files and functions that exist.

use crate::{root, rust_files};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn page(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect("the page can be read")
}

fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Returns the cells of a table's rows.
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

/// Returns the files and folders in a cell, or missing names. Names may be relative to the root, the index's
/// folder, or that of the name before.
fn places<'a>(cell: &'a str, base: &Path) -> Vec<Result<PathBuf, &'a str>> {
    let mut folder = base.to_owned();
    let place = |name: &'a str| {
        let path =
            [root(), base, &folder].map(|above| above.join(name)).into_iter().find(|path| path.exists());
        let path = path.ok_or(name)?;
        folder = if path.is_dir() { path.clone() } else { path.parent().expect("a folder").to_owned() };
        Ok(path)
    };
    quoted(cell).filter(|name| name.contains(['/', '.'])).map(place).collect()
}

/// Returns a cell's items that its files do not name.
fn unknown_items<'a>(cell: &'a str, places: &[Result<PathBuf, &'a str>]) -> Vec<&'a str> {
    let mut source = String::new();
    for path in places.iter().flatten() {
        if path.is_dir() {
            source.extend(rust_files(path).into_iter().map(|(_, text)| text));
        } else {
            source += &fs::read_to_string(path).expect("the file can be read");
        }
    }
    let of_name = |c: char| c.is_alphanumeric() || c == '_';
    let words: BTreeSet<&str> = source.split(|c| !of_name(c)).collect();
    let is_item = |name: &&str| name.chars().all(|c| of_name(c) || c == ':');
    quoted(cell).filter(is_item).filter(|name| name.split("::").any(|part| !words.contains(part))).collect()
}

/// Returns the missing names in a text: files, and items that these do not name.
fn missing(text: &str, base: &str) -> Vec<String> {
    let places = places(text, &root().join(base));
    let files = places.iter().filter_map(|place| place.as_ref().err().copied());
    files.chain(unknown_items(text, &places)).map(str::to_owned).collect()
}

#[test]
fn files_and_items_of_the_agents_index_exist() {
    let page = page("integrations/toolkit-agent/docs/how-it-works.md");
    let rows = rows(section(&page, "## Where is …?"));
    let missing: Vec<String> =
        rows.flat_map(|(_, cell)| missing(cell, "integrations/toolkit-agent/src")).collect();
    assert_eq!(missing, [""; 0]);
}

/// The maximum number of lines of the map.
const MAP_LINES: usize = 150;

#[test]
fn each_step_of_the_four_walks_exists() {
    let map = page("ARCHITECTURE.md");
    assert!(map.lines().count() <= MAP_LINES);
    let walks = map.split_once("## Four walks").expect("the walks are there").1;
    let walks = walks.split_once("\n## ").expect("the invariants follow").0;
    let mut steps: Vec<String> = Vec::new();
    for line in walks.lines() {
        if line.starts_with(|c: char| c.is_ascii_digit()) {
            steps.push(line.to_owned());
        } else if let Some(step) = steps.last_mut().filter(|_| line.starts_with("   ")) {
            step.push_str(line);
        }
    }
    assert!(steps.len() > 15, "the steps are found");
    let missing: Vec<String> = steps.iter().flat_map(|step| missing(step, ".")).collect();
    assert_eq!(missing, [""; 0]);
}

const PAGE_LINES: usize = 90;

#[test]
fn the_index_of_decisions_matches_their_pages() {
    let mut names: Vec<String> = fs::read_dir(root().join("docs/decisions"))
        .expect("the decisions can be read")
        .filter_map(|entry| entry.expect("the folder can be read").file_name().into_string().ok())
        .filter(|name| name != "README.md")
        .collect();
    names.sort();
    let row = |(at, name): (usize, &String)| {
        let text = page(&format!("docs/decisions/{name}"));
        let number = format!("{:03}", at + 1);
        assert!(name.starts_with(&number), "{name} should have the number {number}");
        assert!(text.lines().count() <= PAGE_LINES, "{name} has more than {PAGE_LINES} lines");
        let title = text.lines().next().and_then(|line| line.strip_prefix(&format!("# {number}: ")));
        let title = title.unwrap_or_else(|| panic!("{name} has no title with its number"));
        let measured = if text.contains("\n## Measured\n") { "yes" } else { "" };
        format!("| {number} | [{title}]({name}) | {measured} |")
    };
    let expected: Vec<String> = names.iter().enumerate().map(row).collect();
    let index = page("docs/decisions/README.md");
    let is_row = |line: &&str| line.starts_with("| ") && line.contains("](");
    let mut rows: Vec<&str> = index.lines().filter(is_row).collect();
    rows.sort_unstable();
    assert_eq!(rows, expected);
}
