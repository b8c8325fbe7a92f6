//! Reads the entry of one server, key by key.

use crate::config_error::{ConfigError, Place};
use crate::dialect::{Dialect, Rules, Syntax, TimeUnit};
use crate::entry::{ServerEntry, ServerTransport};
use crate::keys::{Key, is_off};
use crate::node::{Member, Node, Tree, members_with_value};
use crate::variables::Variables;
use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) struct EntryReader<'a> {
    text: &'a str,
    rules: &'static Rules,
    entry: ServerEntry,
    parts: Parts,
    issues: Vec<ConfigError>,
}

#[derive(Default)]
struct Parts {
    kind: Option<String>,
    /// The program, and arguments beside `args`.
    command: Vec<String>,
    args: Vec<String>,
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    url: Option<String>,
    headers: BTreeMap<String, String>,
}

type Read<T> = Result<T, ConfigError>;

impl<'a> EntryReader<'a> {
    pub(crate) fn new(text: &'a str, rules: &'static Rules, server: &Member, variables: Variables) -> Self {
        let mut entry = ServerEntry::new(&server.key, ServerTransport::url(""));
        entry.place = Some(Place::at(text, server.offset));
        entry.variables = variables;
        Self { text, rules, entry, parts: Parts::default(), issues: Vec::new() }
    }

    /// Reads the entry. Adds an issue for each key without effect.
    ///
    /// # Errors
    /// [`ConfigError`] if the entry is malformed, or restricts the server in a way that is not supported.
    pub(crate) fn read(mut self, value: &Node, issues: &mut Vec<ConfigError>) -> Read<ServerEntry> {
        let read = self.table(value).and_then(|()| self.transport());
        issues.append(&mut self.issues);
        Ok(ServerEntry { transport: read?, ..self.entry })
    }

    fn table(&mut self, value: &Node) -> Read<()> {
        let name = self.entry.name.clone();
        let members = self.expect(&name, value, value.members(), "an object")?;
        for (is_replaced, member) in members_with_value(members) {
            if is_replaced {
                self.issue(member, "is written twice; the last value counts");
            } else if self.rules.syntax == Syntax::Literal && has_reference(&member.value) {
                self.issue(member, &format!("has `${{…}}`, which {} does not replace", self.rules.name));
            }
            match Key::from_name(&member.key) {
                Some(key) => self.member(key, member)?,
                None => self.issue(member, "is not known, and has no effect; check its spelling"),
            }
        }
        Ok(())
    }

    fn member(&mut self, key: Key, member: &Member) -> Read<()> {
        let Member { key: name, value, .. } = member;
        match key {
            Key::Kind | Key::Command if value.members().is_some() => self.table(value)?,
            Key::Kind => self.parts.kind = Some(self.string(name, value)?),
            Key::Command if value.items().is_some() => self.parts.command = self.strings(name, value)?,
            Key::Command => self.parts.command = vec![self.string(name, value)?],
            Key::Args => self.parts.args = self.strings(name, value)?,
            Key::Env => self.parts.env = self.map(name, value)?,
            Key::EnvFile => self.entry.variables.env_file = Some(self.string(name, value)?),
            Key::PassedVariables => self.entry.variables.passed = self.strings(name, value)?,
            Key::Folder => self.parts.cwd = Some(self.string(name, value)?),
            Key::Url => {
                let url = self.string(name, value)?;
                if self.parts.url.replace(url.clone()).is_some_and(|other| other != url) {
                    return Err(self.fault(value, "there are two URLs; use one of them"));
                }
            }
            Key::Headers => {
                let headers = self.map(name, value)?;
                self.parts.headers.extend(headers);
            }
            Key::HeaderVariables => {
                for (header, variable) in self.map(name, value)? {
                    self.entry.variables.headers.push((header, "", variable));
                }
            }
            Key::TokenVariable => {
                let variable = self.string(name, value)?;
                self.entry.variables.headers.push(("Authorization".to_owned(), "Bearer ", variable));
            }
            Key::Auth => match &value.tree {
                Tree::Text(token) if token != "oauth" => {
                    self.parts.headers.insert("Authorization".to_owned(), format!("Bearer {token}"));
                }
                _ => self.issue(member, "asks for a login, which is not supported; set a token in `headers`"),
            },
            Key::Disabled => self.entry.is_disabled |= self.flag(name, value)?,
            Key::Enabled => self.entry.is_disabled |= !self.flag(name, value)?,
            Key::Timeout | Key::StartSeconds | Key::StartMilliseconds | Key::CallSeconds => {
                self.timeout(key, member)?;
            }
            Key::Tools if value.members().is_some() => self.tool_switches(value)?,
            // Goose writes an empty list for all tools.
            Key::AllowedTools if name == "available_tools" && value.is_off() => {}
            Key::Tools | Key::AllowedTools | Key::DeniedTools => {
                let names = self.tool_names(name, value)?;
                self.entry.tools.list(&names, key != Key::DeniedTools);
            }
            Key::Harmless => {}
            Key::Unsupported if value.is_off() => {}
            Key::Restricting if is_off(name, value) => {}
            Key::Unsupported => self.issue(member, "is not supported, and has no effect"),
            Key::Restricting => {
                let text = format!("`{name}` restricts the server, and is not supported; remove it");
                return Err(self.fault(value, text));
            }
        }
        Ok(())
    }

