//! Marker traits for the JSON form of a type: number, text, list or map.
//!
//! They have no methods: with them the compiler refuses, for instance, a range on a text. Implement the matching one
//! for a type of your own that is written as a number or a text.

use super::param::ToolParams;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

/// A type written as a JSON number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not written as a number",
    label = "`range` and `multiple_of` constrain numbers",
    note = "implement `toolkit::constraints::Number` for a type of your own that is written as a number"
)]
pub trait Number {}

/// A type written as a JSON string.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not written as a text",
    label = "`pattern` and `format` constrain texts",
    note = "implement `toolkit::constraints::Text` for a type of your own that is written as a text"
)]
pub trait Text {}

/// A type with a length in JSON: characters, items or members.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no length",
    label = "`length` constrains texts, lists and maps",
    note = "implement `toolkit::constraints::Countable` for a type of your own that is written as one of these"
)]
pub trait Countable {}

/// A type written as a JSON array, or as an object with any members.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no items",
    label = "`items` constrains what is in a list or a map"
)]
pub trait Items {
    /// The type of an item or of a member's value.
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

/// Checks a type at compile time; generated code names this function and never calls it.
pub const fn is_number<T: Number>() {}
/// Checks a type at compile time, see [`is_number`].
pub const fn is_parameter<T: ToolParams>() {}
/// Checks a type at compile time, see [`is_number`].
pub const fn is_text<T: Text>() {}
/// Checks a type at compile time, see [`is_number`].
pub const fn is_countable<T: Countable>() {}
/// Checks a type at compile time, see [`is_number`].
pub const fn has_items<T: Items>() {}
