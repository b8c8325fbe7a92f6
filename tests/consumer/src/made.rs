//! Everything made by macros of the user.

#![allow(dead_code, reason = "fields that are only shown count as dead")]

use tk::{ToolParams, tool, toolset};

macro_rules! make_tool {
    ($(#[$attr:meta])* $name:ident($first:ident: $ty:ty = $default:expr, $second:ident) -> $ret:ty $body:block) => {
        $(#[$attr])*
        #[tool(crate = tk)]
        #[must_use]
        pub fn $name($first: $ty, #[param(default = $default)] $second: $ret) -> $ret $body
    };
}

make_tool!(
    /// By a text.
    by_text(words: &str = 3usize, more) -> usize { words.len() + more }
);
make_tool!(
    /// By a list.
    by_list(bytes: &[u8] = "none", more) -> String { format!("{more} {bytes:?}") }
);
make_tool!(
    /// By an option.
    by_option(maybe: Option<String> = vec![1, 2], more) -> Vec<u8> { if maybe.is_some() { more } else { vec![3] } }
);

macro_rules! bounded {
    ($name:ident, $what:literal, $ty:ty, $low:expr, $high:expr, $default:literal, $words:expr, $least:literal) => {
        #[doc = $what]
        #[tool(crate = tk, name = $what, namespace = "made", title = $what)]
        #[must_use]
        pub fn $name(
            #[param(range = $low..=$high, default = $default, description = $what)] n: $ty,
            #[param(one_of = $words, rename = $what)] word: &str,
            #[param(length = $least..)] text: &str,
        ) -> $ty {
            let count: $ty = 0;
            n + count * <$ty>::from(word.len() == text.len())
        }
    };
}

bounded!(bounded_small, "small", u8, 1, 9, 5, ["a", "b"], 2);
bounded!(bounded_signed, "signed", i32, -9, 9, -5, ["a"], 1);

macro_rules! record {
    ($name:ident { $($field:ident: $ty:ty = $default:expr, $low:literal, $high:literal;)* }) => {
        /// A record.
        #[derive(Debug, Clone, ToolParams)]
        #[tool_params(crate = tk)]
        pub struct $name {
            $(
                #[param(default = $default, range = $low..=$high)]
                $field: $ty,
            )*
        }
    };
}

record!(Record { left: i32 = -1, -5, 5; r#type: Option<f64> = Some(1.5), 0.0, 2.0; });

macro_rules! choice {
    ($vis:vis $name:ident { $($(#[$attr:meta])* $variant:ident),* } in $case:literal) => {
        /// A choice.
        #[derive(Debug, Clone, Copy, ToolParams)]
        #[tool_params(crate = tk)]
        #[serde(rename_all = $case)]
        $vis enum $name { $($(#[$attr])* $variant),* }
    };
}

choice!(pub Choice { /// The first.
    FirstOne, /// The second.
    SecondOne } in "kebab-case");

/// Takes what macros made.
#[tool(crate = tk)]
#[must_use]
pub fn take_made(record: &Record, choice: Choice) -> String {
    format!("{record:?} {choice:?}")
}

/// A set by a macro.
#[derive(Debug)]
pub struct Made(pub i64);

macro_rules! make_set {
    ($owner:ty, $name:ident, $arg:ident: $ty:ty, $default:expr) => {
        /// Made.
        #[toolset(crate = tk)]
        impl $owner {
            /// A method.
            #[tool]
            #[must_use]
            pub fn $name(&self, #[param(default = $default)] $arg: $ty) -> $ty {
                self.0 + $arg
            }
        }
    };
}

make_set!(Made, plus, n: i64, 10);
