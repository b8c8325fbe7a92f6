//! The program `toolkit` over the server of the example.

use crate::{Program, example, toolkit, weather_path};
use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A command over the server, as a child process.
fn over(words: &str) -> Program {
    toolkit(words).arg("--").arg(weather_path()).args("serve mcp")
}

#[test]
fn a_server_has_the_commands_of_a_program() {
    let listed = over("list --format json").run().json();
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["alarm", "wait", "weather-forecast", "weather-map"]);
    let ran = over("call weather-forecast --city Rome --days 2").run();
    assert_eq!(ran.out, "{\"city\":\"Rome\",\"days\":2,\"sky\":\"clear\",\"warmest\":24}\n", "{ran:?}");
    assert!(over("show alarm").run().out.contains("--urgent"));
    let unknown = over("call alrm").run();
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("did you mean `alarm`?"), "{unknown:?}");
}

#[test]
fn a_shell_runs_several_commands_over_one_connection() {
    let script = "list\ncall weather-forecast --city 'New York' --days 1\ncall alarm\nexit\nlist\n";
    let ran = over("shell").run_with(script);
    assert!(ran.out.contains("{\"city\":\"New York\",\"days\":1"), "{ran:?}");
    assert_eq!(ran.out.matches("4 tools").count(), 1, "{ran:?}");
    // The first failure of the script.
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn a_server_is_chosen_in_a_configuration_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".mcp.json");
    let entry = json!({"command": weather_path(), "args": ["serve", "mcp"], "disabledTools": ["alarm"]});
    let never = json!({"command": folder.path().join("never-started")});
    let file = json!({"mcpServers": {"weather": entry, "other": never}});
    fs::write(&path, file.to_string()).unwrap();
    let of_file = |words: &str| toolkit("--config").arg(&path).args(words).run();
    let chosen = of_file("--server weather list --format json");
    assert_eq!(chosen.json()["tools"].as_array().unwrap().len(), 3, "{chosen:?}");
    let unchosen = of_file("list");
    assert_eq!(unchosen.code, 2);
    assert!(unchosen.err.contains("with `--server`: weather, other"), "{unchosen:?}");
    assert_eq!(of_file("--server wether list").code, 2);
    assert_eq!(of_file("--server other list").code, 6);
}

#[test]
fn a_server_that_cannot_be_reached_has_its_own_exit_code() {
    assert_eq!(toolkit("list -- no-such-program").run().code, 6);
    assert_eq!(toolkit("--url http://127.0.0.1:9/mcp --timeout 60 list").run().code, 6);
    let unnamed = toolkit("list").run();
    assert_eq!(unnamed.code, 2);
    assert!(unnamed.err.contains("name a server"), "{unnamed:?}");
    assert_eq!(toolkit("--config x.json list -- y").run().code, 2);
}

fn almanac(words: &str) -> Program {
    toolkit(words).arg("--").arg(example("almanac"))
}

#[test]
fn resources_are_listed_and_read() {
    let listed = almanac("resources --format json").run().json();
    let of = |list: &str| listed[list][0].clone();
    let expected = json!({
        "uri": "almanac://about", "name": "about", "title": null, "description": "What this almanac is.",
        "media_type": null, "size": null,
    });
    assert_eq!(of("resources"), expected);
    assert_eq!(of("templates")["uri"], "almanac://moon/{month}");
    assert_eq!(almanac("read almanac://moon/may").run().out, "full moon in may\n");
    let read = almanac("read almanac://about --format json").run().json();
    assert_eq!(
        read,
        json!({"uri": "almanac://about", "content": [{"type": "text", "text": "Made for tests."}]})
    );
    let unknown = almanac("read almanac://sun").run();
    assert!(unknown.code == 1 && unknown.err.contains("almanac://sun"), "{unknown:?}");
    assert_eq!(over("resources --format json").run().json(), json!({"resources": [], "templates": []}));
}

