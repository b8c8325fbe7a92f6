//! Rules that disable tools in merged registries, and taken names.

use toolkit_ai::name::Separator;
use toolkit_ai::prelude::*;
use toolkit_ai::registry::{Collision, TagMatch};
use toolkit_ai::{ClosureTool, ToolName};

/// Namespaces and methods of the tools.
const NAMES: [(&str, &str); 4] = [("math", "add"), ("math", "divide"), ("web", "fetch"), ("web", "send")];

fn name_of(at: usize) -> String {
    format!("{}-{}", NAMES[at].0, NAMES[at].1)
}

/// Returns a tool, tagged `slow` if its number is odd.
fn tool(at: usize) -> ClosureTool {
    let (namespace, method) = NAMES[at];
    let name = ToolName::qualified(namespace, method, Separator::Dash).expect("legal");
    let tool = ClosureTool::without_arguments("tool", "", || ()).expect("legal").with_name(name);
    let tags: &[&str] = if at % 2 == 1 { &["slow"] } else { &[] };
    tool.map_metadata(|metadata| metadata.with_tags(tags.iter().copied()))
}

#[derive(Debug, Clone)]
enum Rule {
    Tool(usize),
    Namespace(&'static str),
    Tags,
}

/// Disables or enables what each rule says.
fn with_rules(rules: &[(Rule, bool)]) -> ToolRegistry {
    let mut registry = ToolRegistry::from_tools((0..NAMES.len()).map(tool)).expect("no collision");
    for (rule, enable) in rules {
        match (rule, enable) {
            (Rule::Tool(at), true) => registry.enable(&name_of(*at)).expect("known"),
            (Rule::Tool(at), false) => registry.disable(&name_of(*at), "off").expect("known"),
            (Rule::Namespace(name), true) => registry.enable_namespace(name).expect("known"),
            (Rule::Namespace(name), false) => registry.disable_namespace(name, "off").expect("known"),
            (Rule::Tags, true) => drop(registry.enable_tags(&TagMatch::any(["slow"]))),
            (Rule::Tags, false) => registry.disable_tags(TagMatch::any(["slow"]), "off").expect("known"),
        }
    }
    registry
}

#[test]
fn a_merged_registry_disables_exactly_what_one_of_its_registries_disables() {
    let all = [Rule::Tool(1), Rule::Namespace("math"), Rule::Tags];
    let rules: Vec<Vec<(Rule, bool)>> = all
        .iter()
        .flat_map(|rule| [vec![(rule.clone(), false)], vec![(rule.clone(), false), (Rule::Tool(1), true)]])
        .chain([vec![]])
        .collect();
    for (own, other) in rules.iter().flat_map(|own| rules.iter().map(move |other| (own, other))) {
        for collision in [Collision::Keep, Collision::Replace] {
            let parts = [with_rules(own), with_rules(other)];
            let mut merged = parts[0].clone();
            merged.merge_with(parts[1].clone(), collision).expect("no problem");
            for name in (0..NAMES.len()).map(name_of) {
                let is_disabled = parts.iter().any(|part| part.disabled_reason(&name).is_some());
                assert_eq!(merged.disabled_reason(&name).is_some(), is_disabled, "{name}: {own:?} {other:?}");
            }
        }
    }
}

#[test]
fn a_tool_of_a_disabled_namespace_is_not_enabled_by_the_other_registry() {
    let mut own = with_rules(&[]);
    own.disable_namespace("math", "offline").expect("known");
    let other = with_rules(&[
        (Rule::Namespace("math"), false),
        (Rule::Tool(0), true),
        (Rule::Namespace("math"), true),
    ]);
    for collision in [Collision::Keep, Collision::Replace] {
        let mut merged = own.clone();
        merged.merge_with(other.clone(), collision).expect("no problem");
        assert_eq!(merged.disabled_reason("math-add"), Some("offline"));
    }
}

#[test]
fn a_replaced_namespace_takes_no_name_of_another_tool() {
    let text =
        |name: &str, text: &'static str| ClosureTool::without_arguments(name, text, || ()).expect("legal");
    let describe = |registry: &ToolRegistry| -> Vec<(String, String)> {
        let definitions = registry.iter_definitions();
        definitions.map(|definition| (definition.name.to_string(), definition.description.clone())).collect()
    };
    for foreign in [
        ToolName::new("shop-buy").expect("legal"),
        ToolName::qualified("shop-buy", "now", Separator::Dash).expect("legal"),
        ToolName::qualified("other", "buy", Separator::Dash).expect("legal"),
    ] {
        for is_overridden in [false, true] {
            let mut registry =
                ToolRegistry::from_tools([text("own", "Mine.").with_name(foreign.clone())]).expect("one");
            if is_overridden {
                registry.override_tool(foreign.as_str(), text("x", "Overridden.")).expect("known");
            }
            registry
                .replace_namespace("shop", [text("sell", "Theirs.")], Separator::Dash)
                .expect("no collision");
            let before = describe(&registry);
            // A tool of the namespace may replace `sell`, but not the one outside.
            let method = foreign.as_str().strip_prefix("shop-").unwrap_or(foreign.as_str());
            let coming = [text(method, "Theirs."), text("sell", "New.")];
            let taken = foreign.as_str().starts_with("shop-");
            let result = registry.replace_namespace("shop", coming, Separator::Dash);
            if taken {
                let error = result.expect_err("the name is taken").to_string();
                assert!(error.contains(&format!("`{foreign}`")), "{error}");
                assert_eq!(describe(&registry), before);
                if is_overridden {
                    registry.restore(foreign.as_str()).expect("overridden");
                    assert!(describe(&registry).contains(&(foreign.to_string(), "Mine.".to_owned())));
                }
            } else {
                result.expect("no collision");
                assert_eq!(registry.len(), 3);
            }
        }
    }
}
