//! Macros of this crate.

/// Implements `Debug` for a type with parts that have no `Debug` or may be secret: it shows the listed values alone.
macro_rules! impl_debug {
    ($type:ident, |$this:ident| $($field:ident: $value:expr),* $(,)?) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $this = self;
                f.debug_struct(stringify!($type))$(.field(stringify!($field), &$value))*.finish_non_exhaustive()
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
