//! The transcripts in the README and in the guide are what the programs write.

use crate::{Ran, toolkit, weather};
use std::fs;
use std::path::Path;

/// Returns the commands of a page, each with the lines below it.
fn transcripts(page: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut is_inside = false;
    for line in page.lines() {
        if line.starts_with("```") {
            is_inside = line == "```console";
        } else if is_inside && let Some(command) = line.strip_prefix("$ ") {
            found.push((command.to_owned(), String::new()));
        } else if is_inside && let Some((_, shown)) = found.last_mut() {
            shown.push_str(line);
            shown.push('\n');
        }
    }
    found
}

#[test]
fn pages_show_what_the_programs_write() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for page in ["README.md", "../../docs/guide/command-line.md"] {
        let text = fs::read_to_string(root.join(page)).unwrap();
        let all = transcripts(&text);
        assert!(!all.is_empty(), "{page}");
        for (command, shown) in all {
            let program = match command.split_once(' ') {
                Some(("weather", words)) => weather(words),
                Some(("toolkit", words)) => {
                    let (own, server) = words.split_once(" -- ").unwrap();
                    let (name, arguments) = server.split_once(' ').unwrap_or((server, ""));
                    let path = crate::example(if name == "weather" { "weather_cli" } else { name });
                    toolkit(own).arg("--").arg(path).args(arguments)
                }
                _ => panic!("{page}: {command}"),
            };
            let folder = tempfile::tempdir().unwrap();
            let Ran { out, err, .. } = program.within(folder.path()).env("COLUMNS", "100").run();
            assert_eq!(shown, format!("{out}{err}"), "{page}: {command}");
        }
    }
}
