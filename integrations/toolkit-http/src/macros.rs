//! Macros for builder methods and `Debug` implementations.

/// Declares builder methods. Each sets the field that has the name of its parameter.
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
pub(crate) use setters;
