//! Writes random types and tools, for the test that schema and decoder agree.

#![allow(clippy::expect_used, clippy::print_stdout)]

mod random;
mod untagged;

use random::Random;
use std::fmt::Write;
use std::{env, fs, path::Path};

const SEED: u64 = 1;
const TYPES: usize = 48;
const TOOLS: usize = 24;

fn main() {
    let folder = if Path::new("it/agreement").exists() { "it/agreement" } else { "../tests/it/agreement" };
    println!("cargo::rerun-if-changed={folder}");
    println!("cargo::rerun-if-env-changed=TOOLKIT_SEED");
    let seed = env::var("TOOLKIT_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(SEED);
    let mut writer = Writer { random: Random(seed), named: Vec::new(), out: String::new() };
    for _ in 0..TYPES {
        match writer.random.below(5) {
            0 | 1 => writer.write_struct(),
            2 => writer.write_plain_struct(),
            _ => writer.write_enum(),
        }
    }
    writer.write_tools();
    untagged::write(&mut Random(seed), &mut writer.out).expect("a string");
    let folder = env::var_os("OUT_DIR").expect("cargo says where to");
    fs::write(Path::new(&folder).join("agreement.rs"), writer.out).expect("the file can be written");
}

/// An earlier type, which can be part of others.
#[derive(Clone)]
struct Named {
    name: String,
    /// Whether other objects can contain it, because its own accepts other members.
    open_struct: bool,
}

/// A type in the source, with facts.
#[derive(Clone)]
struct Type {
    text: String,
    kind: Kind,
    has_default: bool,
}

#[derive(Clone)]
enum Kind {
    Integer,
    Real,
    Text,
    List(Box<Self>),
    Map(Box<Self>),
    Other,
}

impl Type {
    fn new(text: impl Into<String>, kind: Kind, has_default: bool) -> Self {
        Self { text: text.into(), kind, has_default }
    }
}

struct Writer {
    random: Random,
    named: Vec<Named>,
    out: String,
}

impl Writer {
    fn scalar(&mut self) -> Type {
        let integers = ["u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64"];
        match self.random.below(10) {
            0..4 => Type::new(self.random.one(&integers), Kind::Integer, true),
            4 => Type::new("f64", Kind::Real, true),
            5 => Type::new("bool", Kind::Other, true),
            6 => Type::new("char", Kind::Other, true),
            _ => Type::new("String", Kind::Text, true),
        }
    }

    fn item(&mut self) -> Type {
        let item = self.scalar();
        if item.text == "f64" { self.item() } else { item }
    }

    fn ty(&mut self, depth: usize) -> Type {
        let Some(depth) = depth.checked_sub(1) else { return self.scalar() };
        match self.random.below(16) {
            0..5 => self.scalar(),
            5 | 6 => {
                let inner = self.ty(depth);
                Type::new(format!("Option<{}>", inner.text), inner.kind, inner.has_default)
            }
            7 => {
                let item = self.ty(depth);
                Type::new(format!("Vec<{}>", item.text), Kind::List(Box::new(item.kind)), item.has_default)
            }
            8 => {
                let value = self.ty(depth);
                let text = format!("std::collections::BTreeMap<String, {}>", value.text);
                Type::new(text, Kind::Map(Box::new(value.kind)), value.has_default)
            }
            9 => {
                let set = self.random.one(&["HashSet", "BTreeSet"]);
                let item = self.item();
                let text = format!("std::collections::{set}<{}>", item.text);
                Type::new(text, Kind::List(Box::new(item.kind)), true)
            }
            10 => {
                let items: Vec<String> =
                    (0..=self.random.below(3)).map(|_| self.ty(depth).text + ",").collect();
                Type::new(format!("({})", items.concat()), Kind::Other, false)
            }
            11 => {
                let item = self.ty(depth);
                let count = self.random.one(&[1, 2, 3]);
                Type::new(format!("[{}; {count}]", item.text), Kind::Other, false)
            }
            12 => {
                let inner = self.ty(depth);
                Type::new(format!("Box<{}>", inner.text), Kind::Other, inner.has_default)
            }
            _ if self.named.is_empty() => self.scalar(),
            13 => {
                let [ok, err] = [self.ty(depth).text, self.ty(depth).text];
                Type::new(format!("Result<{ok}, {err}>"), Kind::Other, false)
            }
            _ => {
                let at = self.random.below(self.named.len());
                Type::new(self.named[at].name.clone(), Kind::Other, false)
            }
        }
    }

    /// Returns a constraint for `#[param(…)]`.
    fn constraint(&mut self, kind: &Kind) -> Option<String> {
        let integers =
            ["range = 1..=9", "range = 3..", "range = ..=5", "multiple_of = 3", "one_of = [1, 2, 70]"];
        let reals = ["range = 0.5..=9.5", "range = ..2.0", "multiple_of = 0.5", "one_of = [0.5, 1.0]"];
        let texts = [
            "length = 1..=3",
            "length = 2",
            r#"pattern = "^[a-c]+$""#,
            r#"pattern = "[0-9]""#,
            r#"one_of = ["a", "b5"]"#,
            r#"format = "ipv4""#,
            r#"format = "date""#,
        ];
        let lengths = ["length = 1..=2", "length = 2..", "length = ..=1"];
        match kind {
            Kind::Integer => Some(self.random.one(&integers).to_owned()),
            Kind::Real => Some(self.random.one(&reals).to_owned()),
            Kind::Text => Some(self.random.one(&texts).to_owned()),
            Kind::List(item) | Kind::Map(item) => {
                if self.random.once_in(2) {
                    Some(self.random.one(&lengths).to_owned())
                } else {
                    self.constraint(item).map(|inner| format!("items({inner})"))
                }
            }
            Kind::Other => None,
        }
    }

    /// Returns the content of `#[param(…)]`.
    fn param(&mut self, ty: &Type, name: &str) -> String {
        let mut said = Vec::new();
        let has_default = ty.has_default && self.random.once_in(5);
        if has_default {
            said.push("default".to_owned());
        }
        if self.random.once_in(6) {
            said.push(format!(r#"rename = "{name}-renamed""#));
        }
        if self.random.once_in(5) {
            said.push(format!(r#"alias = "{name}{ALIAS}""#));
        }
        // A default that violates constraints is refused, and `None` violates none.
        if self.random.once_in(2) && (!has_default || ty.text.starts_with("Option<")) {
            said.extend(self.constraint(&ty.kind));
        }
        if said.is_empty() { String::new() } else { format!("#[param({})] ", said.join(", ")) }
    }

    /// An attribute that makes a schema say more than the type.
    fn says_more(&mut self, ty: &Type) -> String {
        let integers = [
            r#"#[schemars(extend("oneOf" = [{"maximum": 3}, {"minimum": 7}]))] "#,
            r#"#[schemars(extend("anyOf" = [{"multipleOf": 2}, {"multipleOf": 5}]))] "#,
            r#"#[schemars(extend("not" = {"const": 1}))] "#,
        ];
        let reals = [r#"#[schemars(extend("type" = "integer"))] "#, r#"#[schemars(with = "i32")] "#];
        let texts = [
            r#"#[schemars(extend("anyOf" = [{"pattern": "^a"}, {"maxLength": 1}]))] "#,
            r#"#[schemars(extend("allOf" = [{"maxLength": 2}]))] "#,
        ];
        match ty.text.as_str() {
            _ if !self.random.once_in(8) => "",
            "i64" | "u8" | "u32" => self.random.one(&integers),
            "f64" => self.random.one(&reals),
            "String" => self.random.one(&texts),
            _ => "",
        }
        .to_owned()
    }

    /// A struct without our derive, for which only `schemars` says more.
    fn write_plain_struct(&mut self) {
        let name = format!("T{}", self.named.len());
        writeln!(self.out, "#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]\nstruct {name} {{")
            .expect("a string takes all");
        for index in 0..=self.random.below(4) {
            let ty = self.ty(2);
            let more = self.says_more(&ty);
            writeln!(self.out, "{more}{}_p{index}: {},", name.to_lowercase(), ty.text)
                .expect("a string takes all");
        }
        self.out += "}\n";
        self.named.push(Named { name, open_struct: true });
    }

    fn begin(&mut self) -> String {
        let name = format!("T{}", self.named.len());
        self.out += "#[derive(Debug, toolkit_ai::ToolParams)]\n";
        name
    }

    fn write_struct(&mut self) {
        let name = self.begin();
        let closed = self.random.once_in(3);
        if closed {
            self.out += "#[serde(deny_unknown_fields)]\n";
        }
        if self.random.once_in(3) {
            self.out += "#[serde(rename_all = \"SCREAMING-KEBAB-CASE\")]\n";
        }
        writeln!(self.out, "struct {name} {{").expect("a string takes all");
        let prefix = name.to_lowercase();
        self.write_fields(&prefix);
        let part = self.named.iter().rfind(|named| named.open_struct).cloned();
        let takes_in = !closed && self.random.once_in(4);
        if let (true, Some(part)) = (takes_in, part) {
            writeln!(self.out, "#[param(flatten)] {prefix}_rest: {},", part.name)
                .expect("a string takes all");
        }
        self.out += "}\n";
        self.named.push(Named { name, open_struct: !closed && !takes_in });
    }

    fn write_fields(&mut self, prefix: &str) {
        for index in 0..self.random.below(4) {
            let name = format!("{prefix}_f{index}");
            let ty = match self.random.below(12) {
                0 => Type::new("Option<Box<Self>>", Kind::Other, false),
                // No constraint: a list with at least two such lists would never end.
                1 => Type::new("Vec<Self>", Kind::Other, false),
                _ => self.ty(2),
            };
            let param = self.param(&ty, &name);
            let more = self.says_more(&ty);
            writeln!(self.out, "{more}{param}{name}: {},", ty.text).expect("a string takes all");
        }
    }

    fn write_enum(&mut self) {
        let name = self.begin();
        let tagging =
            self.random.one(&["", "tag = \"kind\"", "tag = \"kind\", content = \"of\"", "untagged"]);
        let internal = tagging == "tag = \"kind\"";
        writeln!(self.out, "#[serde({tagging})]\nenum {name} {{").expect("a string takes all");
        for index in 0..=self.random.below(4) {
            let variant = format!("V{index}");
            let is_renamed = self.random.once_in(6);
            if is_renamed {
                writeln!(self.out, "#[serde(rename = \"v-{index}\")]").expect("a string takes all");
            }
            if index % 2 == 0 {
                let own = if is_renamed { format!("v-{index}") } else { variant.clone() };
                writeln!(self.out, "#[serde(alias = \"{own}{ALIAS}\")]").expect("a string takes all");
            }
            match self.random.below(4) {
                0 => self.out += &variant,
                1 => {
                    let part =
                        self.named.iter().rfind(|named| named.open_struct).map(|part| part.name.clone());
                    let inner = if internal { part } else { Some(self.ty(2).text) };
                    self.out += &inner.map_or_else(|| variant.clone(), |inner| format!("{variant}({inner})"));
                }
                // A constraint that only the type tells apart in an untagged enum.
                2 if !internal && self.random.once_in(2) => {
                    let inner = self.scalar();
                    let constraint = self.constraint(&inner.kind);
                    let param = constraint.map_or_else(String::new, |said| format!("#[param({said})] "));
                    self.out += &format!("{variant}({param}{})", inner.text);
                }
                2 if !internal => {
                    let items = format!("{}, {}", self.ty(1).text, self.ty(1).text);
                    self.out += &format!("{variant}({items})");
                }
                _ => {
                    self.out += &format!("{variant} {{\n");
                    // The variants of an untagged enum may have the same fields.
                    let of_variant = if tagging == "untagged" { String::new() } else { format!("_v{index}") };
                    self.write_fields(&format!("{}{of_variant}", name.to_lowercase()));
                    self.out += "}";
                }
            }
            self.out += ",\n";
        }
        self.out += "}\n";
        self.named.push(Named { name, open_struct: false });
    }

    /// A function for each few types, one with a struct's fields, and a closure for each struct.
    fn write_tools(&mut self) {
        let mut tools = Vec::new();
        for index in 0..TOOLS {
            let count = 1 + self.random.below(4);
            let params: Vec<String> = (0..count)
                .map(|index| {
                    let name = format!("p{index}");
                    let ty = self.ty(3);
                    format!("{}{name}: {}", self.param(&ty, &name), ty.text)
                })
                .collect();
            let unknown = if self.random.once_in(4) { ", unknown = \"ignore\"" } else { "" };
            let params = params.join(",\n");
            tools.push(format!("slots_{index}::tool()"));
            let names: Vec<String> = (0..count).map(|index| format!("&p{index},")).collect();
            self.write_tool(&format!("slots_{index}"), &params, unknown, &names.concat());
        }
        for named in self.named.clone().into_iter().filter(|named| named.open_struct) {
            let tool = format!("whole_{}", named.name.to_lowercase());
            tools.push(format!("{tool}::tool()"));
            self.write_tool(&tool, &format!("#[param(flatten)] p0: {}", named.name), "", "&p0,");
        }
        let names: Vec<String> = self.named.iter().map(|named| format!("take::<{}>()", named.name)).collect();
        writeln!(
            self.out,
            "pub(crate) fn functions() -> Vec<toolkit_ai::FunctionTool> {{ vec![{}] }}\n\
             pub(crate) fn types() -> Vec<(toolkit_ai::ClosureTool, Decode)> {{ [{}].into_iter().flatten().collect() }}",
            tools.join(", "),
            names.join(", "),
        )
        .expect("a string takes all");
    }

    /// The tool returns its decoded parameters.
    fn write_tool(&mut self, name: &str, params: &str, options: &str, names: &str) {
        writeln!(
            self.out,
            "#[toolkit_ai::tool(register = false, coerce = false{options})]\nfn {name}({params}) -> String {{ format!(\"{{:?}}\", ({names})) }}",
        )
        .expect("a string takes all");
    }
}

/// The ending that only aliases have.
const ALIAS: &str = "-alias";
