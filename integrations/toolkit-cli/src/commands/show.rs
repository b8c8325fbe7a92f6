//! `show`: one tool, for a reader or as an API gets it.

use crate::apis::{api, encoded, report_json};
use crate::desk::Desk;
use crate::exit::Failure;
use crate::facts::{labels, tokens};
use crate::flags::flags;
use crate::screen::{FAINT, NAME};
use serde_json::{Map, json};
use toolkit_core::ToolDefinition;
use toolkit_core::definition::Tool as _;
use toolkit_llm::ApiFormat;
use toolkit_schema::describe;

pub(crate) fn show(desk: &Desk, name: &str, api_name: Option<&str>) -> Result<(), Failure> {
    let tool = desk.tool(name)?;
    match api_name {
        Some(api_name) => show_for(desk, tool.definition(), api(api_name)?),
        None if desk.screen.is_json => show_json(desk, tool.definition()),
        None => show_text(desk, tool.definition()),
    }
}

/// The JSON goes to the standard output also as text, so that it can be saved; the losses go beside it.
fn show_for(desk: &Desk, definition: &ToolDefinition, format: ApiFormat) -> Result<(), Failure> {
    let (value, report) = encoded(&desk.dispatcher.registry(), definition, format);
    if desk.screen.is_json {
        let mut shown = json!({"api": format.name(), "definition": value});
        shown["report"] = report_json(&report);
        desk.screen.json(&shown)?;
        return Ok(());
    }
    desk.screen.json(&value)?;
    let remarks = report.to_string();
    if !remarks.is_empty() {
        desk.screen.note(remarks)?;
    }
    Ok(())
}

fn show_json(desk: &Desk, definition: &ToolDefinition) -> Result<(), Failure> {
    let registry = desk.dispatcher.registry();
    let mut reports = Map::new();
    for format in ApiFormat::ALL {
        let (_, report) = encoded(&registry, definition, *format);
        reports.insert(format.name().to_owned(), report_json(&report));
    }
    let name = definition.name.as_str();
    desk.screen.json(&json!({
        "name": name,
        "title": definition.metadata.title,
        "description": definition.description,
        "parameters": definition.parameters,
        "output": definition.output_schema(),
        "disabled": registry.disabled_reason(name),
        "tokens": tokens(definition),
        "apis": reports,
    }))?;
    Ok(())
}

fn show_text(desk: &Desk, definition: &ToolDefinition) -> Result<(), Failure> {
    let screen = &desk.screen;
    let name = definition.name.as_str();
    screen.line(format_args!("{NAME}{name}{NAME:#}"))?;
    screen.paragraph(2, &definition.description)?;
    let mut notes = labels(definition);
    notes.push(format!("about {} tokens in a request", tokens(definition)));
    if let Some(limit) = definition.metadata.timeout {
        notes.push(format!("{} s at most", limit.as_secs_f64()));
    }
    screen.line(format_args!("  {FAINT}{}{FAINT:#}", notes.join(", ")))?;
    if let Some(reason) = desk.dispatcher.registry().disabled_reason(name) {
        screen.paragraph(2, &format!("disabled: {reason}"))?;
    }
    let parameters = flags(&definition.parameters);
    if !parameters.is_empty() {
        screen.line("\nParameters")?;
    }
    for flag in parameters {
        let required = if flag.is_required { "  required" } else { "" };
        screen.line(format_args!("  {NAME}--{}{NAME:#}{FAINT}{required}{FAINT:#}", flag.spelling()))?;
        screen.paragraph(6, &flag.form)?;
        screen.paragraph(6, &flag.about)?;
    }
    if let Some(form) = definition.output_schema().and_then(describe) {
        screen.line("\nReturns")?;
        screen.paragraph(2, &form)?;
    }
    screen.line(format_args!("\n{FAINT}{} call {name} --help{FAINT:#}", desk.program))?;
    Ok(())
}
