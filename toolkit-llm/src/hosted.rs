//! Tools defined by the providers, such as web search and MCP connectors, and their calls.

#[cfg(any(feature = "api-anthropic", feature = "api-gemini", feature = "api-openai-responses"))]
macro_rules! hosted_tools {
    ($format:ident: $($(#[$doc:meta])* $name:ident($($field:ident: $type:ty),*) = $definition:tt;)+) => {
        $($(#[$doc])* #[must_use] pub fn $name($($field: $type),*) -> HostedTool {
            HostedTool::new(ApiFormat::$format, json!($definition))
        })+
    };
}

#[cfg(feature = "api-anthropic")]
pub mod anthropic;
#[cfg(feature = "api-gemini")]
pub mod gemini;
#[cfg(feature = "api-openai-responses")]
pub mod openai;

use crate::facts::ApiFormat;
use crate::json::fields::{Fields, set, text};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;

/// A tool defined by a provider, such as web search. A request lists it with the program's tools.
///
/// The modules [`openai`], [`anthropic`] and [`gemini`] have a function for each known tool. For any other
/// tool, pass the JSON from the provider's reference to [`new`](Self::new). The JSON is never changed.
///
/// Add hosted tools with [`Definitions::with_hosted`](crate::Definitions::with_hosted). The provider runs
/// most of them itself; their calls are in [`Response::hosted`](crate::Response::hosted) and are not
/// dispatched. The program runs a few of them: see [`answered_by`](Self::answered_by).
///
/// ```
/// use toolkit_ai::llm::ApiFormat;
/// use toolkit_ai::llm::hosted::{HostedTool, openai};
///
/// let search = openai::web_search().with("search_context_size", "low");
/// assert_eq!(search.name(), "web_search");
///
/// let new = serde_json::json!({"type": "time_travel_20300101", "name": "time_travel"});
/// let unknown = HostedTool::new(ApiFormat::Anthropic, new);
/// assert_eq!(unknown.name(), "time_travel");
/// ```
#[derive(Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HostedTool {
    /// The API that defines the tool. Definitions for another API leave it out and report the loss.
    #[serde(serialize_with = "format_name")]
    pub format: ApiFormat,
    /// The entry for `tools`, in the JSON of the API.
    pub definition: Value,
    /// Other request fields that the tool needs, such as Anthropic's `mcp_servers`.
    /// [`request_fields`](Self::request_fields) merges them.
    pub request: Fields,
}

impl fmt::Debug for HostedTool {
    /// Writes `***` for each secret, such as an access token or an HTTP header.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostedTool")
            .field("format", &self.format)
            .field("definition", &without_secrets(self.definition.clone()))
            .field("request", &without_secrets(self.request.clone().into()))
            .finish()
    }
}

/// Replaces access tokens and values of HTTP headers by `***`.
pub(crate) fn without_secrets(mut value: Value) -> Value {
    hide_secrets(&mut value, false);
    value
}

/// Replaces secrets, or all strings if `is_secret` is `true`. Recursion is safe, because the parser limits
/// the depth.
fn hide_secrets(value: &mut Value, is_secret: bool) {
    match value {
        Value::String(_) if is_secret => *value = "***".into(),
        Value::Array(list) => {
            for value in list {
                hide_secrets(value, is_secret);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                let is_named = matches!(name.as_str(), "authorization" | "authorization_token" | "headers");
                hide_secrets(value, is_secret || is_named);
            }
        }
        _ => {}
    }
}

fn format_name<S: Serializer>(format: &ApiFormat, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(format.name())
}

impl HostedTool {
    /// Creates a hosted tool from an entry for `tools`.
    #[must_use]
    pub fn new(format: ApiFormat, definition: Value) -> Self {
        Self { format, definition, request: Fields::new() }
    }

