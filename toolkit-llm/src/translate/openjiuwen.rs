//! openJiuwen's data types for tools and calls, and conversions between these types and the types of this
//! library.
//!
//! The types are plain data for `serde`. Optional fields have openJiuwen's defaults.
//!
//! ```
//! use toolkit_ai::ToolDefinition;
//! use toolkit_ai::llm::translate::openjiuwen::ToolInfo;
//!
//! let info: ToolInfo = serde_json::from_value(serde_json::json!({
//!     "name": "get_weather",
//!     "description": "根据城市名称查询实时天气信息",
//!     "parameters": {"properties": {"city": {"type": "string"}}, "required": ["city"]},
//! }))?;
//! let definition = ToolDefinition::try_from(info)?;
//! assert_eq!(definition.parameters["type"], "object");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::tools::parse_name;
use crate::WireError;
use crate::ids;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use toolkit_core::call;
use toolkit_core::definition::ToolDefinition;

/// The type of a tool. openJiuwen has only one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolType {
    /// The only type, with the text `function`.
    #[default]
    Function,
}

/// The type of the parameters. openJiuwen has only one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ParametersType {
    /// The only type, with the text `object`.
    #[default]
    Object,
}

/// The parameters of a tool: a JSON Schema, with its main keywords as fields.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Parameters {
    /// Always `object`.
    #[serde(rename = "type")]
    pub kind: ParametersType,
    /// The schema of each parameter, by its name.
    pub properties: Map<String, Value>,
    /// The names of the required parameters.
    pub required: Vec<String>,
    /// The other keywords of the schema, for instance `$defs` or `additionalProperties`.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A tool as openJiuwen describes it to a model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolInfo {
    /// Always `function`.
    #[serde(rename = "type")]
    pub kind: ToolType,
    /// The name of the tool, as the model uses it.
    pub name: String,
    /// The description of the tool.
    pub description: String,
    /// The parameters. `None` if the tool takes no parameters.
    pub parameters: Option<Parameters>,
}

/// A tool call of the model.
///
/// ```
/// use toolkit_ai::llm::translate::openjiuwen::ToolCall;
///
/// let call = ToolCall {
///     id: Some("call_890123".to_owned()),
///     kind: "function".to_owned(),
///     name: "get_weather".to_owned(),
///     arguments: r#"{"city":"北京","units":"c"}"#.to_owned(),
///     index: None,
/// };
/// assert_eq!(toolkit_ai::ToolCall::from(call).id.as_str(), "call_890123");
///
/// // The id may be left out; ours then has one that is made of the call.
/// let without_id: ToolCall = serde_json::from_value(serde_json::json!({
///     "type": "function", "name": "get_weather", "arguments": r#"{"city":"广州"}"#,
/// }))?;
/// assert_eq!(without_id.id, None);
/// assert!(toolkit_ai::ToolCall::from(without_id).id.as_str().starts_with("call_"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id of the call. `None` if the model sent none.
    #[serde(default)]
    pub id: Option<String>,
    /// The type of the tool, almost always `function`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments as written by the model: a string, normally with a JSON object.
    pub arguments: String,
    /// The position of the call among the calls of the message. `None` if the position is not stated.
    #[serde(default)]
    pub index: Option<usize>,
}

/// Converts the calls of one message. If every call has a position, the calls are sorted by position. A call
/// without an id gets a unique id.
///
/// ```
/// use toolkit_ai::llm::translate::openjiuwen::{self, ToolCall};
///
/// let call = |index| ToolCall {
///     id: None,
///     kind: "function".to_owned(),
///     name: "now".to_owned(),
///     arguments: "{}".to_owned(),
///     index: Some(index),
/// };
/// let calls = openjiuwen::to_calls(&[call(1), call(0)]);
/// assert_eq!(calls[0].index, Some(0));
/// assert_ne!(calls[0].id, calls[1].id);
/// ```
#[must_use]
pub fn to_calls(calls: &[ToolCall]) -> Vec<call::ToolCall> {
    let mut calls: Vec<&ToolCall> = calls.iter().collect();
    if calls.iter().all(|call| call.index.is_some()) {
        calls.sort_by_key(|call| call.index);
    }
    let values: Vec<Value> = calls.iter().map(|call| json!(call)).collect();
    let given = calls.iter().map(|call| call.id.as_deref().filter(|id| !id.is_empty()));
    let ids = ids::complete(values.iter().zip(given));
    calls.into_iter().zip(ids).map(|(call, id)| call.with_id(id)).collect()
}

impl ToolCall {
    fn with_id(&self, id: call::CallId) -> call::ToolCall {
        let mut ours = call::ToolCall::new(id, self.name.as_str(), self.arguments.as_str());
        ours.index = self.index;
        ours
    }
}

impl From<ToolCall> for call::ToolCall {
    fn from(call: ToolCall) -> Self {
        let given = call.id.as_deref().filter(|id| !id.is_empty());
        call.with_id(ids::CallIds::default().settle(given, || json!(call)))
    }
}

impl From<&call::ToolCall> for ToolCall {
    fn from(call: &call::ToolCall) -> Self {
        Self {
            id: Some(call.id.as_str().to_owned()),
            kind: "function".to_owned(),
            name: call.name.clone(),
            arguments: call.arguments.as_str().to_owned(),
            index: call.index,
        }
    }
}

/// Converts openJiuwen's tool into a definition. Fails if the tool name is illegal.
impl TryFrom<ToolInfo> for ToolDefinition {
    type Error = WireError;

