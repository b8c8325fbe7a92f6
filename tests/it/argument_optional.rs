//! A flattened optional enum is held to its schema as soon as one of its members is given, over random members.

use proptest::prelude::*;
use toolkit::ClosureTool;
use toolkit::prelude::*;
use toolkit::serde_json::{Map, Value, json};

/// A tool with an optional and a tool with a required enum.
type Pair = (ClosureTool, ClosureTool);

macro_rules! pairs {
    ($($(#[$attr:meta])? $name:ident),*) => {
        vec![$({
            #[derive(Debug, ToolParams)]
            $(#[$attr])?
            enum $name {
                One {
                    #[param(range = ..=9)]
                    #[serde(alias = "zz")]
                    #[expect(dead_code, reason = "only shown")]
                    z: i64,
                },
                #[expect(dead_code, reason = "only shown")]
                Two { y: u8 },
            }
            #[derive(Debug, ToolParams)]
            struct Optional {
                n: Option<i32>,
                #[serde(flatten)]
                of: Option<$name>,
            }
            #[derive(Debug, ToolParams)]
            struct Required {
                n: Option<i32>,
                #[serde(flatten)]
                of: $name,
            }
            let optional = ClosureTool::new("tool", "", |it: Optional| format!("{:?} {:?}", it.n, it.of));
            let required = ClosureTool::new("tool", "", |it: Required| format!("{:?} {:?}", it.n, Some(it.of)));
            (optional.expect("an object"), required.expect("an object"))
        }),*]
    };
}

fn all() -> Vec<Pair> {
    pairs! {
        External,
        #[serde(tag = "k")] Internal,
        #[serde(tag = "k", content = "c")] Adjacent,
        #[serde(untagged)] Untagged
    }
}

fn outcome(tool: &ClosureTool, arguments: &Value) -> Result<String, ToolError> {
    let context = ToolContext::new(tool.definition().name.clone());
    let outcome = tool.call(&arguments.to_string(), &context).try_ready().expect("the tool is synchronous");
    outcome.map(|output| output.to_text().into_owned())
}

fn value() -> impl Strategy<Value = Value> {
    let values = [json!(3), json!(10), json!(300), json!("9"), json!(null), json!(-1), json!([])];
    proptest::sample::select(values.to_vec())
}

fn arguments() -> impl Strategy<Value = Value> {
    let fields = (proptest::sample::select(vec!["z", "zz", "y", "other"]), value());
    let fields = proptest::collection::vec(fields, 0..3);
    let fields =
        fields.prop_map(|it| it.into_iter().map(|(name, it)| (name.to_owned(), it)).collect::<Map<_, _>>());
    // A field is given once: under its name or under its alias.
    let fields = fields.prop_filter("given twice", |it| !(it.contains_key("z") && it.contains_key("zz")));
    let tag = proptest::option::of(proptest::sample::select(vec!["One", "Two", "one", "Three"]));
    (0..4, fields, tag, proptest::bool::ANY).prop_map(|(form, fields, tag, has_n)| {
        let mut members = Map::new();
        match (form, tag) {
            (0, Some(tag)) => {
                members = fields;
                members.insert("k".to_owned(), tag.into());
            }
            (1, Some(tag)) => {
                members.insert("k".to_owned(), tag.into());
                members.insert("c".to_owned(), fields.into());
            }
            (2, Some(tag)) => drop(members.insert(tag.to_owned(), fields.into())),
            _ => members = fields,
        }
        if has_n {
            members.insert("n".to_owned(), 1.into());
        }
        members.into()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn a_given_optional_enum_is_taken_as_a_required_one(arguments in arguments()) {
        let of_enum: [&[&str]; 4] = [&["One", "Two"], &["k", "z", "zz", "y"], &["k", "c"], &["z", "zz", "y"]];
        for ((optional, required), of_enum) in all().iter().zip(of_enum) {
            let schema = &optional.definition().parameters;
            let outcomes = [optional, required].map(|tool| outcome(tool, &arguments));
            let [optional, required] = outcomes.each_ref().map(|outcome| outcome.as_ref().ok());
            let mut given = of_enum.iter().filter_map(|name| arguments.get(name)).peekable();
            if given.peek().is_some() {
                // A member that is `null` counts as omitted.
                if given.all(Value::is_null) {
                    continue;
                }
                prop_assert_eq!(optional, required, "{} {:?} {}", arguments, outcomes, schema);
            } else {
                prop_assert!(optional.is_some_and(|it| it.ends_with("None")), "{} {:?}", arguments, outcomes);
            }
        }
    }
}
