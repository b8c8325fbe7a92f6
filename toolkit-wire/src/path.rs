//! Places in a payload, spelled for errors.

/// The field `name` of what stands at `parent`, as in `choices[0].message`; an empty parent is the
/// whole payload.
pub(super) fn field(parent: &str, name: &str) -> String {
    if parent.is_empty() { name.to_owned() } else { format!("{parent}.{name}") }
}

/// The element `index` of the list at `parent`, as in `tools[2]`.
pub(super) fn element(parent: &str, index: usize) -> String {
    format!("{parent}[{index}]")
}