    fn try_from(info: ToolInfo) -> Result<Self, WireError> {
        let name = parse_name(Some(&json!(info.name)), "name")?;
        let parameters = match info.parameters {
            None => json!({"type": "object", "properties": {}}),
            Some(parameters) => parameters.into_schema(),
        };
        Ok(Self::new(name, info.description, parameters))
    }
}

/// Converts a definition into openJiuwen's tool. Fails if the schema of the parameters is not an object
/// schema.
impl TryFrom<&ToolDefinition> for ToolInfo {
    type Error = WireError;

    fn try_from(definition: &ToolDefinition) -> Result<Self, WireError> {
        let parameters = Parameters::from_schema(&definition.parameters)?;
        let is_empty = parameters == Parameters::default();
        Ok(Self {
            kind: ToolType::Function,
            name: definition.name.as_str().to_owned(),
            description: definition.description.clone(),
            parameters: Some(parameters).filter(|_| !is_empty),
        })
    }
}

impl Parameters {
    fn into_schema(self) -> Value {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!(self.kind));
        schema.insert("properties".to_owned(), self.properties.into());
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), self.required.into());
        }
        schema.extend(self.rest);
        schema.into()
    }

    fn from_schema(schema: &Value) -> Result<Self, WireError> {
        let Value::Object(schema) = schema else {
            return Err(WireError::new("parameters", "a JSON Schema object"));
        };
        let mut rest = schema.clone();
        if rest.shift_remove("type").is_some_and(|kind| kind != "object") {
            return Err(WireError::new("parameters.type", "`object`"));
        }
        let properties = match rest.shift_remove("properties") {
            None => Map::new(),
            Some(Value::Object(properties)) => properties,
            Some(_) => return Err(WireError::new("parameters.properties", "an object")),
        };
        let required = rest.shift_remove("required").unwrap_or_else(|| json!([]));
        let required = serde_json::from_value(required)
            .map_err(|_| WireError::new("parameters.required", "a list of names"))?;
        Ok(Self { kind: ParametersType::Object, properties, required, rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolkit_core::name::ToolName;

    fn info(value: Value) -> Result<ToolInfo, serde_json::Error> {
        serde_json::from_value(value)
    }

    #[test]
    fn missing_fields_have_defaults() {
        assert_eq!(
            json!(info(json!({})).unwrap()),
            json!({"type": "function", "name": "", "description": "", "parameters": null})
        );
        assert_eq!(json!(Parameters::default()), json!({"type": "object", "properties": {}, "required": []}));
        assert_eq!(info(json!({})).unwrap(), ToolInfo::default());
    }

    #[test]
    fn other_types_are_refused() {
        assert!(info(json!({"type": "mcp"})).is_err());
        assert!(info(json!({"parameters": {"type": "array"}})).is_err());
        assert!(serde_json::from_value::<ToolCall>(json!({"name": "f", "arguments": "{}"})).is_err());
        let object = json!({"type": "function", "name": "f", "arguments": {}});
        assert!(serde_json::from_value::<ToolCall>(object).is_err());
    }

    #[test]
    fn definitions_round_trip() {
        for parameters in [
            json!({"type": "object", "properties": {}}),
            json!({
                "type": "object",
                "properties": {"at": {"$ref": "#/$defs/Place"}},
                "required": ["at"],
                "additionalProperties": false,
                "$defs": {"Place": {"type": "string"}},
            }),
        ] {
            let definition = ToolDefinition::new(ToolName::new("f").unwrap(), "d", parameters);
            let info = ToolInfo::try_from(&definition).unwrap();
            assert_eq!(ToolDefinition::try_from(info).unwrap(), definition);
        }
        let none = ToolDefinition::new(ToolName::new("f").unwrap(), "", json!({"type": "object"}));
        assert_eq!(ToolInfo::try_from(&none).unwrap().parameters, None);
    }

    #[test]
    fn definitions_without_an_equivalent_are_refused() {
        let refuse = |schema: Value, path: &str| {
            let definition = ToolDefinition::new(ToolName::new("f").unwrap(), "", schema);
            assert_eq!(ToolInfo::try_from(&definition).unwrap_err().path(), path);
        };
        refuse(json!({"type": "array"}), "parameters.type");
        refuse(json!({"properties": 1}), "parameters.properties");
        refuse(json!({"required": [1]}), "parameters.required");
        refuse(json!(true), "parameters");
        let error = ToolDefinition::try_from(ToolInfo::default()).unwrap_err();
        assert_eq!(error.path(), "name");
    }

    #[test]
    fn calls_round_trip() {
        let ours = call::ToolCall::new("call_1", "f", "{\"a\": 1}").with_index(2);
        let theirs = ToolCall::from(&ours);
        assert_eq!(
            json!(theirs),
            json!({"id": "call_1", "type": "function", "name": "f", "arguments": "{\"a\": 1}", "index": 2})
        );
        assert_eq!(to_calls(std::slice::from_ref(&theirs)), std::slice::from_ref(&ours));
        assert_eq!(call::ToolCall::from(theirs), ours);
    }

    #[test]
    fn missing_ids_are_generated() {
        let call = |id: Option<&str>| ToolCall {
            id: id.map(ToOwned::to_owned),
            kind: "function".to_owned(),
            name: "f".to_owned(),
            arguments: String::new(),
            index: None,
        };
        let calls = to_calls(&[call(None), call(Some("a")), call(Some(""))]);
        assert_eq!(calls[1].id, "a");
        assert_ne!(calls[0].id, calls[2].id);
        assert_eq!(call::ToolCall::from(call(None)).id, call::ToolCall::from(call(None)).id);
    }
}
