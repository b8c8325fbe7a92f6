//! Which tools of a server a file permits.

/// The tools of a server that the file permits. Without lists, every tool is permitted.
///
/// Names may contain `*` for any characters.
///
/// ```
/// use toolkit_mcp_config::ConfigFile;
///
/// let file = ConfigFile::read(r#"{"mcpServers": {"a": {"command": "x", "disabledTools": ["delete_*"]}}}"#)?;
/// let tools = &file.servers()[0].tools;
/// assert!(tools.permits("list_files") && !tools.permits("delete_file"));
/// # Ok::<(), toolkit_mcp_config::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerToolFilter(Vec<ToolList>);

/// One list of tools. Its last rule for a tool decides.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ToolList {
    /// What the program puts before the name of a tool.
    prefix: String,
    rules: Vec<(String, bool)>,
    /// Whether a tool without a rule is permitted.
    otherwise: bool,
}

impl ServerToolFilter {
    /// Returns whether the file permits a tool, by the name that the server gives it.
    #[must_use]
    pub fn permits(&self, tool: &str) -> bool {
        self.0.iter().all(|list| {
            let name = format!("{}{tool}", list.prefix);
            let rule = list.rules.iter().rfind(|(pattern, _)| matches(pattern, &name));
            rule.map_or(list.otherwise, |(_, is_permitted)| *is_permitted)
        })
    }

    /// Returns whether the file has no list of tools.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a list of the only tools that are permitted, or of tools that are not.
    pub(crate) fn list(&mut self, prefix: &str, names: &[String], is_permitted: bool) {
        let rules = names.iter().map(|name| (name.clone(), is_permitted));
        self.switch(prefix, rules.collect(), !is_permitted);
    }

    pub(crate) fn switch(&mut self, prefix: &str, rules: Vec<(String, bool)>, otherwise: bool) {
        self.0.push(ToolList { prefix: prefix.to_owned(), rules, otherwise });
    }
}

/// Returns whether a text matches a pattern with `*` for any characters.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|head| text.strip_prefix(head)) else { return false };
    let Some(tail) = parts.next_back() else { return rest.is_empty() };
    let Some(middle) = rest.strip_suffix(tail) else { return false };
    rest = middle;
    parts.all(|part| {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
        true
    })
}
