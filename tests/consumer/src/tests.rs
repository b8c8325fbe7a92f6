//! Discovery and calls of every tool, without async runtime.

use crate::{bare, generated, kit, params, plain, sets, shadowed};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tk::serde_json::{Value, json};
use tk::{ToolOutput, ToolRegistry, Toolset};

fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the future is pending"),
    }
}

fn registry() -> ToolRegistry {
    let store: Arc<dyn plain::Store> = Arc::new(plain::Db("store"));
    let mut registry = ToolRegistry::discover()
        .expect("no collisions")
        .with_state(plain::Db("db"))
        .with_state(7_u64)
        .with_shared_state(store);
    registry.register_all(Arc::new(sets::Counter::new())).expect("no collisions");
    registry.register_all(Arc::new(sets::inside::Other(9))).expect("no collisions");
    registry.register_all(Arc::new(sets::inside::local())).expect("no collisions");
    registry.register_all(Arc::new(generated::Generated(5))).expect("no collisions");
    registry.register_all(Arc::new(generated::Waiting(5))).expect("no collisions");
    registry.register_all(Arc::new(shadowed::Set("set"))).expect("no collisions");
    registry.register_all(Arc::new(shadowed::pushing::Pushed)).expect("no collisions");
    registry.register_all(Arc::new(bare::Set)).expect("no collisions");
    registry.register_all(Arc::new(sets::Desk::<u16, 2> { rows: vec![7, 8, 9] })).expect("no collisions");
    registry.register_all(Arc::new(sets::Named("name"))).expect("no collisions");
    registry
}

fn call(name: &str, arguments: &Value) -> String {
    let text = arguments.to_string();
    let registry = registry();
    match ready(registry.call(name, &text)) {
        Ok(output) => ToolOutput::to_text(&output).into_owned(),
        Err(error) => format!("failed: {}", error.message()),
    }
}

#[test]
fn every_tool_is_discovered() {
    let discovered = ToolRegistry::discover().expect("no collisions");
    let names: Vec<&str> = discovered.iter_definitions().map(|tool| tool.name.as_str()).collect();
    let returns = names.iter().filter(|name| name.starts_with("returns-")).count();
    assert_eq!((returns, names.len()), (23, 53), "{names:?}");
    assert_eq!(registry().len() - names.len(), 19);
    let local: Vec<String> =
        plain::local().iter().map(|tool| kit::Tool::definition(tool).name.to_string()).collect();
    assert_eq!(local, ["add", "deeper", "deep"]);
    assert_eq!(plain::outer::tools().len(), 3);
    assert_eq!(Arc::new(generated::Generated(1)).tools().len(), 1);
}

