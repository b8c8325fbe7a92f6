//! The keys of a server's entry, in all dialects.

use crate::node::{Node, Tree};

/// The meaning of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Kind,
    Command,
    Args,
    Env,
    EnvFile,
    /// The variables to pass on.
    PassedVariables,
    Folder,
    Url,
    Headers,
    /// The variables with the values of headers.
    HeaderVariables,
    TokenVariable,
    Auth,
    Disabled,
    Enabled,
    Timeout,
    StartSeconds,
    StartMilliseconds,
    CallSeconds,
    AllowedTools,
    DeniedTools,
    Tools,
    /// A key without effect on the connection or its tools: a description, or what the program approves
    /// without asking. Programs with this library have permissions of their own.
    Harmless,
    /// A key without which the server offers no more.
    Unsupported,
    /// A key that restricts the server in an unsupported way.
    Restricting,
}

const KEYS: &[(Key, &str)] = &[
    (Key::Kind, "type transport"),
    (Key::Command, "command path cmd"),
    (Key::Args, "args"),
    (Key::Env, "env environment envs"),
    (Key::EnvFile, "envFile"),
    (Key::PassedVariables, "env_vars env_keys"),
    (Key::Folder, "cwd workingDirectory"),
    (Key::Url, "url serverUrl httpUrl uri"),
    (Key::Headers, "headers http_headers"),
    (Key::HeaderVariables, "env_http_headers"),
    (Key::TokenVariable, "bearer_token_env_var"),
    (Key::Auth, "auth"),
    (Key::Disabled, "disabled"),
    (Key::Enabled, "enabled enable isActive"),
    (Key::Timeout, "timeout"),
    (Key::StartSeconds, "startup_timeout_sec"),
    (Key::StartMilliseconds, "startup_timeout_ms"),
    (Key::CallSeconds, "tool_timeout_sec"),
    (Key::AllowedTools, "includeTools enabled_tools enabledTools allowedTools available_tools"),
    (Key::DeniedTools, "excludeTools disabledTools disabled_tools"),
    (Key::Tools, "tools"),
    (
        Key::Harmless,
        "$schema _comment name title description version gallery icon source alwaysAllow autoApprove trust default_tools_approval_mode dev required \
         supports_parallel_tool_calls watchPaths remoteConfigured isDefaultServer alwaysLoad extensionName encoding \
         encoding_error_handler sse_read_timeout terminate_on_close bundled display_name",
    ),
    (
        Key::Unsupported,
        "oauth headersHelper authProviderType targetAudience targetServiceAccount scopes oauth_resource authentication \
         settings remote experimental_environment restart reconnect session_kwargs",
    ),
    (Key::Restricting, "sandboxEnabled sandbox include_tags exclude_tags"),
];

/// Parts of the names of restrictions.
const RESTRICTIONS: &str = "allow block deny denied disab exclu filter forbid includ only permi restrict sandbox tools whitelist blacklist";

/// Further parts of the names of keys of a file.
const FILE_RESTRICTIONS: &str = "polic reject";

/// Parts of the names of an editor's keys about its tools.
const PARTS: &str = "mcp tool server agent chat";

impl Key {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        for (key, names) in KEYS {
            if names.split(' ').any(|known| known == name) {
                return Some(*key);
            }
        }
        if contains(name, RESTRICTIONS) { Some(Self::Restricting) } else { None }
    }
}

/// Ignores the case of letters.
fn contains(name: &str, parts: &str) -> bool {
    let name = name.to_lowercase();
    parts.split(' ').any(|part| name.contains(part))
}

/// Returns whether the value restricts nothing. An empty list of what is permitted permits nothing.
pub(crate) fn is_off(name: &str, value: &Node) -> bool {
    let permits = contains(name, "allow includ whitelist") && !contains(name, "disallow");
    let has_none = matches!(&value.tree, Tree::Flag(false)) || value.items().is_some_and(<[Node]>::is_empty);
    value.is_off() && !(permits && has_none)
}

/// Returns whether a member beside the servers may restrict them. Keys of an editor, such as `files.exclude`,
/// begin with the part that they are about.
pub(crate) fn may_restrict(name: &str, value: &Node) -> bool {
    let is_about_tools = contains(name, PARTS);
    let is_switch = is_about_tools || matches!(name, "enabled" | "disabled");
    if is_switch && contains(name, "enabl") && value.flag() == Some(false) {
        return true;
    }
    let restricts = contains(name, RESTRICTIONS) || contains(name, FILE_RESTRICTIONS);
    restricts && (is_about_tools || !name.contains('.')) && !is_off(name, value)
}
