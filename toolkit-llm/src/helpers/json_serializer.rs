//! A serializer with the compact JSON of `serde_json`.

use super::json_writer::JsonWriter;
use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::{Error, Result};

/// The names under which `serde_json` serializes raw JSON, and numbers with all digits. Their only field has
/// the text.
const RAW: [&str; 2] = ["$serde_json::private::RawValue", "$serde_json::private::Number"];

impl<'a> JsonWriter<'a> {
    fn write_number(&mut self, number: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut *self.json, number)
    }

    /// Writes an integer. Most have one digit.
    fn write_integer(&mut self, integer: u64) -> Result<()> {
        match u8::try_from(integer) {
            Ok(digit @ ..10) => self.json.push(b'0' + digit),
            _ => self.write_number(&integer)?,
        }
        Ok(())
    }

    #[inline(always)]
    fn begin(&mut self, begin: u8, end: End) -> Members<'_, 'a> {
        self.json.push(begin);
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        Members { writer: self, is_first: true, end }
    }
}

macro_rules! numbers {
    ($($method:ident: $number:ty,)*) => {$(
        fn $method(self, value: $number) -> Result<()> {
            self.write_number(&value)
        }
    )*};
}

macro_rules! integers {
    ($($method:ident: $integer:ty,)*) => {$(
        fn $method(self, value: $integer) -> Result<()> {
            self.write_integer(value.into())
        }
    )*};
}

impl<'w, 'a> Serializer for &'w mut JsonWriter<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Members<'w, 'a>;
    type SerializeTuple = Members<'w, 'a>;
    type SerializeTupleStruct = Members<'w, 'a>;
    type SerializeTupleVariant = Members<'w, 'a>;
    type SerializeMap = Members<'w, 'a>;
    type SerializeStruct = Members<'w, 'a>;
    type SerializeStructVariant = Members<'w, 'a>;

    numbers! {
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_i128: i128,
        serialize_u128: u128,
        serialize_f32: f32,
        serialize_f64: f64,
    }
    integers! {
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
    }

    fn serialize_bool(self, value: bool) -> Result<()> {
        self.write(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<()> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<()> {
        if self.is_raw {
            self.write_raw(value);
        } else {
            self.write_text(value);
        }
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<()> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<()> {
        self.write(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<()> {
        self.serialize_unit()
    }

    #[inline(always)]
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<()> {
        self.write_name(variant);
        Ok(())
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _: &'static str, value: &T) -> Result<()> {
        value.serialize(self)
    }

    #[inline(always)]
    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        self.begin_variant(variant);
        value.serialize(&mut *self)?;
        self.end(b"}");
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Members<'w, 'a>> {
        Ok(self.begin(b'[', End::Array))
    }

    fn serialize_tuple(self, _: usize) -> Result<Members<'w, 'a>> {
        Ok(self.begin(b'[', End::Array))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Members<'w, 'a>> {
        Ok(self.begin(b'[', End::Array))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'w, 'a>> {
        self.begin_variant(variant);
        Ok(self.begin(b'[', End::VariantArray))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'w, 'a>> {
        Ok(self.begin(b'{', End::Object))
    }

    #[inline(always)]
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Members<'w, 'a>> {
        if RAW.contains(&name) {
            self.is_raw = true;
            return Ok(Members { writer: self, is_first: true, end: End::Raw });
        }
        Ok(self.begin(b'{', End::Object))
    }

    #[inline(always)]
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'w, 'a>> {
        self.begin_variant(variant);
        Ok(self.begin(b'{', End::VariantObject))
    }
}

pub(super) struct Members<'w, 'a> {
    writer: &'w mut JsonWriter<'a>,
    is_first: bool,
    end: End,
}

/// What ends the members, and the object of their variant.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Array,
    Object,
    VariantArray,
    VariantObject,
    /// The only member is raw JSON.
    Raw,
}

impl Members<'_, '_> {
    #[inline(always)]
    fn comma(&mut self) {
        if !self.is_first {
            self.writer.json.push(b',');
        }
        self.is_first = false;
    }

    fn element<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<()> {
        self.comma();
        value.serialize(&mut *self.writer)
    }

    #[inline(always)]
    fn field<T: ?Sized + Serialize>(&mut self, name: &'static str, value: &T) -> Result<()> {
        if self.end != End::Raw {
            self.comma();
            self.writer.write_name(name);
            self.writer.json.push(b':');
        }
        value.serialize(&mut *self.writer)
    }

    #[inline(always)]
    fn finish(self) {
        let writer = self.writer;
        match self.end {
            End::Array => writer.end(b"]"),
            End::Object => writer.end(b"}"),
            End::VariantArray => writer.end(b"]}"),
            End::VariantObject => writer.end(b"}}"),
            End::Raw => writer.is_raw = false,
        }
    }
}

impl SerializeMap for Members<'_, '_> {
    type Ok = ();
    type Error = Error;

    /// Numbers and truth values become texts.
    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<()> {
        self.comma();
        let begin = self.writer.json.len();
        key.serialize(&mut *self.writer)?;
        match self.writer.json.get(begin) {
            Some(b'"') => {}
            Some(b'-' | b'0'..=b'9' | b't' | b'f') => {
                self.writer.json.insert(begin, b'"');
                self.writer.json.push(b'"');
            }
            _ => return Err(Error::custom("key must be a string")),
        }
        Ok(())
    }

    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<()> {
        self.writer.json.push(b':');
        value.serialize(&mut *self.writer)
    }

    fn end(self) -> Result<()> {
        self.finish();
        Ok(())
    }
}

macro_rules! members {
    ($($kind:ident: $method:ident($($key:ident)?) = $own:ident;)*) => {$(
        impl $kind for Members<'_, '_> {
            type Ok = ();
            type Error = Error;

            #[inline(always)]
            fn $method<T: ?Sized + Serialize>(&mut self, $($key: &'static str,)? value: &T) -> Result<()> {
                self.$own($($key,)? value)
            }

            #[inline(always)]
            fn end(self) -> Result<()> {
                self.finish();
                Ok(())
            }
        }
    )*};
}

members! {
    SerializeSeq: serialize_element() = element;
    SerializeTuple: serialize_element() = element;
    SerializeTupleStruct: serialize_field() = element;
    SerializeTupleVariant: serialize_field() = element;
    SerializeStruct: serialize_field(key) = field;
    SerializeStructVariant: serialize_field(key) = field;
}
