//! Writes types whose schemas say more than the types: enums with shortened lists and hidden variants, and newtypes
//! with added keywords.

use super::random::Random;
use std::fmt::Write;

const WORDS: usize = 8;
const NEWTYPES: usize = 20;

/// The names of variants. Some contain what separates names in serde's messages.
const NAMES: [&str; 6] = ["one", "two", "three", "a, b", "c` or `d", "e`, `f"];

/// The ending of aliases that no schema and no derive declares. No tool takes them.
const UNDECLARED: &str = "~";

/// Keywords for fields and newtypes, by the type that they are added to.
const KEYWORDS: [(&str, &[&str]); 5] = [
    ("u8", &[r#""minimum" = 3"#, r#""maximum" = 5"#, r#""enum" = [1, 2, 70]"#, r#""const" = 1"#]),
    ("i64", &[r#""minimum" = 3"#, r#""exclusiveMaximum" = 5"#, r#""enum" = [1, -1]"#, r#""multipleOf" = 3"#]),
    (
        "String",
        &[r#""pattern" = "^[a-c]+$""#, r#""enum" = ["a", "b5"]"#, r#""const" = "a""#, r#""maxLength" = 1"#],
    ),
    ("Vec<u8>", &[r#""minItems" = 2"#, r#""uniqueItems" = true"#, r#""maxItems" = 1"#]),
    ("Upper", &[r#""enum" = ["A", "BB"]"#, r#""const" = "A""#, r#""maxLength" = 1"#]),
];

/// A text with a rule of its own.
const COMMON: &str = r#"
    #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
    #[serde(try_from = "String")]
    #[schemars(extend("pattern" = "^[A-Z]*$"))]
    struct Upper(String);

    impl TryFrom<String> for Upper {
        type Error = &'static str;
        fn try_from(text: String) -> Result<Self, Self::Error> {
            if text.bytes().all(|byte| byte.is_ascii_uppercase()) {
                Ok(Self(text))
            } else {
                Err("expected uppercase letters")
            }
        }
    }
"#;

const DERIVES: [&str; 2] = ["toolkit::ToolParams", "serde::Deserialize, schemars::JsonSchema"];

/// Writes the types, and returns their names with attributes that a field of this type may have.
pub(super) fn write(
    random: &mut Random,
    out: &mut String,
) -> Result<Vec<(String, Vec<String>)>, std::fmt::Error> {
    *out += COMMON;
    let mut written = Vec::new();
    for index in 0..WORDS {
        written.push(words(random, index, out)?);
    }
    for index in 0..NEWTYPES {
        let (of, keywords) = if random.once_in(3) {
            random.one(&written)
        } else {
            let (of, keywords) = random.one(&KEYWORDS);
            (of.to_owned(), keywords.iter().map(|it| format!("extend({it})")).collect())
        };
        let added = random.one(&keywords);
        // An attribute of the type itself describes the whole type; `with` is for fields.
        let (of_type, of_field) = if added.starts_with("extend") && random.once_in(2) {
            (format!("#[schemars({added})]"), String::new())
        } else {
            (String::new(), format!("#[schemars({added})] "))
        };
        let derive = DERIVES[1];
        let transparent = if random.once_in(2) { "#[serde(transparent)]\n" } else { "" };
        writeln!(
            out,
            "#[derive(Debug, {derive})]\n{transparent}{of_type}\nstruct N{index}({of_field}{of});"
        )?;
        written.push((format!("N{index}"), keywords));
    }
    Ok(written)
}

/// Writes an enum of words, and a second enum with some of its names. Returns attributes that shorten the list.
fn words(
    random: &mut Random,
    index: usize,
    out: &mut String,
) -> Result<(String, Vec<String>), std::fmt::Error> {
    let mut names = NAMES.to_vec();
    for _ in 0..random.below(4) {
        names.remove(random.below(names.len()));
    }
    let is_declared = random.once_in(2);
    let derive = DERIVES[usize::from(!is_declared)];
    writeln!(out, "#[derive(Debug, {derive})]\nenum W{index} {{")?;
    let mut hidden = None;
    for (at, name) in names.iter().enumerate() {
        let ending = if is_declared { super::ALIAS } else { UNDECLARED };
        let alias = if random.once_in(3) {
            format!(", alias = {:?}", format!("{name}{ending}"))
        } else {
            String::new()
        };
        if at > 0 && hidden.is_none() && random.once_in(5) {
            *out += "#[schemars(skip)] ";
            hidden = Some(at);
        }
        writeln!(out, "#[serde(rename = {name:?}{alias})] V{at},")?;
    }
    *out += "}\n";
    hidden.map(|at| names.remove(at));
    let fewer = names[..1 + random.below(names.len())].to_vec();
    let derive = random.one(&DERIVES);
    writeln!(out, "#[derive(Debug, {derive})]\nenum Fewer{index} {{")?;
    for (at, name) in fewer.iter().enumerate() {
        writeln!(out, "#[serde(rename = {name:?})] V{at},")?;
    }
    *out += "}\n";
    let attributes = vec![
        format!("extend(\"enum\" = {fewer:?})"),
        format!("extend(\"const\" = {:?})", names[0]),
        format!("with = \"Fewer{index}\""),
    ];
    Ok((format!("W{index}"), attributes))
}
