//! The name of a member or variant, decoded as a string, a number or an enum.

use super::{Number, ReadError, Reader};
use serde::de::value::CowStrDeserializer;
use serde::de::{Deserializer, EnumAccess, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use std::borrow::Cow;

pub(super) struct Key<'t>(pub(super) Cow<'t, str>);

impl<'t> Key<'t> {
    fn visit_number<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let mut reader = Reader::unchecked(&self.0);
        match reader.whole_number() {
            Some(Number::Unsigned(number)) => visitor.visit_u64(number),
            Some(Number::Negative(number)) => visitor.visit_i64(number),
            Some(Number::Wide(text) | Number::Fraction(text)) => match (text.parse(), text.parse()) {
                (Ok(number), _) => visitor.visit_i128(number),
                (_, Ok(number)) => visitor.visit_u128(number),
                _ => visitor.visit_f64(Number::float(text)?),
            },
            None => self.deserialize_any(visitor),
        }
    }
}

impl Reader<'_> {
    fn whole_number(&mut self) -> Option<Number<'_>> {
        let first = *self.text.as_bytes().first()?;
        let number = self.number(first).ok()?;
        if self.at == self.text.len() { Some(number) } else { None }
    }
}

macro_rules! numbers {
    ($($method:ident)*) => {
        $(
            #[inline]
            fn $method<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
                self.visit_number(visitor)
            }
        )*
    };
}

impl<'t> Deserializer<'t> for Key<'t> {
    type Error = ReadError;

    #[inline]
    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.0 {
            Cow::Borrowed(name) => visitor.visit_borrowed_str(name),
            Cow::Owned(name) => visitor.visit_string(name),
        }
    }

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    fn deserialize_bool<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match &*self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'t>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_enum(UnitVariant(self.0))
    }

    forward_to_deserialize_any! {
        <W: Visitor<'t>>
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

pub(super) struct UnitVariant<'t>(pub(super) Cow<'t, str>);

impl<'t> EnumAccess<'t> for UnitVariant<'t> {
    type Error = ReadError;
    type Variant = <CowStrDeserializer<'t, ReadError> as EnumAccess<'t>>::Variant;

    #[inline]
    fn variant_seed<V: serde::de::DeserializeSeed<'t>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Self::Variant), ReadError> {
        EnumAccess::variant_seed(IntoDeserializer::<ReadError>::into_deserializer(self.0), seed)
    }
}
