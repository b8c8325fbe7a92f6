//! `check`: what each API refuses or loses, and what a model misses, with a level for each finding.

use crate::apis::{api, encoded};
use crate::desk::Desk;
use crate::exit::{Exit, Failure};
use crate::flags::flags;
use crate::screen::{BAD, FAINT, WARNING};
use anstyle::Style;
use serde::Serialize;
use serde_json::json;
use toolkit_core::{Dispatcher, ToolDefinition};
use toolkit_llm::ApiFormat;

/// How bad a finding is, from the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    /// Calls fail, or a provider refuses the request.
    Error,
    /// The model learns less than the tool says.
    Warning,
    /// The tool works, and a reader may want to know.
    Note,
}

impl Level {
    pub(crate) const NAMES: [&'static str; 3] = ["error", "warning", "note"];

    pub(crate) fn named(name: &str) -> Self {
        match name {
            "warning" => Self::Warning,
            "note" => Self::Note,
            _ => Self::Error,
        }
    }

    fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    fn style(self) -> Style {
        match self {
            Self::Error => BAD,
            Self::Warning => WARNING,
            Self::Note => FAINT,
        }
    }
}

#[derive(Debug, PartialEq, Serialize)]
struct Finding {
    level: Level,
    tool: Option<String>,
    message: String,
    /// The APIs with this finding. Empty if it does not depend on an API.
    apis: Vec<&'static str>,
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    /// Adds a finding, or an API to an equal finding.
    fn add(&mut self, level: Level, tool: Option<&str>, message: String, api: Option<ApiFormat>) {
        let name = api.map(ApiFormat::name);
        let tool = tool.map(str::to_owned);
        for earlier in &mut self.0 {
            if earlier.level == level && earlier.tool == tool && earlier.message == message {
                earlier.apis.extend(name);
                return;
            }
        }
        self.0.push(Finding { level, tool, message, apis: name.into_iter().collect() });
    }

    fn add_dispatcher(&mut self, dispatcher: &Dispatcher) {
        if let Err(error) = dispatcher.check() {
            for problem in error.problems() {
                self.add(Level::Error, None, problem.to_string(), None);
            }
        }
        for problem in dispatcher.warnings() {
            self.add(Level::Warning, None, problem.to_string(), None);
        }
    }

    fn add_descriptions(&mut self, definition: &ToolDefinition) {
        let name = Some(definition.name.as_str());
        if definition.description.trim().is_empty() {
            let message = "has no description; write a doc comment that says when to use it";
            self.add(Level::Warning, name, message.to_owned(), None);
        }
        for flag in flags(&definition.parameters) {
            if flag.about.is_empty() {
                let message = format!("parameter `{}` has no description", flag.path_text());
                self.add(Level::Note, name, message, None);
            }
        }
    }

    fn add_api(&mut self, dispatcher: &Dispatcher, definition: &ToolDefinition, format: ApiFormat) {
        let name = Some(definition.name.as_str());
        let (_, report) = encoded(&dispatcher.registry(), definition, format);
        for limit in report.limits {
            let message = format!("{} {}, the provider takes {}", limit.actual, limit.what, limit.limit);
            self.add(Level::Error, name, message, Some(format));
        }
        for lost in report.losses {
            self.add(Level::Warning, name, lost.loss.to_string(), Some(format));
        }
        for tool in report.not_strict {
            self.add(Level::Warning, name, format!("is not strict: {}", tool.reason), Some(format));
        }
        for renamed in report.renamed {
            let message = format!("parameter `{}` is sent as `{}`", renamed.name, renamed.spelling);
            self.add(Level::Note, name, message, Some(format));
        }
    }

    /// Adds limits that hold for all tools together.
    fn add_request(&mut self, dispatcher: &Dispatcher, format: ApiFormat) {
        let definitions = dispatcher.registry().definitions(format);
        for limit in &definitions.report().limits {
            if limit.tool.is_none() {
                self.add(Level::Error, None, limit.to_string(), Some(format));
            }
        }
    }
}

pub(crate) fn check(desk: &Desk, apis: &[&str], limit: Level) -> Result<(), Failure> {
    let mut formats = Vec::new();
    for name in apis {
        formats.push(api(name)?);
    }
    if formats.is_empty() {
        formats.extend(ApiFormat::ALL);
    }
    let registry = desk.dispatcher.registry();
    let mut findings = Findings::default();
    findings.add_dispatcher(&desk.dispatcher);
    for format in &formats {
        findings.add_request(&desk.dispatcher, *format);
    }
    for definition in registry.iter_definitions() {
        findings.add_descriptions(definition);
        for format in &formats {
            findings.add_api(&desk.dispatcher, definition, *format);
        }
    }
    findings.0.sort_by_key(|finding| finding.level);
    write(desk, &findings.0, registry.len())?;
    match findings.0.first() {
        Some(worst) if worst.level <= limit => Err(Failure::silent(Exit::Failed)),
        _ => Ok(()),
    }
}

fn write(desk: &Desk, findings: &[Finding], tools: usize) -> Result<(), Failure> {
    if desk.screen.is_json {
        desk.screen.json(&json!({"tools": tools, "findings": findings}))?;
        return Ok(());
    }
    for Finding { level, tool, message, apis } in findings {
        let style = level.style();
        let subject = tool.as_ref().map(|tool| format!("`{tool}`: ")).unwrap_or_default();
        let of = if apis.is_empty() { String::new() } else { format!(" ({})", apis.join(", ")) };
        desk.screen.line(format_args!("{style}{}{style:#}", level.name()))?;
        desk.screen.paragraph(2, &format!("{subject}{message}{of}"))?;
    }
    let mut counts = Vec::new();
    for level in [Level::Error, Level::Warning, Level::Note] {
        let count = findings.iter().filter(|finding| finding.level == level).count();
        counts.push(format!("{}s: {count}", level.name()));
    }
    desk.screen.line(format_args!("{FAINT}tools: {tools}, {}{FAINT:#}", counts.join(", ")))?;
    Ok(())
}