    /// Sets a field of the definition, or of its only object in a Gemini definition such as
    /// `{"googleSearch": {}}`.
    #[must_use]
    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        if let Some(fields) = self.settings() {
            set(fields, field, value);
        }
        self
    }

    /// Adds a request field that the tool needs.
    #[must_use]
    pub fn with_request(mut self, field: &str, value: impl Into<Value>) -> Self {
        set(&mut self.request, field, value);
        self
    }

    fn settings(&mut self) -> Option<&mut Fields> {
        let fields = self.definition.as_object_mut()?;
        let is_nested = fields.len() == 1 && !fields.contains_key("type");
        if is_nested { fields.values_mut().next()?.as_object_mut() } else { Some(fields) }
    }

    /// Returns the name of the tool. Without a `name`, it is the type, or for Gemini, the only field.
    #[must_use]
    pub fn name(&self) -> &str {
        for field in ["name", "type"] {
            let name = text(&self.definition, field);
            if !name.is_empty() {
                return name;
            }
        }
        let Some(fields) = self.definition.as_object() else { return "" };
        fields.keys().next().map_or("", String::as_str)
    }

    /// Returns the request fields that `tools` need.
    ///
    /// Lists in the same field are joined. Tools of other APIs are skipped.
    ///
    /// ```
    /// use toolkit_ai::llm::ApiFormat;
    /// use toolkit_ai::llm::hosted::{HostedTool, anthropic};
    ///
    /// let tools = [anthropic::mcp("docs", "https://a.example/mcp"), anthropic::mcp("mail", "https://b.example/mcp")];
    /// let fields = HostedTool::request_fields(&tools, ApiFormat::Anthropic);
    /// assert_eq!(fields["mcp_servers"].as_array().unwrap().len(), 2);
    /// ```
    #[must_use]
    pub fn request_fields<'a>(tools: impl IntoIterator<Item = &'a Self>, format: ApiFormat) -> Fields {
        let mut fields = Fields::new();
        for tool in tools {
            if tool.format != format {
                continue;
            }
            for (name, value) in &tool.request {
                match (fields.get_mut(name), value) {
                    (Some(Value::Array(known)), Value::Array(more)) => known.extend(more.iter().cloned()),
                    _ => drop(fields.insert(name.clone(), value.clone())),
                }
            }
        }
        fields
    }
}

/// A call of a tool run by the provider, for display and logs. It is never dispatched.
///
/// The history keeps the provider's own JSON, so nothing depends on these fields.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct HostedCall {
    /// The provider's id of the call. Empty if there is none.
    pub id: String,
    /// The type of the call, such as `web_search_call` or `mcp_tool_use`.
    pub kind: String,
    /// The name of the tool, such as `web_search`.
    pub name: String,
    /// The name of the tool's MCP server. Empty for other tools.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub server: String,
    /// The returned arguments: an object, or a string with the code of a code execution.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub arguments: Value,
    /// The output in the provider's JSON. `None` while the tool runs, or if the output is not returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
}

#[derive(Debug)]
pub(crate) enum HostedPart {
    /// A call, with its output if the same part contains both.
    Call(HostedCall),
    /// The output of the call with the same id, or without an id, of the last call with the same name.
    Output(HostedCall),
}

impl HostedCall {
    /// Creates a call from the JSON `part`. `kind` is the type of the call.
    pub(crate) fn from_part(part: &Value, kind: &str, name: &str, arguments: Option<&Value>) -> Self {
        let mut id = "";
        for field in ["call_id", "tool_use_id", "id"] {
            id = text(part, field);
            if !id.is_empty() {
                break;
            }
        }
        let arguments = match arguments {
            Some(Value::String(json)) => match serde_json::from_str(json) {
                Ok(object @ Value::Object(_)) => object,
                _ => json.as_str().into(),
            },
            arguments => arguments.cloned().unwrap_or_default(),
        };
        let kind = kind.to_owned();
        let name = name.to_owned();
        Self { id: id.to_owned(), kind, name, arguments, ..Self::default() }
    }

    pub(crate) fn with_output(mut self, output: Option<&Value>) -> Self {
        self.output = output.filter(|output| !output.is_null()).cloned();
        self
    }
}

/// The calls of hosted tools in a response.
#[derive(Debug, Default, Clone)]
pub(crate) struct HostedCalls {
    calls: Vec<HostedCall>,
    /// The latest call with each id.
    by_id: HashMap<String, usize>,
    /// The calls without an output, by tool name. Answered calls are removed later.
    open: HashMap<String, Vec<usize>>,
}

impl HostedCalls {
    /// Adds a part, and returns its call.
    pub(crate) fn add(&mut self, part: HostedPart) -> &HostedCall {
        let Self { calls, by_id, open } = self;
        let (answered, call) = match part {
            HostedPart::Call(call) => (None, call),
            HostedPart::Output(output) => {
                let open = open.entry(output.name.clone()).or_default();
                while open.pop_if(|at| calls[*at].output.is_some()).is_some() {}
                (by_id.get(&output.id).or(open.last()).copied(), output)
            }
        };
        if let Some(at) = answered {
            calls[at].output = call.output;
            return &calls[at];
        }
        let at = calls.len();
        if !call.id.is_empty() {
            by_id.insert(call.id.clone(), at);
        }
        if call.output.is_none() {
            open.entry(call.name.clone()).or_default().push(at);
        }
        calls.push(call);
        &calls[at]
    }
}

pub(crate) fn calls(parts: impl IntoIterator<Item = HostedPart>) -> Vec<HostedCall> {
    let mut hosted = HostedCalls::default();
    for part in parts {
        hosted.add(part);
    }
    hosted.calls
}
