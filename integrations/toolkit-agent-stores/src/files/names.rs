//! Conversion of ids to file paths, and back.

use std::path::{Path, PathBuf};

/// The maximum bytes of a file or folder name. Most file systems allow 255, some encrypted ones fewer.
const MAX_COMPONENT: usize = 120;

pub(super) const ENDING: &str = ".jsonl";

/// Ends a folder name that is a part of a long id. Escaped ids never contain it.
const CONTINUED: char = '+';

/// Returns the path of the file for `id`, different for each id even on case-insensitive file systems.
pub(super) fn path_of(folder: &Path, id: &str, ending: &str) -> PathBuf {
    let name = escape(id);
    let mut path = folder.to_owned();
    let mut rest = name.as_str();
    // Escaped names are ASCII, so any index is a character boundary.
    while rest.len() > MAX_COMPONENT {
        let (part, more) = rest.split_at(MAX_COMPONENT);
        path.push(format!("{part}{CONTINUED}"));
        rest = more;
    }
    path.push(format!("{rest}{ending}"));
    path
}

/// Returns the id whose path is `path`; `None` if `path_of` never returns it.
pub(super) fn id_of(folder: &Path, path: &Path, ending: &str) -> Option<String> {
    let mut name = String::new();
    let mut parts = path.strip_prefix(folder).ok()?.iter().peekable();
    while let Some(part) = parts.next() {
        let part = part.to_str()?;
        let is_last = parts.peek().is_none();
        name.push_str(if is_last { part.strip_suffix(ending)? } else { part.strip_suffix(CONTINUED)? });
    }
    unescape(&name)
}

/// Escapes an id for a file name. Lowercase ASCII letters, digits, `-` and `_` stay. Every other byte becomes
/// `%` and two hexadecimal digits. An empty id becomes `%`.
fn escape(id: &str) -> String {
    let mut name = String::with_capacity(id.len());
    for byte in id.bytes() {
        let is_plain = byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
        if is_plain {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02x}"));
        }
    }
    if name.is_empty() { "%".to_owned() } else { name }
}

fn unescape(name: &str) -> Option<String> {
    if name == "%" {
        return Some(String::new());
    }
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => u8::try_from(hex_digit(rest.next()?)? * 16 + hex_digit(rest.next()?)?).ok()?,
            byte => byte,
        });
    }
    let id = String::from_utf8(bytes).ok()?;
    // Rejects names that `escape` never creates, such as another program's file.
    if escape(&id) == name { Some(id) } else { None }
}

fn hex_digit(byte: u8) -> Option<u32> {
    char::from(byte).to_digit(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_ids_have_different_paths() {
        let long = "x".repeat(1_000);
        let ids = [
            "",
            "%",
            ".",
            "..",
            "../a",
            "a/b",
            "a\\b",
            "a",
            "A",
            "con",
            "con.json",
            "%63on",
            "nul",
            "com1",
            "ä",
            "a ",
            "a.json",
            "+",
            "\0",
            &long,
            &long[..999],
            &long[..120],
            &long[..121],
        ];
        let folder = Path::new("/f");
        let mut paths: Vec<PathBuf> = ids.iter().map(|id| path_of(folder, id, ENDING)).collect();
        for (id, path) in ids.iter().zip(&paths) {
            assert_eq!(id_of(folder, path, ENDING).as_deref(), Some(*id));
            assert_eq!(id_of(folder, &path_of(folder, id, ""), "").as_deref(), Some(*id));
            for part in path.strip_prefix(folder).unwrap() {
                let part = part.to_str().unwrap();
                assert!(part.len() < 140 && part != "." && part != ".." && !part.contains('\\'), "{part}");
                assert_eq!(part, part.to_ascii_lowercase());
            }
        }
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), ids.len());
    }

    #[test]
    fn foreign_files_are_ignored() {
        let names =
            [".tmpAbc", "Readme.md", "a.json", "a.inbox", "A.jsonl", "%zz.jsonl", "%61.jsonl", "a%.jsonl"];
        for name in names {
            assert_eq!(id_of(Path::new("/f"), &Path::new("/f").join(name), ENDING), None, "{name}");
        }
    }
}
