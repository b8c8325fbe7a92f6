//! Names: legality, normalisation, spellings for providers.

use super::*;

fn name(text: &str) -> ToolName {
    ToolName::new(text).unwrap()
}

#[test]
fn normalisation_is_idempotent() {
    for (raw, expected) in
        [("Add_Add_Get", "add_get"), ("add-add-get", "add_get"), ("__a__B", "_a_b"), ("aB_aB_c", "a_b_c")]
    {
        assert_eq!(normalize(raw), expected);
        assert_eq!(normalize(expected), expected);
    }
}

#[test]
fn an_illegal_name_is_refused_with_a_legal_suggestion() {
    let error = ToolName::new("get weather!").unwrap_err();
    assert_eq!(error.suggestion(), "get_weather");
    assert_eq!(
        error.to_string(),
        "tool name `get weather!` must be 1 to 128 of the characters A-Z a-z 0-9 _ . -, for example `get_weather`"
    );
    let error = ToolName::new("天气").unwrap_err();
    assert!(check_name(error.suggestion()).is_ok(), "{error}");
    let error = ToolName::new(&"x".repeat(129)).unwrap_err();
    assert!(error.to_string().contains("129 characters; use at most 128"), "{error}");
    assert!(ToolName::new("").is_err());
}

#[test]
fn a_namespace_without_legal_characters_is_refused() {
    for namespace in [" ", "новое"] {
        let error = name("add").update_namespace(namespace, false, Separator::Dash).unwrap_err();
        assert!(error.to_string().starts_with("namespace `"), "{error}");
        assert_eq!(error.given(), namespace);
    }
}

#[test]
fn only_force_replaces_a_namespace() {
    let tool = ToolName::qualified("old", "example", Separator::Dash).unwrap();
    let kept = tool.update_namespace("new", false, Separator::Dash).unwrap();
    assert_eq!(kept, tool);
    let moved = tool.update_namespace("new", true, Separator::Dash).unwrap();
    assert_eq!(
        (moved.as_str(), moved.namespace(), moved.method_name()),
        ("new-example", Some("new"), "example")
    );
}

#[test]
fn a_name_is_rebuilt_without_its_namespace() {
    let check = |qualified, namespace, method, expected| {
        let tool = ToolName::from_parts(qualified, namespace, method).unwrap();
        assert_eq!(tool.requalify(Some("calc"), Separator::Dot).unwrap().as_str(), expected, "{tool:?}");
    };
    check("old-add", Some("old"), "add", "calc.add");
    check("old-add", Some("old"), "old-add", "calc.add");
    check("old-add", Some("old"), "", "calc.add");
    check("old-add", None, "old-add", "calc.add");
    check("old-plus", Some("old"), "add", "calc.add");
    check("old-add", Some("new"), "old-add", "calc.old-add");
}

#[test]
fn spellings_are_legal_distinct_and_reversible() {
    let rule = NameRule::DASHES;
    let long = format!("{}.tail", "n".repeat(90));
    let longer = format!("{}.tail2", "n".repeat(90));
    let set = ["a.b", "a_b", "a.b_c", "a_b.c", "plain", &long, &longer];
    let names = WireNames::new(rule, set);
    let mut reversed = set;
    reversed.reverse();
    let again = WireNames::new(rule, reversed);

    let mut seen = std::collections::HashSet::new();
    for name in set {
        let spelled = names.spell(name);
        assert!(rule.accepts(spelled), "{spelled}");
        assert!(seen.insert(spelled.to_owned()), "{spelled} was given out twice");
        assert_eq!(names.unspell(spelled), name);
        assert_eq!(again.spell(name), spelled);
    }
    assert_eq!(names.spell("a_b"), "a_b");
}

#[test]
fn a_spelling_begins_with_an_accepted_character() {
    let rule = NameRule::DOTS.with_max_length(9);
    let names = WireNames::new(rule, ["1st", "_2nd", ".third", "-4th", "123456789"]);
    for (name, spelled) in [("1st", "_1st"), ("_2nd", "_2nd"), (".third", "_.third"), ("-4th", "_-4th")] {
        assert_eq!((names.spell(name), names.unspell(spelled)), (spelled, name));
    }
    assert!(rule.accepts(names.spell("123456789")));
}

#[test]
fn a_rule_accepts_all_its_spellings_at_each_maximum_length() {
    let all =
        NameRule::COMMON.iter().chain(NameRule::COMMON_PARAMETERS).copied().chain([NameRule::TOOL_NAMES]);
    for rule in all.flat_map(|rule| [0, 5, 9, 10, 500].map(|length| rule.with_max_length(length))) {
        for name in ["", "é", "天气", "a b", "-", "9", &"é".repeat(600)] {
            let spelled = rule.hashed(name, 7);
            assert!(rule.accepts(&spelled), "{rule:?}: {spelled}");
        }
    }
}

#[test]
fn a_namespace_among_parts_is_normalised() {
    let name = ToolName::from_parts("add", Some("MathOps"), "plus").unwrap();
    assert_eq!(name.namespace(), Some("math_ops"));
    assert_eq!(ToolName::from_parts("add", Some("!"), "plus").unwrap_err().given(), "!");
}
