//! Tests of discovery over several crates.

use super::*;
use crate::definition::{Function, ToolCell, ToolFuture, ToolTag};
use crate::error::Location;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn long() -> FunctionTool {
    let name = "and_a_method_name_that_is_long_but_legal_on_its_own";
    let mut function = Function::new(name, "", &[], |_| ToolFuture::incomplete(), None).with_namespace(
        "a_namespace_that_is_much_too_long_for_any_model_to_read_or_for_any_provider_to_accept",
    );
    function.defined_at = Some(Location { file: "src/tools.rs", line: 7 });
    function.tool(&ToolCell::new())
}

/// The macro does not check the joined length.
#[test]
fn a_qualified_name_beyond_the_limit_is_refused_at_registration() {
    let error = ToolRegistry::from_tools([long()]).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("characters; use at most 128"), "{text}");
    assert!(text.ends_with("(defined at src/tools.rs:7)"), "{text}");
}

fn function(name: &'static str, namespace: Option<&'static str>) -> FunctionTool {
    let function = Function::new(name, "", &[], |_| ToolFuture::incomplete(), None);
    let function = match namespace {
        Some(namespace) => function.with_namespace(namespace),
        None => function,
    };
    let tool = function.tool(&ToolCell::new());
    if name == "add" { tool.map_metadata(|metadata| metadata.with_tags(["network"])) } else { tool }
}

const FUNCTIONS: [fn() -> FunctionTool; 4] = [
    || function("add", None),
    || function("add", Some("math")),
    || function("sub", None),
    || function("mul", Some("math")),
];

const MODULES: [&str; 6] = ["a", "a::x", "a::xy", "b", "b::x", "a_b::x"];

fn names(registry: &ToolRegistry) -> Vec<String> {
    registry.names().map(str::to_owned).collect()
}

fn found(discovery: &Discovery, registrations: &[Registration]) -> Result<Vec<String>, String> {
    discovery.select(registrations).map(|registry| names(&registry)).map_err(|error| error.to_string())
}

#[test]
fn a_name_clash_of_dependencies_suggests_a_remedy() {
    let add = FUNCTIONS[0];
    let both = [Registration::new(add, "one::tools"), Registration::new(add, "two")];
    let error = found(&Discovery::new(), &both).unwrap_err();
    assert!(error.starts_with("tool `add` is defined in crate `one` (at "), "{error}");
    assert!(error.contains(" and in crate `two` (at "), "{error}");
    assert!(
        error.contains("`Discovery::in_modules`") && error.contains("`NameClash::NamespaceByCrate`"),
        "{error}"
    );
    let choose = |rule| Discovery::new().with_name_clash(rule);
    assert_eq!(found(&choose(NameClash::NamespaceByCrate), &both).unwrap(), ["one-add", "two-add"]);
    assert_eq!(found(&choose(NameClash::KeepFirst), &both).unwrap(), ["add"]);
    assert_eq!(found(&Discovery::new().in_modules(["two"]), &both).unwrap(), ["add"]);
    let error = found(&Discovery::new().in_modules(["twoo"]), &both).unwrap_err();
    assert_eq!(error, "linked crate or module with tools `twoo` not found; did you mean `two`?");
    let error = found(&Discovery::new().in_modules(["elsewhere"]), &both).unwrap_err();
    assert_eq!(
        error,
        "linked crate or module with tools `elsewhere` not found; known are `one`, `one::tools`, `two`"
    );
    let twice = [Registration::new(add, "one::a"), Registration::new(add, "one::b")];
    assert!(found(&choose(NameClash::NamespaceByCrate), &twice).unwrap_err().contains("registered twice"));
}

