//! The names of a type's fields, as the type itself tells them to serde.

use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

/// The names that a struct answers to, others of its fields included; `None` for a type that is not a
/// struct, or that takes other names too.
pub(super) fn fields_of<T: DeserializeOwned>() -> Option<&'static [&'static str]> {
    let mut fields = None;
    // It always ends in an error: there is no value, only the question what value is expected.
    let _ = T::deserialize(ApprovalRequest { fields: &mut fields });
    fields
}

struct ApprovalRequest<'a> {
    fields: &'a mut Option<&'static [&'static str]>,
}

impl<'de> Deserializer<'de> for ApprovalRequest<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("there is no value"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        *self.fields = Some(fields);
        self.deserialize_any(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    #[derive(Deserialize)]
    #[allow(dead_code)]
    struct Plain {
        #[serde(rename = "first", alias = "other")]
        a: u8,
        b: Option<u8>,
    }

    #[derive(Deserialize)]
    #[allow(dead_code)]
    struct Open {
        a: u8,
        #[serde(flatten)]
        rest: BTreeMap<String, u8>,
    }

    #[derive(Deserialize)]
    #[allow(dead_code)]
    struct Around(Plain);

    #[test]
    fn a_struct_tells_its_fields() {
        let mut fields = fields_of::<Plain>().unwrap().to_vec();
        fields.sort_unstable();
        assert_eq!(fields, ["b", "first", "other"]);
        assert_eq!(fields_of::<Around>().map(<[_]>::len), Some(3));
    }

    #[test]
    fn what_takes_other_names_too_has_none() {
        assert_eq!(fields_of::<Open>(), None);
        assert_eq!(fields_of::<BTreeMap<String, u8>>(), None);
        assert_eq!(fields_of::<u8>(), None);
    }
}
