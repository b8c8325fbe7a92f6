//! Tool names: normalising, and namespaces.

use serde_json::{Value, json};
use toolkit_core::ToolName;
use toolkit_core::name::{
    NameError, Separator, is_in_namespace, namespace_prefix, normalize, strip_namespace,
};

use crate::report::{Answer, Answers, Report};
use crate::vectors::{entry, flag, some_text, text};

/// The function of the `from_function` rows.
const FUNCTION: &str = "multiply";

/// `normalize_names.json`
pub(crate) fn normalize_names(file: &Value, report: &mut Report<'_>) -> Result<(), String> {
    report.section(file, "normalize", &["output", "matches_openai_pattern"], |row| {
        let theirs = text(row, "output")?;
        let ours = normalize(text(row, "input")?);
        // Where the original needs several turns, we end where it would.
        Ok(Answers::values(
            json!({"output": theirs, "settled": normalize(theirs)}),
            json!({"output": ours, "settled": ours}),
        ))
    })?;
    report.section(file, "qualify_name", &["output"], qualify_name)?;
    report.section(file, "qualified_tool_name", &["output"], |row| {
        let name =
            ToolName::from_function(text(row, "raw_name")?, some_text(row, "namespace")?, separator(row)?);
        let ours = name.map(|name| name.as_str().into());
        Ok(Answers { theirs: Ok(entry(row, "output")?.clone()), ours: answer(ours) })
    })?;
    report.section(file, "namespace_prefix", &["output"], |row| {
        let ours = namespace_prefix(text(row, "name")?, separator(row)?);
        Ok(Answers::values(entry(row, "output")?.clone(), ours))
    })?;
    report.section(file, "is_in_and_strip", &["is_in", "stripped"], |row| {
        let name = text(row, "name")?;
        let namespace = text(row, "namespace")?;
        let separator = separator(row)?;
        Ok(Answers::values(
            json!({"is_in": flag(row, "is_in")?, "stripped": text(row, "stripped")?}),
            json!({
                "is_in": is_in_namespace(name, namespace, separator),
                "stripped": strip_namespace(name, namespace, separator),
            }),
        ))
    })
}

/// `update_namespace_*.json`
pub(crate) fn update_namespace(file: &Value, report: &mut Report<'_>) -> Result<(), String> {
    report.section(file, "cases", &["after"], |row| {
        let force = flag(row, "force")?;
        let separator = separator(row)?;
        let namespace = some_text(row, "namespace")?.unwrap_or_default();
        let name = named(entry(row, "before")?)?;
        let ours = name.and_then(|name| name.update_namespace(namespace, force, separator));
        Ok(Answers {
            theirs: Ok(parts(entry(row, "after")?)?),
            ours: answer(ours.map(|name| parts_of(&name))),
        })
    })
}

/// `from_function_names_*.json`
pub(crate) fn from_function_names(file: &Value, report: &mut Report<'_>) -> Result<(), String> {
    let outputs = ["name", "namespace", "method_name", "qualified_name", "description", "error"];
    report.section(file, "from_function", &outputs, |row| {
        let ours = from_function(entry(row, "kwargs")?)?;
        let theirs = match row.get("error") {
            Some(error) => Err(error.to_string()),
            None => Ok(parts(row)?),
        };
        Ok(Answers { theirs, ours: answer(ours.map(|name| parts_of(&name))) })
    })?;
    report.section(file, "requalify", &["after"], |row| {
        let namespace = some_text(row, "namespace")?;
        let separator = separator(row)?;
        let ours = named(entry(row, "before")?)?.and_then(|name| name.requalify(namespace, separator));
        Ok(Answers {
            theirs: Ok(parts(entry(row, "after")?)?),
            ours: answer(ours.map(|name| parts_of(&name))),
        })
    })
}

fn qualify_name(row: &Value) -> Result<Answers, String> {
    let name = text(row, "name")?;
    let namespace = text(row, "namespace")?;
    let separator = separator(row)?;
    let method = some_text(row, "method_name")?;
    let force = flag(row, "force")?;
    let ours = ToolName::from_parts(name, None, method.unwrap_or(name))
        .and_then(|name| name.update_namespace(namespace, force, separator));
    let ours = ours.map(|qualified| {
        // The original also gives the method of an unchanged name.
        let whole = qualified.as_str();
        let rest = whole.split_once(separator.as_char()).map_or(whole, |(_, rest)| rest);
        let is_known = method.is_some() || qualified.method_name() != whole;
        json!({"name": whole, "method_name": if is_known { qualified.method_name() } else { rest }})
    });
    let [their_name, their_method] = entry(row, "output")?.as_array().map_or(&[][..], Vec::as_slice) else {
        return Err("`output` is not a pair".to_owned());
    };
    Ok(Answers { theirs: Ok(json!({"name": their_name, "method_name": their_method})), ours: answer(ours) })
}

fn from_function(arguments: &Value) -> Result<Result<ToolName, NameError>, String> {
    if arguments == "lambda without name" {
        return Ok(ToolName::from_function("<lambda>", None, Separator::Dash));
    }
    let function = some_text(arguments, "name")?.unwrap_or(FUNCTION);
    let namespace = some_text(arguments, "namespace")?;
    let separator = if arguments.get("sep").is_some() { separator(arguments)? } else { Separator::Dash };
    let Some(method) = some_text(arguments, "method_name")? else {
        return Ok(ToolName::from_function(function, namespace, separator));
    };
    let name = ToolName::from_parts(&normalize(function), None, method);
    Ok(name.and_then(|name| name.update_namespace(namespace.unwrap_or_default(), false, separator)))
}

/// Our name for a row's parts, where an unknown method is the whole name.
fn named(parts: &Value) -> Result<Result<ToolName, NameError>, String> {
    let name = text(parts, "name")?;
    Ok(ToolName::from_parts(name, some_text(parts, "namespace")?, method(parts, name)?))
}

/// A row's parts of a name, with unknown parts as in ours.
fn parts(row: &Value) -> Result<Value, String> {
    let name = text(row, "name")?;
    let method = method(row, name)?;
    let qualified = some_text(row, "qualified_name")?.unwrap_or(name);
    let namespace = some_text(row, "namespace")?;
    Ok(json!({"name": name, "namespace": namespace, "method_name": method, "qualified_name": qualified}))
}

fn method<'a>(parts: &'a Value, name: &'a str) -> Result<&'a str, String> {
    match entry(parts, "method_name")? {
        Value::Null => Ok(name),
        _ => text(parts, "method_name"),
    }
}

fn parts_of(name: &ToolName) -> Value {
    json!({
        "name": name.as_str(),
        "namespace": name.namespace(),
        "method_name": name.method_name(),
        "qualified_name": name.as_str(),
    })
}

fn answer(ours: Result<Value, NameError>) -> Answer {
    ours.map_err(|error| error.to_string())
}

fn separator(row: &Value) -> Result<Separator, String> {
    match text(row, "sep")? {
        "-" => Ok(Separator::Dash),
        "." => Ok(Separator::Dot),
        _ => Err(format!("no separator in {row}")),
    }
}
