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

/// Writes a struct of settings: each field with its documentation, its default and its builder method.
///
/// A field without `= …` has the default of its type; a method without `=> …` takes the field's value.
macro_rules! settings {
    (
        $(#[$meta:meta])*
        pub struct $ty:ident {
            $($(#[$doc:meta])* $field:ident: $of:ty $(= $default:expr)? $(, $method:ident($argument:ty) $(=> $value:expr)?)?;)*
        }
    ) => {
        $(#[$meta])*
        #[non_exhaustive]
        pub struct $ty {
            $($(#[$doc])* pub $field: $of,)*
        }

        impl Default for $ty {
            fn default() -> Self {
                Self { $($field: settings!(@first $($default,)? <$of>::default(),),)* }
            }
        }

        impl $ty {
            $($(
                #[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), ").")]
                #[must_use]
                pub fn $method(mut self, $field: $argument) -> Self {
                    self.$field = settings!(@first $($value,)? $field,);
                    self
                }
            )?)*
        }
    };
    (@first $first:expr, $($rest:expr,)*) => { $first };
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
