//! Tool search, by programs and by models with deferred tools.

use crate::merged;
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::sleep;
use toolkit_ai::llm::DefinitionOptions;
use toolkit_ai::middleware::{Next, PermissionRule, Permissions, ToolRequest};
use toolkit_ai::prelude::*;
use toolkit_ai::search::{SearchOptions, SearchWeights};
use toolkit_ai::serde_json::{Value, from_str, json};
use toolkit_ai::{ClosureTool, ErrorKind, LiveRegistry, ToolDefinition, ToolFuture, ToolName};

#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Log {
    fn write(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Read a file from disk.
#[tool(register = false, read_only, tags("file_system"))]
fn read_file(path: String) -> String {
    format!("read {path}")
}

/// Write text to a file on disk. It is made if it is not there.
///
/// :param path: Where the file is
#[tool(register = false, defer, search_hint = "save store persist")]
fn write_file(path: String, text: String) -> String {
    format!("wrote {text} to {path}")
}

/// Current weather for a city. Uses an API.
#[tool(register = false, defer, name = "geo.weather")]
fn weather(context: &ToolContext, city: String, #[param(default = 1)] days: u64) -> String {
    format!(
        "{}: sun in {city} for {days}, {}",
        context.tool_name(),
        context.call_reason().unwrap_or("no reason")
    )
}

/// Send an e-mail.
#[tool(register = false, defer, search_hint = "邮件 发送", exclusive, destructive)]
async fn send_mail(#[state] log: Arc<Log>, to: String) -> String {
    log.write(format!("begin {to}"));
    sleep(Duration::from_millis(5)).await;
    log.write(format!("end {to}"));
    to
}

/// Takes its time.
#[tool(register = false, defer, timeout = "10ms")]
async fn dawdle() {
    std::future::pending::<()>().await;
}

fn plain() -> ToolRegistry {
    let tools = tools![read_file, write_file, weather, send_mail, dawdle];
    ToolRegistry::from_tools(tools).unwrap().with_state(()).with_shared_state(Arc::new(Log::default()))
}

fn registry() -> ToolRegistry {
    plain().with_tool_search()
}

fn dispatcher(registry: ToolRegistry) -> Dispatcher {
    Dispatcher::new(registry).unwrap()
}

async fn one(dispatcher: &Dispatcher, tool: &str, arguments: &str) -> ToolResult {
    dispatcher.dispatch([ToolCall::new("1", tool, arguments)]).await.remove(0)
}

async fn discover(registry: &ToolRegistry, query: &str) -> Value {
    let arguments = json!({"query": query}).to_string();
    from_str(&one(&dispatcher(registry.clone()), "discover_tools", &arguments).await.to_text()).unwrap()
}

fn found(registry: &ToolRegistry, query: &str) -> Vec<String> {
    registry.search(query, 10).iter().map(|found| found.tool.definition().name.to_string()).collect()
}

/// Returns the published names, and deferred ones.
fn published(registry: &ToolRegistry, options: &DefinitionOptions) -> (Vec<String>, Vec<String>) {
    let tools = registry.definitions(ApiFormat::Anthropic.with_options(options.clone())).to_value();
    let tools = tools.as_array().unwrap();
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    let deferred = tools.iter().filter(|tool| tool["defer_loading"] == true);
    (tools.iter().map(name).collect(), deferred.map(name).collect())
}

#[test]
fn search_tools_are_published_in_place_of_deferred_tools() {
    let usual = DefinitionOptions::default();
    let listed = DefinitionOptions::default().with_list_deferred(true);
    let all = ["dawdle", "geo_weather", "read_file", "send_mail", "write_file"].map(str::to_owned).to_vec();
    let deferred = ["dawdle", "geo_weather", "send_mail", "write_file"].map(str::to_owned).to_vec();
    let searched = ["call_deferred", "discover_tools", "read_file"].map(str::to_owned).to_vec();
    assert_eq!(published(&plain(), &usual), (all.clone(), deferred.clone()));
    assert_eq!(published(&registry(), &usual), (searched, Vec::new()));
    assert_eq!(
        published(&registry(), &listed),
        (all.clone(), deferred.clone()),
        "for a provider that searches itself"
    );
    let mut registry = registry();
    registry.disable_tool_search();
    assert_eq!(published(&registry, &usual), (all, deferred));
    assert!(!registry.contains("discover_tools"));
}

#[test]
fn descriptions_list_the_deferred_tools() {
    let mut registry = registry();
    let list = |registry: &ToolRegistry, name: &str| -> Vec<String> {
        let tool = registry.get(name).unwrap();
        let lines = tool.definition().description.lines().filter_map(|line| line.strip_prefix("- "));
        lines.map(str::to_owned).collect()
    };
    let all = [
        "dawdle: Takes its time.",
        "geo_weather: Current weather for a city.",
        "send_mail: 邮件 发送",
        "write_file: save store persist",
    ];
    assert_eq!(list(&registry, "discover_tools"), all);
    assert!(list(&registry, "call_deferred").is_empty(), "only `discover_tools` has the list");
    registry.disable("dawdle", "").unwrap();
    assert_eq!(list(&registry, "discover_tools"), all[1..], "a disabled tool cannot be called");
    registry.enable_tool_search(SearchOptions::default().with_max_listed(2));
    assert!(list(&registry, "discover_tools").is_empty(), "it is long, and no tool has a namespace");
}

#[tokio::test]
async fn matches_carry_schemas_of_exact_and_deferred_tools() {
    let registry = registry();
    for query in ["read_file", "Read-File", " READ.FILE "] {
        let found = discover(&registry, query).await;
        assert_eq!(found.as_array().map(Vec::len), Some(1), "{query}");
        assert_eq!((&found[0]["name"], &found[0]["score"]), (&json!("read_file"), &json!(1.0)));
        assert_eq!(found[0]["parameters"]["required"], json!(["path"]));
        assert_eq!(found[0]["deferred"], false);
    }
    let found = discover(&registry, "writing a file on disk").await;
    let names: Vec<&str> =
        found.as_array().unwrap().iter().filter_map(|found| found["name"].as_str()).collect();
    assert_eq!(names, ["write_file", "read_file"]);
    assert_eq!(found[0]["parameters"]["properties"]["path"]["description"], "Where the file is");
    assert_eq!(found[1].get("parameters"), None, "the model has it already");
    for spelling in ["geo.weather", "geo_weather", "forecast of the weather"] {
        let found = discover(&registry, spelling).await;
        assert_eq!(found[0]["name"], "geo_weather", "{spelling}: the name as the model may call it");
    }
    assert_eq!(discover(&registry, "zebras").await, json!([]));
}

#[test]
fn matches_follow_the_words_of_the_query() {
    let registry = registry();
    assert_eq!(found(&registry, "persist"), ["write_file"], "its search hint");
    assert_eq!(found(&registry, "邮件"), ["send_mail"]);
    assert_eq!(found(&registry, "cities"), ["geo.weather"], "a plural");
    assert_eq!(found(&registry, "sending"), ["send_mail"], "another form of a verb");
    assert_eq!(
        found(&registry, "what should I do with which city?"),
        ["geo.weather"],
        "stop words are ignored"
    );
    assert_eq!(found(&registry, "file_system"), ["read_file", "write_file"], "a tag");
    assert_eq!(registry.search("file", 1).len(), 1);
    assert!(registry.search("file", 0).is_empty());
    for nothing in ["", " ", "?!", "zebra"] {
        assert!(registry.search(nothing, 5).is_empty(), "{nothing:?}");
    }
    assert_eq!(plain().search("Write.File", 5)[0].score, 1.0, "a program may search without the two tools");
}

#[test]
fn options_change_the_ranking() {
    let mut registry = registry();
    let silent = SearchWeights::default().with_search_hint(0.0);
    registry.enable_tool_search(SearchOptions::default().with_weights(silent));
    assert!(found(&registry, "persist").is_empty());
    let words = "read a text from disk";
    registry.enable_tool_search(SearchOptions::default().with_min_score_ratio(1.0));
    assert_eq!(found(&registry, words), ["read_file"]);
    registry.enable_tool_search(SearchOptions::default().with_min_score_ratio(0.0));
    assert_eq!(found(&registry, words), ["read_file", "write_file"], "also what has fewer of the words");
}

#[test]
fn a_query_of_common_words_finds_all_tools() {
    let tool = |name: &str| ClosureTool::new(name, "Counts crabs.", |_: Nothing| 1).unwrap();
    let mut registry = ToolRegistry::from_tools(["a", "b", "c", "lobster"].map(tool)).unwrap();
    assert_eq!(found(&registry, "crabs").len(), 4);
    assert_eq!(found(&registry, "crabs or lobsters"), ["lobster"]);
    let all = SearchOptions::default().with_min_score_ratio(0.0).with_max_tools_ratio(2.0);
    registry.enable_tool_search(all);
    assert_eq!(found(&registry, "crabs or lobsters").len(), 4, "no word is common");
}

#[derive(toolkit_ai::serde::Deserialize, toolkit_ai::schemars::JsonSchema)]
#[serde(crate = "toolkit_ai::serde")]
#[schemars(crate = "toolkit_ai::schemars")]
struct Nothing {}

#[tokio::test]
async fn invalid_queries_fail_with_advice() {
    let dispatcher = dispatcher(registry());
    let cases = [
        (r#"{"query": ""}"#, r"`query`: expected string of at least 1 character matching `\S`, got string"),
        (
            r#"{"query": " \n"}"#,
            r"`query`: expected string of at least 1 character matching `\S`, got string",
        ),
        (r#"{"query": "a", "top_k": 0}"#, "`top_k`: expected integer of at least 1, got number 0"),
        (r#"{"query": "a", "top_k": -1}"#, "`top_k`: expected integer of at least 1, got number -1"),
    ];
    for (arguments, text) in cases {
        let result = one(&dispatcher, "discover_tools", arguments).await;
        assert!(result.to_text().contains(text), "{arguments}: {}", result.to_text());
    }
    for (arguments, named) in
        [("{}", "`query`"), (r#"{"query": "a", "limit": 1}"#, "`limit`"), ("{", "parsing")]
    {
        let result = one(&dispatcher, "discover_tools", arguments).await;
        assert!(result.error().is_some_and(|error| error.message().contains(named)), "{result:?}");
    }
    assert!(!one(&dispatcher, "discover_tools", r#"{"query": "file", "top_k": "1"}"#).await.is_error());
}

#[tokio::test]
async fn a_deferred_tool_is_called_by_call_deferred_or_by_name() {
    let registry = registry();
    let dispatcher = dispatcher(registry.clone());
    for target in ["geo.weather", "geo_weather", "Geo-Weather"] {
        // All digits of this number must arrive, though a double is too short.
        let call = format!(r#"{{"city": "Lima", "_target_tool": "{target}", "days": 18446744073709551615}}"#);
        let text = "geo.weather: sun in Lima for 18446744073709551615, no reason";
        let result = one(&dispatcher, "call_deferred", &call).await;
        assert_eq!((result.name.as_str(), &*result.to_text()), ("call_deferred", text), "{target}");
        assert_eq!(registry.call("call_deferred", &call).await.unwrap().to_text(), text);
        let tool = registry.get("call_deferred").unwrap().clone();
        let context = ToolContext::new(tool.definition().name.clone());
        assert!(tool.call(&call, &context).await.unwrap().to_text().contains("sun in Lima"));
    }
    for name in ["geo.weather", "geo_weather"] {
        assert!(one(&dispatcher, name, r#"{"city": "Lima"}"#).await.to_text().contains("sun in Lima for 1"));
    }
    let written = r#""{\"_target_tool\": \"geo_weather\", \"city\": \"Lima\"}""#;
    assert!(!one(&dispatcher, "call_deferred", written).await.is_error(), "an object in a string");
}

/// Has a parameter named `arguments`.
#[tool(register = false, defer)]
fn run(arguments: Vec<String>) -> String {
    arguments.join(" ")
}

#[tokio::test]
async fn nested_arguments_are_unwrapped() {
    let mut registry = registry();
    registry.register(run::tool()).unwrap();
    let dispatcher = dispatcher(registry.with_call_reason(true));
    let of = async |target: &str, arguments: Value| {
        let call = json!({"call_reason": "r", "_target_tool": target, "arguments": arguments});
        one(&dispatcher, "call_deferred", &call.to_string()).await.to_text().into_owned()
    };
    let sun = "geo.weather: sun in Lima for 1, r";
    assert_eq!(of("geo_weather", json!({"city": "Lima"})).await, sun);
    assert_eq!(of("geo_weather", json!("{\"city\": \"Lima\"}")).await, sun);
    assert!(of("geo_weather", json!(["Lima"])).await.contains("`arguments`"), "that is no object");
    assert_eq!(of("run", json!(["a", "b"])).await, "a b", "the tool's own parameter");
}

#[tokio::test]
async fn an_invalid_target_fails_with_advice() {
    let mut registry = registry();
    registry.disable("send_mail", "the server is down").unwrap();
    let dispatcher = dispatcher(registry);
    let of = |target: &str| json!({"_target_tool": target, "path": "x"}).to_string();
    let direct = |tool: &str| format!("Tool `{tool}` is not deferred; call it by its name");
    let cases = [
        (of("read_file"), ErrorKind::InvalidArguments, direct("read_file")),
        (of("discover_tools"), ErrorKind::InvalidArguments, direct("discover_tools")),
        (of("call_deferred"), ErrorKind::InvalidArguments, direct("call_deferred")),
        (
            of("writ_file"),
            ErrorKind::NotFound,
            "Tool `writ_file` not found; did you mean `write_file`?".into(),
        ),
        (of("zzz"), ErrorKind::NotFound, "Tool `zzz` not found; find tools with `discover_tools`".into()),
        (of("send_mail"), ErrorKind::Disabled, "Tool `send_mail` is disabled: the server is down".into()),
    ];
    for (arguments, kind, text) in cases {
        let result = one(&dispatcher, "call_deferred", &arguments).await;
        let error = result.error().expect("it is wrong");
        assert_eq!((error.kind(), error.message()), (kind, text.as_str()));
        assert_eq!(result.name, "call_deferred");
    }
    for arguments in ["", "null", "{}", "[1]", r#"{"_target_tool": 1}"#, r#"{"_target_tool": "#, "nonsense"] {
        let result = one(&dispatcher, "call_deferred", arguments).await;
        assert!(result.is_error(), "{arguments}");
    }
    let wrong = one(&dispatcher, "call_deferred", &of("write_file")).await;
    assert!(
        wrong.to_text().contains("`text`: required"),
        "the target judges its arguments: {}",
        wrong.to_text()
    );
    let unknown = one(&dispatcher, "discover_tool", "{}").await;
    assert!(unknown.to_text().contains("did you mean `discover_tools`"), "{}", unknown.to_text());
}

#[tokio::test]
async fn a_repeated_target_is_refused() {
    let registry = registry();
    let dispatcher = dispatcher(registry.clone());
    for arguments in [
        r#"{"_target_tool": "write_file", "_target_tool": "send_mail", "path": "a", "text": "b"}"#,
        r#"{"_target_tool": "write_file", "path": "a", "text": "b", "_target\u005ftool": "write_file"}"#,
        r#"{"_target_tool": "write_file", "_target_tool": null, "arguments": {"path": "a", "text": "b"}}"#,
        r#"{"_target_tool": "write_file", "path": "a", "text": "b", "path": "c"}"#,
        r#"{"_target_tool": "write_file", "arguments": {"path": "a", "text": "b", "path": "c"}}"#,
        r#"{"_target_tool": "write_file", "arguments": {"path": "a", "text": "b"}, "arguments": {"path": "c", "text": "d"}}"#,
    ] {
        let result = one(&dispatcher, "call_deferred", arguments).await;
        assert_eq!(result.error().map(ToolError::kind), Some(ErrorKind::InvalidArguments), "{arguments}");
        assert!(registry.validate("call_deferred", arguments).is_err(), "{arguments}");
    }
}

#[tokio::test]
async fn the_policies_of_the_target_apply() {
    let log = Arc::new(Log::default());
    let seen = log.clone();
    let watch = move |request: ToolRequest, next: Next| {
        seen.write(format!("{} {}", request.definition().name, request.arguments()));
        next.run(request)
    };
    let registry = registry().with_shared_state(log.clone());
    let denied =
        Permissions::new().rule(PermissionRule::deny("no mail today").for_tool("send_mail").unwrap());
    let strict = dispatcher(registry.clone()).with_middleware(watch).with_middleware(denied);
    let mail = |to: &str| {
        ToolCall::new(to, "call_deferred", json!({"_target_tool": "send_mail", "to": to}).to_string())
    };
    let results = strict.dispatch([mail("ann")]).await;
    assert!(results[0].to_text().contains("no mail today"));
    assert_eq!(log.taken(), [r#"send_mail {"to":"ann"}"#], "middleware sees the call of the target tool");

    let open = dispatcher(registry);
    let direct = ToolCall::new("dan", "send_mail", r#"{"to": "dan"}"#);
    let results = open.dispatch([mail("bob"), mail("cas"), direct]).await;
    let names: Vec<&str> = results.iter().map(|result| result.name.as_str()).collect();
    assert_eq!(names, ["call_deferred", "call_deferred", "send_mail"]);
    assert_eq!(
        log.taken(),
        ["begin bob", "end bob", "begin cas", "end cas", "begin dan", "end dan"],
        "exclusive"
    );

    let late = one(&open, "call_deferred", r#"{"_target_tool": "dawdle"}"#).await;
    assert_eq!(late.to_text(), "Tool `dawdle` timed out after 0.01s");
}

#[tokio::test]
async fn a_deferred_call_keeps_its_reason() {
    let registry = registry().with_call_reason(true);
    let asked = |name: &str| {
        let tools = registry.definitions(ApiFormat::Anthropic).to_value();
        let tools = tools.as_array().unwrap().clone();
        let tool = tools.into_iter().find(|tool| tool["name"] == name).unwrap();
        tool["input_schema"]["properties"].get("call_reason").is_some()
    };
    assert!(asked("call_deferred") && asked("discover_tools"));
    let call = r#"{"_target_tool": "geo_weather", "call_reason": "to plan", "city": "Lima"}"#;
    let result = one(&dispatcher(registry.clone()), "call_deferred", call).await;
    assert_eq!(result.call_reason.as_deref(), Some("to plan"));
    assert_eq!(result.to_text(), "geo.weather: sun in Lima for 1, to plan");

    // The tool opts out of call reasons, though the model was asked for one.
    let quiet = toolkit_ai::AdaptedTool::new(weather::tool())
        .map_metadata(|metadata| metadata.with_call_reason(false));
    let registry = ToolRegistry::from_tools([quiet]).unwrap().with_tool_search().with_call_reason(true);
    let result = one(&dispatcher(registry), "call_deferred", call).await;
    assert_eq!(result.to_text(), "geo.weather: sun in Lima for 1, no reason");
}

#[test]
fn names_of_search_tools_are_reserved() {
    let taken = ClosureTool::new("discover_tools", "", |_: Nothing| 1).unwrap();
    let registry = ToolRegistry::from_tools([taken]).unwrap();
    assert!(Dispatcher::new(registry.clone()).is_ok());
    let error = Dispatcher::new(registry.with_tool_search()).unwrap_err();
    assert!(error.to_string().contains("has the name of a search tool; rename it"), "{error}");
    // A tool whose name is the spelling gets another one.
    let alike = ClosureTool::new("discover.tools", "", |_: Nothing| 1).unwrap();
    let registry = ToolRegistry::from_tools([alike]).unwrap().with_tool_search();
    let (names, _) = published(&registry, &DefinitionOptions::default());
    assert_eq!(names.len(), 3);
    assert!(names[1].starts_with("discover_tools_"), "{names:?}");
}

#[test]
fn a_merged_registry_keeps_tool_search() {
    let mail = ToolRegistry::from_tools(tools![send_mail]).unwrap();
    let mut both = ToolRegistry::from_tools(tools![read_file]).unwrap().with_tool_search();
    assert_eq!(found(&both, "mail"), [""; 0]);
    both.merge(mail.clone()).unwrap();
    assert_eq!(found(&both, "mail"), ["send_mail"]);
    assert!(merged(mail, ToolRegistry::new().with_tool_search()).contains("call_deferred"));
    let part = both.filtered(&toolkit_ai::ToolFilter::new().exclude(["send*"]).unwrap());
    assert_eq!(found(&part, "mail"), [""; 0]);
    assert!(!part.get("discover_tools").unwrap().definition().description.contains("send_mail"));
    both.update_namespace("home", false, toolkit_ai::name::Separator::Dash).unwrap();
    assert_eq!(found(&both, "home-send_mail"), ["home-send_mail"]);
}

/// Waits for a permit.
#[tool(register = false)]
async fn hold(#[state] gate: Arc<(Notify, Notify)>) {
    gate.0.notify_one();
    gate.1.notified().await;
}

#[tokio::test]
async fn search_follows_a_live_registry_and_batches_keep_their_snapshot() {
    let gate: Arc<(Notify, Notify)> = Arc::default();
    let registry = ToolRegistry::from_tools(tools![hold]).unwrap().with_tool_search();
    let live = LiveRegistry::new(registry.with_shared_state(gate.clone())).unwrap();
    let dispatcher = Dispatcher::new(&live).unwrap().with_max_concurrency(1);
    let find = || ToolCall::new("find", "discover_tools", r#"{"query": "file"}"#);
    let batch = dispatcher.dispatch([ToolCall::new("hold", "hold", "{}"), find()]);
    let change = async {
        gate.0.notified().await;
        live.change(|registry| registry.register(write_file::tool())).unwrap();
        gate.1.notify_one();
    };
    let (results, ()) = tokio::join!(batch, change);
    assert_eq!(results[1].to_text(), "[]", "the tool was not there when the batch started");
    assert!(dispatcher.dispatch([find()]).await[0].to_text().contains("write_file"));
    let call = r#"{"_target_tool": "write_file", "path": "a", "text": "b"}"#;
    assert_eq!(one(&dispatcher, "call_deferred", call).await.to_text(), "wrote b to a");
    live.change(|registry| registry.unregister("write_file").map(drop)).unwrap();
    assert_eq!(dispatcher.dispatch([find()]).await[0].to_text(), "[]");
    assert_eq!(
        one(&dispatcher, "call_deferred", call).await.error().map(ToolError::kind),
        Some(ErrorKind::NotFound)
    );
}

struct Counted(ToolDefinition, Arc<AtomicUsize>);

impl Tool for Counted {
    fn definition(&self) -> &ToolDefinition {
        self.1.fetch_add(1, Ordering::Relaxed);
        &self.0
    }

    fn call<'a>(&'a self, _: &'a str, _: &'a ToolContext) -> ToolFuture<'a> {
        ToolFuture::ready(Ok(ToolOutput::text("")))
    }
}

fn counted(number: usize, looks: &Arc<AtomicUsize>) -> Counted {
    let name = ToolName::new(&format!("tool_{number:05}")).unwrap();
    let mut definition = ToolDefinition::new(name, format!("Counts crabs of kind {number}."), json!({}));
    definition.metadata = definition.metadata.with_defer(true);
    Counted(definition, looks.clone())
}

#[test]
fn registering_deferred_tools_is_linear_and_search_tools_are_built_once_per_change() {
    let looks = Arc::new(AtomicUsize::new(0));
    let taken = || looks.swap(0, Ordering::Relaxed);
    let mut registry = ToolRegistry::new().with_tool_search();
    let per_tool = [1_000, 10_000].map(|until| {
        let before = registry.len();
        (before..until).for_each(|number| registry.register(counted(number, &looks)).unwrap());
        taken() as f64 / (until - before) as f64
    });
    assert_eq!(per_tool[0], per_tool[1], "looks at tools for each that is registered");
    let first = registry.get("discover_tools").unwrap().clone();
    assert!(first.definition().description.contains("10000 tools are not in your list"));
    assert!(taken() > 10_000);
    assert!(Arc::ptr_eq(&first, registry.get("discover_tools").unwrap()));
    assert!(registry.contains("call_deferred"));
    assert!(taken() < 10, "nothing was made again");
    registry.register(counted(10_000, &looks)).unwrap();
    assert!(!Arc::ptr_eq(&first, registry.get("discover_tools").unwrap()));
    assert_eq!(found(&registry, "kind 10000"), ["tool_10000"]);
}

proptest! {
    #[test]
    fn any_query_has_an_answer_best_first(query in ".{0,40}", top_k in 0_usize..6) {
        let registry = registry();
        let found = registry.search(&query, top_k);
        prop_assert!(found.len() <= top_k);
        prop_assert!(found.iter().all(|found| found.score > 0.0 && found.score.is_finite()));
        prop_assert!(found.is_sorted_by(|a, b| a.score >= b.score));
    }

    #[test]
    fn any_arguments_have_one_result(arguments in "[{}\"_a-z:, 0-9]{0,30}", target in "[a-z_.]{0,12}") {
        let registry = registry();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let target = json!({"_target_tool": target}).to_string();
        let calls = [arguments, target].map(|arguments| ToolCall::new("1", "call_deferred", arguments));
        prop_assert_eq!(runtime.block_on(dispatcher(registry).dispatch(calls)).len(), 2);
    }
}

/// A folder with folders inside.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Folder {
    name: String,
    inside: Vec<Self>,
}

/// Gemini reads `$ref` in results as a part's name, and refuses other names.
#[tokio::test]
async fn found_schemas_with_references_are_text_for_gemini() {
    fn count(folder: &Folder) -> usize {
        folder.name.len() + folder.inside.iter().map(count).sum::<usize>()
    }
    let list = ClosureTool::new("list_folder", "Lists a folder.", |folder: Folder| count(&folder)).unwrap();
    let list = list.map_metadata(|metadata| metadata.with_defer(true));
    let registry = ToolRegistry::from_tools([list]).unwrap().with_tool_search();
    let result = one(&dispatcher(registry), "discover_tools", r#"{"query": "list_folder"}"#).await;
    let messages = ApiFormat::Gemini.encode_results(&[result]);
    let output = &messages[0]["parts"][0]["functionResponse"]["response"]["output"];
    let output = output.as_str().expect("text");
    assert!(output.contains("\"$ref\""), "{output}");
}
