//! Macros that write repeated code.

/// Writes builder methods, each for the field of its parameter's name, possibly in a part of the type.
macro_rules! setters {
    ($ty:ty { $($(#[$meta:meta])* $method:ident($field:ident: $argument:ty) = $value:expr;)* }) => {
        impl $ty {
            $($(#[$meta])* #[must_use] pub fn $method(mut self, $field: $argument) -> Self {
                self.$field = $value;
                self
            })*
        }
    };
    ($ty:ty, $part:tt { $($(#[$meta:meta])* $method:ident($field:ident: $argument:ty) = $value:expr;)* }) => {
        impl $ty {
            $($(#[$meta])* #[must_use] pub fn $method(mut self, $field: $argument) -> Self {
                self.$part.$field = $value;
                self
            })*
        }
    };
}

/// Implements `Debug` for a type with parts that have no `Debug` or may be secret: it shows the listed values alone.
macro_rules! impl_debug {
    ($type:ident, |$this:ident| $($field:ident: $value:expr),* $(,)?) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $this = self;
                f.debug_struct(stringify!($type))$(.field(stringify!($field), &$value))*.finish()
            }
        }
    };
    ($type:ident) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($type))
            }
        }
    };
}
