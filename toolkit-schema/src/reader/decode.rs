//! The reader as serde's data format.

use super::key::{Key, UnitVariant};
use super::raw_text::{RAW_VALUE, RawText};
use super::{Items, Members, Number, ReadError, Reader};
use crate::plan::Matcher;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected, Unexpected, VariantAccess, Visitor,
};
use std::borrow::Cow;

impl<'t> Reader<'t> {
    #[inline]
    fn visit_object<V: Visitor<'t>>(
        &mut self,
        matcher: &'t Matcher,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let mut members = Members::open(self, matcher)?;
        let value = visitor.visit_map(&mut members)?;
        members.close()?;
        Ok(value)
    }

    #[inline]
    fn visit_list<V: Visitor<'t>>(
        &mut self,
        matcher: &'t Matcher,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let mut items = Items::open(self, matcher)?;
        let value = visitor.visit_seq(&mut items)?;
        items.close()?;
        Ok(value)
    }

    #[inline]
    fn visit_number<V: Visitor<'t>>(&mut self, visitor: V) -> Result<V::Value, ReadError> {
        let (first, matcher) = self.begin()?;
        if let Matcher::Integer { least, most, .. } = matcher
            && let Some(number) = self.small_integer(first)
        {
            if !(*least..=*most).contains(&number) {
                return Err(self.refuse());
            }
            return match u64::try_from(number) {
                Ok(number) => visitor.visit_u64(number),
                Err(_) => visitor.visit_i64(number),
            };
        }
        self.visit_other_number(first, matcher, visitor)
    }

    /// Reads a number, or returns the error for a value of another JSON type.
    fn expected_number(
        &mut self,
        first: u8,
        matcher: &Matcher,
        expected: &dyn Expected,
    ) -> Result<Number<'t>, ReadError> {
        match first {
            b'-' | b'0'..=b'9' => self.checked_number(first, matcher),
            _ => Err(self.wrong_type(first, matcher, expected)),
        }
    }

    fn visit_other_number<V: Visitor<'t>>(
        &mut self,
        first: u8,
        matcher: &Matcher,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        match self.expected_number(first, matcher, &visitor)? {
            Number::Unsigned(number) => visitor.visit_u64(number),
            Number::Negative(number) => visitor.visit_i64(number),
            Number::Wide(text) | Number::Fraction(text) => visitor.visit_f64(Number::float(text)?),
        }
    }

    /// Returns the error for a value of another JSON type.
    #[cold]
    fn wrong_type(&mut self, first: u8, matcher: &Matcher, expected: &dyn Expected) -> ReadError {
        let text;
        let unexpected = match first {
            b'{' => Unexpected::Map,
            b'[' => Unexpected::Seq,
            b'n' => match self.checked_null(matcher) {
                Ok(()) => Unexpected::Unit,
                Err(error) => return error,
            },
            b't' | b'f' => match self.checked_bool(first, matcher) {
                Ok(value) => Unexpected::Bool(value),
                Err(error) => return error,
            },
            b'"' => match self.checked_text(matcher) {
                Ok(value) => {
                    text = value;
                    Unexpected::Str(&text)
                }
                Err(error) => return error,
            },
            _ => match self.checked_number(first, matcher) {
                Ok(Number::Unsigned(number)) => Unexpected::Unsigned(number),
                Ok(Number::Negative(number)) => Unexpected::Signed(number),
                Ok(Number::Wide(text) | Number::Fraction(text)) => match Number::float(text) {
                    Ok(number) => Unexpected::Float(number),
                    Err(error) => return error,
                },
                Err(error) => return error,
            },
        };
        ReadError::invalid_type(unexpected, expected)
    }
}

#[inline]
fn visit_text<'t, V: Visitor<'t>>(text: Cow<'t, str>, visitor: V) -> Result<V::Value, ReadError> {
    match text {
        Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
        Cow::Owned(text) => visitor.visit_string(text),
    }
}

/// Methods for values of one JSON type.
macro_rules! forward {
    ($($method:ident => $to:ident)*) => {
        $(
            #[inline]
            fn $method<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
                self.$to(visitor)
            }
        )*
    };
}

