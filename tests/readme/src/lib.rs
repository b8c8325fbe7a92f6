//! The examples of the README and of the guide, as a new program with the README's dependencies sees them.

/// The README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

macro_rules! chapters {
    ($($name:ident = $path:literal),* $(,)?) => {
        $(
            #[doc = include_str!(concat!("../../../docs/guide/", $path))]
            #[cfg(doctest)]
            pub struct $name;
        )*
    };
}

chapters! {
    FirstTool = "01-first-tool.md",
    Parameters = "02-parameters.md",
    Errors = "03-errors.md",
    StateAndContext = "04-state-and-context.md",
    Registry = "05-registry.md",
    Dispatch = "06-dispatch.md",
    Providers = "07-providers.md",
    Testing = "09-testing.md",
    Migrating = "10-migrating.md",
}
