//! The names of tools: legal, unique, and the same at every start.

use super::choice::Namespaces;
use crate::client::schema::{DIGEST, digest};
use std::collections::BTreeMap;
use toolkit_core::ToolName;
use toolkit_core::foreign::clean;
use toolkit_core::name::{MAX_NAME_LENGTH, NameError, Separator, normalize};

#[derive(Debug, Clone)]
pub(super) struct Unnamed {
    pub(super) id: String,
    pub(super) tag: Option<String>,
    /// The method and the path, which no other operation has.
    pub(super) key: String,
}

/// Returns the names of the operations, in the same order.
///
/// A namespace at the start of an id is not repeated: `repos/list` with the tag `repos` is `repos-list`. If
/// several ids are spelled alike, each of them gets a digest of its method and path, so that their order has
/// no effect.
pub(super) fn tool_names(
    operations: &[Unnamed],
    namespaces: &Namespaces,
) -> Vec<Result<ToolName, NameError>> {
    let mut spelled: Vec<(Option<String>, String)> = Vec::with_capacity(operations.len());
    for Unnamed { id, tag, .. } in operations {
        let given = match namespaces {
            Namespaces::None => None,
            Namespaces::One(name) => Some(name.as_str()),
            Namespaces::Tags => tag.as_deref(),
        };
        let namespace = given.map(legal_namespace);
        let method = method_name(id, namespace.as_deref());
        spelled.push((namespace, method));
    }
    let mut counts: BTreeMap<&(Option<String>, String), usize> = BTreeMap::new();
    for name in &spelled {
        *counts.entry(name).or_default() += 1;
    }
    let mut names = Vec::with_capacity(operations.len());
    for (name, operation) in spelled.iter().zip(operations) {
        let is_shared = counts.get(name).is_some_and(|count| *count > 1);
        names.push(named(name, &operation.key, is_shared));
    }
    names
}

fn named(
    (namespace, method): &(Option<String>, String),
    key: &str,
    is_shared: bool,
) -> Result<ToolName, NameError> {
    let around = namespace.as_ref().map_or(0, |namespace| namespace.chars().count() + 1);
    let most = MAX_NAME_LENGTH.saturating_sub(around);
    let method = if is_shared || method.chars().count() > most {
        let start: String = method.chars().take(most.saturating_sub(DIGEST + 1)).collect();
        format!("{start}_{}", digest(key))
    } else {
        method.clone()
    };
    match namespace {
        Some(namespace) => ToolName::qualified(namespace, &method, Separator::default()),
        None => ToolName::new(&method),
    }
}

/// Returns a legal namespace of at most half of a name.
fn legal_namespace(tag: &str) -> String {
    let legal = legal(&normalize(&clean(tag)));
    normalize(&legal.chars().take(MAX_NAME_LENGTH / 2).collect::<String>())
}

/// Returns a legal method name without the namespace at its start.
fn method_name(id: &str, namespace: Option<&str>) -> String {
    let cleaned = clean(id);
    if let Some(namespace) = namespace
        && let Some((first, rest)) = cleaned.split_once(['/', '.', ':', '_', '-'])
        && normalize(first) == namespace
        && !rest.is_empty()
    {
        return legal(rest);
    }
    legal(&cleaned)
}

/// Returns a legal spelling. Runs of illegal characters become one `_`.
fn legal(name: &str) -> String {
    let mut spelled = String::with_capacity(name.len());
    for character in name.chars() {
        if character.is_ascii_alphanumeric() || matches!(character, '-' | '.') {
            spelled.push(character);
        } else if !spelled.ends_with('_') {
            spelled.push('_');
        }
    }
    match spelled.trim_matches('_') {
        "" => format!("tool_{}", digest(name)),
        trimmed => trimmed.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(operations: &[(&str, &str)], namespaces: &Namespaces) -> Vec<String> {
        let tag = |tag: &str| Some(tag.to_owned()).filter(|tag| !tag.is_empty());
        let operation =
            |(id, of): &(&str, &str)| Unnamed { id: (*id).to_owned(), tag: tag(of), key: (*id).to_owned() };
        let operations: Vec<_> = operations.iter().map(operation).collect();
        tool_names(&operations, namespaces).into_iter().map(|name| name.unwrap().to_string()).collect()
    }

    #[test]
    fn names_are_legal_and_do_not_depend_on_the_order() {
        let operations = [
            ("repos/list-for-org", "repos"),
            ("listPets", "Pet Store & more"),
            ("get /users/{id}", ""),
            ("卖", ""),
            ("a b", ""),
            ("a/b", ""),
            ("a\u{e0041}c", ""),
            ("actions", "actions"),
        ];
        let expected = [
            "repos-list-for-org",
            "pet_store_more-listPets",
            "get_users_id",
            "tool_59fda6",
            "a_b_5e229e",
            "a_b_f5effa",
            "ac",
            "actions-actions",
        ];
        assert_eq!(names(&operations, &Namespaces::Tags), expected);
        let reversed: Vec<_> = operations.iter().rev().copied().collect();
        let mut again = names(&reversed, &Namespaces::Tags);
        again.reverse();
        assert_eq!(again, expected);
        assert_eq!(names(&operations[..1], &Namespaces::None), ["repos_list-for-org"]);
        let one = Namespaces::One("GitHub".to_owned());
        assert_eq!(names(&operations[..1], &one), ["git_hub-repos_list-for-org"]);
    }

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let long = |end: &str| format!("{}{end}", "x".repeat(200));
        let tag = "t".repeat(100);
        let one = long("a");
        let other = long("b");
        let found = names(&[(&one, &tag), (&other, &tag)], &Namespaces::Tags);
        assert!(found.iter().all(|name| name.len() == MAX_NAME_LENGTH));
        assert_ne!(found[0], found[1]);
    }
}
