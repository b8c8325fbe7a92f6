//! Writes structs and enums that serve as defaults, and tools whose parameters have such defaults.

use super::random::Random;
use std::fmt::Write;

const TYPES: usize = 24;

/// Types of fields, each with an expression of a value.
const FIELDS: [(&str, &str); 9] = [
    ("u8", "7"),
    ("i64", "-3"),
    ("f64", "2.5"),
    ("bool", "true"),
    ("String", "\"a\\\"b\".to_owned()"),
    ("Option<u8>", "Some(9)"),
    ("Option<String>", "None"),
    ("Vec<Option<i32>>", "vec![Some(1), None]"),
    ("std::collections::BTreeMap<String, u8>", "[(\"k\".to_owned(), 1)].into()"),
];

/// Writes the types and the tools. The default of each tool is a value that is not the default of its type.
pub(super) fn write(random: &mut Random, out: &mut String) -> std::fmt::Result {
    let mut known: Vec<(String, String)> =
        FIELDS.iter().map(|(of, value)| ((*of).to_owned(), (*value).to_owned())).collect();
    for index in 0..TYPES {
        let name = format!("D{index}");
        let of = if random.once_in(2) {
            a_struct(random, &name, &known, out)?
        } else {
            an_enum(random, &name, &known, out)?
        };
        writeln!(
            out,
            "#[toolkit::tool(register = false, coerce = false)]
            fn default_{index}(#[param(default)] p0: {name}, #[param(default = {of})] p1: {name}, p2: H{index}) -> String {{
                format!(\"{{:?}}\", (p0, p1, p2))
            }}
            #[derive(Debug, toolkit::ToolParams)]
            struct H{index} {{ #[serde(default)] a: {name}, #[param(default = {of})] b: {name}, c: Option<{name}> }}"
        )?;
        known.push((name.clone(), of.clone()));
        known.push((format!("Box<{name}>"), format!("Box::new({of})")));
    }
    let tools: String = (0..TYPES).map(|index| format!("default_{index}::tool(),")).collect();
    writeln!(out, "pub(crate) fn with_defaults() -> Vec<toolkit::FunctionTool> {{ vec![{tools}] }}")
}

const DERIVES: &str = "#[derive(Debug, Default, serde::Serialize, toolkit::ToolParams)]\n";

/// Writes fields. Returns them with values, as in an expression.
fn fields(
    random: &mut Random,
    known: &[(String, String)],
    out: &mut String,
) -> Result<String, std::fmt::Error> {
    let mut values = String::new();
    for index in 0..=random.below(3) {
        let (of, value) = random.one(known);
        let attribute =
            random.one(&["", "", "#[serde(default)] ", "#[serde(rename = \"a b\", alias = \"ab\")] "]);
        // One name for one field.
        let attribute = if index == 0 {
            attribute
        } else {
            attribute
                .split("rename")
                .next()
                .map_or("", |start| if start.ends_with('(') { "" } else { attribute })
        };
        writeln!(out, "{attribute}f{index}: {of},")?;
        write!(values, "f{index}: {value}, ")?;
    }
    Ok(values)
}

fn a_struct(
    random: &mut Random,
    name: &str,
    known: &[(String, String)],
    out: &mut String,
) -> Result<String, std::fmt::Error> {
    let container = random.one(&[
        "",
        "#[serde(default)]",
        "#[serde(rename_all = \"SCREAMING-KEBAB-CASE\")]",
        "#[serde(deny_unknown_fields)]",
    ]);
    writeln!(out, "{DERIVES}{container}\nstruct {name} {{")?;
    let values = fields(random, known, out)?;
    out.push_str("}\n");
    Ok(format!("{name} {{ {values} }}"))
}

fn an_enum(
    random: &mut Random,
    name: &str,
    known: &[(String, String)],
    out: &mut String,
) -> Result<String, std::fmt::Error> {
    let tagging = random.one(&["", "tag = \"kind\"", "tag = \"kind\", content = \"of\"", "untagged"]);
    let case = random.one(&["", ", rename_all = \"snake_case\""]);
    let container = if tagging.is_empty() {
        case.trim_start_matches(", ").to_owned()
    } else {
        format!("{tagging}{case}")
    };
    writeln!(out, "{DERIVES}#[serde({container})]\nenum {name} {{\n#[default]\nFirstOne,")?;
    let mut values = vec![format!("{name}::FirstOne")];
    for index in 0..random.below(3) {
        let variant = format!("OtherOne{index}");
        match random.below(3) {
            0 => {
                writeln!(out, "{variant} {{ only_{index}: u8,")?;
                let fields = fields(random, known, out)?;
                out.push_str("},\n");
                values.push(format!("{name}::{variant} {{ only_{index}: 4, {fields} }}"));
            }
            1 if tagging != "tag = \"kind\"" && tagging != "untagged" => {
                let (of, value) = random.one(known);
                writeln!(out, "{variant}({of}),")?;
                values.push(format!("{name}::{variant}({value})"));
            }
            // A second variant without data would be the first in an untagged enum.
            _ if tagging == "untagged" => {}
            _ => {
                writeln!(out, "{variant},")?;
                values.push(format!("{name}::{variant}"));
            }
        }
    }
    out.push_str("}\n");
    Ok(random.one(&values))
}
