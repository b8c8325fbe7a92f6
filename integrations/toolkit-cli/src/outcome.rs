//! The result of a call: for a reader, with its media in files, or as JSON.

use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use data_encoding::BASE64;
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use toolkit_core::output::{Content, Media, MediaData, ToolOutput};
use toolkit_core::{ToolError, ToolResult};

/// Returns the form of a successful result that scripts read. JSON in it is no text, but a value.
fn success_json(result: &ToolResult) -> Result<Value, serde_json::Error> {
    let mut stored = serde_json::to_value(result)?;
    let mut output = stored["output"].take();
    for content in output["content"].as_array_mut().into_iter().flatten() {
        let text = content.get("json").and_then(Value::as_str).map(str::to_owned);
        if let Some(text) = text {
            *content = json!({"type": "json", "value": serde_json::from_str::<Value>(&text)?});
        }
    }
    Ok(json!({"tool": result.name, "content": output["content"], "structured": output["structured"]}))
}

/// Writes a result, and returns how the command ends. Media go to files in `folder`.
pub(crate) fn write(
    screen: &Screen,
    program: &str,
    result: &ToolResult,
    folder: &Path,
) -> Result<(), Failure> {
    match &result.outcome {
        Ok(_) if screen.is_json() => {
            let form = success_json(result).map_err(io::Error::from)?;
            Ok(screen.json(&form)?)
        }
        Ok(output) => write_text(screen, output, folder),
        Err(error) => Err(failure(screen, program, &result.name, error)?),
    }
}

fn failure(screen: &Screen, program: &str, tool: &str, error: &ToolError) -> io::Result<Failure> {
    let exit = Exit::of_tool(error);
    if screen.is_json() {
        let told = json!({"kind": error.kind().as_str(), "message": error.message()});
        screen.json(&json!({"tool": tool, "error": told}))?;
        return Ok(Failure::silent(exit));
    }
    let mut message = error.message().to_owned();
    if exit == Exit::Usage {
        message.push_str(&format!("\nsee `{program} call {tool} --help`"));
    }
    Ok(Failure::new(exit, message))
}

fn write_text(screen: &Screen, output: &ToolOutput, folder: &Path) -> Result<(), Failure> {
    for content in output.content() {
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
        return Err(Failure::new(
            Exit::Failed,
            "a part of the result is not valid base64; use `--format json`",
        ));
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
    for number in 1..1_000 {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{stem}{suffix}.{extension}"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                file.write_all(bytes)?;
                return Ok(path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => {
                let message =
                    format!("`{}` cannot be written: {error}; choose a folder with `--save`", path.display());
                return Err(Failure::new(Exit::Unreachable, message));
            }
        }
    }
    let message =
        format!("`{}` has too many files `{stem}`; choose a folder with `--save`", folder.display());
    Err(Failure::new(Exit::Unreachable, message))
}
