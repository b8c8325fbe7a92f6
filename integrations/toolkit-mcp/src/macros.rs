//! Macros for builder methods and `Debug` implementations.

/// Declares builder methods. Each method sets the field that has the same name as its parameter. With `Type.part`, the
/// field belongs to `self.part`.
macro_rules! setters {
    ($type:ident $(. $part:ident)* :
        $($(#[$doc:meta])* $method:ident($field:ident: $ty:ty) = $value:expr;)*
    ) => {
        setters! { @each $type [$($part)*] $({$(#[$doc])* $method($field: $ty) = $value})* }
    };
    (@each $type:ident $path:tt $($each:tt)*) => {
        impl $type {
            $(setters! { @one $path $each })*
        }
    };
    (@one [$($part:ident)*] {$(#[$doc:meta])* $method:ident($field:ident: $ty:ty) = $value:expr}) => {
        $(#[$doc])* pub fn $method(mut self, $field: $ty) -> Self {
            self $(.$part)* .$field = $value;
            self
        }
    };
}
pub(crate) use setters;

/// Implements `Debug` for a type with closures, locks or secrets. The output shows only the listed values.
macro_rules! debug {
    ($type:ident, $this:ident $(, $name:literal: $value:expr)*) => {
        impl std::fmt::Debug for $type {
            fn fmt(&$this, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($type))$(.field($name, &$value))*.finish_non_exhaustive()
            }
        }
    };
}
pub(crate) use debug;
