//! The names of arguments: parameters and members of the body are side by side in one object.

use super::operation::Location;
use std::collections::BTreeSet;
use toolkit_foreign::clean;

/// The arguments of one operation that have a name already.
#[derive(Debug, Default)]
pub(super) struct ArgumentNames(BTreeSet<String>);

impl ArgumentNames {
    /// Names the argument of a parameter. The first argument of a name keeps it, and another one is told apart by its
    /// place: `id` in the path, and `id_in_query`. Parameters are named in the order of [`Location`].
    pub(super) fn take(&mut self, name: &str, location: Location) -> String {
        let place = match location {
            Location::Path => "path",
            Location::Query | Location::QueryString => "query",
            Location::Header => "header",
            Location::Cookie => "cookie",
        };
        self.free(name, place)
    }

    /// Names the argument of a member of the body, or of the whole body.
    pub(super) fn take_of_body(&mut self, name: &str) -> String {
        self.free(name, "body")
    }

    fn free(&mut self, name: &str, place: &str) -> String {
        let mut argument = clean(name);
        if !self.0.insert(argument.clone()) {
            argument = format!("{argument}_in_{place}");
            while !self.0.insert(argument.clone()) {
                argument.push('_');
            }
        }
        argument
    }
}