#[test]
fn prompts_are_listed_and_filled_in() {
    let listed = almanac("prompts --format json").run().json();
    assert_eq!(listed["prompts"][0]["name"], "stars");
    let day = json!({"name": "day", "description": "The day, such as 2026-08-12", "required": true});
    assert_eq!(listed["prompts"][0]["arguments"][0], day);
    let filled = almanac("prompt stars --day monday --place Oslo --format json").run().json();
    let content = json!({"type": "text", "text": "What is in the sky of Oslo on monday?"});
    assert_eq!(filled, json!({"prompt": "stars", "messages": [{"role": "user", "content": content}]}));
    let given = r#"prompt stars --args {"day":1,"place":"Rome"}"#;
    assert_eq!(almanac(given).run().out, "user\nWhat is in the sky of Rome on 1?\n");
    let unknown = almanac("prompt star").run();
    assert!(unknown.code == 2 && unknown.err.contains("did you mean `stars`?"), "{unknown:?}");
    assert_eq!(almanac("prompt stars").run().code, 1);
    let script = "prompt stars --day 'to day'\nread \"almanac://about\"\n";
    let ran = almanac("shell").run_with(script);
    assert_eq!(ran.out, "user\nWhat is in the sky of Rome on to day?\nMade for tests.\n");
    assert!(almanac("shell").run_with("call 'open").err.contains("a quote is not closed"));
}

#[test]
fn mistakes_name_the_way_out() {
    let list = r#"call plan --stops [{"city":"Rome"},{"city":"Oslo","days":2}]"#;
    assert_eq!(almanac(list).run().out, "2\n");
    let help = almanac("call plan --help").run().out;
    assert!(help.contains("; properties: `city` string, `days` integer"), "{help}");
    for (words, cure) in [
        ("call plan stops=2", "write `--stops 2`, not `stops=2`"),
        ("call plan --timeout 5 --env A=1", "write `--env` of the server before `call`"),
    ] {
        let ran = almanac(words).run();
        assert!(ran.code == 2 && ran.err.contains(cure), "{ran:?}");
    }
    let unnamed = toolkit("list some-server").run();
    assert!(unnamed.code == 2 && unnamed.err.contains("toolkit list -- npx"), "{unnamed:?}");
}

#[test]
fn a_time_limit_holds_for_everything() {
    let hangs = toolkit("list --timeout 0.5 --").arg(weather_path()).args("call wait --seconds 60").run();
    assert_eq!(hangs.code, 5, "{hangs:?}");
    assert_eq!(hangs.err, "error: the 0.5 s of `--timeout` are over\n");
    let called = over("--timeout 3 call wait --seconds 60").run();
    assert_eq!(called.code, 5, "{called:?}");
    assert_eq!(over("--timeout 60 call wait --seconds 0.1").run().code, 0);
    assert_eq!(over("--timeout 0 list").run().code, 2);
}

struct HttpWeather {
    child: Child,
    url: String,
}

impl HttpWeather {
    fn start() -> Self {
        let mut command = Command::new(weather_path());
        command.args(["serve", "http", "--address", "127.0.0.1:0", "--token-env", "WEATHER_TOKEN"]);
        let mut child = command.env("WEATHER_TOKEN", "s3cret").stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.split(' ').nth(1).unwrap_or_else(|| panic!("{line}")).to_owned();
        Self { child, url }
    }
}

impl Drop for HttpWeather {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_over_http_wants_its_token() {
    let server = HttpWeather::start();
    let with = |header: &str| toolkit("list --url").arg(&server.url).arg("--header").arg(header).run();
    let ran = with("Authorization: Bearer s3cret");
    assert!(ran.out.contains("4 tools"), "{ran:?}");
    assert_eq!(with("Authorization: Bearer wrong").code, 6);
    assert_eq!(with("no header").code, 2);
    let unset = Program::new(&weather_path()).args("serve http --token-env NO_SUCH_VARIABLE").run();
    assert_eq!(unset.code, 2, "{unset:?}");
    assert!(Path::new(&weather_path()).exists());
}
