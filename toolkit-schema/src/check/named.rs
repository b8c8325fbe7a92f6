//! The check of values with aliases: keywords about a whole object, such as `not` and `propertyNames`, know own names only.

use super::{Scope, Search, check, check_decoded};
use crate::json::{Json, Kind};
use crate::meaning::use_own_names;
use crate::reference::SchemaRef;
use crate::violation::{Violation, ViolationKind};

impl Search<'_, '_, '_> {
    /// Returns the violations by the value under its own names. Their paths contain the names as written. `at` is the
    /// path of the value.
    ///
    /// Returns `None` if the value has no aliases.
    pub(super) fn of_own_names(
        &mut self,
        schema: SchemaRef<'_>,
        value: &Json<'_>,
        at: &str,
    ) -> Option<Vec<Violation>> {
        let mut own = Json::parse(value.text).ok()?;
        use_own_names(schema, &mut own);
        let text = own.compact();
        let own = Json::parse(&text).ok()?;
        if own.canonical() == value.canonical() {
            return None;
        }
        let mut found = match self.accepts.take() {
            Some(accepts) => check_decoded(schema, &own, at, self.coerce, Some(accepts)),
            None if self.scope == Scope::Constraints => check_decoded(schema, &own, at, self.coerce, None),
            None => check(schema, &own, at, self.scope),
        };
        let mut renamed = Vec::new();
        collect_renamed(value, &own, (at, at), &mut renamed);
        // A repeated property has several written names, so its own name is reported.
        for violation in found.iter_mut().filter(|violation| violation.kind != ViolationKind::Duplicate) {
            // The last rename that contains the violation is the innermost.
            let written = renamed.iter().rev().find_map(|(own, written)| {
                let rest = violation.path.strip_prefix(own.as_str())?;
                matches!(rest.as_bytes().first(), None | Some(b'.' | b'['))
                    .then(|| format!("{written}{rest}"))
            });
            if let Some(written) = written {
                violation.path = written;
            }
        }
        Some(found)
    }
}

/// Collects the paths of renamed members: the path under own names, and the path as written. Outer members come first.
fn collect_renamed(
    written: &Json<'_>,
    own: &Json<'_>,
    (at_written, at_own): (&str, &str),
    renamed: &mut Vec<(String, String)>,
) {
    match (&written.kind, &own.kind) {
        (Kind::Object(written), Kind::Object(own)) => {
            for ((name, value), (own_name, own_value)) in written.iter().zip(own) {
                let path = |at: &str, name: &str| {
                    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
                };
                let (path, own_path) = (path(at_written, name), path(at_own, own_name));
                if name != own_name {
                    renamed.push((own_path.clone(), path.clone()));
                }
                collect_renamed(value, own_value, (&path, &own_path), renamed);
            }
        }
        (Kind::Array(written), Kind::Array(own)) => {
            for (index, (item, own_item)) in written.iter().zip(own).enumerate() {
                let (path, own_path) = (format!("{at_written}[{index}]"), format!("{at_own}[{index}]"));
                collect_renamed(item, own_item, (&path, &own_path), renamed);
            }
        }
        _ => {}
    }
}
