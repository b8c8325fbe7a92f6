//! Marker traits for the JSON form of a type.
//!
//! Generated code uses them as bounds: the compiler refuses a `range` on a string parameter, for instance.
//! Implement the matching trait for your own type with the JSON form of a number or a string.

use super::parameter_types::ToolParams;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// A type represented in JSON as a number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not written as a number",
    label = "`range` and `multiple_of` constrain numbers",
    note = "implement `toolkit_ai::constraints::Number` for a type of your own that is written as a number"
)]
pub trait Number {}

/// A type represented in JSON as a string.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not written as a text",
    label = "`pattern` and `format` constrain texts",
    note = "implement `toolkit_ai::constraints::Text` for a type of your own that is written as a text"
)]
pub trait Text {}

/// A type represented in JSON as a string, an array or an object. Its length is the number of characters,
/// items or members.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no length",
    label = "`length` constrains texts, lists and maps",
    note = "implement `toolkit_ai::constraints::Countable` for a type of your own that is written as one of these"
)]
pub trait Countable {}

/// A type represented in JSON as an array, or as an object with arbitrary member names.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no items",
    label = "`items` constrains what is in a list or a map"
)]
pub trait Items {
    /// The type of an array's items, or of an object's member values.
    type Item;
}

macro_rules! are {
    ($kind:ident: $($ty:ty),*) => { $(impl $kind for $ty {})* };
}

are!(Number: i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64);
are!(Number: std::num::NonZeroU8, std::num::NonZeroU16, std::num::NonZeroU32, std::num::NonZeroU64);
are!(Number: std::num::NonZeroI8, std::num::NonZeroI16, std::num::NonZeroI32, std::num::NonZeroI64);
are!(Text: String, Box<str>, Arc<str>, Rc<str>, Cow<'_, str>, PathBuf);
are!(Countable: String, Box<str>, Arc<str>, Rc<str>, Cow<'_, str>, PathBuf);

macro_rules! hold {
    ($($ty:ty where $($param:ident),* => $item:ident;)*) => {
        $(impl<$($param),*> Countable for $ty {}
        impl<$($param),*> Items for $ty {
            type Item = $item;
        })*
    };
}

hold! {
    Vec<T> where T => T;
    VecDeque<T> where T => T;
    LinkedList<T> where T => T;
    BinaryHeap<T> where T => T;
    BTreeSet<T> where T => T;
    HashSet<T, S> where T, S => T;
    Box<[T]> where T => T;
    BTreeMap<K, V> where K, V => V;
    HashMap<K, V, S> where K, V, S => V;
}

impl<T: Number> Number for Option<T> {}
impl<T: Number> Number for Box<T> {}
impl<T: Text> Text for Option<T> {}
impl<T: Countable> Countable for Option<T> {}
impl<T: Items> Items for Option<T> {
    type Item = T::Item;
}

/// Checks at compile time that `T` implements [`Number`].
///
/// Generated code refers to this function without calling it, and the compiler checks the bound.
pub const fn is_number<T: Number>() {}
/// Checks that `T` implements [`ToolParams`], see [`is_number`].
pub const fn is_parameter<T: ToolParams>() {}
/// Checks that `T` implements [`Text`], see [`is_number`].
pub const fn is_text<T: Text>() {}
/// Checks that `T` implements [`Countable`], see [`is_number`].
pub const fn is_countable<T: Countable>() {}
/// Checks that `T` implements [`Items`], see [`is_number`].
pub const fn has_items<T: Items>() {}
