//! Internal macros for builder methods, settings structs and `Debug` implementations.

/// Declares builder methods. Each method sets the field that has the same name as its parameter. With `Type.part`, the
/// field belongs to `self.part`.
#[doc(hidden)]
#[macro_export]
macro_rules! __setters {
    ($type:ident $(. $part:tt)* :
        $($(#[$doc:meta])* $method:ident($field:ident: $ty:ty) = $value:expr;)*
    ) => {
        $crate::__setters! { @each $type [$($part)*] $({$(#[$doc])* $method($field: $ty) = $value})* }
    };
    (@each $type:ident $path:tt $($each:tt)*) => {
        #[allow(clippy::double_must_use)]
        impl $type {
            $($crate::__setters! { @one $path $each })*
        }
    };
    (@one [$($part:tt)*] {$(#[$doc:meta])* $method:ident($field:ident: $ty:ty) = $value:expr}) => {
        $(#[$doc])*
        #[must_use]
        pub fn $method(mut self, $field: $ty) -> Self {
            self $(.$part)* .$field = $value;
            self
        }
    };
}

/// Declares conversions from a list of types. A list, unlike a conversion from all types of a kind, can grow.
#[doc(hidden)]
#[macro_export]
macro_rules! __from {
    ($type:ident: $($value:ident: $($from:ty)|+ => $result:expr;)+) => {
        $($(impl From<$from> for $type {
            fn from($value: $from) -> Self {
                $result
            }
        })+)+
    };
}

/// Implements `From` for an enum. The content of a variant is converted to the variant.
#[doc(hidden)]
#[macro_export]
macro_rules! __from_contents {
    ($type:ident: $($variant:ident($content:ty)),+) => {
        $(impl From<$content> for $type {
            fn from(content: $content) -> Self {
                Self::$variant(content)
            }
        })+
    };
}

/// Implements `Debug` for a type with closures, locks or secrets. The output shows only the listed values.
#[doc(hidden)]
#[macro_export]
macro_rules! __debug {
    ($type:ident $(<$lifetime:lifetime>)?, $this:ident $(, $name:literal: $value:expr)*) => {
        impl std::fmt::Debug for $type $(<$lifetime>)? {
            fn fmt(&$this, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($type))$(.field($name, &$value))*.finish_non_exhaustive()
            }
        }
    };
}

/// The macros above under the names that the crates of the workspace call them by.
macro_rules! setters {
    ($($all:tt)*) => { $crate::__setters! { $($all)* } };
}
macro_rules! from {
    ($($all:tt)*) => { $crate::__from! { $($all)* } };
}

/// Generates a settings struct with a `Default` implementation and builder methods.
///
/// Each line declares a field, an optional default (`= …`) and an optional builder method. Without a default,
/// the field's type provides the default. A method without `=> …` stores the argument unchanged.
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

/// Implements `Debug` for a type, showing only the listed values. The other fields lack `Debug` or may hold secrets.
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

/// Lists `#[tool]` functions as an array of [`FunctionTool`](crate::FunctionTool)s.
///
/// Listed tools are always found. [`ToolRegistry::discover`](crate::ToolRegistry::discover), in contrast, misses the tools of a crate that the program
/// mentions nowhere, because the linker drops this crate.
///
/// ```ignore
/// let registry = ToolRegistry::from_tools(tools![add, search::search_web])?;
/// ```
#[macro_export]
macro_rules! tools {
    () => {{
        let none: [$crate::FunctionTool; 0] = [];
        none
    }};
    ($($listed:tt)*) => {
        $crate::__listed_tools!([$($listed)*] $($listed)*)
    };
}

/// The names in [`tools!`], once as they are written and once to look at their form: written anew, a name would lose its place
/// in the program, which the errors of the compiler show.
#[doc(hidden)]
#[macro_export]
macro_rules! __listed_tools {
    (@ $($tool:ty),* $(,)?) => {
        [$(<$tool>::tool()),*]
    };
    ([$($listed:tt)*] $($($part:ident)::+),* $(,)?) => {
        $crate::__listed_tools!(@ $($listed)*)
    };
    ([$($listed:tt)*] $($($part:ident)::+ $(($($arguments:tt)*))?),* $(,)?) => {
        $crate::__listed_tools!(_)
    };
    ([$($listed:tt)*] $($path:path),* $(,)?) => {
        $crate::__listed_tools!(@ $($listed)*)
    };
    ($($other:tt)*) => {
        ::core::compile_error!(
            "`tools!` lists the names of `#[tool]` functions, as in `tools![add, files::read]`; other tools are \
             listed without the macro, as in `[add::tool(), closure]`"
        )
    };
}
