//! The macros for builder methods that only set a field, for conversions, and for the output of `Debug`.

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

/// Implements `Debug` for a type with closures, locks or secrets. The output shows only the listed values.
#[cfg(feature = "model")]
macro_rules! debug {
    ($type:ident $(<$lifetime:lifetime>)?, $this:ident $(, $name:literal: $value:expr)*) => {
        impl std::fmt::Debug for $type $(<$lifetime>)? {
            fn fmt(&$this, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($type))$(.field($name, &$value))*.finish_non_exhaustive()
            }
        }
    };
}

/// Implements `From` for an enum. The content of a variant is converted to the variant.
#[cfg(feature = "model")]
macro_rules! from_contents {
    ($type:ident: $($variant:ident($content:ty)),+) => {
        $(impl From<$content> for $type {
            fn from(content: $content) -> Self {
                Self::$variant(content)
            }
        })+
    };
}
