//! Spellings of parameter names that providers refuse.

use super::ToolDefinition;
use super::call_reason::CALL_REASON;
use crate::args::ObjectText;
use crate::name::{NameRule, WireNames};
use serde_json::Value;
use toolkit_schema::__private::rename_members;
use toolkit_schema::keyword::subschemas;

/// Returns spellings of a tool's parameter names that a provider accepts, also inside of parameters.
///
/// ```
/// use toolkit_ai::name::NameRule;
/// use toolkit_ai::definition::parameter_names;
///
/// let schema = serde_json::json!({"properties": {"filter[name]": {"type": "string"}}});
/// let names = parameter_names(NameRule::SHORT_DOTS, &schema);
/// assert_eq!(names.spell("filter[name]"), "filter_name_");
/// assert_eq!(names.unspell("filter_name_"), "filter[name]");
/// ```
#[must_use]
pub fn parameter_names(rule: NameRule, parameters: &Value) -> WireNames {
    let mut names = vec![CALL_REASON];
    add_names(parameters, &mut names);
    WireNames::new(rule, names)
}

/// Returns whether a widely used provider refuses a parameter's name.
pub(crate) fn has_refused_parameter(definition: &ToolDefinition) -> bool {
    let mut names = Vec::new();
    add_names(&definition.parameters, &mut names);
    for name in names {
        if !NameRule::COMMON_PARAMETERS.iter().all(|rule| rule.accepts(name)) {
            return true;
        }
    }
    false
}

/// Adds the names of parameters at all depths.
fn add_names<'a>(parameters: &'a Value, names: &mut Vec<&'a str>) {
    let mut open = vec![parameters];
    while let Some(schema) = open.pop() {
        if let Some(Value::Object(properties)) = schema.get("properties") {
            names.extend(properties.keys().map(String::as_str));
        }
        open.extend(subschemas(schema).map(|inside| inside.schema));
    }
}

/// Returns the arguments under the tool's own parameter names, at all depths. Except for white space, all
/// else stays as the model wrote it.
///
/// Returns `None` if no member has a provider's spelling. [Wrapped](ObjectText::repaired) arguments stay
/// wrapped, so that the tool reports the coercion.
pub(crate) fn own_parameter_names(definition: &ToolDefinition, text: &str) -> Option<String> {
    let spellings = NameRule::OF_PARAMETERS.map(|rule| parameter_names(rule, &definition.parameters));
    if spellings.iter().all(WireNames::is_identity) {
        return None;
    }
    let object = ObjectText::read(text).ok()?;
    let is_wrapped = object.repaired.is_some();
    if is_wrapped && !definition.metadata.coerce {
        return None;
    }
    let arguments =
        rename_members(&definition.parameters, &object.text, &|name| original_name(&spellings, name))?;
    Some(if is_wrapped { Value::from(arguments).to_string() } else { arguments })
}

fn original_name(spellings: &[WireNames], spelling: &str) -> Option<String> {
    let original = spellings.iter().find_map(|names| names.original(spelling))?;
    Some(original.to_string())
}
