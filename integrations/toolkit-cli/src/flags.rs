//! The flags of a tool: made from the schema of its parameters, and read back as its arguments.

use clap::{Arg, ArgAction, ArgMatches};
use serde_json::{Map, Value};
use std::collections::HashSet;
use toolkit_schema::{SchemaRef, describe};

/// The flags of the command `call` itself. A parameter of this name is given as `--arg.NAME`.
const OWN: [&str; 6] = ["args", "format", "help", "save", "timeout", "yes"];

/// The levels of nested objects with flags of their own. Deeper values are given as JSON.
const DEEPEST: usize = 4;

/// How the text of a flag becomes a value. A text that does not fit stays a string, and the tool refuses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FlagKind {
    Text,
    Switch,
    Json,
}

/// A flag of a tool: one parameter, or a property inside of it.
#[derive(Debug)]
pub(crate) struct Flag {
    /// The names of the parameter and of the properties inside of it.
    path: Vec<String>,
    /// The name without dashes, as in `address.city`.
    name: String,
    kind: FlagKind,
    is_list: bool,
    pub(crate) is_required: bool,
    /// What the value is, as in `integer from 1 to 14`.
    pub(crate) form: String,
    pub(crate) about: String,
}

/// Returns the flags of a schema of parameters, in its order.
pub(crate) fn flags(parameters: &Value) -> Vec<Flag> {
    let mut flags = Vec::new();
    collect(parameters, parameters, &[], &mut flags);
    // A parameter `a.b` beside a property `b` of `a`.
    let mut spellings = HashSet::new();
    flags.retain(|flag| spellings.insert(flag.spelling()));
    flags
}

fn collect(root: &Value, object: &Value, path: &[String], flags: &mut Vec<Flag>) {
    let Some(properties) = object.get("properties").and_then(Value::as_object) else { return };
    let required = object.get("required").and_then(Value::as_array);
    for (name, schema) in properties {
        if !is_spellable(name) {
            continue;
        }
        let target = resolved(root, schema);
        let items = if type_of(target) == "array" { target.get("items") } else { None };
        let value = items.map_or(target, |items| resolved(root, items));
        let own_path = [path, std::slice::from_ref(name)].concat();
        flags.push(Flag {
            name: own_path.join("."),
            kind: kind(value),
            is_list: items.is_some(),
            is_required: path.is_empty()
                && required.is_some_and(|required| required.contains(&name.as_str().into())),
            form: form(root, schema, target) + &fields(root, items.and(Some(value))),
            about: about(schema, target),
            path: own_path.clone(),
        });
        if own_path.len() < DEEPEST && type_of(target) == "object" {
            collect(root, target, &own_path, flags);
        }
    }
}

/// A name with other characters can only be given in `--args`.
fn is_spellable(name: &str) -> bool {
    let mut others = name.chars().filter(|c| !c.is_alphanumeric() && !"_-.$@".contains(*c));
    !name.is_empty() && !name.starts_with('-') && others.next().is_none()
}

fn about(schema: &Value, target: &Value) -> String {
    let own = schema.get("description").or(target.get("description"));
    own.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Follows references, and unions with `null`.
fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let mut schema = schema;
    // A schema that refers to itself ends here.
    for _ in 0..8 {
        match target_of(root, schema).or_else(|| only_branch(schema)) {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

fn target_of<'a>(root: &'a Value, schema: &Value) -> Option<&'a Value> {
    root.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
}

/// Returns the branch of a union that is the only one beside `null`.
fn only_branch(schema: &Value) -> Option<&Value> {
    let union = schema.get("anyOf").or(schema.get("oneOf")).or(schema.get("allOf"))?;
    let mut others = union.as_array()?.iter().filter(|branch| type_of(branch) != "null");
    let first = others.next()?;
    if others.next().is_none() { Some(first) } else { None }
}

/// Returns the type of a schema beside `null`, or an empty text for several.
fn type_of(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => {
            let mut others = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            let first = others.next().unwrap_or("null");
            if others.next().is_none() { first } else { "" }
        }
        _ => "",
    }
}

fn kind(schema: &Value) -> FlagKind {
    let values = schema.get("enum").and_then(Value::as_array);
    match type_of(schema) {
        "string" => FlagKind::Text,
        "boolean" => FlagKind::Switch,
        "" if values.is_some_and(|values| values.iter().all(Value::is_string)) => FlagKind::Text,
        _ => FlagKind::Json,
    }
}

