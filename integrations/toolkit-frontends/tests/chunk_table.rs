//! The table of chunks, and the list of the package.

use std::collections::BTreeSet;

/// The chunk types of version 7 of the package `ai`, which `tests/full/front-ends.sh` compares with the package.
const CHUNKS: &str = include_str!("data/ai-7-chunks.txt");

/// The event types of version 1.0 of the package `@ag-ui/core`.
const EVENTS: &str = include_str!("data/ag-ui-1-events.txt");

/// Returns the names in the first column of the table in a module's documentation.
fn names_in_table(documentation: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for line in documentation.lines() {
        let Some(row) = line.strip_prefix("//! | `") else { continue };
        let cell = row.split(" | ").next().unwrap();
        for name in cell.trim_end_matches('`').split("`, `") {
            assert!(names.insert(name), "`{name}` stands twice in the table");
        }
    }
    names
}

#[test]
fn the_table_says_of_each_chunk_of_the_package_when_it_is_sent() {
    let table = names_in_table(include_str!("../src/ai_sdk.rs"));
    let own: BTreeSet<_> = table.iter().copied().filter(|name| name.starts_with("data-")).collect();
    let expected: BTreeSet<_> = CHUNKS.lines().chain(own.iter().copied()).collect();
    assert_eq!(table, expected);
    assert_eq!(own.len(), 5);
}

#[test]
fn the_table_says_of_each_event_of_ag_ui_when_it_is_sent() {
    let table = names_in_table(include_str!("../src/ag_ui.rs"));
    assert_eq!(table, EVENTS.lines().collect());
    assert_eq!(table.len(), 31);
}
