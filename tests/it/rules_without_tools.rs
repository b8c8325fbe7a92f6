//! Rules that should stop calls, but select no tool, let no call run.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use tokio::runtime::Builder;
use toolkit_ai::middleware::{Middleware, Next, Permission, PermissionRule, Permissions, ToolRequest};
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::Value;
use toolkit_ai::{ClosureTool, ErrorKind, LiveRegistry, ToolDefinition, ToolName, ToolTag};

#[derive(Debug, Clone)]
struct Sample {
    name: &'static str,
    tags: Vec<&'static str>,
    destructive: Option<bool>,
    is_disabled: bool,
}

/// A random rule; two of three stop calls.
#[derive(Debug, Clone)]
struct Rule {
    permission: Permission,
    patterns: Vec<String>,
    tags: Vec<String>,
}

impl Rule {
    fn build(&self) -> PermissionRule {
        let rule = match &self.permission {
            Permission::Allow => PermissionRule::allow(),
            Permission::Deny(reason) => PermissionRule::deny(reason),
            Permission::Ask(reason) => PermissionRule::ask(reason),
            _ => unreachable!("there are three"),
        };
        let rule = self.patterns.iter().fold(rule, |rule, pattern| rule.for_tool(pattern).unwrap());
        self.tags.iter().fold(rule, |rule, tag| rule.for_tag(tag.as_str()))
    }

    /// Returns whether only these conditions stop a call.
    fn selects(patterns: &[String], tags: &[String], tools: &[ToolDefinition]) -> bool {
        let rule = Self {
            permission: Permission::Deny(String::new()),
            patterns: patterns.to_vec(),
            tags: tags.to_vec(),
        };
        let rules = Permissions::new().rule(rule.build()).otherwise(Permission::Allow);
        tools.iter().any(|tool| rules.decide(tool, &Value::Null) != &Permission::Allow)
    }

    /// Returns whether it should stop calls, and a pattern, a custom tag or all together select no tool.
    fn is_mistake(&self, tools: &[ToolDefinition]) -> bool {
        let custom: Vec<String> =
            self.tags.iter().filter(|tag| ToolTag::from(tag.as_str()).is_custom()).cloned().collect();
        let selects = |patterns: &[String], tags: &[String]| Self::selects(patterns, tags, tools);
        let is_dead = self.patterns.iter().any(|pattern| !selects(std::slice::from_ref(pattern), &[]))
            || custom.iter().any(|tag| !selects(&[], std::slice::from_ref(tag)));
        let is_general = self.patterns.is_empty() && custom.is_empty();
        let is_empty = !is_general && !selects(&self.patterns, &custom);
        self.permission != Permission::Allow && (is_dead || is_empty)
    }
}

/// Returns whether a stricter rule follows the first for all calls.
fn has_unreachable(rules: &[Rule]) -> bool {
    let mut rules = rules.iter().map(|rule| {
        let strictness = match rule.permission {
            Permission::Allow => 0,
            Permission::Ask(_) => 1,
            _ => 2,
        };
        (strictness, rule.patterns.is_empty() && rule.tags.is_empty())
    });
    let Some((for_all, _)) = rules.find(|(_, is_for_all)| *is_for_all) else { return false };
    rules.any(|(strictness, is_for_all)| !is_for_all && strictness > for_all)
}

const NAMES: [&str; 5] = ["delete", "fs-delete", "fs-read", "web.send", "pay_bill"];
const TAGS: [&str; 5] = ["billing", "pii", "destructive", "read_only", "slow"];

fn samples() -> impl Strategy<Value = Vec<Sample>> {
    let names = subsequence(NAMES.to_vec(), 0..=NAMES.len());
    let details = (subsequence(TAGS.to_vec(), 0..=3), any::<Option<bool>>(), any::<bool>());
    (names, prop::collection::vec(details, NAMES.len())).prop_map(|(names, details)| {
        let samples = names.into_iter().zip(details);
        let sample =
            |(name, (tags, destructive, is_disabled))| Sample { name, tags, destructive, is_disabled };
        samples.map(sample).collect()
    })
}

/// Names with mistakes: another case, or a letter missing, added or misplaced.
fn spelled(names: Vec<&'static str>) -> impl Strategy<Value = String> {
    (select(names), 0..12_u8, any::<prop::sample::Index>()).prop_map(|(name, kind, at)| {
        let mut letters: Vec<char> = name.chars().collect();
        let at = at.index(letters.len());
        match kind {
            0 => letters[at] = letters[at].to_ascii_uppercase(),
            1 => drop(letters.remove(at)),
            2 => letters.insert(at, 'e'),
            3 => letters.swap(0, at),
            _ => {}
        }
        letters.into_iter().collect()
    })
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let permission =
        select(vec![Permission::Allow, Permission::Deny("no".to_owned()), Permission::Ask("why".to_owned())]);
    let name = spelled(NAMES.to_vec());
    let parts = vec!["delete", "read", "send", "fs-", "move"];
    let part = (spelled(parts), any::<bool>());
    let part = part.prop_map(|(part, is_inside)| if is_inside { format!("*{part}*") } else { part });
    let pattern = prop_oneof![3 => name, 2 => part];
    let tags = prop::collection::vec(spelled(TAGS.to_vec()), 0..=2);
    let rule = (permission, prop::collection::vec(pattern, 0..=2), tags);
    let rule = rule.prop_map(|(permission, patterns, tags)| Rule { permission, patterns, tags });
    prop::collection::vec(rule, 0..4)
}