fn form(root: &Value, schema: &Value, target: &Value) -> String {
    let mut form = describe(SchemaRef::new(root, target)).unwrap_or_else(|| "JSON".to_owned());
    if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
        form.push_str(&format!("; {default} by default"));
    }
    form
}

/// Returns the properties of the objects in a list, which have no flags.
fn fields(root: &Value, items: Option<&Value>) -> String {
    let properties = items.and_then(|items| items.get("properties")).and_then(Value::as_object);
    let mut fields = Vec::new();
    for (name, schema) in properties.into_iter().flatten() {
        let form = describe(SchemaRef::new(root, schema)).unwrap_or_else(|| "JSON".to_owned());
        fields.push(format!("`{name}` {form}"));
    }
    if fields.is_empty() { String::new() } else { format!("; properties: {}", fields.join(", ")) }
}

impl Flag {
    /// Returns the flag as it is typed, without dashes.
    pub(crate) fn spelling(&self) -> String {
        if OWN.contains(&self.name.as_str()) { format!("arg.{}", self.name) } else { self.name.clone() }
    }

    /// Returns the name of the parameter, as in `address.city`.
    pub(crate) fn path_text(&self) -> &str {
        &self.name
    }

    fn to_arg(&self, taken: &mut HashSet<String>) -> Arg {
        let spelling = self.spelling();
        let mut arg = Arg::new(spelling.clone()).long(spelling).help_heading("Parameters");
        for other in [format!("arg.{}", self.name), self.name.replace('_', "-")] {
            if taken.insert(other.clone()) {
                arg = arg.alias(other);
            }
        }
        let gap = if self.about.is_empty() { "" } else { "\n" };
        let required = if self.is_required { "; required" } else { "" };
        let help = format!("{}{gap}[{}{required}]", self.about, self.form);
        arg = arg.help(help).value_name("VALUE").allow_negative_numbers(true);
        if self.is_list {
            arg = arg.action(ArgAction::Append);
        } else if self.kind == FlagKind::Switch {
            arg = arg.num_args(0..=1).require_equals(true).default_missing_value("true");
        }
        arg
    }

    /// Returns the value that the user has given.
    fn value(&self, matches: &ArgMatches) -> Option<Value> {
        let texts: Vec<&String> = matches.try_get_many(&self.spelling()).ok().flatten()?.collect();
        if self.is_list
            && let [whole] = texts[..]
            && let Ok(list @ Value::Array(_)) = serde_json::from_str(whole)
        {
            return Some(list);
        }
        let mut values = Vec::new();
        for text in texts {
            values.push(self.parse(text));
        }
        if self.is_list { Some(Value::Array(values)) } else { values.pop() }
    }

    fn parse(&self, text: &str) -> Value {
        if self.kind == FlagKind::Text {
            return text.into();
        }
        serde_json::from_str(text).unwrap_or_else(|_| text.into())
    }
}

/// Returns the flags as arguments of a command. Other spellings give way to the names of parameters.
pub(crate) fn to_args(flags: &[Flag]) -> Vec<Arg> {
    let mut taken = HashSet::from(OWN.map(str::to_owned));
    for flag in flags {
        taken.insert(flag.spelling());
    }
    let mut args = Vec::new();
    for flag in flags {
        args.push(flag.to_arg(&mut taken));
    }
    args
}

/// Adds the values of the flags to the arguments. Returns whether there were any.
pub(crate) fn add_values(flags: &[Flag], matches: &ArgMatches, arguments: &mut Map<String, Value>) -> bool {
    let mut is_any = false;
    for flag in flags {
        let Some(value) = flag.value(matches) else { continue };
        is_any = true;
        set(arguments, &flag.path, value);
    }
    is_any
}

fn set(object: &mut Map<String, Value>, path: &[String], value: Value) {
    let [first, rest @ ..] = path else { return };
    if rest.is_empty() {
        object.insert(first.clone(), value);
        return;
    }
    let inner = object.entry(first.as_str()).or_insert_with(|| Map::new().into());
    if !inner.is_object() {
        *inner = Map::new().into();
    }
    if let Value::Object(inner) = inner {
        set(inner, rest, value);
    }
}
