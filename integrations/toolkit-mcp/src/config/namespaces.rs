//! Legal and distinct namespaces for the names of servers.

use std::collections::{BTreeMap, BTreeSet};
use toolkit_core::name::{check_name, normalize};
use toolkit_core::schema::schema_hash;

/// The length of the digest, in characters.
const SUFFIX: usize = 6;

/// The maximum length, so that names of tools fit behind it.
const LONGEST: usize = 64;

/// Returns a namespace for each name.
///
/// Most names become their legal spelling: `my server (1)` becomes `my_server_1`. A name gets a digest if the
/// spelling says nothing about it, is too long, or belongs to another name, too.
pub(super) fn namespaces<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, String> {
    let spelled: Vec<(&str, String)> = names.map(|name| (name, spelling(name))).collect();
    let mut taken: BTreeSet<String> = spelled.iter().map(|(_, spelling)| spelling.clone()).collect();
    let mut namespaces = BTreeMap::new();
    for (name, spelling) in &spelled {
        let is_clear = name.contains(|c: char| c.is_ascii_alphanumeric()) && spelling.len() <= LONGEST;
        let is_legal = name == spelling;
        if is_clear && (is_legal || spelled.iter().filter(|(_, other)| other == spelling).count() == 1) {
            namespaces.insert(*name, spelling.clone());
            continue;
        }
        let start: String = spelling.chars().take(LONGEST - SUFFIX - 1).collect();
        for round in 0_usize.. {
            let digest = schema_hash(&format!("{name}{round}").into());
            let namespace = format!("{start}_{}", &digest[..SUFFIX]);
            if taken.insert(namespace.clone()) {
                namespaces.insert(*name, namespace);
                break;
            }
        }
    }
    namespaces
}

/// Returns the legal spelling of the same namespace.
fn spelling(name: &str) -> String {
    let normal = normalize(name);
    match check_name(&normal) {
        Ok(()) => normal,
        Err(error) => normalize(error.suggestion()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit_core::ToolName;
    use toolkit_core::name::Separator;

    #[test]
    fn every_name_has_a_legal_namespace_of_its_own() {
        let long = "a".repeat(200);
        let short = format!("{}_21fd3e", "a".repeat(57));
        for (names, expected) in [
            (vec!["files", "my server (1)", "Two B"], vec!["files", "my_server_1", "two_b"]),
            (vec!["io.github.upstash/context7", "a.b/c"], vec!["io_github_upstash_context7", "a_b_c"]),
            (vec!["upper", "UPPER"], vec!["upper", "upper_b51306"]),
            (vec!["名前", "名"], vec!["tool_45ba04", "tool_b5e43c"]),
            (vec!["", long.as_str()], vec!["tool_98089e", short.as_str()]),
        ] {
            let namespaces = namespaces(names.iter().copied());
            let given: Vec<&str> = names.iter().map(|name| namespaces[name].as_str()).collect();
            assert_eq!(given, expected);
            for namespace in given {
                let name = ToolName::qualified(namespace, "get", Separator::default());
                assert_eq!(name.as_ref().ok().and_then(ToolName::namespace), Some(namespace));
            }
        }
    }
}