/// Middleware around permissions that forwards only calls.
struct Around(Permissions);

impl Middleware for Around {
    async fn handle(&self, request: ToolRequest, next: Next) -> Result<ToolOutput, ToolError> {
        self.0.handle(request, next).await
    }
}

fn registry(samples: &[Sample]) -> ToolRegistry {
    let tools = samples.iter().map(|sample| {
        let tool = ClosureTool::without_arguments("tool", "", || "done").unwrap();
        let tool = tool.with_name(ToolName::new(sample.name).unwrap());
        tool.map_metadata(|metadata| {
            let metadata = metadata.with_tags(&sample.tags);
            match sample.destructive {
                Some(destructive) => metadata.with_destructive(destructive),
                None => metadata,
            }
        })
    });
    let mut registry = ToolRegistry::from_tools(tools).unwrap();
    for sample in samples.iter().filter(|sample| sample.is_disabled) {
        registry.disable(sample.name, "closed").unwrap();
    }
    registry
}

fn permissions(rules: &[Rule]) -> Permissions {
    let permissions = Permissions::new().otherwise(Permission::Allow);
    rules.iter().fold(permissions, |permissions, rule| permissions.rule(rule.build()))
}

proptest! {
    #[test]
    fn no_call_runs_under_a_rule_that_selects_no_tool(samples in samples(), rules in rules()) {
        let mut tools: Vec<ToolDefinition> = Vec::new();
        let enabled: Vec<Sample> =
            samples.iter().cloned().map(|sample| Sample { is_disabled: false, ..sample }).collect();
        tools.extend(registry(&enabled).iter_definitions().cloned());
        let is_refused = rules.iter().any(|rule| rule.is_mistake(&tools)) || has_unreachable(&rules);
        let fixed = || Dispatcher::new(registry(&samples)).unwrap();
        let live = Dispatcher::new(LiveRegistry::new(registry(&samples)).unwrap()).unwrap();
        let before_tools = Dispatcher::new(ToolRegistry::new()).unwrap().with_middleware(permissions(&rules));
        let boxed = fixed().with_middleware(Middleware::boxed(permissions(&rules)));
        for (dispatcher, is_checked, refuses) in [
            (fixed().with_middleware(permissions(&rules)), true, is_refused),
            (boxed.with_middleware(Permissions::new().rule(PermissionRule::allow())), true, is_refused),
            (before_tools.with_registry(registry(&samples)).unwrap(), true, is_refused),
            (fixed().with_middleware(Around(permissions(&rules))), false, is_refused),
            (live.with_middleware(permissions(&rules)), false, false),
        ] {
            prop_assert_eq!(dispatcher.check().is_err(), is_checked && is_refused);
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            for sample in samples.iter().filter(|sample| !sample.is_disabled) {
                let decide = permissions(&rules);
                let tool = tools.iter().find(|tool| tool.name.as_str() == sample.name).unwrap();
                let outcome = runtime.block_on(dispatcher.call(sample.name, "{}"));
                let is_allowed = decide.decide(tool, &Value::Null) == &Permission::Allow;
                prop_assert_eq!(outcome.is_ok(), is_allowed && !refuses, "{:?}", outcome);
                if let (Err(problems), Err(error)) = (dispatcher.check(), outcome) {
                    prop_assert_eq!(error.kind(), ErrorKind::Denied);
                    prop_assert!(error.message().ends_with(&problems.to_string()), "{}", error);
                }
            }
        }
    }
}

#[test]
fn the_message_names_what_was_meant() {
    let tool = |name: &str, tags: &[&str]| {
        let tool = ClosureTool::without_arguments("tool", "", || "done").unwrap();
        tool.with_name(ToolName::new(name).unwrap()).map_metadata(|metadata| metadata.with_tags(tags))
    };
    let tools = [tool("fs-delete", &["destructive", "billing"]), tool("fs-read", &["public"])];
    let registry = ToolRegistry::from_tools(tools).unwrap();
    let ask = || PermissionRule::ask("why");
    let cases = [
        (
            ask().for_tag("destrucive"),
            "rule `ask` for the tag `destrucive` selects no tool; did you mean `destructive`?",
        ),
        (
            ask().for_tag("Destructive"),
            "rule `ask` for the tag `Destructive` selects no tool; did you mean `destructive`?",
        ),
        (ask().for_tag("biling"), "rule `ask` for the tag `biling` selects no tool; did you mean `billing`?"),
        (
            ask().for_tool("delte").unwrap(),
            "rule `ask` for the tool `delte` selects no tool; did you mean `fs-delete`?",
        ),
        (
            ask().for_tool("*delete").unwrap().for_tool("move*").unwrap(),
            "rule `ask` for the tool `move*` selects no tool; known are `fs-delete`, `fs-read`",
        ),
        (
            ask().for_tool("*read").unwrap().for_tag("billing"),
            "rule `ask` for the tool `*read` and the tag `billing` selects no tool; correct or remove it",
        ),
        (
            ask().for_tool("fs-read").unwrap().for_tool("*read").unwrap().for_tag("billing"),
            "rule `ask` for the tool `fs-read` or `*read` and the tag `billing` selects no tool; correct or remove it",
        ),
    ];
    for (rule, expected) in cases {
        let rules = Permissions::new().rule(rule).rule(PermissionRule::allow());
        let dispatcher = Dispatcher::new(registry.clone()).unwrap().with_middleware(rules);
        assert_eq!(dispatcher.check().unwrap_err().to_string(), expected);
        let runtime = Builder::new_current_thread().build().unwrap();
        let error = runtime.block_on(dispatcher.call("fs-delete", "{}")).unwrap_err();
        assert_eq!(error.to_string(), format!("Tool `fs-delete` was denied: {expected}"));
    }
}

