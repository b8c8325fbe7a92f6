//! The text about deferred tools in a request: each tool once, and a short text for many tools.

use proptest::prelude::*;
use std::collections::BTreeMap;
use toolkit::name::Separator;
use toolkit::prelude::*;
use toolkit::search::SearchOptions;
use toolkit::{ClosureTool, ToolName};

fn tool(name: &ToolName) -> ClosureTool {
    let tool = ClosureTool::without_arguments("tool", "Does what its name says. More of it.", || 1);
    let tool = tool.expect("legal").with_name(name.clone());
    tool.with_metadata(|metadata| metadata.with_defer(true))
}

fn registry(names: impl IntoIterator<Item = ToolName>, most: usize) -> ToolRegistry {
    let tools = names.into_iter().map(|name| tool(&name));
    let mut registry = ToolRegistry::from_tools(tools).expect("different names");
    registry.enable_tool_search(SearchOptions::default().with_max_listed(most));
    registry
}

/// Returns the names of `count` tools, distributed over the namespaces. The last namespace is none.
fn names(count: usize, namespaces: usize) -> Vec<ToolName> {
    let name = |at: usize| {
        let (method, namespace) = (format!("do_{at}"), at % (namespaces + 1));
        match namespace {
            last if last == namespaces => ToolName::new(&method),
            other => ToolName::qualified(&format!("space_{other}x"), &method, Separator::Dash),
        }
    };
    (0..count).map(|at| name(at).expect("legal")).collect()
}

fn published(registry: &ToolRegistry) -> String {
    registry.definitions(ApiFormat::OpenAiChat).as_json().to_owned()
}

/// A token has about four characters.
fn tokens(registry: &ToolRegistry) -> usize {
    published(registry).len() / 4
}

#[test]
fn the_catalogue_of_hundreds_of_tools_costs_a_few_hundred_tokens() {
    let few = tokens(&registry(names(20, 4), 50));
    let hundreds = tokens(&registry(names(500, 10), 50));
    let thousands = tokens(&registry(names(5_000, 10), 50));
    println!("20 tools: {few} tokens, 500 tools: {hundreds}, 5,000 tools: {thousands}");
    assert!(few < 620, "{few}");
    assert!(hundreds < 460, "{hundreds}");
    assert!(thousands < hundreds + 20, "{thousands}");
}

#[test]
fn a_long_catalogue_lists_namespaces_with_the_numbers_of_their_tools() {
    let registry = registry(names(9, 2), 5);
    let about = &registry.get("discover_tools").expect("the search is on").definition().description;
    let list = about.split_once("\n\n").expect("there is a list").1;
    let expected = "9 tools are not in your list; find them by what they do or by namespace. The namespaces, with the \
                    numbers of their tools:\n- space_0x: 3\n- space_1x: 3\n- without a namespace: 3";
    assert_eq!(list, expected);
    let plain = self::registry(names(9, 0), 5);
    let about = &plain.get("discover_tools").expect("the search is on").definition().description;
    assert!(about.ends_with("9 tools are not in your list; find them by what they do"), "{about}");
}

proptest! {
    #[test]
    fn a_catalogue_lists_each_tool_once_and_at_most_its_limit(
        count in 0_usize..60,
        namespaces in 0_usize..8,
        most in 0_usize..50,
    ) {
        let names = names(count, namespaces);
        let registry = registry(names.clone(), most);
        let text = published(&registry);
        let lines = text.matches("\\n- ").count();
        prop_assert!(lines <= most + 2, "{} lines", lines);
        let times = |name: &str| text.matches(&format!("\\n- {name}:")).count();
        let mut counts = BTreeMap::new();
        for name in &names {
            prop_assert_eq!(times(name.as_str()), usize::from(count <= most), "{}", name);
            *counts.entry(name.namespace()).or_insert(0) += 1;
        }
        if count > most {
            let total = format!("{count} tools are not in your list");
            prop_assert!(text.contains(&total));
            let listed = counts.iter().filter_map(|(namespace, count)| Some((namespace.as_ref()?, count)));
            for (namespace, count) in listed.take(most) {
                let line = format!("\\n- {namespace}: {count}");
                prop_assert_eq!(text.matches(&line).count(), 1, "{}", namespace);
            }
        }
    }
}
