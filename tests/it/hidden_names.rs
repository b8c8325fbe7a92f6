//! The names of hidden arguments: whatever name the model uses, the hidden value stays as the program set it.

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;
use tokio::runtime::Builder;
use toolkit::definition::UnknownArguments;
use toolkit::prelude::*;
use toolkit::schemars::JsonSchema;
use toolkit::{AdaptedTool, ArgumentTransform, ClosureTool, ErrorKind};

/// The name of the argument that every tool of this file hides.
const HIDDEN: &str = "zecret";

/// The answer for a variant without the hidden argument.
const NO_FIELD: &str = "no such field";

/// Returns the hidden value of the arguments.
trait Hides {
    fn hidden(self) -> Option<String>;
}

/// Declares types for the arguments, each with the field `zecret`.
macro_rules! hiding {
    ($($(#[$attribute:meta])* $kind:ident $name:ident { $($body:tt)* } => $value:expr;)*) => {$(
        #[derive(Debug, Deserialize, JsonSchema)]
        #[allow(dead_code)]
        $(#[$attribute])*
        $kind $name { $($body)* }

        impl Hides for $name {
            fn hidden(self) -> Option<String> {
                let read: fn(Self) -> Option<String> = $value;
                read(self)
            }
        }
    )*};
}

hiding! {
    struct Plain { q: Option<String>, #[serde(alias = "key", alias = "k")] zecret: Option<String> } => |args| args.zecret;
    #[serde(deny_unknown_fields)]
    struct Strict { q: Option<String>, #[serde(alias = "key")] zecret: Option<String> } => |args| args.zecret;
    struct Outer { #[serde(alias = "query")] q: Option<String>, #[serde(flatten)] inner: Plain } => |args| args.inner.zecret;
    struct Outermost { z: Option<u8>, #[serde(flatten)] outer: Outer } => |args| args.outer.inner.zecret;
    #[serde(tag = "op")]
    enum Tagged {
        Read { path: Option<String> },
        Write { #[serde(alias = "d")] zecret: Option<String>, #[serde(alias = "key")] q: Option<String> }
    } => |args| if let Tagged::Write { zecret, .. } = args { zecret } else { Some(NO_FIELD.to_owned()) };
    #[serde(tag = "op", deny_unknown_fields)]
    enum TaggedStrict {
        Write { #[serde(alias = "d")] zecret: Option<String>, q: Option<String> }
    } => |TaggedStrict::Write { zecret, .. }| zecret;
    #[serde(untagged)]
    enum Untagged {
        One { one: u8, #[serde(alias = "k")] zecret: Option<String> },
        Other { q: Option<String>, #[serde(alias = "key")] zecret: Option<String> }
    } => |args| match args { Untagged::One { zecret, .. } | Untagged::Other { zecret, .. } => zecret };
    struct WithTagged { q: Option<String>, #[serde(flatten)] tagged: Tagged } => |args| args.tagged.hidden();
    #[serde(from = "Plain")]
    #[schemars(with = "Plain")]
    struct Converted { zecret: Option<String> } => |args| args.zecret;
    struct Open {
        #[serde(alias = "k")] zecret: Option<String>,
        #[serde(flatten)] rest: BTreeMap<String, Value>
    } => |args| args.zecret;
}

impl From<Plain> for Converted {
    fn from(Plain { zecret, .. }: Plain) -> Self {
        Self { zecret }
    }
}

#[derive(Debug, ToolParams)]
#[allow(dead_code)]
struct Derived {
    q: Option<String>,
    #[param(alias = "key")]
    zecret: Option<String>,
}

#[derive(Debug, ToolParams)]
#[allow(dead_code)]
struct DerivedOuter {
    #[param(alias = "query")]
    q: Option<String>,
    #[serde(flatten)]
    inner: Derived,
}

/// Shows the value.
#[tool(register = false)]
fn by_function(q: Option<String>, #[param(alias = "key")] zecret: Option<String>) -> String {
    drop(q);
    format!("{zecret:?}")
}

fn of_type<T: Hides + ToolParams + Debug + 'static>() -> Arc<dyn Tool> {
    Arc::new(ClosureTool::new("tool", "Works.", |args: T| format!("{:?}", args.hidden())).expect("an object"))
}

fn closure<T: ToolParams + 'static>(hidden: fn(T) -> Option<String>) -> Arc<dyn Tool> {
    let tool = ClosureTool::new("tool", "Works.", move |args: T| format!("{:?}", hidden(args)));
    Arc::new(tool.expect("an object"))
}

/// Every kind of tool with the argument `zecret`.
fn tools() -> Vec<Arc<dyn Tool>> {
    let ignoring = ClosureTool::new("tool", "Works.", |args: Plain| format!("{:?}", args.zecret));
    let ignoring = ignoring.expect("an object");
    let mut tools = vec![
        of_type::<Plain>(),
        of_type::<Strict>(),
        of_type::<Outer>(),
        of_type::<Outermost>(),
        of_type::<Tagged>(),
        of_type::<TaggedStrict>(),
        of_type::<Untagged>(),
        of_type::<WithTagged>(),
        of_type::<Converted>(),
        of_type::<Open>(),
        closure(|args: Derived| args.zecret),
        closure(|args: DerivedOuter| args.inner.zecret),
        Arc::new(by_function::tool()),
        Arc::new(ignoring.with_metadata(|metadata| metadata.with_unknown(UnknownArguments::Ignore))),
    ];
    #[cfg(feature = "jsonschema")]
    for schema in [json!({}), json!({"additionalProperties": true}), json!({"additionalProperties": false})] {
        let mut schema = schema;
        schema["type"] = "object".into();
        schema["properties"] = json!({"q": {"type": "string"}, "zecret": {"type": "string"}});
        let tool = toolkit::DynamicTool::new("tool", "Works.", schema, |args: Value| {
            format!("{:?}", args["zecret"].as_str().map(str::to_owned))
        });
        tools.push(Arc::new(tool.expect("a schema")));
    }
    tools
}

/// Names that a model may use: names, aliases, near misses, and names derived from the hidden one.
const NAMES: [&str; 16] = [
    "q",
    "Q",
    "query",
    "one",
    "op",
    "z",
    "path",
    "d",
    "k",
    "key",
    "key_",
    "\\u006bey",
    "Zecret",
    "zecret",
    "zecret_",
    "z\\u0065cret",
];

fn value() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["\"GIVEN\"", "\"Write\"", "\"Read\"", "null", "1", "{\"zecret\": \"GIVEN\"}"])
}

fn arguments() -> impl Strategy<Value = String> {
    let member = (prop::sample::select(NAMES.to_vec()), value());
    let member = member.prop_map(|(name, value)| format!("\"{name}\": {value}"));
    let tag = any::<bool>().prop_map(|has| has.then(|| "\"op\": \"Write\"".to_owned()));
    (tag, prop::collection::vec(member, 0..4)).prop_map(|(tag, members)| {
        format!("{{{}}}", tag.into_iter().chain(members).collect::<Vec<_>>().join(", "))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_name_changes_or_tells_a_hidden_argument(arguments in arguments(), way in 0_u8..3, is_renamed in any::<bool>()) {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        for (index, tool) in tools().into_iter().enumerate() {
            let hide = ArgumentTransform::of(HIDDEN);
            let (hide, expected) = match way {
                0 => (hide.hidden(), None),
                1 => (hide.fixed("FIXED"), Some("FIXED".to_owned())),
                _ => (hide.computed(|_| Ok("FIXED".into())), Some("FIXED".to_owned())),
            };
            let has_q = tool.definition().parameters["properties"].get("q").is_some();
            let rename = (is_renamed && has_q).then(|| ArgumentTransform::of("q").with_name("words"));
            let Ok(adapted) = AdaptedTool::of(tool).with_arguments(rename.into_iter().chain([hide])) else { continue };
            let registry = ToolRegistry::from_tools([adapted]).expect("one tool");
            let name = registry.names().next().expect("one tool").to_owned();
            match runtime.block_on(registry.call(&name, &arguments)) {
                Ok(output) => {
                    let text = output.to_text().into_owned();
                    let has_no_field = text == format!("{:?}", Some(NO_FIELD));
                    prop_assert!(text == format!("{expected:?}") || has_no_field, "tool {}: {} {}", index, arguments, text);
                }
                Err(error) => {
                    prop_assert!(!error.to_string().contains("FIXED"), "tool {}: {}", index, error);
                    let is_named = error.to_string().contains(HIDDEN) && !arguments.contains("cret");
                    prop_assert!(!is_named, "tool {}: {} {}", index, arguments, error);
                }
            }
        }
    }
}

#[tokio::test]
async fn an_alias_of_a_hidden_argument_is_an_unknown_name() {
    for (tool, arguments, name) in [
        (of_type::<Tagged>(), r#"{"op": "Write", "q": "p", "d": "GIVEN"}"#, "d"),
        (of_type::<Outer>(), r#"{"key": "GIVEN"}"#, "key"),
        (of_type::<WithTagged>(), r#"{"op": "Write", "d": "GIVEN"}"#, "d"),
        (of_type::<TaggedStrict>(), r#"{"op": "Write", "d": "GIVEN"}"#, "d"),
    ] {
        for hide in [ArgumentTransform::of(HIDDEN).hidden(), ArgumentTransform::of(HIDDEN).fixed("FIXED")] {
            let adapted = AdaptedTool::of(tool.clone()).with_arguments([hide]).expect("possible");
            let registry = ToolRegistry::from_tools([adapted]).expect("one tool");
            let error = registry.call("tool", arguments).await.expect_err(arguments);
            assert_eq!(error.kind(), ErrorKind::InvalidArguments);
            let expected = format!("`{name}`: there is no such parameter");
            assert!(error.to_string().contains(&expected), "{error}");
        }
    }
}

#[test]
fn an_argument_whose_aliases_cannot_be_known_cannot_be_hidden() {
    for hide in [ArgumentTransform::of(HIDDEN).hidden(), ArgumentTransform::of(HIDDEN).fixed("FIXED")] {
        let error =
            AdaptedTool::of(of_type::<Open>()).with_arguments([hide]).expect_err("it may have aliases");
        assert!(error.to_string().contains("it may know this argument by an alias"), "{error}");
    }
    let shown = ArgumentTransform::of(HIDDEN).with_default("FIXED");
    assert!(AdaptedTool::of(of_type::<Open>()).with_arguments([shown]).is_ok());
}
