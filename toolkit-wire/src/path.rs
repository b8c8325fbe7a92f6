//! Paths in a payload, for errors.

/// Returns the path of a field, as in `choices[0].message`; an empty parent is the whole payload.
pub(super) fn field(parent: &str, name: &str) -> String {
    if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") }
}

/// Returns the path of a list's element, as in `tools[2]`.
pub(super) fn element(parent: &str, index: usize) -> String {
    format!("{parent}[{index}]")
}
