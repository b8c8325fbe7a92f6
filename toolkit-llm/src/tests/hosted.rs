//! Tests of hosted tools in definitions, and of their calls in responses and streams.

use crate::definitions::{DefinitionOptions, Definitions};
use crate::facts::ApiFormat;
use crate::hosted::{HostedTool, anthropic, gemini, openai};
use crate::translate::RequestFormat;
use serde_json::{Value, json};
use toolkit_core::definition::ToolDefinition;
use toolkit_core::name::{ToolName, WireNames};

fn all() -> Vec<HostedTool> {
    vec![
        openai::web_search(),
        openai::file_search(["vs_1"]),
        openai::code_interpreter(),
        openai::image_generation(),
        openai::mcp("docs", "https://a.example/mcp"),
        openai::connector("mail", "connector_gmail", "token"),
        openai::tool_search(),
        openai::client_tool_search(),
        openai::programmatic_tool_calling(),
        openai::shell(),
        openai::local_shell(),
        openai::apply_patch(),
        openai::computer(),
        anthropic::web_search(),
        anthropic::web_fetch(),
        anthropic::code_execution(),
        anthropic::tool_search_bm25(),
        anthropic::tool_search_regex(),
        anthropic::mcp("docs", "https://a.example/mcp"),
        anthropic::bash(),
        anthropic::text_editor(),
        anthropic::memory(),
        anthropic::computer(1024, 768),
        gemini::google_search(),
        gemini::google_maps(),
        gemini::url_context(),
        gemini::code_execution(),
        gemini::file_search(["fileSearchStores/a"]),
        gemini::computer_use(),
        gemini::mcp("docs", "https://a.example/mcp"),
    ]
}

fn own(format: ApiFormat, names: &[&str]) -> Definitions {
    let tools: Vec<ToolDefinition> = names
        .iter()
        .map(|name| ToolDefinition::new(ToolName::new(name).unwrap(), "Does it.", json!({"type": "object"})))
        .collect();
    format.encode_definitions(&tools, &WireNames::default(), &DefinitionOptions::default())
}

#[test]
fn hosted_tools_stand_unchanged_beside_the_own_tools_and_are_read_again() {
    for &format in ApiFormat::ALL {
        for own_tools in [&["add"][..], &[]] {
            let plain = own(format, own_tools);
            let with = plain.with_hosted(&all());
            let mine: Vec<Value> =
                all().into_iter().filter(|tool| tool.format == format).map(|tool| tool.definition).collect();
            let mut expected: Vec<Value> = plain.to_value().as_array().unwrap().clone();
            expected.extend(mine.iter().cloned());
            assert_eq!(with.to_value(), json!(expected));
            if let Some(reader) = RequestFormat::of(format) {
                assert_eq!(reader.hosted_tools(&with.to_value()).unwrap(), mine);
                assert_eq!(reader.parse_definitions(&with.to_value()).unwrap().len(), own_tools.len());
            }
            // Each tool of another API is reported.
            assert_eq!(with.report().losses.len(), all().len() - mine.len());
        }
    }
}

#[test]
fn the_own_tool_that_answers_a_hosted_tool_is_not_defined_twice() {
    for tool in all() {
        let Some(name) = tool.answered_by().map(ToOwned::to_owned) else { continue };
        let tools = own(tool.format, &["add", &name]).with_hosted([&tool]).to_value();
        assert_eq!(tools.as_array().unwrap().len(), 2, "{name}: {tools}");
        assert_eq!(tools[0]["name"], "add");
        assert_eq!(tools[1]["type"], tool.definition["type"]);
    }
}

/// Gemini defines a function for each action of its computer.
#[test]
fn the_own_tools_that_answer_the_computer_of_gemini_are_not_defined_twice() {
    let tools = own(ApiFormat::Gemini, &["add", "click_at", "navigate"]);
    for (computer, expected) in [
        (gemini::computer_use(), vec!["add"]),
        (
            gemini::computer_use().with("excludedPredefinedFunctions", vec!["navigate"]),
            vec!["add", "navigate"],
        ),
        (gemini::google_search(), vec!["add", "click_at", "navigate"]),
    ] {
        let tools = tools.clone().with_hosted([&computer]).to_value();
        let declared = RequestFormat::Gemini.parse_definitions(&tools).unwrap();
        let declared: Vec<String> = declared.iter().map(|tool| tool.name.to_string()).collect();
        assert_eq!(declared, expected, "{tools}");
        assert_eq!(RequestFormat::Gemini.hosted_tools(&tools).unwrap(), [computer.definition]);
    }
}

#[test]
fn a_search_by_the_program_takes_its_words_from_the_registry() {
    let tools = own(ApiFormat::OpenAiResponses, &["add", "call_deferred", "discover_tools"]);
    let tools = tools.with_hosted(&[openai::client_tool_search()]).to_value();
    let expected = json!({"type": "tool_search", "execution": "client", "description": "Does it.",
        "parameters": {"type": "object"}});
    assert_eq!(tools[1]["parameters"]["type"], "object");
    assert_eq!(tools[1]["description"], expected["description"]);
    assert_eq!(tools.as_array().unwrap().len(), 2);
}

/// Logs of a program are no place for the keys of its user.
#[test]
fn debug_output_has_no_secrets() {
    let secret = "ya29.secret";
    let mut tools = vec![
        openai::connector("mail", "connector_gmail", secret),
        openai::mcp("docs", "https://a.example/mcp").with("headers", json!({"X-Key": secret})),
        openai::mcp("docs", "https://a.example/mcp").with("authorization", secret),
    ];
    let server = json!([{"type": "url", "url": "https://a.example/mcp", "authorization_token": secret}]);
    tools.push(anthropic::web_search().with_request("mcp_servers", server));
    for tool in tools {
        let definitions = own(tool.format, &["add"]).with_hosted([&tool]);
        for shown in [format!("{tool:?}"), format!("{tool:#?}"), format!("{definitions:?}")] {
            assert!(!shown.contains(secret), "{shown}");
        }
        assert!(format!("{tool:?}").contains(tool.name()));
    }
}