#[test]
fn a_stricter_rule_after_a_rule_for_all_calls_is_a_mistake() {
    let tool = ClosureTool::without_arguments("delete", "Deletes.", || "done").unwrap();
    let deny = || PermissionRule::deny("no").for_tool("delete").unwrap();
    let ask = || PermissionRule::ask("why").for_tag(ToolTag::Destructive);
    let check = |rules: Permissions| {
        let dispatcher = Dispatcher::new([tool.clone()]).unwrap().with_middleware(rules);
        dispatcher.check().map_err(|error| error.to_string())
    };
    let error = check(Permissions::new().rule(PermissionRule::allow()).rule(deny())).unwrap_err();
    assert_eq!(
        error,
        "rule `deny` for the tool `delete` is never reached, because rule `allow` decides all calls before it; put it first"
    );
    let error = check(Permissions::new().rule(PermissionRule::allow()).rule(ask())).unwrap_err();
    assert!(error.starts_with("rule `ask` for the tag `destructive` is never reached"), "{error}");
    assert_eq!(check(Permissions::new().rule(deny()).rule(PermissionRule::allow())), Ok(()));
    assert_eq!(check(Permissions::new().rule(PermissionRule::deny("all")).rule(ask())), Ok(()));
}

#[test]
fn a_rule_to_allow_an_unknown_tool_is_a_warning() {
    let tool = ClosureTool::without_arguments("files-read", "Reads.", || "done").unwrap();
    let rules = Permissions::new().rule(PermissionRule::allow().for_tool("files-raed").unwrap());
    let dispatcher = Dispatcher::new([tool]).unwrap().with_middleware(rules);
    assert!(dispatcher.check().is_ok());
    let warnings: Vec<String> = dispatcher.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["tool named by middleware `files-raed` not found; did you mean `files-read`?"]);
}

#[test]
fn rules_are_checked_for_each_registry() {
    let named = |name: &str| {
        let tool = ClosureTool::without_arguments(name, "", || "done").unwrap();
        ToolRegistry::from_tools([tool]).unwrap()
    };
    let rules = Permissions::new().rule(PermissionRule::deny("no").for_tool("pay").unwrap());
    let dispatcher = Dispatcher::new(named("pay")).unwrap();
    let dispatcher = dispatcher.with_middleware(rules.rule(PermissionRule::allow()));
    let runtime = Builder::new_current_thread().build().unwrap();
    let denied = |dispatcher: &Dispatcher, name: &str| {
        runtime.block_on(dispatcher.call(name, "{}")).unwrap_err().to_string()
    };
    assert_eq!(denied(&dispatcher, "pay"), "Tool `pay` was denied: no");
    let other = dispatcher.with_registry(named("look")).unwrap();
    assert!(denied(&other, "look").contains("rule `deny` for the tool `pay` selects no tool"));
}

#[test]
fn tags_of_the_library_may_wait_for_their_tools() {
    let tool = ClosureTool::without_arguments("look", "", || "done").unwrap();
    let registry = ToolRegistry::from_tools([tool]).unwrap().with_tool_search();
    for rule in [
        PermissionRule::deny("no").for_tag(ToolTag::Destructive),
        PermissionRule::deny("no").for_tag("privileged"),
        PermissionRule::deny("no").for_tool("look").unwrap().for_tag(ToolTag::Network),
        PermissionRule::deny("no").for_tool("discover_*").unwrap(),
        PermissionRule::allow().for_tool("gone").unwrap().for_tag("gone"),
    ] {
        let rules = Permissions::new().rule(rule).rule(PermissionRule::allow());
        let dispatcher = Dispatcher::new(registry.clone()).unwrap().with_middleware(rules);
        assert_eq!(dispatcher.check(), Ok(()));
        let runtime = Builder::new_current_thread().build().unwrap();
        assert_eq!(runtime.block_on(dispatcher.call("look", "{}")).unwrap().to_text(), "done");
    }
}
