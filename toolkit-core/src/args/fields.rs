//! The field names of a type, as declared by its `Deserialize` implementation.

use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

/// Returns the names and aliases of a struct's fields.
///
/// Returns `None` for types other than structs, and for structs open to any name because of
/// `#[serde(flatten)]`.
pub(super) fn fields_of<T: DeserializeOwned>() -> Option<&'static [&'static str]> {
    let mut fields = None;
    // Always an error: the probe has no value and only records the expected fields.
    let _ = T::deserialize(FieldProbe { fields: &mut fields });
    fields
}

struct FieldProbe<'a> {
    fields: &'a mut Option<&'static [&'static str]>,
}

impl<'de> Deserializer<'de> for FieldProbe<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("no value"))
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
    fn a_struct_has_its_fields_and_aliases() {
        let mut fields = fields_of::<Plain>().unwrap().to_vec();
        fields.sort_unstable();
        assert_eq!(fields, ["b", "first", "other"]);
        assert_eq!(fields_of::<Around>().map(<[_]>::len), Some(3));
    }

    #[test]
    fn a_type_that_accepts_any_name_has_no_fields() {
        assert_eq!(fields_of::<Open>(), None);
        assert_eq!(fields_of::<BTreeMap<String, u8>>(), None);
        assert_eq!(fields_of::<u8>(), None);
    }
}
