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
    FirstTool = "first-tool.md",
    Parameters = "parameters.md",
    Errors = "errors.md",
    StateAndContext = "state.md",
    Registry = "registry.md",
    Dispatch = "dispatch.md",
    Providers = "providers.md",
    Observability = "observability.md",
    Testing = "testing.md",
    Migrating = "migrating.md",
}