impl<'t> Deserializer<'t> for &mut Reader<'t> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let (first, matcher) = self.begin()?;
        match first {
            b'{' => self.visit_object(matcher, visitor),
            b'[' => self.visit_list(matcher, visitor),
            b'"' => visit_text(self.checked_text(matcher)?, visitor),
            b't' | b'f' => visitor.visit_bool(self.checked_bool(first, matcher)?),
            b'n' => {
                self.checked_null(matcher)?;
                visitor.visit_unit()
            }
            _ => match self.checked_number(first, matcher)? {
                Number::Unsigned(number) => visitor.visit_u64(number),
                Number::Negative(number) => visitor.visit_i64(number),
                // A feature of serde_json makes its numbers keep all digits.
                Number::Wide(text) | Number::Fraction(text) => {
                    let number: serde_json::Number = text.parse().map_err(ReadError::custom)?;
                    number.deserialize_any(visitor).map_err(ReadError::custom)
                }
            },
        }
    }

    forward! {
        deserialize_i8 => visit_number
        deserialize_i16 => visit_number
        deserialize_i32 => visit_number
        deserialize_i64 => visit_number
        deserialize_u8 => visit_number
        deserialize_u16 => visit_number
        deserialize_u32 => visit_number
        deserialize_u64 => visit_number
        deserialize_f64 => visit_number
        deserialize_char => deserialize_str
        deserialize_string => deserialize_str
        deserialize_identifier => deserialize_str
        deserialize_byte_buf => deserialize_bytes
    }

    fn deserialize_f32<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let (first, matcher) = self.begin()?;
        match self.expected_number(first, matcher, &visitor)? {
            Number::Unsigned(number) => visitor.visit_u64(number),
            Number::Negative(number) => visitor.visit_i64(number),
            Number::Wide(text) | Number::Fraction(text) => match text.parse::<f32>() {
                // Text rounded to a double first is rounded twice.
                Ok(number) if number.is_finite() => visitor.visit_f64(number.into()),
                _ => visitor.visit_f64(Number::float(text)?),
            },
        }
    }

    fn deserialize_i128<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let (first, matcher) = self.begin()?;
        match self.expected_number(first, matcher, &visitor)? {
            Number::Unsigned(number) => visitor.visit_u64(number),
            Number::Negative(number) => visitor.visit_i64(number),
            Number::Wide(text) | Number::Fraction(text) => match (text.parse(), text.parse()) {
                (Ok(number), _) => visitor.visit_i128(number),
                (_, Ok(number)) => visitor.visit_u128(number),
                _ => visitor.visit_f64(Number::float(text)?),
            },
        }
    }

    fn deserialize_u128<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_i128(visitor)
    }

    fn deserialize_bool<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let (first, matcher) = self.begin()?;
        match first {
            b't' | b'f' => visitor.visit_bool(self.checked_bool(first, matcher)?),
            _ => Err(self.wrong_type(first, matcher, &visitor)),
        }
    }

    #[inline]
    fn deserialize_str<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let (first, matcher) = self.begin()?;
        if first != b'"' {
            return Err(self.wrong_type(first, matcher, &visitor));
        }
        let any_text = matches!(matcher, Matcher::Text { least: 0, most: usize::MAX });
        visit_text(if any_text { self.string()? } else { self.checked_text(matcher)? }, visitor)
    }

    fn deserialize_bytes<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let (first, matcher) = self.begin()?;
        match first {
            b'"' => match self.checked_text(matcher)? {
                Cow::Borrowed(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
                Cow::Owned(text) => visitor.visit_byte_buf(text.into_bytes()),
            },
            b'[' => self.visit_list(matcher, visitor),
            _ => Err(self.wrong_type(first, matcher, &visitor)),
        }
    }

    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let (first, matcher) = self.begin()?;
        if first != b'n' {
            return visitor.visit_some(self);
        }
        self.checked_null(matcher)?;
        visitor.visit_none()
    }

    fn deserialize_unit<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let (first, matcher) = self.begin()?;
        if first != b'n' {
            return Err(self.wrong_type(first, matcher, &visitor));
        }
        self.checked_null(matcher)?;
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'t>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_unit(visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        if name != RAW_VALUE {
            return visitor.visit_newtype_struct(self);
        }
        self.peek()?;
        let start = self.at;
        self.skip()?;
        visitor.visit_map(RawText(self.text.get(start..self.at)))
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let (first, matcher) = self.begin()?;
        match first {
            b'[' => self.visit_list(matcher, visitor),
            _ => Err(self.wrong_type(first, matcher, &visitor)),
        }
    }

    fn deserialize_tuple<V: Visitor<'t>>(self, _length: usize, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'t>>(
        self,
        _name: &'static str,
        _length: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.deserialize_seq(visitor)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let (first, matcher) = self.begin()?;
        match first {
            b'{' => self.visit_object(matcher, visitor),
            _ => Err(self.wrong_type(first, matcher, &visitor)),
        }
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'t>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let (first, matcher) = self.begin()?;
        match first {
            b'{' => self.visit_object(matcher, visitor),
            b'[' => self.visit_list(matcher, visitor),
            _ => Err(self.wrong_type(first, matcher, &visitor)),
        }
    }

    fn deserialize_enum<V: Visitor<'t>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let (first, matcher) = self.begin()?;
        match first {
            b'"' => visitor.visit_enum(UnitVariant(self.checked_text(matcher)?)),
            b'{' => {
                let mut members = Members::open(self, matcher)?;
                let value = visitor.visit_enum(DataVariant(&mut members))?;
                members.close()?;
                Ok(value)
            }
            _ => Err(self.wrong_type(first, matcher, &visitor)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.skip()?;
        visitor.visit_unit()
    }
}

/// An enum as an object with the variant as its only member.
struct DataVariant<'m, 'r, 't>(&'m mut Members<'r, 't>);

impl<'t> EnumAccess<'t> for DataVariant<'_, '_, 't> {
    type Error = ReadError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'t>>(self, seed: V) -> Result<(V::Value, Self), ReadError> {
        match self.0.next_name()? {
            Some(name) => Ok((seed.deserialize(Key(name))?, self)),
            None => Err(ReadError::custom("expected value")),
        }
    }
}

impl<'t> VariantAccess<'t> for DataVariant<'_, '_, 't> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        serde::Deserialize::deserialize(self.0.reader())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'t>>(self, seed: T) -> Result<T::Value, ReadError> {
        seed.deserialize(self.0.reader())
    }

    fn tuple_variant<V: Visitor<'t>>(self, length: usize, visitor: V) -> Result<V::Value, ReadError> {
        self.0.reader().deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'t>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.0.reader().deserialize_struct("", fields, visitor)
    }
}
