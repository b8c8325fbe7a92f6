//! The check of values with aliases: keywords about a whole object, such as `not` and `propertyNames`, know own names
//! only.

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
        // A repeated property has several written names, so its own name is reported.
        for violation in found.iter_mut().filter(|violation| violation.kind != ViolationKind::Duplicate) {
            if let Some(inside) = violation.path.strip_prefix(at) {
                violation.path = format!("{at}{}", as_written(value, &own, inside));
            }
        }
        Some(found)
    }
}

/// Returns `path`, a path within `own`, with the names in `written`. Both are the same value, apart from names.
fn as_written(mut written: &Json<'_>, mut own: &Json<'_>, path: &str) -> String {
    let (mut rest, mut found) = (path, String::new());
    loop {
        let inside = match (&written.kind, &own.kind) {
            (Kind::Object(members), Kind::Object(own_members)) => {
                let (dot, name_on) = rest.strip_prefix('.').map_or(("", rest), |name_on| (".", name_on));
                members.iter().zip(own_members).find_map(|((name, value), (own_name, own_value))| {
                    let after = name_on.strip_prefix(&**own_name)?;
                    let is_whole = matches!(after.as_bytes().first(), None | Some(b'.' | b'['));
                    is_whole.then(|| (format!("{dot}{name}"), value, own_value, after))
                })
            }
            (Kind::Array(items), Kind::Array(own_items)) => rest
                .strip_prefix('[')
                .and_then(|index_on| index_on.split_once(']'))
                .and_then(|(index, after)| {
                    let position: usize = index.parse().ok()?;
                    let (item, own_item) = (items.get(position)?, own_items.get(position)?);
                    Some((format!("[{index}]"), item, own_item, after))
                }),
            _ => None,
        };
        let Some((step, value, own_value, after)) = inside else { return found + rest };
        found.push_str(&step);
        (written, own, rest) = (value, own_value, after);
    }
}
