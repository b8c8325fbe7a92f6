//! The keys of a server's entry, in all dialects.

/// The meaning of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Kind,
    Command,
    Args,
    Env,
    EnvFile,
    /// The names of variables to pass on.
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
    /// A key without effect on the connection or its tools: a description, or what the program approves without
    /// asking. Programs with this library have permissions of their own.
    Harmless,
    /// A key that is not supported, and without which the server offers no more than with it.
    Unsupported,
    /// A key that restricts the server, and is not supported.
    Restricting,
}

/// The spellings of each key.
const KEYS: &[(Key, &str)] = &[
    (Key::Kind, "type transport"),
    (Key::Command, "command path"),
    (Key::Args, "args"),
    (Key::Env, "env environment"),
    (Key::EnvFile, "envFile"),
    (Key::PassedVariables, "env_vars"),
    (Key::Folder, "cwd workingDirectory"),
    (Key::Url, "url serverUrl httpUrl"),
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
    (Key::AllowedTools, "includeTools enabled_tools enabledTools allowedTools"),
    (Key::DeniedTools, "excludeTools disabledTools disabled_tools"),
    (Key::Tools, "tools"),
    (
        Key::Harmless,
        "$schema _comment name title description version gallery icon source alwaysAllow autoApprove trust default_tools_approval_mode dev required \
         supports_parallel_tool_calls watchPaths remoteConfigured isDefaultServer alwaysLoad extensionName encoding \
         encoding_error_handler sse_read_timeout terminate_on_close",
    ),
    (
        Key::Unsupported,
        "oauth headersHelper authProviderType targetAudience targetServiceAccount scopes oauth_resource authentication \
         settings remote experimental_environment restart reconnect session_kwargs",
    ),
    (Key::Restricting, "sandboxEnabled sandbox include_tags exclude_tags"),
];

/// Parts of names that keys with restrictions have.
const RESTRICTIONS: &str = "allow block deny denied disab exclu filter forbid includ only permi restrict sandbox tools whitelist blacklist";

impl Key {
    /// Returns the meaning of a key, or `None` if it is not known.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let spelled = KEYS.iter().find(|(_, names)| names.split(' ').any(|known| known == name));
        let restricts = || {
            let name = name.to_lowercase();
            RESTRICTIONS.split(' ').any(|part| name.contains(part)).then_some(Self::Restricting)
        };
        spelled.map(|(key, _)| *key).or_else(restricts)
    }
}
