//! Every spelling of a feature, in every dialect.

use crate::{DIALECTS, file_with, texts, variable};
use std::time::Duration;
use toolkit_mcp_config::{ConfigFile, Dialect, ServerTransport};

#[test]
fn every_list_of_tools_is_honoured_in_every_dialect() {
    for dialect in DIALECTS {
        for (list, permitted) in [
            (r#""includeTools": ["add", "count"]"#, "add count"),
            (r#""enabled_tools": ["add"], "disabled_tools": ["add"]"#, ""),
            (r#""allowedTools": ["a*", "*t"]"#, "add count"),
            (r#""excludeTools": ["add"]"#, "count fail"),
            (r#""disabledTools": ["c*n*", "fail(*)"]"#, "add"),
            (r#""disabledTools": null"#, "add count fail"),
            (r#""tools": ["*"]"#, "add count fail"),
            (r#""tools": "add""#, "add"),
            (r#""tools": []"#, ""),
            (r#""tools": {"add": false, "fail": {"enabled": false}}"#, "count"),
        ] {
            if dialect == Dialect::Codex && list.contains("null") {
                continue;
            }
            let file = file_with(dialect, &format!(r#"{{"command": "x", {list}}}"#));
            let [server] = file.servers() else { panic!("{dialect:?} {list}: {file:?}") };
            let tools = ["add", "count", "fail"].into_iter().filter(|tool| server.tools.permits(tool));
            assert_eq!(tools.collect::<Vec<_>>().join(" "), permitted, "{dialect:?} {list}");
        }
    }
}

#[test]
fn every_restriction_that_is_not_understood_is_a_failure_in_every_dialect() {
    for dialect in DIALECTS {
        for restriction in [
            r#""sandboxEnabled": true"#,
            r#""include_tags": ["safe"]"#,
            r#""disabledTools": 5"#,
            r#""excludedTools": ["add"]"#,
            r#""enable": "no""#,
            r#""readOnlyHint": "only""#,
            r#""tools": {"add": {"arguments": {}}}"#,
            r#""disabled": "yes""#,
        ] {
            let file = file_with(dialect, &format!(r#"{{"command": "x", {restriction}}}"#));
            assert_eq!((file.servers().len(), file.failures().len()), (0, 1), "{dialect:?} {restriction}");
        }
        // A disabled restriction restricts nothing.
        assert_eq!(file_with(dialect, r#"{"command": "x", "sandboxEnabled": false}"#).servers().len(), 1);
    }
}

#[test]
fn a_timeout_has_the_unit_of_its_dialect() {
    for dialect in DIALECTS {
        let limits = |entry: &str| {
            let file = file_with(dialect, entry);
            (file.servers()[0].call_timeout, file.servers()[0].start_timeout)
        };
        let [small, large] =
            ["120", "30000"].map(|limit| limits(&format!(r#"{{"command": "x", "timeout": {limit}}}"#)));
        let seconds = |seconds| (Some(Duration::from_secs(seconds)), None);
        let milliseconds = |milliseconds| (Some(Duration::from_millis(milliseconds)), None);
        let expected = match dialect {
            Dialect::Cline | Dialect::LangChain | Dialect::Zed | Dialect::Codex | Dialect::Goose => {
                (seconds(120), seconds(30_000))
            }
            Dialect::McpServers => (seconds(120), milliseconds(30_000)),
            Dialect::OpenCode => ((None, milliseconds(120).0), (None, milliseconds(30_000).0)),
            _ => (milliseconds(120), milliseconds(30_000)),
        };
        assert_eq!((small, large), expected, "{dialect:?}");
        let named = r#"{"command": "x", "startup_timeout_sec": 2.5, "tool_timeout_sec": 60}"#;
        assert_eq!(limits(named), (Some(Duration::from_secs(60)), Some(Duration::from_millis(2_500))));
        let named = r#"{"command": "x", "startup_timeout_ms": 2500}"#;
        assert_eq!(limits(named), (None, Some(Duration::from_millis(2_500))));
        let parts = r#"{"command": "x", "timeout": {"startup": 100, "request": 200}}"#;
        assert_eq!(limits(parts), (Some(Duration::from_millis(200)), Some(Duration::from_millis(100))));
        assert_eq!(limits(r#"{"command": "x", "timeout": 0}"#), (None, None));
    }
}

#[test]
fn a_variable_is_replaced_in_the_syntax_of_its_dialect() {
    for dialect in DIALECTS {
        // The text with braces, with dollars too, and in opencode's syntax; `=` where unchanged.
        for (text, braces, dollars, curly) in [
            ("plain $ $5 {x} ${", "=", "=", "="),
            ("${A}-${env:A}", "1-1", "1-1", "${A}-$1"),
            ("${NONE:-x y}${EMPTY:-z}[${EMPTY}]", "x yz[]", "x yz[]", "="),
            ("${NESTED}", "${A}$A{env:A}", "${A}$A{env:A}", "="),
            ("${userHome}", "/home/ada", "/home/ada", "="),
            ("$A/$EMPTY.$A", "=", "1/.1", "="),
            ("<{env:A}>", "=", "=", "<1>"),
        ] {
            let file = file_with(dialect, &format!(r#"{{"command": "x", "args": ["{text}"]}}"#));
            let expected = match dialect {
                // Goose replaces variables in URLs and headers only.
                Dialect::ClaudeDesktop | Dialect::Zed | Dialect::Codex | Dialect::Goose => "=",
                Dialect::GeminiCli | Dialect::CopilotCli => dollars,
                Dialect::OpenCode => curly,
                _ => braces,
            };
            let expected = if expected == "=" { text } else { expected };
            let Ok(ServerTransport::Command { args, .. }) = file.servers()[0].resolve(variable) else {
                panic!("{text}")
            };
            assert_eq!(args, [expected], "{dialect:?} {text}");
        }
    }
    let file = file_with(Dialect::Codex, r#"{"command": "x", "args": ["${A}"]}"#);
    let expected = "MCP server `a`: `args` has `${…}`, which Codex does not replace (line 2, column 23)";
    assert_eq!(texts(file.issues()), [expected]);
}

#[test]
fn a_variable_without_a_value_is_a_fault_that_says_what_to_do() {
    for (dialect, text, expected) in [
        (
            Dialect::McpServers,
            "${NONE}",
            "the variable `NONE` is not set; set it, or write `${NONE:-default}`",
        ),
        (Dialect::GeminiCli, "$NONE", "the variable `NONE` is not set; set it, or write `${NONE:-default}`"),
        (Dialect::OpenCode, "{env:NONE}", "the variable `NONE` is not set; set it"),
        (Dialect::OpenCode, "{file:no/such}", "the file `no/such` cannot be read; check its path"),
        (
            Dialect::VsCode,
            "${input:key}",
            "the input `key` has no value; return one for the name `input:key`",
        ),
    ] {
        let file = file_with(dialect, &format!(r#"{{"command": "x", "args": ["{text}"]}}"#));
        let fault = file.servers()[0].resolve(variable).unwrap_err();
        assert_eq!((fault.server(), fault.message()), ("a", expected));
        assert!(fault.place().is_some());
    }
}

#[test]
fn no_variable_changes_the_host_that_gets_the_headers() {
    for (url, expected) in [
        ("https://example.com/${A}?key=${A}", Some("https://example.com/1?key=1")),
        ("https://${NONE:-example.com}/mcp", Some("https://example.com/mcp")),
        ("${NONE:-https://example.com}/mcp", Some("https://example.com/mcp")),
        ("https://${EVIL}", None),
        ("https://example.com${EVIL}", None),
        ("https://example.com:${A}/", None),
        ("https://${A}@example.com/", None),
        ("https://${EVIL:-example.com}/mcp", None),
        ("${EVIL:-https://example.com}/mcp", None),
        ("https:///${EVIL}", None),
        ("https:/${EVIL}", None),
        (r"https://\\${EVIL}", None),
        (r"https://\t/${EVIL}", None),
    ] {
        let entry = format!(r#"{{"url": "{url}", "headers": {{"X-Key": "${{WEATHER_KEY}}"}}}}"#);
        match (file_with(Dialect::McpServers, &entry).servers()[0].resolve(variable), expected) {
            (Ok(ServerTransport::Http { url: sent, headers, .. }), Some(expected)) => {
                assert_eq!((sent.as_str(), headers["X-Key"].as_str()), (expected, "k3y"));
            }
            (Err(fault), None) => {
                assert_eq!(
                    fault.message(),
                    "a variable changes the host of the URL; write the host into the file"
                );
            }
            (other, _) => panic!("{url}: {other:?}"),
        }
    }
}

#[test]
fn a_faulty_text_is_explained_in_words_of_the_file() {
    for (text, expected) in [
        ("", "the file has no servers; add them under `mcpServers`"),
        (
            "[]",
            "the file is neither a JSON object nor valid TOML: unquoted keys cannot be empty, expected letters, numbers, `-`, `_` (line 1, column 2)",
        ),
        (
            "{\n  \"mcpServers\": {\"ä\": 1 2}}",
            "the file is not valid JSON: Expected comma (line 2, column 24)",
        ),
        (
            "{\"a\": 1} {}",
            "the file is not valid JSON: Text cannot contain more than one JSON value (line 1, column 10)",
        ),
        (r#"{"mcpServers": 5}"#, "`mcpServers` must be an object, not a number (line 1, column 16)"),
        (r#"{"preference": {"x": 1}}"#, "the file has no servers; add them under `mcpServers`"),
    ] {
        assert_eq!(
            ConfigFile::read(text).map_err(|fault| fault.to_string()),
            Err(expected.to_owned()),
            "{text}"
        );
    }
    let lacks = |container: &str| format!("the file has no servers; add them under `{container}`");
    for (text, dialect, container) in [
        ("{}", Dialect::McpServers, "mcpServers"),
        (r#"{"mcpServers": {}}"#, Dialect::McpServers, "mcpServers"),
        ("", Dialect::Cursor, "mcpServers"),
        (r#"{"servers": {}}"#, Dialect::VsCode, "servers"),
    ] {
        assert_eq!(texts(ConfigFile::read_as(text, dialect).unwrap().issues()), [lacks(container)], "{text}");
    }
    for (entry, expected) in [
        ("5", "`a` must be an object, not a number (line 1, column 22)"),
        (r#"{"command": true, "args": 5}"#, "`args` must be a list, not a number (line 1, column 48)"),
        (r#"{"command": "x", "env": "s3cret"}"#, "`env` must be an object, not a string (line 1, column 46)"),
        (
            r#"{"command": "x", "args": [["s3cret"]]}"#,
            "`args` must be a string, not a list (line 1, column 48)",
        ),
        (
            r#"{"command": "x", "disabled": "s3cret"}"#,
            "`disabled` must be `true` or `false`, not a string (line 1, column 51)",
        ),
        (
            r#"{"command": "x", "timeout": "soon"}"#,
            "`timeout` must be a number, not a string (line 1, column 50)",
        ),
        (
            r#"{"command": "x", "url": "s3cret"}"#,
            "there is a `command` and a `url`; use one of them (line 1, column 17)",
        ),
        (r#"{"url": "s3cret", "serverUrl": "y"}"#, "there are two URLs; use one of them (line 1, column 53)"),
        (r#"{"comand": "x"}"#, "there is neither a `command` nor a `url`; add one (line 1, column 17)"),
        (
            r#"{"type": "sse", "url": "x"}"#,
            "the transport `sse` is no longer supported; use `http` and its URL (line 1, column 17)",
        ),
        (
            r#"{"type": "ws", "url": "x"}"#,
            "the type does not fit; use `stdio` with `command` or `http` with `url` (line 1, column 17)",
        ),
    ] {
        let file = file_with(Dialect::McpServers, entry);
        assert_eq!(texts(file.failures()), [format!("MCP server `a`: {expected}")], "{entry}");
        assert!(!format!("{file:?}").contains("s3cret"), "{file:?}");
    }
}

#[test]
fn what_has_no_effect_is_an_issue_with_its_place() {
    for (entry, expected) in [
        (
            r#"{"command": "x", "arg": ["y"]}"#,
            "`arg` is not known, and has no effect; check its spelling (line 1, column 39)",
        ),
        (
            r#"{"url": "x", "oauth": {"scope": "y"}}"#,
            "`oauth` is not supported, and has no effect (line 1, column 35)",
        ),
        (
            r#"{"url": "x", "auth": "oauth"}"#,
            "`auth` asks for a login, which is not supported; set a token in `headers` (line 1, column 35)",
        ),
        (
            r#"{"command": "x", "command": "y"}"#,
            "`command` is written twice; the last value counts (line 1, column 23)",
        ),
        (
            r#"{"command": "x", "timeout": 60}"#,
            "`timeout` is read as seconds, because it is small; name the dialect to be sure (line 1, column 39)",
        ),
        (
            r#"{"command": "x"}, "a": {"command": "y"}"#,
            "a later entry of this name replaces this one (line 1, column 17)",
        ),
    ] {
        let file = file_with(Dialect::McpServers, entry);
        assert_eq!(texts(file.issues()), [format!("MCP server `a`: {expected}")], "{entry}");
        assert_eq!(file.servers().len(), 1);
    }
    let harmless =
        r#"{"url": "x", "oauth": false, "alwaysAllow": ["y"], "env": null, "args": null, "auth": "s3cret"}"#;
    let file = file_with(Dialect::McpServers, harmless);
    assert_eq!(file.issues(), []);
    let Ok(ServerTransport::Http { headers, .. }) = file.servers()[0].resolve(variable) else {
        panic!("{file:?}")
    };
    assert_eq!(headers["Authorization"], "Bearer s3cret");
}

#[test]
fn a_variable_that_an_entry_sets_itself_has_this_value_in_its_other_texts() {
    for dialect in DIALECTS {
        let (braces, curly) = ("${NONE}", "{env:NONE}");
        let expected = match dialect {
            Dialect::ClaudeDesktop | Dialect::Zed | Dialect::Codex | Dialect::Goose => (braces, "${A}"),
            _ => ("Bearer 1", "own"),
        };
        let text = |name: &str| match dialect {
            Dialect::OpenCode => curly.replace("NONE", name),
            _ => braces.replace("NONE", name),
        };
        let [none, a] = [text("NONE"), text("A")];
        // The value may have a variable, and precedes the environment.
        let value = if expected.0 == braces { "x".to_owned() } else { format!("Bearer {a}") };
        let entry =
            format!(r#"{{"command": "x", "args": ["{none}", "{none}{a}"], "env": {{"NONE": "{value}"}}}}"#);
        let Ok(ServerTransport::Command { args, env, .. }) =
            file_with(dialect, &entry).servers()[0].resolve(variable)
        else {
            panic!("{dialect:?}")
        };
        assert_eq!(args[0], expected.0, "{dialect:?}");
        assert!(expected.0 == braces || env["NONE"] == expected.0, "{dialect:?}");
        let entry = format!(r#"{{"command": "x", "args": ["{a}"], "env": {{"A": "own"}}}}"#);
        let file = file_with(dialect, &entry);
        let Ok(ServerTransport::Command { args, .. }) = file.servers()[0].resolve(variable) else {
            panic!("{dialect:?}")
        };
        assert_eq!(args, [expected.1], "{dialect:?}");
    }
    let entry = r#"{
        "url": "https://example.com/${PART}", "headers": {"Authorization": "Bearer ${KEY}"},
        "env": {"PART": "mcp", "KEY": "s3cret", "UNUSED": "${NONE}"}
    }"#;
    let file = file_with(Dialect::ClaudeCode, entry);
    assert!(!format!("{file:?}").contains("s3cret"));
    let Ok(ServerTransport::Http { url, headers, .. }) = file.servers()[0].resolve(variable) else {
        panic!("{file:?}")
    };
    assert_eq!(
        (url.as_str(), headers["Authorization"].as_str()),
        ("https://example.com/mcp", "Bearer s3cret")
    );
    let entry = r#"{"url": "https://${HOST}/mcp", "env": {"HOST": "evil.example"}}"#;
    assert!(file_with(Dialect::ClaudeCode, entry).servers()[0].resolve(variable).is_err());
    let missing = file_with(Dialect::ClaudeCode, r#"{"command": "x", "env": {"NONE": "${NONE}"}}"#);
    assert!(missing.servers()[0].resolve(variable).is_err());
}
