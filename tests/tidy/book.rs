//! The guide as a book: its summary and links, and those of other documents.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::error_texts::MARKER;
use super::first_steps::pages;
use super::root;

/// No page is longer.
const LONGEST_PAGE: usize = 320;

/// Returns a document's lines without code blocks.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut is_code = false;
    let lines = (1..).zip(text.lines());
    lines
        .filter(|(_, line)| {
            let is_fence = line.trim_start().starts_with("```");
            is_code ^= is_fence;
            !is_fence && !is_code
        })
        .collect()
}

fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (line, text) in prose(text) {
        if text.starts_with(MARKER) {
            continue;
        }
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split(')').next().unwrap_or_default();
            found.push((line, target.to_owned()));
        }
    }
    found
}

/// Returns the headings' anchors, as forges and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let headings =
        prose(text).into_iter().filter_map(|(_, line)| Some(line.strip_prefix('#')?.trim_start_matches('#')));
    headings
        .map(|heading| {
            let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            let anchor: String = kept.collect::<String>().to_lowercase().replace(' ', "-");
            let before = times.entry(anchor.clone()).or_default();
            *before += 1;
            if *before == 1 { anchor } else { format!("{anchor}-{}", *before - 1) }
        })
        .collect()
}

fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

/// Returns a document's links to missing files and anchors. The book is built alone, so its pages link only
/// to one another.
fn broken_links(path: &Path, text: &str, guide: &Path) -> Vec<String> {
    let mut broken = Vec::new();
    for (line, target) in links(text) {
        // `[Title]()` is an unwritten page.
        if target.is_empty() || target.contains("://") {
            continue;
        }
        let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let file = if file.is_empty() { path.to_owned() } else { normal(&path.with_file_name(file)) };
        let has_anchor = || fs::read_to_string(&file).is_ok_and(|text| anchors(&text).contains(anchor));
        let fault = if !file.exists() {
            "there is no such file"
        } else if !anchor.is_empty() && !has_anchor() {
            "there is no such heading"
        } else if path.starts_with(guide) && !file.starts_with(guide) {
            "it leaves the book"
        } else {
            continue;
        };
        broken.push(format!("{}:{line}: `{target}`: {fault}", path.display()));
    }
    broken
}

/// Returns the book's folder, or the copy that `tests/full/book.sh` checks.
fn guide() -> PathBuf {
    let copy = std::env::var_os("TOOLKIT_GUIDE");
    copy.map_or_else(|| root().join("docs/guide"), |copy| normal(Path::new(&copy)))
}

#[test]
fn links_of_documents_lead_somewhere() {
    let guide = guide();
    let folder = guide.to_str().expect("a path in UTF-8");
    let mut documents = pages(folder);
    documents.extend(pages("docs").into_iter().filter(|page| !page.starts_with(root().join("docs/guide"))));
    let readmes = ["", "tests", "benches", "examples", "toolkit-llm", "toolkit-schema", "toolkit-core"];
    let integrations = fs::read_dir(root().join("integrations")).expect("a folder");
    let folders = integrations.map(|entry| entry.expect("an entry").path());
    for folder in readmes.map(|name| root().join(name)).into_iter().chain(folders) {
        let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        documents.extend(files.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    let mut broken = Vec::new();
    for path in &documents {
        let text = fs::read_to_string(path).expect("a text");
        broken.extend(broken_links(path, &text, &guide));
    }
    assert!(documents.len() > 60, "{} documents", documents.len());
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn every_page_is_in_the_summary_once() {
    let guide = root().join("docs/guide");
    let summary = fs::read_to_string(guide.join("SUMMARY.md")).expect("a summary");
    let mut listed: Vec<PathBuf> = links(&summary)
        .into_iter()
        .filter(|(_, target)| !target.is_empty())
        .map(|(_, target)| guide.join(target))
        .collect();
    listed.sort();
    let mut written = pages("docs/guide");
    written.retain(|page| !page.ends_with("SUMMARY.md"));
    assert_eq!(listed, written);
}

#[test]
fn pages_are_short() {
    for page in pages("docs/guide") {
        let lines = fs::read_to_string(&page).expect("a text").lines().count();
        assert!(lines <= LONGEST_PAGE, "{} has {lines} lines", page.display());
    }
}

#[test]
fn broken_links_are_found() {
    let guide = root().join("docs/guide");
    let text = "# A [page](errors.md#errors)\n\n[x](#a-page) [y](nowhere.md) [z](errors.md#nothing)\n```text\n[w](no.md)\n```\n\
                [out](../decisions/README.md) [new]() [web](https://example.com)\n";
    let faults = broken_links(&guide.join("state.md"), text, &guide);
    let places: Vec<&str> = faults.iter().filter_map(|fault| fault.split("state.md:").nth(1)).collect();
    assert_eq!(
        places,
        [
            "3: `#a-page`: there is no such heading",
            "3: `nowhere.md`: there is no such file",
            "3: `errors.md#nothing`: there is no such heading",
            "7: `../decisions/README.md`: it leaves the book",
        ]
    );
    let titles = anchors("# The `list` of tools\n## Who calls?\n## Who calls?\n");
    assert_eq!(titles.into_iter().collect::<Vec<_>>(), ["the-list-of-tools", "who-calls", "who-calls-1"]);
}
