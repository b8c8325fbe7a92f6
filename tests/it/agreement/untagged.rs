//! Writes untagged enums with overlapping variants, aliases and limits.

use super::random::Random;
use std::fmt::Write;

const ENUMS: usize = 48;

/// The types of variants and fields. `Side` and `Turn` share names and aliases, and the schema of `Plain`
/// hides a variant.
const TYPES: [&str; 18] = [
    "u8",
    "i8",
    "i64",
    "String",
    "Side",
    "Side",
    "Turn",
    "Plain",
    "Shape",
    "Kind",
    "Content",
    "Leaf",
    "Option<Turn>",
    "Vec<Side>",
    "(Side, String)",
    "std::collections::BTreeMap<String, Turn>",
    "std::collections::BTreeMap<Side, u8>",
    "Result<Side, String>",
];

const COMMON: &str = r#"
    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord, toolkit_ai::ToolParams)]
    enum Side { #[serde(alias = "Left-alias")] Left, #[serde(alias = "Right-alias")] Right, Top }

    #[derive(Debug, toolkit_ai::ToolParams)]
    enum Turn { #[serde(alias = "Left-alias")] Left, Right, #[serde(alias = "Back-alias")] Back }

    #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
    enum Plain { First, Second, #[schemars(skip)] #[serde(rename = "3rd")] Hidden }

    #[derive(Debug, toolkit_ai::ToolParams)]
    #[serde(deny_unknown_fields)]
    struct Leaf { #[serde(alias = "side-alias")] side: Side, turn: Option<Turn> }

    #[derive(Debug, toolkit_ai::ToolParams)]
    enum Shape {
        #[serde(alias = "Dot-alias")] Dot,
        #[serde(alias = "Bar-alias")] Bar(Side),
        #[serde(alias = "Box-alias")] Box { #[serde(alias = "side-alias")] side: Side },
    }

    #[derive(Debug, toolkit_ai::ToolParams)]
    #[serde(tag = "kind")]
    enum Kind {
        #[serde(alias = "One-alias")] One { #[serde(alias = "side-alias")] side: Side },
        #[serde(alias = "Two-alias")] Two(Leaf),
    }

    #[derive(Debug, toolkit_ai::ToolParams)]
    #[serde(tag = "kind", content = "of")]
    enum Content { #[serde(alias = "One-alias")] One(Turn), #[serde(alias = "Three-alias")] Three(Leaf) }
"#;

pub(super) fn write(random: &mut Random, out: &mut String) -> std::fmt::Result {
    *out += COMMON;
    for index in 0..ENUMS {
        // A variant that ignores members would hide that another names them.
        writeln!(
            out,
            "#[derive(Debug, toolkit_ai::ToolParams)]\n#[serde(untagged, deny_unknown_fields)]\nenum U{index} {{"
        )?;
        for variant in 0..2 + random.below(3) {
            if random.once_in(2) {
                writeln!(out, "V{variant}({}),", random.one(&TYPES))?;
            } else {
                writeln!(out, "V{variant} {{ {} }},", fields(random)?)?;
            }
        }
        *out += "}\n";
    }
    let tools: String = (0..ENUMS).map(|index| format!("take::<Held<U{index}>>(),")).collect();
    writeln!(
        out,
        "pub(crate) fn untagged() -> Vec<(toolkit_ai::ClosureTool, Decode)> {{ [{tools}].into_iter().flatten().collect() }}"
    )
}

fn fields(random: &mut Random) -> Result<String, std::fmt::Error> {
    let mut fields = String::new();
    for name in &["a", "side", "b"][random.below(3)..] {
        let of = random.one(&TYPES);
        if random.once_in(3) {
            write!(fields, "#[serde(alias = \"{name}-alias\")] ")?;
        }
        if ["u8", "i8", "i64"].contains(&of) && random.once_in(3) {
            fields += "#[param(range = ..=5)] ";
        }
        if random.once_in(3) {
            write!(fields, "{name}: Option<{of}>, ")?;
        } else {
            write!(fields, "{name}: {of}, ")?;
        }
    }
    Ok(fields)
}
