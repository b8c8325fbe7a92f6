//! Which tools of a server a file permits.

/// The tools of a server that the file permits; without lists, all of them.
///
/// Names may contain `*` for any characters, and `?` for one.
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
    /// What may stand before the name of a tool.
    prefixes: Vec<String>,
    rules: Vec<(String, bool)>,
    /// Whether a tool without a rule is permitted.
    otherwise: bool,
}

impl ToolList {
    fn permits(&self, tool: &str) -> bool {
        let names: Vec<String> = self.prefixes.iter().map(|prefix| format!("{prefix}{tool}")).collect();
        for (pattern, is_permitted) in self.rules.iter().rev() {
            if names.iter().any(|name| matches(pattern, name)) {
                return *is_permitted;
            }
        }
        self.otherwise
    }
}

impl ServerToolFilter {
    /// Returns whether the file permits a tool, by its name at the server.
    #[must_use]
    pub fn permits(&self, tool: &str) -> bool {
        self.0.iter().all(|list| list.permits(tool))
    }

    /// Returns whether there is no list.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn list(&mut self, names: &[String], is_permitted: bool) {
        let rules = names.iter().map(|name| (name.clone(), is_permitted));
        self.switch(vec![String::new()], rules.collect(), !is_permitted);
    }

    /// Adds rules about names with one of the texts in `prefixes` before them.
    pub(crate) fn switch(&mut self, prefixes: Vec<String>, rules: Vec<(String, bool)>, otherwise: bool) {
        self.0.push(ToolList { prefixes, rules, otherwise });
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // What follows the last `*`, and the text that it was last tried on.
    let mut retry = None;
    loop {
        let tried = text.clone();
        match (pattern.next(), text.next()) {
            (Some('*'), _) => {
                retry = Some((pattern.clone(), tried.clone()));
                text = tried;
            }
            (None, None) => return true,
            (_, None) => return false,
            (Some(expected), Some(c)) if expected == c || expected == '?' => {}
            _ => {
                let Some((after_star, tried)) = &mut retry else { return false };
                tried.next();
                (pattern, text) = (after_star.clone(), tried.clone());
            }
        }
    }
}
