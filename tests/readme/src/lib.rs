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
    Testing = "testing.md",
    CookbookTools = "cookbook/tools.md",
    CookbookCalls = "cookbook/calls.md",
    CookbookAgents = "cookbook/agents.md",
    CookbookServers = "cookbook/servers.md",
    FromRig = "migrating/rig.md",
    FromRmcp = "migrating/rmcp.md",
    FromFastMcp = "migrating/fastmcp.md",
    FromLangChain = "migrating/langchain.md",
    FromPydanticAi = "migrating/pydantic-ai.md",
}