    fn transport(&mut self) -> Read<ServerTransport> {
        let Parts { kind, command, mut args, env, cwd, url, headers } = std::mem::take(&mut self.parts);
        let kind = kind.map(|kind| kind.to_lowercase().replace(['-', '_'], ""));
        let mut command = command.into_iter();
        let text = match (command.next(), url, kind.as_deref()) {
            (_, _, Some("sse")) => "the transport `sse` is no longer supported; use `http` and its URL",
            (Some(program), None, None | Some("stdio" | "local")) => {
                args.splice(..0, command);
                if self.rules.dialect == Dialect::Goose {
                    // Goose replaces variables in URLs and headers only.
                    self.entry.variables.syntax = Syntax::Literal;
                }
                return Ok(ServerTransport::Command { program, args, env, cwd });
            }
            (None, Some(url), None | Some("http" | "streamablehttp" | "remote")) => {
                self.entry.variables.own = env;
                return Ok(ServerTransport::Http { url, headers });
            }
            (Some(_), Some(_), _) => "there is a `command` and a `url`; use one of them",
            (None, None, _) => "there is neither a `command` nor a `url`; add one",
            _ => "the type does not fit; use `stdio` with `command` or `http` with `url`",
        };
        Err(ConfigError::new(&self.entry.name, self.entry.place, text))
    }

    /// Reads the settings of each tool. An approval is a matter of the program.
    fn tool_switches(&mut self, value: &Node) -> Read<()> {
        let mut switches = Vec::new();
        for Member { key, value: tool, .. } in value.members().unwrap_or_default() {
            let settings = tool.members().unwrap_or_default();
            let is_known =
                settings.iter().all(|setting| matches!(setting.key.as_str(), "enabled" | "approval_mode"));
            match &tool.get("enabled").unwrap_or(tool).tree {
                Tree::Flag(is_on) if is_known => switches.push((key.clone(), *is_on)),
                Tree::Table(_) if is_known => {}
                _ => {
                    let text = format!("the settings of the tool `{key}` are not supported; remove them");
                    return Err(self.fault(tool, text));
                }
            }
        }
        self.entry.tools.switch(vec![String::new()], switches, true);
        Ok(())
    }

    /// Drops arguments after a name.
    fn tool_names(&self, name: &str, value: &Node) -> Read<Vec<String>> {
        let names = match value.tree {
            Tree::Text(_) => vec![self.string(name, value)?],
            _ => self.strings(name, value)?,
        };
        let before_arguments = names.iter().filter_map(|name| name.split('(').next());
        Ok(before_arguments.map(str::to_owned).collect())
    }

    fn timeout(&mut self, key: Key, member: &Member) -> Read<()> {
        let Member { key: name, value, .. } = member;
        let unit = match key {
            Key::StartSeconds | Key::CallSeconds => TimeUnit::Seconds,
            Key::StartMilliseconds => TimeUnit::ForStart,
            _ => self.rules.timeout,
        };
        if value.members().is_some() {
            for part in ["startup", "request"] {
                let time = match value.get(part) {
                    Some(value) => self.number(part, value)?,
                    None => 0.0,
                };
                self.limit(part == "startup", time / 1_000.0);
            }
            return Ok(());
        }
        let time = self.number(name, value)?;
        let is_guess = unit == TimeUnit::Guessed && time < 1_000.0;
        if is_guess {
            self.issue(member, "is read as seconds, because it is small; name the dialect to be sure");
        }
        let is_start = key == Key::StartSeconds || unit == TimeUnit::ForStart;
        self.limit(is_start, if is_guess || unit == TimeUnit::Seconds { time } else { time / 1_000.0 });
        Ok(())
    }

    /// Zero and less are no limit.
    fn limit(&mut self, is_start: bool, seconds: f64) {
        let limit = Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero());
        *(if is_start { &mut self.entry.start_timeout } else { &mut self.entry.call_timeout }) = limit;
    }

    fn number(&self, name: &str, value: &Node) -> Read<f64> {
        self.expect(name, value, value.text().and_then(|text| text.parse().ok()), "a number")
    }

    fn flag(&self, name: &str, value: &Node) -> Read<bool> {
        self.expect(name, value, value.flag(), "`true` or `false`")
    }

    fn string(&self, name: &str, value: &Node) -> Read<String> {
        self.expect(name, value, value.text(), "a string")
    }

    /// Reads a list of strings. An item may be a table with a name.
    fn strings(&self, name: &str, value: &Node) -> Read<Vec<String>> {
        let mut strings = Vec::new();
        for item in self.expect(name, value, value.items(), "a list")? {
            if !item.is_null() {
                strings.push(self.string(name, item.get("name").unwrap_or(item))?);
            }
        }
        Ok(strings)
    }

    fn map(&self, name: &str, value: &Node) -> Read<BTreeMap<String, String>> {
        let mut strings = BTreeMap::new();
        for Member { key, value, .. } in self.expect(name, value, value.members(), "an object")? {
            if !value.is_null() {
                strings.insert(key.clone(), self.string(key, value)?);
            }
        }
        Ok(strings)
    }

    fn expect<T>(&self, name: &str, value: &Node, found: Option<T>, expected: &str) -> Read<T> {
        found.ok_or_else(|| self.fault(value, format!("`{name}` must be {expected}, not {}", value.kind())))
    }

    fn issue(&mut self, member: &Member, text: &str) {
        let message = format!("`{}` {text}", member.key);
        self.issues.push(ConfigError::at(self.text, member.offset, &self.entry.name, message));
    }

    fn fault(&self, value: &Node, text: impl Into<String>) -> ConfigError {
        ConfigError::at(self.text, value.offset, &self.entry.name, text)
    }
}

fn has_reference(value: &Node) -> bool {
    match &value.tree {
        Tree::Text(text) => text.contains("${"),
        Tree::List(items) => items.iter().any(has_reference),
        Tree::Table(members) => members.iter().any(|member| has_reference(&member.value)),
        Tree::Null | Tree::Flag(_) | Tree::Number(_) => false,
    }
}
