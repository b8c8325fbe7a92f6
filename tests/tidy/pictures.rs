//! The guide's pictures: current, described for screen readers, and used.

use super::first_steps::pages;
use super::root;
use std::fs;
use std::path::Path;

/// The largest picture in bytes.
const LARGEST: usize = 60_000;

fn faults(source: &str, svg: &str) -> Vec<&'static str> {
    let escaped = source.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let text_of = |tag: &str| {
        svg.split_once(&format!("<{tag} id=")).and_then(|(_, rest)| rest.split(['>', '<']).nth(1))
    };
    let is_described = ["title", "desc"].iter().all(|tag| text_of(tag).is_some_and(|text| text.len() > 5));
    let outside = svg.replace("http://www.w3.org/", "");
    let rules = [
        (svg.contains(&format!("<metadata>{escaped}</metadata>")), "is not made from its present source"),
        (is_described, "has no title and description"),
        (svg.contains("prefers-color-scheme:dark"), "has no dark colours"),
        (
            !["http", "<script", "@import", "url("].iter().any(|word| outside.contains(word)),
            "needs a network",
        ),
        (svg.len() < LARGEST, "is too large"),
    ];
    rules.into_iter().filter(|(holds, _)| !holds).map(|(_, fault)| fault).collect()
}

#[test]
fn pictures_are_made_from_their_sources_and_used() {
    let folder = root().join("docs/guide/pictures");
    let guide: String = pages("docs/guide").iter().map(|page| read(page)).collect();
    let mut wrong = Vec::new();
    let mut sources = 0;
    for entry in fs::read_dir(&folder).expect("there are pictures") {
        let path = entry.expect("the folder can be read").path();
        if path.extension().is_none_or(|extension| extension != "dot") {
            continue;
        }
        sources += 1;
        let svg = path.with_extension("svg");
        let name = svg.file_name().expect("a picture has a name").to_string_lossy().into_owned();
        wrong.extend(faults(&read(&path), &read(&svg)).into_iter().map(|fault| format!("{name} {fault}")));
        if !guide.contains(&format!("pictures/{name})")) {
            wrong.push(format!("{name} is on no page"));
        }
    }
    assert!(sources >= 5, "{sources} pictures");
    assert_eq!(wrong, [""; 0], "run docs/guide/pictures/render.sh");
}

#[test]
fn a_stale_picture_would_be_found() {
    let source = "digraph { a -> b }";
    let svg = "<svg><title id=\"t\">A picture</title><desc id=\"d\">Of two boxes</desc>\
               <metadata>digraph { a -&gt; b }</metadata><style>@media (prefers-color-scheme:dark){}</style></svg>";
    assert_eq!(faults(source, svg), [""; 0]);
    assert_eq!(faults("digraph { a -> c }", svg), ["is not made from its present source"]);
    assert_eq!(faults(source, &svg.replace("Of two boxes", "")), ["has no title and description"]);
    assert_eq!(faults(source, &svg.replace("<style>", "<style>@import 'a.css';")), ["needs a network"]);
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a picture has a source and is rendered")
}