/// `shadowed` has each method that generated code calls with a dot, except with names of our own.
#[test]
fn each_called_method_is_shadowed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shadowed = fs::read_to_string(root.join("src/shadowed.rs")).expect("the module");
    let shadowed: BTreeSet<&str> = shadowed.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let mut called = BTreeSet::new();
    for entry in fs::read_dir(root.join("../../toolkit-macros/src/snapshots")).expect("the expansions") {
        let text = fs::read_to_string(entry.expect("an entry").path()).expect("a text");
        let (_, expansion) = text.split_once("\n---\n").expect("a snapshot has a head");
        for part in expansion.split('.').skip(1) {
            let end = part.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(part.len());
            let (name, after) = part.split_at(end);
            if name.starts_with(char::is_alphabetic) && (after.starts_with('(') || after.starts_with("::<")) {
                let _ = called.insert(name.to_owned());
            }
        }
    }
    assert!(called.len() > 20, "{called:?}");
    // A method's body in a snapshot.
    let _ = called.remove("change");
    let ours = |name: &String| name.starts_with("toolkit_");
    let missing: Vec<&String> =
        called.iter().filter(|name| !ours(name) && !shadowed.contains(name.as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_tool_can_be_called() {
    for (name, arguments, expected) in [
        ("add", json!({"a": 1, "b": "2"}), "3"),
        ("deep-down", json!({"n": 1}), "1"),
        ("deep-third", json!({}), "3"),
        ("deep-above", json!({"text": "a"}), "A"),
        ("loop", json!({"type": "t", "in": 5}), "t None 5"),
        ("lent", json!({"key": "k"}), "k db store None None lent"),
        ("All.Of-it", json!({"to": "a@b.example", "more": 1}), "a@b.example"),
        ("old", json!({}), "1"),
        ("by_text", json!({"words": "abc"}), "6"),
        ("by_list", json!({"bytes": [1]}), "none [1]"),
        ("by_option", json!({"maybe": "x"}), "[1,2]"),
        ("generated-signed", json!({"signed": "a", "text": "b"}), "-5"),
        (
            "take_generated",
            json!({"record": {"type": 2}, "choice": "second-one"}),
            "Record { left: -1, type: Some(2.0) } SecondOne",
        ),
        ("generated-plus", json!({}), "15"),
        (
            "shadowed-everything",
            json!({"text": "a", "place": {"city": "b", "r": 2}, "unit": {"kind": "Of", "size": 3}}),
            "a Some(Place { city: \"b\", radius: 2.0, parts: [], more: None }) None 3 Left Of(3) 7 Some(7) shadowed-everything",
        ),
        ("shadowed-whole", json!({"parts": [2]}), "[2]"),
        ("shadowed_set-show", json!({"prefix": "a"}), "aset"),
        ("shadowed_set-show_shared", json!({}), "set"),
        ("pushed-add", json!({"n": 1}), "2"),
        ("later", json!({"n": 3}), "3"),
        ("later_text", json!({"text": "a"}), "a"),
        ("with_types", json!({"city": "b"}), "7 b"),
        ("doubled", json!({"n": 2}), "4"),
        ("halved", json!({}), "None halved"),
        ("waiting-add", json!({"n": 1}), "6"),
        ("waiting-subtract", json!({"n": 1}), "4"),
        ("counter-add", json!({"by": 3}), "3"),
        ("counter-describe", json!({"detail": 4}), "4 Mutex { data: 0, poisoned: false, .. }"),
        ("desk-show", json!({}), "[7, 8]"),
        ("desk-show", json!({"count": 1}), "[7]"),
        ("desk-compare", json!({"row": 1, "rows": [2]}), "1 [2] [7, 8, 9]"),
        ("named-describe", json!({"detail": "a"}), "a \"name\""),
        ("counter-move", json!({"ref": "r"}), "r Mutex { data: 0, poisoned: false, .. }"),
        ("elsewhere-double", json!({"n": 4}), "8"),
        ("counter-add_later", json!({"by": 2}), "2"),
        ("elsewhere-count_twice", json!({"by": 2, "times": 3}), "6"),
        ("own-value", json!({}), "9"),
        ("set-run", json!({"n": 2}), "2"),
        (
            "bare-everything",
            json!({"text": "a", "bytes": [1], "area": {"more": 3}}),
            "a [1] x [] Here Some(Area { size: 2, name: \"none\", rest: [], skipped: None, more: Generic { more: Some(3) } }) Some(7) bare-everything",
        ),
        (
            "bare-others",
            json!({"tagged": {"tag": "There", "far": 1}, "untagged": 5}),
            "There { far: 1 } Some(Number(5))",
        ),
        ("returns-lent", json!({"text": " a "}), "a"),
        ("returns-report", json!({}), r#"{"pageCount":1,"lines":[]}"#),
        ("returns-fallible_alias", json!({}), "failed: Error running tool: no number"),
        ("returns-fails_later", json!({"text": "x"}), "failed: Error running tool: no number"),
        ("returns-opaque", json!({}), "[1,2]"),
    ] {
        assert_eq!(call(name, &arguments), expected, "{name}");
    }
}

#[test]
fn serde_attributes_keep_their_meaning() {
    let attributed = json!({"plain": "p", "twoWords": 2, "sort": "s", "doubled": 2, "halved": 2});
    let text = call(
        "take_structs",
        &json!({
            "attributed": attributed,
            "flat": {"own": 1, "id": "i", "x": "y"},
            "transparent": {"id": "t"},
            "raw": {"fn": 1},
        }),
    );
    assert_eq!(
        text,
        concat!(
            r#"Attributed { plain: "p", two_words: Some(2), type: "s", skipped: None, seven: 7, doubled: 4, halved: 1, never_read: false } "#,
            r#"Some(Flat { own: 1, common: Common { id: "i" }, rest: {"x": "y"} }) "#,
            r#"Some(Transparent { inner: Common { id: "t" } }) Some(struct { fn: 1, enum: 3 })"#,
        )
    );
    let text = call(
        "take_enums",
        &json!({
            "external": ["Unit", {"Two": [1, "a"]}, {"Named": {"n": 1}}],
            "internal": [{"type": "no_fields"}, {"type": "with_fields", "fieldOne": 1}, {"type": "inner", "id": "i"}],
            "adjacent": [{"t": "Number", "c": 1}, {"t": "Unit"}],
            "untagged": [1, "a", {"list": [2]}],
            "more": ["2nd", "SECOND_WORD"],
        }),
    );
    assert_eq!(
        text,
        concat!(
            r#"[Unit, Two(1, "a"), Named { n: 1, type: None }] "#,
            r#"[NoFields, WithFields { field_one: 1, field_two: [] }, Inner(Common { id: "i" })] "#,
            r#"[Number(1), Unit] [Number(1), Text("a"), Named { list: [Number(2)] }] FirstWord [SecondWord, SecondWord]"#,
        )
    );
    let text = call(
        "take_generics",
        &json!({"numbers": {"items": [1], "next": {"items": []}}, "tagged": {"value": "v"}}),
    );
    assert!(
        text.starts_with("Page { items: [1], next: Some(Page { items: [], next: None }) } None Some("),
        "{text}"
    );
    let text = call("take_defaults", &json!({"with": {}, "defaulted": {"other": "OTHER"}, "whole": {}}));
    let expected = concat!(
        "WithDefault { tripled: 0 } Defaulted { value: 0, values: [], other: Some(Other) } ",
        r#"DefaultedWhole { value: "" }"#
    );
    assert_eq!(text, expected);
    let text = call(
        "take_defaults",
        &json!({"with": {"tripled": 2}, "defaulted": {"value": 1}, "whole": {"value": "a"}}),
    );
    assert!(text.starts_with("WithDefault { tripled: 6 } Defaulted { value: 1,"), "{text}");
    let text = call(
        "take_recursive",
        &json!({
            "tree": {"name": "a", "parent": {"name": "b"}, "named": {"c": {"name": "c"}}},
            "formula": {"less": {"left": {"number": 1}, "right": {"sum": [{"number": 2}]}}},
        }),
    );
    assert!(text.ends_with("Some(Less { left: Number(1.0), right: Sum([Number(2.0)]) })"), "{text}");
}

#[test]
fn constraint_violations_name_the_path() {
    for (name, arguments, path) in [
        ("generated-small", json!({"small": "c", "text": "bb"}), "`small`"),
        ("take_generated", json!({"record": {"left": 6}, "choice": "first-one"}), "`record.left`"),
        (
            "take_recursive",
            json!({"tree": {"name": "a", "children": [{"name": ""}]}}),
            "`tree.children[0].name`",
        ),
        ("take_structs", json!({"attributed": {"seventh": 1}}), "attributed"),
    ] {
        let text = call(name, &arguments);
        assert!(text.starts_with("failed: ") && text.contains(path), "{name}: {text}");
    }
    assert_eq!(params::Attributed::default(), params::Attributed::default());
}

#[test]
fn descriptions_and_tags_are_constants_or_files() {
    let registry = registry();
    let definition = |name: &str| {
        registry
            .iter_definitions()
            .find(|definition| definition.name.as_str() == name)
            .expect("it is registered")
    };
    let later = definition("counter-add_later");
    assert_eq!(later.description, "Adds later.");
    assert_eq!(later.parameters["properties"]["by"]["description"], "How much, from a file");
    assert_eq!(later.metadata.retries, 2);
    assert_eq!(later.metadata.tags.len(), 2);
    let twice = definition("elsewhere-count_twice");
    assert_eq!(twice.description, "Counts twice.");
    assert_eq!(twice.parameters["properties"]["by"]["description"], "shared");
    assert_eq!(twice.parameters["properties"]["times"]["description"], "How often, from a file");
}
