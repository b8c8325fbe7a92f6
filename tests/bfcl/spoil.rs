//! Making a valid call wrong in ways that must be noticed.

use jsonschema::Validator;
use serde_json::{Map, Value, json};

pub(crate) struct Spoiled {
    pub(crate) how: &'static str,
    /// The parameter that the refusal names.
    pub(crate) param: String,
    pub(crate) arguments: Value,
}

/// Leaves out each given required parameter.
pub(crate) fn without_one<'a>(schema: &'a Value, arguments: &'a Value) -> impl Iterator<Item = Spoiled> + 'a {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    required.filter_map(|name| {
        let mut arguments = arguments.clone();
        arguments.as_object_mut()?.remove(name)?;
        Some(Spoiled { how: "without", param: name.to_owned(), arguments })
    })
}

/// Gives each parameter a value that its schema refuses.
pub(crate) fn of_wrong_type<'a>(
    validator: &'a Validator,
    arguments: &'a Value,
) -> impl Iterator<Item = Spoiled> + 'a {
    let others = [json!("no"), json!(1.5), json!(true), json!([{}]), json!({"no": 1}), json!(null)];
    members(arguments).keys().flat_map(move |name| {
        let wrong = others.iter().map(|other| {
            let mut arguments = arguments.clone();
            arguments[name] = other.clone();
            Spoiled { how: "wrong value of", param: name.clone(), arguments }
        });
        wrong.filter(|wrong| !validator.is_valid(&wrong.arguments)).collect::<Vec<_>>()
    })
}

/// Misspells each given parameter, where the schema forbids others.
pub(crate) fn misspelt<'a>(schema: &'a Value, arguments: &'a Value) -> impl Iterator<Item = Spoiled> + 'a {
    members(arguments).iter().filter_map(move |(name, value)| {
        let param = format!("{name}_x");
        if schema["properties"].get(&param).is_some() {
            return None;
        }
        let mut arguments = members(arguments).clone();
        arguments.remove(name);
        arguments.insert(param.clone(), value.clone());
        Some(Spoiled { how: "misspelt", param, arguments: Value::Object(arguments) })
    })
}

fn members(arguments: &Value) -> &Map<String, Value> {
    static NONE: std::sync::OnceLock<Map<String, Value>> = std::sync::OnceLock::new();
    arguments.as_object().unwrap_or_else(|| NONE.get_or_init(Map::new))
}
