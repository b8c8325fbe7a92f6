//! The text about deferred tools: each once, and short for many.

use proptest::prelude::*;
use std::collections::BTreeMap;
use toolkit_ai::name::Separator;
use toolkit_ai::prelude::*;
use toolkit_ai::search::SearchOptions;
use toolkit_ai::{ClosureTool, ToolName};

fn tool(name: &ToolName) -> ClosureTool {
    let tool = ClosureTool::without_arguments("tool", "Does what its name says. More of it.", || 1);
    let tool = tool.expect("legal").with_name(name.clone());
    tool.map_metadata(|metadata| metadata.with_defer(true))
}

fn registry(names: impl IntoIterator<Item = ToolName>, most: usize) -> ToolRegistry {
    let tools = names.into_iter().map(|name| tool(&name));
    let mut registry = ToolRegistry::from_tools(tools).expect("different names");
    registry.enable_tool_search(SearchOptions::default().with_max_listed(most));
    registry
}

/// Returns the names of `count` tools over the namespaces, the last of which is none.
fn names(count: usize, namespaces: usize) -> Vec<ToolName> {
    let name = |at: usize| {
        let method = format!("do_{at}");
        let namespace = at % (namespaces + 1);
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

/// A token is about four characters, or one outside of ASCII.
fn tokens(registry: &ToolRegistry) -> usize {
    let text = published(registry);
    let ascii = text.chars().filter(char::is_ascii).count();
    ascii / 4 + text.chars().count() - ascii
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

/// A registry of deferred tools with these descriptions.
fn described(descriptions: &[String]) -> ToolRegistry {
    let tool = |(at, description): (usize, &String)| {
        let name = ToolName::qualified(&format!("space_{}", at % 100), &format!("do_{at}"), Separator::Dash);
        tool(&name.expect("legal")).with_description(description.clone())
    };
    let tools = descriptions.iter().enumerate().map(tool);
    ToolRegistry::from_tools(tools).expect("different names").with_tool_search()
}

#[test]
fn a_catalogue_counts_its_size_and_not_its_tools() {
    let empty = tokens(&registry(Vec::new(), 50));
    for count in [1, 10, 49, 50, 51, 500] {
        for sentence in ["Does it.".to_owned(), "x".repeat(3_000), "word ".repeat(600), "做".repeat(3_000)] {
            let size = tokens(&described(&vec![sentence.clone(); count]));
            assert!(size < empty + 2_200, "{count} tools, {} characters: {size}", sentence.chars().count());
        }
    }
    let one = described(&["A long sentence with many words. ".replace('.', ",").repeat(100)]);
    let about = &one.get("discover_tools").expect("the search is on").definition().description;
    assert!(about.contains("\n- space_0-do_0: A long sentence") && about.ends_with('…'), "{about}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_descriptions_make_a_catalogue_long(
        descriptions in proptest::collection::vec("[a-z做 .]{0,400}", 0..80),
        times in 1_usize..10,
    ) {
        let long: Vec<String> = descriptions.iter().map(|text| text.repeat(times)).collect();
        let size = tokens(&described(&long));
        prop_assert!(size < tokens(&registry(Vec::new(), 50)) + 2_200, "{}", size);
        // Few short descriptions are listed in full.
        if long.iter().map(String::len).sum::<usize>() < 1_000 && long.len() < 20 {
            let text = published(&described(&long));
            prop_assert_eq!(text.matches("\\n- space_").count(), long.len());
        }
    }
}
