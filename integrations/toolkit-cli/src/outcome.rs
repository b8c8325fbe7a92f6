//! The result of a call: for a reader, with its media in files, or as JSON.

use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use data_encoding::BASE64;
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use toolkit_core::output::serde::contents;
use toolkit_core::output::{Content, Media, MediaData};
use toolkit_core::{ToolError, ToolResult};

/// Returns the form of contents that scripts read. JSON in them is no text, but a value.
pub(crate) fn contents_json(contents: &[Content]) -> io::Result<Value> {
    let mut forms = contents::serialize(contents, serde_json::value::Serializer)?;
    for form in forms.as_array_mut().into_iter().flatten() {
        if let Some(text) = form.get("json").and_then(Value::as_str) {
            let value: Value = serde_json::from_str(text)?;
            *form = json!({"type": "json", "value": value});
        }
    }
    Ok(forms)
}

/// Writes a result, and returns how the command ends. Media go to files in `folder`.
pub(crate) fn write(
    screen: &Screen,
    program: &str,
    result: &ToolResult,
    folder: &Path,
) -> Result<(), Failure> {
    let output = match &result.outcome {
        Ok(output) => output,
        Err(error) => return Err(failure(screen, program, &result.name, error)?),
    };
    if screen.is_json {
        let content = contents_json(output.content())?;
        screen.json(&json!({"tool": result.name, "content": content, "structured": output.structured()}))?;
        return Ok(());
    }
    write_contents(screen, output.content(), folder)
}

fn failure(screen: &Screen, program: &str, tool: &str, error: &ToolError) -> io::Result<Failure> {
    let exit = Exit::of_tool(error);
    if screen.is_json {
        let told = json!({"kind": error.kind().as_str(), "message": error.message()});
        screen.json(&json!({"tool": tool, "error": told}))?;
        return Ok(Failure::silent(exit));
    }
    let help =
        if exit == Exit::Usage { format!("\nsee `{program} call {tool} --help`") } else { String::new() };
    Ok(Failure::new(exit, format!("{}{help}", error.message())))
}

/// Writes contents for a reader.
pub(crate) fn write_contents(screen: &Screen, contents: &[Content], folder: &Path) -> Result<(), Failure> {
    for content in contents {
        match content {
            Content::Text(text) => screen.line(text)?,
            Content::Json(json) => match json.to_value() {
                Ok(value) if screen.is_terminal => screen.json(&value)?,
                _ => screen.line(json.as_str())?,
            },
            Content::Image(media) | Content::Audio(media) | Content::File(media) => {
                write_media(screen, media, folder)?;
            }
            Content::Resource(resource) => screen.line(&resource.uri)?,
            _ => screen.note("a part of the result has no form for a terminal; use `--format json`")?,
        }
    }
    Ok(())
}

fn write_media(screen: &Screen, media: &Media, folder: &Path) -> Result<(), Failure> {
    let data = match &media.data {
        MediaData::Url(url) => return Ok(screen.line(url)?),
        MediaData::Base64(data) => data,
    };
    let Ok(bytes) = BASE64.decode(data.as_bytes()) else {
        let message = "a part of the result is not valid base64; use `--format json`";
        return Err(Failure::new(Exit::Failed, message));
    };
    let (path, size) = (save(media, &bytes, folder)?, bytes.len());
    screen.line(format_args!("{} ({}, {size} bytes)", path.display(), media.media_type))?;
    Ok(())
}

/// Saves media under a name that no file has.
fn save(media: &Media, bytes: &[u8], folder: &Path) -> Result<PathBuf, Failure> {
    // The name comes from the tool, and must not leave the folder.
    let given = media.name.as_deref().map(Path::new).and_then(Path::file_name);
    let subtype = media.media_type.split(['/', ';', '+']).nth(1).unwrap_or("bin");
    let name = match given {
        Some(name) => name.to_string_lossy().into_owned(),
        None => format!("result.{subtype}"),
    };
    let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, subtype));
    let mut number = 1;
    loop {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{stem}{suffix}.{extension}"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                file.write_all(bytes)?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => {
                let cure = "choose a folder with `--save`";
                return Err(Failure::unreachable(format_args!(
                    "`{}` cannot be written: {error}; {cure}",
                    path.display()
                )));
            }
        }
    }
}
