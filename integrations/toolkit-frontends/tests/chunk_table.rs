//! The table of chunks, and the list of the package.

use std::collections::BTreeSet;

/// The chunk types of version 7 of the package `ai`, which `tests/full/front-ends.sh` compares with the package.
const CHUNKS: &str = include_str!("data/ai-7-chunks.txt");

const DOCUMENTATION: &str = include_str!("../src/ai_sdk.rs");

#[test]
fn the_table_says_of_each_chunk_of_the_package_when_it_is_sent() {
    let mut table = BTreeSet::new();
    for line in DOCUMENTATION.lines() {
        let Some(row) = line.strip_prefix("//! | `") else { continue };
        let cell = row.split(" | ").next().unwrap();
        for name in cell.trim_end_matches('`').split("`, `") {
            assert!(table.insert(name), "`{name}` stands twice in the table");
        }
    }
    let own: BTreeSet<_> = table.iter().copied().filter(|name| name.starts_with("data-")).collect();
    let expected: BTreeSet<_> = CHUNKS.lines().chain(own.iter().copied()).collect();
    assert_eq!(table, expected);
    assert_eq!(own.len(), 5);
}
