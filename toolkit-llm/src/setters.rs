//! The macros for builder methods that only set a field, and for lists of conversions.

/// Declares builder methods. Each method sets the field that has the same name as its parameter.
macro_rules! setters {
    ($type:ident: $($(#[$doc:meta])* $method:ident($field:ident: $ty:ty) = $value:expr;)*) => {
        impl $type {
            $($(#[$doc])* #[must_use] pub fn $method(mut self, $field: $ty) -> Self {
                self.$field = $value;
                self
            })*
        }
    };
}

/// Declares conversions from a list of types. A list, unlike a conversion from all types of a kind, can grow.
#[cfg(feature = "model")]
macro_rules! from {
    ($type:ident: $($value:ident: $($from:ty)|+ => $result:expr;)+) => {
        $($(impl From<$from> for $type {
            fn from($value: $from) -> Self {
                $result
            }
        })+)+
    };
}
