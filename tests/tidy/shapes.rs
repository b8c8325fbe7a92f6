//! Counts that stay at zero: long functions, choices by a `bool` without `if`, names used twice.

use super::{root, rust_files, sources};

/// The most lines of a function without blanks and comments; those of the agent do not count.
const LONGEST: usize = 70;

/// The name of the function that a line of formatted code opens.
fn function(line: &str) -> Option<&str> {
    let words = line.split_whitespace();
    let mut words = words
        .skip_while(|word| word.starts_with("pub") || ["const", "async", "crate)", "super)"].contains(word));
    let name = words.next().filter(|word| *word == "fn").and(words.next())?;
    name.split(['(', '<']).next()
}

/// Returns a formatted file's functions and numbers of lines.
fn functions(source: &str) -> Vec<(&str, usize)> {
    let lines: Vec<&str> = source.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_code = |line: &&&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    let opened = lines.iter().enumerate().filter_map(|(at, line)| Some((at, function(line)?)));
    let measured = opened.map(|(at, name)| {
        let is_end = |line: &&str| {
            let is_last = line.ends_with(['}', ';']) && !line.trim_start().starts_with("where");
            is_last && indent(line) == indent(lines[at])
        };
        let length = lines[at..].iter().position(is_end).map_or(lines.len() - at, |end| end + 1);
        (name, lines[at..at + length].iter().filter(is_code).count())
    });
    measured.collect()
}

/// Returns the lines with a `match` on a `bool`.
fn choices(source: &str) -> Vec<&str> {
    let code = source.lines().map(str::trim);
    code.filter(|line| line.starts_with("true =>") || line.starts_with("false =>")).collect()
}

#[test]
fn functions_are_short_and_choices_by_a_bool_are_written_with_if() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        let place = path.strip_prefix(root()).expect("inside of the repository").display().to_string();
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        faults.extend(choices(code).into_iter().map(|line| format!("{place}: `{line}`")));
        let is_counted = !place.starts_with("integrations/toolkit-agent/") && !place.contains("tests");
        for (name, lines) in functions(code).into_iter().filter(|_| is_counted) {
            if lines > LONGEST {
                faults.push(format!("{place}: `{name}` has {lines} lines"));
            }
        }
    }
    assert_eq!(faults, [""; 0]);
}

/// The crates in which types and files have unique names.
const NAMED_ONCE: [&str; 13] = [
    "toolkit-docstring/src",
    "toolkit-macros/src",
    "toolkit-schema/src",
    "toolkit-core/src",
    "integrations/toolkit-evals/src",
    "integrations/toolkit-agent-stores/src",
    "integrations/toolkit-mcp/src",
    "integrations/toolkit-mcp-config/src",
    "integrations/toolkit-http/src",
    "integrations/toolkit-openapi/src",
    "integrations/toolkit-frontends/src",
    "integrations/toolkit-nats/src",
    "integrations/toolkit-cli/src",
];

/// Returns the type that a line outside of functions declares.
fn declared_type(line: &str) -> Option<&str> {
    let line =
        line.strip_prefix("pub").map_or(line, |rest| rest.split_once(' ').map_or(rest, |(_, rest)| rest));
    let (keyword, rest) = line.split_once(' ')?;
    let is_type = ["struct", "enum", "trait", "type"].contains(&keyword);
    rest.split(|c: char| !c.is_alphanumeric()).next().filter(|name| is_type && !name.is_empty())
}

#[test]
fn types_and_files_of_a_crate_have_names_of_their_own() {
    for folder in NAMED_ONCE {
        let mut names = Vec::new();
        for (path, text) in rust_files(root().join(folder)) {
            let file = path.file_name().expect("a file").to_string_lossy().into_owned();
            if file.ends_with("tests.rs") || path.components().any(|part| part.as_os_str() == "tests") {
                continue;
            }
            let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
            names.extend(code.lines().filter_map(declared_type).map(str::to_owned));
            names.push(file);
        }
        names.sort();
        let twice: Vec<&String> =
            names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| &pair[0]).collect();
        assert_eq!(twice, Vec::<&String>::new(), "{folder}");
        assert!(!names.is_empty(), "{folder}");
    }
}

#[test]
fn functions_and_choices_are_found() {
    let source = "    pub(crate) fn one<T>(\n        of: T,\n    ) -> u8\n    where\n        T: Into<u8>,\n    {\n        // A comment.\n\n        match is {\n            true => 1,\n        }\n    }\n    fn two();\n    const fn three() {}";
    assert_eq!(functions(source), [("one", 10), ("two", 1), ("three", 1)]);
    assert_eq!(choices(source), ["true => 1,"]);
}