proptest! {
    /// A selected name needs a tool. A pattern with wildcards may match none, unless it matches one without
    /// its namespace.
    #[test]
    fn every_included_name_must_exist(
        functions in proptest::collection::btree_set(0..FUNCTIONS.len(), 0..4),
        name in prop::sample::select(vec!["add", "math-add", "mul", "math-mul", "sub", "subb", "shoot"]),
        is_pattern in any::<bool>(),
        is_excluded in any::<bool>(),
    ) {
        let registrations: Vec<Registration> =
            functions.iter().map(|function| Registration::new(FUNCTIONS[*function], "a")).collect();
        let pattern = if is_pattern { format!("{name}*") } else { name.to_owned() };
        let filter = if is_excluded {
            ToolFilter::new().exclude([pattern.as_str()]).unwrap()
        } else {
            ToolFilter::new().include([pattern.as_str()]).unwrap()
        };
        let result = found(&Discovery::new().with_filter(filter), &registrations);
        let names: Vec<_> = functions.iter().map(|function| FUNCTIONS[*function]().definition().name.clone()).collect();
        let fits = |own: &str| if is_pattern { own.starts_with(name) } else { own == name };
        let exists = names.iter().any(|own| fits(own.as_str()));
        let bare = names.iter().find(|own| fits(own.method_name())).filter(|_| !exists && !is_excluded);
        let has_name = exists || is_excluded || bare.is_none() && is_pattern;
        prop_assert_eq!(result.is_ok(), has_name, "{:?}", result);
        if let (Err(error), Some(bare)) = (&result, bare) {
            let expected = format!("tool `{pattern}` not found; did you mean ");
            prop_assert!(error.contains(&expected) && error.contains(&format!("`{bare}`")), "{}", error);
        }
        if let (Err(error), "subb", false, false, true) = (&result, name, is_pattern, is_excluded, functions.contains(&2)) {
            prop_assert!(error.contains("tool `subb` not found; did you mean `sub`?"), "{}", error);
        }
    }

    /// A discovery selects exactly the described tools, in any order.
    #[test]
    fn a_discovery_selects_by_crate_module_and_filter(
        registered in proptest::collection::btree_set((0..MODULES.len(), 0..FUNCTIONS.len()), 0..8),
        modules in proptest::collection::vec(prop::sample::select(MODULES.to_vec()), 0..3),
        rule in prop::sample::select(vec![NameClash::Refuse, NameClash::KeepFirst, NameClash::NamespaceByCrate]),
        by_tag in any::<bool>(),
        reversed in any::<bool>(),
    ) {
        let mut registrations: Vec<Registration> =
            registered.iter().map(|(module, function)| Registration::new(FUNCTIONS[*function], MODULES[*module])).collect();
        let mut discovery = Discovery::new().in_modules(modules.clone()).with_name_clash(rule);
        if by_tag {
            let network = crate::registry::TagMatch::any([ToolTag::Network]);
            discovery = discovery.with_filter(ToolFilter::new().with_tags(network));
        }
        let result = found(&discovery, &registrations);
        if reversed {
            registrations.reverse();
            let again = found(&discovery, &registrations);
            prop_assert_eq!(again.is_ok(), result.is_ok());
            if let Ok(names) = &result {
                prop_assert_eq!(&again.unwrap(), names);
            }
        }
        let is_in = |own: &str, module: &str| own == module || own.starts_with(&format!("{module}::"));
        let has_tools = |module: &&str| registered.iter().any(|(own, _)| is_in(MODULES[*own], module));
        if !modules.iter().all(has_tools) {
            prop_assert!(result.unwrap_err().contains("not found"));
            return Ok(());
        }
        let selected: Vec<(&str, String)> = registered
            .iter()
            .map(|(module, function)| (MODULES[*module], FUNCTIONS[*function]()))
            .filter(|(own, _)| modules.is_empty() || modules.iter().any(|module| is_in(own, module)))
            .filter(|(_, tool)| !by_tag || tool.definition().name.method_name() == "add")
            .map(|(module, tool)| (module.split("::").next().unwrap_or_default(), tool.definition().name.to_string()))
            .collect();
        let same = |name: &String| selected.iter().filter(|(_, other)| other == name).collect::<Vec<_>>();
        let is_twice_in_crate = |(krate, name): &(&str, String)| same(name).iter().filter(|(own, _)| own == krate).count() > 1;
        let fails = match rule {
            NameClash::Refuse => selected.iter().any(|(_, name)| same(name).len() > 1),
            NameClash::KeepFirst => false,
            NameClash::NamespaceByCrate => selected.iter().any(is_twice_in_crate),
        };
        prop_assert_eq!(result.is_err(), fails, "{:?}", result);
        let Ok(names) = result else { return Ok(()) };
        let expected: BTreeSet<String> = selected
            .iter()
            .map(|(krate, name)| match name.as_str() {
                _ if rule != NameClash::NamespaceByCrate || same(name).len() == 1 => name.clone(),
                "math-add" => format!("{krate}_math-add"),
                "math-mul" => format!("{krate}_math-mul"),
                name => format!("{krate}-{name}"),
            })
            .collect();
        prop_assert_eq!(names, expected.into_iter().collect::<Vec<_>>());
    }
}
