//! The check of values that a Rust type has decoded, possibly from names and forms that the schema does not
//! list.

use super::{Found, Search, check};
use crate::bounds::{has_constraints, is_equal};
use crate::coerce::coerced;
use crate::discriminator::Discriminator;
use crate::json::{Json, quoted};
use crate::reference::SchemaRef;
use crate::violation::ViolationKind;
use serde_json::Value;

/// How many bytes of text the type reads in the time in which a schema is applied.
const BYTES_PER_STEP: usize = 8;

impl<'a, 'v> Search<'a, 'v, '_> {
    /// Inspects a value with another JSON type than the schema requires, such as a number decoded from a
    /// string. The value is coerced first.
    pub(super) fn inspect_coerced(&mut self, schema: &Value, value: &Json<'_>) {
        let text = coerced(SchemaRef::new(self.root, schema), value);
        match text.as_deref().map(Json::parse) {
            Some(Ok(value)) => {
                let found = check(SchemaRef::new(self.root, schema), &value, &self.path, self.scope);
                self.found.extend(found.into_iter().map(|violation| (0, violation)));
            }
            _ => self.add_mismatch(ViolationKind::WrongType, schema, "type", value),
        }
    }

    /// Returns whether the Rust type accepts any of the texts in `others` instead of `value`. Returns `true`
    /// if the type cannot be asked.
    pub(super) fn accepts_instead(&mut self, value: &Json<'_>, others: &[&str]) -> bool {
        let (whole, part) = (self.text, value.text);
        let Some(start) = part.as_ptr().addr().checked_sub(whole.as_ptr().addr()) else { return true };
        let (before, after) = (whole.get(..start), whole.get(start + part.len()..));
        let (Some(before), Some(after), Some(accepts)) = (before, after, &mut self.accepts) else {
            return true;
        };
        // Each question reads the whole text.
        let cost = 100 + whole.len() / BYTES_PER_STEP;
        others.iter().any(|other| {
            self.left = self.left.saturating_sub(cost);
            self.left > 0 && accepts(&format!("{before}{other}{after}"))
        })
    }

    /// Inspects an object with an unknown tag or an unknown only member. The name may be an alias of a
    /// variant, so the object is inspected as each variant that the Rust type may decode it to.
    pub(super) fn inspect_variants(
        &mut self,
        schema: &Value,
        choice: Option<&Discriminator<'_>>,
        value: &Json<'v>,
        closest: Option<Vec<Found>>,
    ) {
        let members = value.members().unwrap_or_default();
        let tag = if let Some(Discriminator::Tag(tag, _)) = choice { *tag } else { "" };
        let given = value.get(tag);
        // Returns the object's text with the tag, or the name of the member at `index`, replaced by `own`.
        let write = |index: usize, own: &str| {
            let written = members.iter().enumerate().map(|(at, (name, value))| match (at == index, given) {
                (true, Some(_)) => format!("{}:{own}", quoted(name)),
                (true, None) => format!("{own}:{}", value.text),
                (false, _) => format!("{}:{}", quoted(name), value.text),
            });
            format!("{{{}}}", written.collect::<Vec<_>>().join(","))
        };
        let replacements: Vec<(usize, String)> = match (choice, given) {
            (Some(Discriminator::Tag(_, allowed)), Some(given))
                if !allowed.iter().any(|own| is_equal(own, given)) =>
            {
                let index = members.iter().rposition(|(name, _)| name == tag).unwrap_or_default();
                allowed.iter().map(|own| (index, own.to_string())).collect()
            }
            (Some(Discriminator::Members(names)), _)
                if !names.iter().any(|name| value.get(name).is_some()) =>
            {
                let of_names = |index| names.iter().map(move |own| (index, quoted(own)));
                (0..members.len()).flat_map(of_names).collect()
            }
            _ => return self.found.extend(closest.unwrap_or_default()),
        };
        for (index, own) in replacements {
            if self.left == 0 {
                return;
            }
            let text = write(index, &own);
            if self.accepts_instead(value, &[&text])
                && let Ok(value) = Json::parse(&text)
            {
                let found = check(SchemaRef::new(self.root, schema), &value, &self.path, self.scope);
                self.found.extend(found.into_iter().map(|violation| (0, violation)));
            }
        }
    }

    /// Returns the constrained properties that the type may know under the name of a member without a schema.
    pub(super) fn aliased(&mut self, schema: &'a Value, value: &Json<'v>) -> Vec<(&'a str, &'a Value)> {
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let mut candidates: Vec<(&str, &Value)> = properties
            .filter(|(own, property)| has_constraints(property) && value.get(own).is_none())
            .map(|(own, property)| (own.as_str(), property))
            .collect();
        if self.accepts.is_some() {
            let inner = value.text.strip_suffix('}').unwrap_or_default();
            // A property accepted beside all members is not given under another name.
            candidates.retain(|(own, property)| {
                let default = property.get("default").map(Value::to_string);
                let values = default.as_deref().into_iter().chain(["null", "0", "\"\"", "[]", "{}", "true"]);
                let texts: Vec<String> =
                    values.map(|other| format!("{inner},{}:{other}}}", quoted(own))).collect();
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                !self.accepts_instead(value, &texts)
            });
        }
        candidates
    }

    /// Inspects a member without a schema as each of the `aliased` properties that the type knows under the
    /// name of the member.
    pub(super) fn inspect_alias(
        &mut self,
        aliased: &[(&'a str, &'a Value)],
        value: &Json<'v>,
        member: &Json<'v>,
    ) {
        let inner = value.text.strip_suffix('}').unwrap_or_default();
        for (own, property) in aliased {
            if self.left == 0 || self.is_full() {
                return;
            }
            // The name is an alias of the property if the type accepts the property in its place, but not
            // both together.
            let is_alias = |this: &mut Self| {
                let others = value.members().unwrap_or_default().iter();
                let renamed = others.map(|(name, value)| {
                    let name = if std::ptr::eq(value, member) { own } else { &**name };
                    format!("{}:{}", quoted(name), value.text)
                });
                let renamed = format!("{{{}}}", renamed.collect::<Vec<_>>().join(","));
                let both = format!("{inner},{}:{}}}", quoted(own), member.text);
                this.accepts_instead(value, &[&renamed]) && !this.accepts_instead(value, &[&both])
            };
            if self.accepts.is_none() || is_alias(self) {
                self.inspect(property, member);
            }
        }
    }
}
