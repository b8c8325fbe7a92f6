//! What a server has beside tools: its resources and its prompts.

use crate::commands::call::{arguments, command, folder, save_arg};
use crate::commands::{with_flags, words};
use crate::desk::Desk;
use crate::exit::{Exit, Failure};
use crate::flags::{Flag, flags};
use crate::outcome::{contents_json, write_contents};
use crate::screen::FAINT;
use clap::{Arg, ArgMatches, Command};
use serde_json::{Map, Value, json};
use std::slice;
use toolkit_mcp::McpError;
use toolkit_mcp::client::{McpClient, McpPrompt, McpResource};
use toolkit_schema::nearest;

pub(crate) fn commands() -> [Command; 4] {
    let uri = Arg::new("uri").value_name("URI").required(true).help("The URI of the resource");
    [
        Command::new("resources").about("Lists the resources, and the templates of further URIs"),
        Command::new("read").about("Reads a resource").args([uri, save_arg()]),
        Command::new("prompts").about("Lists the prompts, with their flags"),
        with_flags("prompt", "PROMPT", "toolkit")
            .about("Fills in a prompt; `prompt PROMPT --help` has its flags"),
    ]
}

/// Runs one of the [`commands`].
pub(crate) async fn run(
    desk: &mut Desk,
    client: &McpClient,
    name: &str,
    matches: &ArgMatches,
) -> Result<(), Failure> {
    match name {
        "resources" => resources(desk, client).await,
        "read" => read(desk, client, matches).await,
        "prompts" => prompts(desk, &client.prompts().await.map_err(refused)?),
        _ => prompt(desk, client, matches).await,
    }
}

fn refused(error: McpError) -> Failure {
    Failure::new(Exit::Failed, error.to_string())
}

async fn resources(desk: &Desk, client: &McpClient) -> Result<(), Failure> {
    let resources = client.resources().await.map_err(refused)?;
    let templates = client.resource_templates().await.map_err(refused)?;
    if desk.screen.is_json {
        desk.screen.json(&json!({"resources": entries(&resources), "templates": entries(&templates)}))?;
        return Ok(());
    }
    for resource in resources.iter().chain(&templates) {
        let mut notes: Vec<String> = resource.media_type.iter().cloned().collect();
        notes.extend(resource.size.map(|size| format!("{size} bytes")));
        desk.screen.heading(0, &resource.uri, &notes)?;
        desk.screen.paragraph(4, resource.description.as_ref().unwrap_or(&resource.name))?;
    }
    let counts = format!("resources: {}, templates: {}", resources.len(), templates.len());
    Ok(desk.screen.line(format_args!("{FAINT}{counts}{FAINT:#}"))?)
}

fn entries(resources: &[McpResource]) -> Vec<Value> {
    let mut entries = Vec::new();
    for McpResource { uri, name, title, description, media_type, size, .. } in resources {
        entries.push(json!({
            "uri": uri, "name": name, "title": title, "description": description,
            "media_type": media_type, "size": size,
        }));
    }
    entries
}

async fn read(desk: &Desk, client: &McpClient, matches: &ArgMatches) -> Result<(), Failure> {
    let uri = matches.get_one::<String>("uri").map_or("", String::as_str);
    let contents = client.read_resource(uri).await.map_err(refused)?;
    if desk.screen.is_json {
        return Ok(desk.screen.json(&json!({"uri": uri, "content": contents_json(&contents)?}))?);
    }
    write_contents(&desk.screen, &contents, folder(matches))
}

fn prompts(desk: &Desk, prompts: &[McpPrompt]) -> Result<(), Failure> {
    let mut entries = Vec::new();
    for prompt @ McpPrompt { name, title, description, .. } in prompts {
        let (mut arguments, mut names) = (Vec::new(), Vec::new());
        for flag in flags_of(prompt) {
            names.push(format!("--{}", flag.spelling()));
        }
        for argument in &prompt.arguments {
            let (name, required) = (&argument.name, argument.is_required);
            arguments.push(json!({"name": name, "description": argument.description, "required": required}));
        }
        entries.push(json!({
            "name": name, "title": title, "description": description, "arguments": arguments,
        }));
        if !desk.screen.is_json {
            desk.screen.heading(0, name, &names)?;
            desk.screen.paragraph(4, description.as_deref().unwrap_or_default())?;
        }
    }
    if desk.screen.is_json {
        desk.screen.json(&json!({"prompts": entries}))?;
    } else {
        desk.screen.line(format_args!("{FAINT}prompts: {}{FAINT:#}", prompts.len()))?;
    }
    Ok(())
}

/// All arguments of prompts are strings.
fn flags_of(prompt: &McpPrompt) -> Vec<Flag> {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for argument in &prompt.arguments {
        let schema = json!({"type": "string", "description": argument.description});
        properties.insert(argument.name.clone(), schema);
        if argument.is_required {
            required.push(argument.name.as_str());
        }
    }
    flags(&json!({"properties": properties, "required": required}))
}

/// Runs `prompt`: the first word is the name of a prompt, the others are its flags.
async fn prompt(desk: &mut Desk, client: &McpClient, matches: &ArgMatches) -> Result<(), Failure> {
    let (name, words) = words(matches);
    let listed = client.prompts().await.map_err(refused)?;
    let Some(prompt) = listed.iter().find(|prompt| prompt.name == name) else {
        let near = nearest(name, listed.iter().map(|prompt| prompt.name.as_str()));
        let hint = near.first().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        return Err(Failure::usage(format!("Prompt `{name}` not found{hint}\nsee `toolkit prompts`")));
    };
    let flags = flags_of(prompt);
    let about = prompt.description.as_deref().unwrap_or_default();
    let command = command(format!("toolkit prompt {name}"), about, &flags, Vec::new());
    let (text, given) = arguments(desk, command, words, &flags)?;
    let Ok(values) = serde_json::from_str::<Map<String, Value>>(&text) else {
        return Err(Failure::usage("`--args` is no JSON object"));
    };
    let mut texts = Vec::new();
    for (name, value) in values {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        texts.push((name, text));
    }
    let mut forms = Vec::new();
    for message in client.prompt(name, texts).await.map_err(refused)? {
        let role = if message.is_from_model { "assistant" } else { "user" };
        if desk.screen.is_json {
            let content = contents_json(slice::from_ref(&message.content))?[0].take();
            forms.push(json!({"role": role, "content": content}));
        } else {
            desk.screen.heading(0, role, &[])?;
            write_contents(&desk.screen, slice::from_ref(&message.content), folder(&given))?;
        }
    }
    if desk.screen.is_json {
        desk.screen.json(&json!({"prompt": name, "messages": forms}))?;
    }
    Ok(())
}
