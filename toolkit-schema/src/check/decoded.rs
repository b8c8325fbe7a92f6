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
        self.left = self.left.saturating_sub(100 * others.len());
        others.iter().any(|other| accepts(&format!("{before}{other}{after}")))
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
        let texts: Vec<String> = match (choice, given) {
            (Some(Discriminator::Tag(_, allowed)), Some(given))
                if !allowed.iter().any(|own| is_equal(own, given)) =>
            {
                let index = members.iter().rposition(|(name, _)| name == tag).unwrap_or_default();
                allowed.iter().map(|own| write(index, &own.to_string())).collect()
            }
            (Some(Discriminator::Members(names)), _)
                if !names.iter().any(|name| value.get(name).is_some()) =>
            {
                let of_names = |index| names.iter().map(|own| write(index, &quoted(own))).collect::<Vec<_>>();
                (0..members.len()).flat_map(of_names).collect()
            }
            _ => return self.found.extend(closest.unwrap_or_default()),
        };
        for text in texts {
            if self.accepts_instead(value, &[&text])
                && let Ok(value) = Json::parse(&text)
            {
                let found = check(SchemaRef::new(self.root, schema), &value, &self.path, self.scope);
                self.found.extend(found.into_iter().map(|violation| (0, violation)));
            }
        }
    }

    /// Inspects a member that the schema does not declare. The name may be an alias, so the member is
    /// inspected as each property for which the Rust type may accept this name.
    pub(super) fn inspect_alias(&mut self, schema: &'a Value, value: &Json<'v>, member: &Json<'v>) {
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let inner = value.text.strip_suffix('}').unwrap_or_default();
        for (own, property) in properties.filter(|(_, property)| has_constraints(property)) {
            // The name is an alias of the property if the type accepts the property in its place, but not
            // both together.
            let both = format!("{inner},{}:{}}}", quoted(own), member.text);
            let others = value.members().unwrap_or_default().iter();
            let renamed = others.map(|(name, value)| {
                let name = if std::ptr::eq(value, member) { own } else { &**name };
                format!("{}:{}", quoted(name), value.text)
            });
            let renamed = format!("{{{}}}", renamed.collect::<Vec<_>>().join(","));
            let is_given = value.get(own).is_some();
            let is_alias = |this: &mut Self| {
                this.accepts_instead(value, &[&renamed]) && !this.accepts_instead(value, &[&both])
            };
            if !is_given && (self.accepts.is_none() || is_alias(self)) {
                self.inspect(property, member);
            }
        }
    }
}
