//! Detection of union variants that a value cannot have been decoded as, because the Rust type refuses the value there.

use super::Search;
use super::decoded::Reading;
use crate::json::{Json, Kind, quoted};
use crate::properties::{item_schema, property};
use crate::reference::resolve;
use crate::sample::sample;
use crate::types::fields;
use serde_json::Value;

impl<'a, 'v> Search<'a, 'v, '_> {
    /// Returns whether the Rust type must have decoded `value` as another variant than `branch`. It refuses a member
    /// that violates `branch`, such as -1 for a `u8`.
    ///
    /// To test one member alone, samples replace all other members of the variant. The result is `true` only if the
    /// Rust type accepts the samples without the violating member, but not with it.
    pub(super) fn is_of_other_variant(&mut self, branch: &'a Value, value: &Json<'v>) -> bool {
        if self.reading != Reading::Literal || self.accepts.is_none() {
            return false;
        }
        let Some(plain) = self.of_samples(branch, value, false) else { return false };
        let Some(violating) = self.of_samples(branch, value, true) else { return false };
        self.accepts_instead(value, &[&plain]) && !self.accepts_instead(value, &[&violating])
    }

    /// Returns JSON text of the same structure as `value`, but with sample values for its members and items. Members
    /// that the schema does not list are left out.
    ///
    /// If `keeps` is `true`, violating members and items keep their original text.
    fn of_samples(&mut self, schema: &'a Value, value: &Json<'v>, keeps: bool) -> Option<String> {
        if !self.fits(schema, value) {
            let own = resolve(self.root, schema)?;
            let is_union = ["anyOf", "oneOf", "allOf"].iter().any(|keyword| own.get(keyword).is_some());
            match (&value.kind, fields(own)) {
                (Kind::Object(members), Some(fields)) if !is_union => {
                    let mut written = Vec::new();
                    for (name, member) in members {
                        if let Some((_, field)) = property(fields, name) {
                            let text = self.of_samples(field, member, keeps)?;
                            written.push(format!("{}:{text}", quoted(name)));
                        }
                    }
                    return Some(format!("{{{}}}", written.join(",")));
                }
                (Kind::Array(items), _) if !is_union => {
                    let mut written = Vec::new();
                    for (index, item) in items.iter().enumerate() {
                        written.push(self.of_samples(item_schema(own, index)?, item, keeps)?);
                    }
                    return Some(format!("[{}]", written.join(",")));
                }
                _ if keeps => return Some(value.text.to_owned()),
                _ => {}
            }
        }
        sample(self.root, schema).map(|sample| sample.to_string())
    }
}
