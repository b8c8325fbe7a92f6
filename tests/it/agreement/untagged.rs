//! Writes untagged enums whose variants overlap, with a function that tells whether a value keeps to its limits, and
//! untagged enums of types with aliases.

use super::random::Random;
use std::fmt::Write;

const ENUMS: usize = 24;
const CHOICES: usize = 40;

/// The types of fields, and whether a field of the type may have a limit.
const TYPES: [(&str, bool); 9] = [
    ("u8", true),
    ("i8", true),
    ("i64", true),
    ("Word", false),
    ("Plain", false),
    ("String", false),
    ("Part", false),
    ("Vec<Word>", false),
    ("Vec<i8>", false),
];

/// Words and parts, with aliases inside. Only `ToolParams` tells the schema of aliases. The schema of `Plain` hides a
/// variant.
const COMMON: &str = r#"
    #[derive(Debug, toolkit::ToolParams)]
    enum Word { First, #[serde(alias = "2nd")] Second }

    #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
    enum Plain { First, Second, #[schemars(skip)] #[serde(rename = "3rd")] Hidden }

    #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
    struct Part { #[serde(alias = "a-alias")] a: Plain, b: i8 }

    impl KeepsLimits for Plain { fn keeps_limits(&self) -> bool { !matches!(self, Self::Hidden) } }
    impl KeepsLimits for Part { fn keeps_limits(&self) -> bool { self.a.keeps_limits() } }
"#;

/// The types of variants. `Side` and `Turn` share names and aliases.
const CHOSEN: [&str; 15] = [
    "Side",
    "Side",
    "Turn",
    "Shape",
    "Kind",
    "Content",
    "Leaf",
    "String",
    "u8",
    "Option<Turn>",
    "Vec<Side>",
    "(Side, String)",
    "std::collections::BTreeMap<String, Turn>",
    "std::collections::BTreeMap<Side, u8>",
    "Result<Side, String>",
];

const CHOSEN_TYPES: &str = r#"
    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord, toolkit::ToolParams)]
    enum Side { #[serde(alias = "Left-alias")] Left, #[serde(alias = "Right-alias")] Right, Top }

    #[derive(Debug, toolkit::ToolParams)]
    enum Turn { #[serde(alias = "Left-alias")] Left, Right, #[serde(alias = "Back-alias")] Back }

    #[derive(Debug, toolkit::ToolParams)]
    #[serde(deny_unknown_fields)]
    struct Leaf { #[serde(alias = "side-alias")] side: Side, turn: Option<Turn> }

    #[derive(Debug, toolkit::ToolParams)]
    enum Shape {
        #[serde(alias = "Dot-alias")] Dot,
        #[serde(alias = "Bar-alias")] Bar(Side),
        #[serde(alias = "Box-alias")] Box { #[serde(alias = "side-alias")] side: Side },
    }

    #[derive(Debug, toolkit::ToolParams)]
    #[serde(tag = "kind")]
    enum Kind {
        #[serde(alias = "One-alias")] One { #[serde(alias = "side-alias")] side: Side },
        #[serde(alias = "Two-alias")] Two(Leaf),
    }

    #[derive(Debug, toolkit::ToolParams)]
    #[serde(tag = "kind", content = "of")]
    enum Content { #[serde(alias = "One-alias")] One(Turn), #[serde(alias = "Three-alias")] Three(Leaf) }
"#;

/// Writes untagged enums of types with aliases, and a tool for each.
pub(super) fn write_choices(random: &mut Random, out: &mut String) -> std::fmt::Result {
    *out += CHOSEN_TYPES;
    for index in 0..CHOICES {
        // A variant that ignores members would hide that another variant names them.
        writeln!(
            out,
            "#[derive(Debug, toolkit::ToolParams)]\n#[serde(untagged, deny_unknown_fields)]\nenum C{index} {{"
        )?;
        for variant in 0..2 + random.below(3) {
            let alias = if random.once_in(2) { "#[serde(alias = \"side-alias\")] " } else { "" };
            match random.below(4) {
                0 => writeln!(out, "V{variant} {{ {alias}side: {} }},", random.one(&CHOSEN))?,
                _ => writeln!(out, "V{variant}({}),", random.one(&CHOSEN))?,
            }
        }
        *out += "}\n";
    }
    let choices = (0..CHOICES).map(|index| format!("take::<Held<C{index}>>(),"));
    // Tools without an untagged enum need no check, and show own names, too.
    let tools: String =
        choices.chain(CHOSEN.iter().skip(1).map(|it| format!("take::<Held<{it}>>(),"))).collect();
    writeln!(
        out,
        "pub(crate) fn choices() -> Vec<toolkit::ClosureTool> {{
            [{tools}].into_iter().flatten().map(|(tool, _)| tool).collect()
        }}"
    )
}

/// The names that have aliases in the types of variants.
pub(super) const ALIASED: [&str; 11] =
    ["Left", "Right", "Back", "side", "Dot", "Bar", "Box", "One", "Two", "Three", "in"];

pub(super) fn write(random: &mut Random, out: &mut String) -> std::fmt::Result {
    *out += COMMON;
    for index in 0..ENUMS {
        let mut variants = String::new();
        let mut limits = String::new();
        for variant in 0..2 + random.below(2) {
            let (fields, holds) = fields(random)?;
            writeln!(variants, "V{variant} {{ {fields} }},")?;
            writeln!(limits, "Self::V{variant} {{ a, b, c }} => {holds},")?;
        }
        write!(
            out,
            "#[derive(Debug, toolkit::ToolParams)]\n#[serde(untagged)]\nenum U{index} {{ {variants} }}
            impl KeepsLimits for U{index} {{ fn keeps_limits(&self) -> bool {{ match self {{ {limits} }} }} }}\n"
        )?;
    }
    let tools: String = (0..ENUMS).map(|index| format!("beside_serde::<U{index}>(),")).collect();
    writeln!(out, "pub(crate) fn untagged() -> Vec<(toolkit::ClosureTool, Decode)> {{ vec![{tools}] }}")
}

/// Returns the fields of a variant, and an expression that is true if their values keep to their limits.
fn fields(random: &mut Random) -> Result<(String, String), std::fmt::Error> {
    let mut fields = String::new();
    let mut holds = "true".to_owned();
    for name in ["a", "b", "c"] {
        let (of, may_have_limit) = random.one(&TYPES);
        let is_absent = random.once_in(4);
        if is_absent {
            write!(fields, "#[serde(skip)] {name}: (), ")?;
            continue;
        }
        let is_optional = random.once_in(3);
        if random.once_in(3) {
            write!(fields, "#[serde(alias = \"{name}-alias\")] ")?;
        }
        let each = if is_optional { "iter()" } else { "into_iter()" };
        let values = if is_optional { name.to_owned() } else { format!("[{name}]") };
        if ["Plain", "Part"].contains(&of) {
            write!(holds, " && {values}.{each}.all(KeepsLimits::keeps_limits)")?;
        }
        if may_have_limit && random.once_in(3) {
            fields += "#[param(range = ..=5)] ";
            write!(holds, " && {values}.{each}.all(|it| *it <= 5)")?;
        }
        match is_optional {
            true if may_have_limit && random.once_in(2) => {
                fields += "#[serde(default)] ";
                write!(fields, "{name}: Option<{of}>, ")?;
            }
            true => write!(fields, "{name}: Option<{of}>, ")?,
            false => write!(fields, "{name}: {of}, ")?,
        }
    }
    Ok((fields, holds))
}
