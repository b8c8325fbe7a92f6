//! The rooms inside a folder of a crate look only down, too.

use crate::{OPENAPI_CLIENT_FLOORS, room, root, rust_files};
use std::path::Path;

/// Returns the names at the top of the folder that the code of a file names: with their path from the root of the
/// crate, or with `super::`. Code of tests is not counted.
fn names_of_folder(module: &str, file: &Path, text: &str) -> Vec<String> {
    // A file directly in the folder reaches its neighbours with one `super::`, a file below with one more.
    let relative = "super::".repeat(file.components().count());
    let absolute = format!("crate::{module}::");
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut names = Vec::new();
    for line in code {
        for prefix in [&absolute, &relative] {
            for (at, _) in line.match_indices(prefix.as_str()) {
                let rest = &line[at + prefix.len()..];
                // `super::super::` may be the end of a longer path of this kind.
                let is_longer = line[..at].ends_with("super::") || rest.starts_with("super::");
                if !is_longer {
                    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                    names.push(rest[..end].to_owned());
                }
            }
        }
    }
    names
}

/// Returns the names in a file that are no room below its own one. A name that the folder exports counts as well,
/// because it hides the room that it comes from.
fn upward_names(module: &str, floors: &[&str], file: &Path, text: &str) -> Vec<String> {
    let floor = |room: &str| floors.iter().position(|known| *known == room);
    let here = room(file, Path::new(""));
    let Some(own) = floor(&here) else { return vec![format!("the room `{here}` has no floor")] };
    let is_upward = |name: &String| floor(name).is_none_or(|other| other > own);
    let names = names_of_folder(module, file, text).into_iter().filter(is_upward);
    names.map(|name| format!("`{here}` looks up at `{name}`")).collect()
}

/// Returns the looks at a higher room in a folder of a crate, such as `toolkit-x/src/client`.
fn upward_looks_inside(folder: &str, floors: &[&str]) -> Vec<String> {
    let source = root().join(folder);
    let module = folder.split_once("src/").expect("a folder of sources").1.replace('/', "::");
    let mut looks = Vec::new();
    for (path, text) in rust_files(folder) {
        let inside = path.strip_prefix(&source).expect("the file is in the folder");
        if inside.components().any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "tests.rs"))) {
            continue;
        }
        let names = upward_names(&module, floors, inside, &text).into_iter();
        looks.extend(names.map(|name| format!("{}: {name}", path.display())));
    }
    looks
}

#[test]
fn rooms_inside_a_folder_look_only_down() {
    assert_eq!(
        upward_looks_inside("integrations/toolkit-openapi/src/client", OPENAPI_CLIENT_FLOORS),
        [""; 0]
    );
}

#[test]
fn an_upward_look_inside_a_folder_would_be_found() {
    let floors = ["base", "middle", "top"];
    let found = |file: &str, text: &str| upward_names("client", &floors, Path::new(file), text);
    let up = ["`middle` looks up at `top`"];
    assert_eq!(found("middle/part.rs", "use crate::client::top::Top;\nuse crate::client::base::Base;"), up);
    assert_eq!(found("middle.rs", "use super::top::Top;\nuse super::base::Base;"), up);
    assert_eq!(
        found("middle/part.rs", "use super::super::top::Top;\nuse super::top::Own;\nuse super::*;"),
        up
    );
    assert_eq!(
        found("middle/part/own.rs", "use super::super::super::top::Top;\nuse super::super::top::Own;"),
        up
    );
    assert_eq!(found("middle.rs", "use crate::client::Top;"), ["`middle` looks up at `Top`"]);
    assert_eq!(found("middle.rs", "use crate::client::{Base, Top};"), ["`middle` looks up at ``"]);
    assert_eq!(
        found("middle.rs", "// use super::top::Top;\n#[cfg(test)]\nmod tests { use super::top::Top; }"),
        [""; 0]
    );
    assert_eq!(found("attic.rs", ""), ["the room `attic` has no floor"]);
}
