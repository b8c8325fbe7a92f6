//! Reads the tools and tool choices of OpenAI's two APIs.

use super::tools::{flag, parse_format, parse_named, required};
use crate::apis::openai::{CHOICE, Form, PARALLEL};
use crate::json::WireError;
use crate::json::fields::{Fields, elements, field, list, object, optional, text};
use serde_json::Value;
use std::collections::BTreeSet;
use toolkit_core::call::{ToolChoice, ToolConfig};
use toolkit_core::definition::ToolDefinition;
use toolkit_core::name::WireNames;
use toolkit_core::output::{Media, MediaData};

pub(super) fn parse_config(form: Form, request: &Fields, names: &WireNames) -> Result<ToolConfig, WireError> {
    let choice = request.get(CHOICE).unwrap_or(&Value::Null);
    let mut wanted = ToolConfig::from(form.parse_choice(choice, names)?);
    wanted.custom = form.custom(choice, names);
    wanted.parallel = flag(request, "", PARALLEL)?;
    Ok(wanted)
}

/// Returns whether the type is neither `function` nor `custom`, so that the provider defines the tool.
pub(super) fn is_hosted(tool: &Value) -> bool {
    match tool.get("type") {
        Some(Value::String(kind)) => !matches!(kind.as_str(), "function" | "custom"),
        _ => false,
    }
}

impl Form {
    /// Parses the definition of a program's tool. Also returns its fields and their path.
    pub(super) fn parse_tool<'a>(
        self,
        tool: &'a Value,
        path: &str,
    ) -> Result<(ToolDefinition, &'a Fields, String), WireError> {
        let is_custom = text(tool, "type") == "custom";
        let (kind, missing) = if is_custom {
            ("custom", "the name, description and format of a custom tool")
        } else {
            ("function", "the name, description and parameters of a function")
        };
        let (fields, path) = match (tool.get(kind).and_then(Value::as_object), self) {
            (Some(nested), _) => (nested, field(path, kind)),
            (None, Self::Flat) => (object(tool, path, "a tool")?, path.to_owned()),
            (None, Self::Nested) => return Err(WireError::new(field(path, kind), missing)),
        };
        let mut definition = parse_named(fields, &path, "parameters")?;
        if is_custom {
            let expected = match self {
                Self::Nested => "`text`, or a grammar with `syntax` (`lark` or `regex`) and `definition`",
                Self::Flat => "a `text` or a `grammar` of `lark` or `regex`",
            };
            let format = optional(fields, &path, "format", expected, parse_format)?.unwrap_or_default();
            definition = ToolDefinition::custom(definition.name, definition.description, format);
        }
        definition.metadata.strict = flag(fields, &path, "strict")?;
        Ok((definition, fields, path))
    }

    fn parse_choice(self, choice: &Value, names: &WireNames) -> Result<ToolChoice, WireError> {
        match (choice, text(choice, "type")) {
            // `auto` is the default for a request with tools.
            (Value::Null, _) => Ok(ToolChoice::Auto),
            (Value::String(mode), _) => match mode.as_str() {
                "auto" => Ok(ToolChoice::Auto),
                "none" => Ok(ToolChoice::None),
                // Mistral writes `any` instead of `required`.
                "required" | "any" => Ok(ToolChoice::Required),
                _ => Err(WireError::new(CHOICE, "`auto`, `none` or `required`")),
            },
            (_, "function" | "custom") => self.parse_name(choice, CHOICE, names).map(ToolChoice::Tool),
            (_, "allowed_tools") => self.parse_allowed(choice, names),
            // The choice of a tool defined by the provider, such as its web search.
            (Value::Object(_), kind) if self.is_hosted_choice(kind) => Ok(ToolChoice::Required),
            (Value::Object(_), _) => {
                Err(WireError::new(field(CHOICE, "type"), "`function`, `custom` or `allowed_tools`"))
            }
            _ => Err(WireError::new(CHOICE, "a tool choice: a text or an object")),
        }
    }

    /// Returns whether a choice of this type names the provider's tool. Modes and types of other APIs do not.
    fn is_hosted_choice(self, kind: &str) -> bool {
        let foreign = ["", "any", "auto", "none", "required", "tool", "function", "custom"];
        self == Self::Flat && !foreign.contains(&kind)
    }

    /// Returns the object with the mode and the allowed tools, and its path.
    fn allowed(self, choice: &Value) -> (&Value, String) {
        match self {
            Self::Nested => {
                (choice.get("allowed_tools").unwrap_or(&Value::Null), field(CHOICE, "allowed_tools"))
            }
            Self::Flat => (choice, CHOICE.to_owned()),
        }
    }

    fn custom(self, choice: &Value, names: &WireNames) -> BTreeSet<String> {
        let (allowed, _) = self.allowed(choice);
        let mut custom = BTreeSet::new();
        for tool in list(allowed, "tools").iter().chain([choice]) {
            if text(tool, "type") == "custom" {
                custom.extend(self.parse_name(tool, CHOICE, names));
            }
        }
        custom
    }

    fn parse_allowed(self, choice: &Value, names: &WireNames) -> Result<ToolChoice, WireError> {
        let (allowed, path) = self.allowed(choice);
        let required = match text(allowed, "mode") {
            "auto" => false,
            "required" => true,
            _ => return Err(WireError::new(field(&path, "mode"), "`auto` or `required`")),
        };
        let path = field(&path, "tools");
        let Some(Value::Array(tools)) = allowed.get("tools") else {
            return Err(WireError::new(path, "a list of tools"));
        };
        let mut allowed = Vec::new();
        for (path, tool) in elements(tools, &path) {
            if !self.is_hosted_choice(text(tool, "type")) {
                allowed.push(self.parse_name(tool, &path, names)?);
            }
        }
        Ok(ToolChoice::Allowed { names: allowed, required })
    }

    /// Returns the name of a tool in a tool choice: in the field `function`, or `custom` for a custom tool.
    fn parse_name(self, tool: &Value, path: &str, names: &WireNames) -> Result<String, WireError> {
        let kind = if text(tool, "type") == "custom" { "custom" } else { "function" };
        let (named, path) = match self {
            Self::Flat => (tool.get(kind).unwrap_or(tool), path.to_owned()),
            Self::Nested => (tool.get(kind).unwrap_or(&Value::Null), field(path, kind)),
        };
        Ok(names.unspell(required(named, &path, "name", "the name of a tool")?).to_owned())
    }
}

/// Creates a media item from a URL. A `data:` URL contains bytes and media type; any other gets the type
/// `otherwise`.
pub(super) fn media(address: &str, otherwise: &str) -> Media {
    if let Some(inline) = address.strip_prefix("data:")
        && let Some((media_type, data)) = inline.split_once(";base64,")
    {
        let data = MediaData::Base64(data.to_owned());
        return Media { media_type: media_type.to_owned(), data, name: None };
    }
    Media { media_type: otherwise.to_owned(), data: MediaData::Url(address.to_owned()), name: None }
}
