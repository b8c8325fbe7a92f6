//! Where programs keep their files, and how these write variables.

use crate::dialect::Dialect;
use std::path::{Path, PathBuf};

/// The folder of the settings of programs, in the home of a user.
const SETTINGS: &str = if cfg!(target_os = "macos") {
    "Library/Application Support"
} else if cfg!(windows) {
    "AppData/Roaming"
} else {
    ".config"
};

impl Dialect {
    /// Returns the file of a user, if the program has one.
    ///
    /// ```
    /// use std::path::Path;
    /// use toolkit_mcp_config::Dialect;
    ///
    /// let home = Path::new("/home/ada");
    /// assert_eq!(Dialect::Cursor.user_file(home).unwrap(), Path::new("/home/ada/.cursor/mcp.json"));
    /// assert_eq!(Dialect::LangChain.user_file(home), None);
    /// ```
    #[must_use]
    pub fn user_file(self, home: &Path) -> Option<PathBuf> {
        let settings = home.join(SETTINGS);
        Some(match self {
            Self::ClaudeDesktop => settings.join("Claude/claude_desktop_config.json"),
            Self::ClaudeCode => home.join(".claude.json"),
            Self::Cursor => home.join(".cursor/mcp.json"),
            Self::VsCode => settings.join("Code/User/mcp.json"),
            Self::Windsurf => home.join(".codeium/windsurf/mcp_config.json"),
            Self::Zed if cfg!(windows) => settings.join("Zed/settings.json"),
            Self::Zed => home.join(".config/zed/settings.json"),
            Self::GeminiCli => home.join(".gemini/settings.json"),
            Self::Codex => home.join(".codex/config.toml"),
            Self::OpenCode => home.join(".config/opencode/opencode.json"),
            Self::Amp => home.join(".config/amp/settings.json"),
            Self::Cline => settings
                .join("Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"),
            Self::CopilotCli => home.join(".copilot/mcp-config.json"),
            Self::Goose if cfg!(windows) => settings.join("Block/goose/config/config.yaml"),
            Self::Goose => home.join(".config/goose/config.yaml"),
            Self::McpServers | Self::LangChain => return None,
        })
    }

    /// Returns the file of a project, if the program reads one.
    ///
    /// ```
    /// use std::path::Path;
    /// use toolkit_mcp_config::Dialect;
    ///
    /// let project = Path::new("/src/shop");
    /// assert_eq!(Dialect::ClaudeCode.project_file(project).unwrap(), Path::new("/src/shop/.mcp.json"));
    /// assert_eq!(Dialect::ClaudeDesktop.project_file(project), None);
    /// ```
    #[must_use]
    pub fn project_file(self, project: &Path) -> Option<PathBuf> {
        let file = match self {
            Self::ClaudeCode => ".mcp.json",
            Self::Cursor => ".cursor/mcp.json",
            Self::VsCode => ".vscode/mcp.json",
            Self::Zed => ".zed/settings.json",
            Self::GeminiCli => ".gemini/settings.json",
            Self::Codex => ".codex/config.toml",
            Self::OpenCode => "opencode.json",
            Self::Amp => ".amp/settings.json",
            _ => return None,
        };
        Some(project.join(file))
    }

    /// Returns the reference to an environment variable, if the program replaces such references.
    ///
    /// ```
    /// use toolkit_mcp_config::Dialect;
    ///
    /// assert_eq!(Dialect::VsCode.variable("TOKEN").as_deref(), Some("${env:TOKEN}"));
    /// assert_eq!(Dialect::OpenCode.variable("TOKEN").as_deref(), Some("{env:TOKEN}"));
    /// assert_eq!(Dialect::ClaudeDesktop.variable("TOKEN"), None);
    /// ```
    #[must_use]
    pub fn variable(self, name: &str) -> Option<String> {
        match self {
            Self::ClaudeDesktop | Self::Zed | Self::Codex | Self::Goose => None,
            Self::OpenCode => Some(format!("{{env:{name}}}")),
            Self::Cursor | Self::VsCode | Self::Windsurf | Self::Cline => Some(format!("${{env:{name}}}")),
            _ => Some(format!("${{{name}}}")),
        }
    }
}
