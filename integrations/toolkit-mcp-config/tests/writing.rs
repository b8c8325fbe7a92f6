//! Entries written into files.

use crate::{DIALECTS, variable};
use std::path::Path;
use toolkit_mcp_config::{ConfigFile, Dialect, ServerEntry, ServerTransport, remove_entry, write_entry};

#[test]
fn a_written_entry_is_read_again_in_every_dialect() {
    for dialect in DIALECTS {
        let mut command = ServerTransport::command("weather-server", ["--root", "C:\\data \"x\"\n"]);
        let ServerTransport::Command { env, .. } = &mut command else { panic!() };
        env.insert("REGION".to_owned(), "eu".to_owned());
        for transport in [command, ServerTransport::url("https://example.com/mcp")] {
            let entry = ServerEntry::new("my.server", transport.clone());
            let text = write_entry("", dialect, &entry).unwrap();
            let file = ConfigFile::read_as(&text, dialect).unwrap();
            assert_eq!(file.servers()[0].resolve(variable).as_ref(), Ok(&transport), "{dialect:?} {text}");
            assert_eq!((file.issues(), file.failures()), (&[][..], &[][..]), "{dialect:?} {text}");
            assert_eq!(write_entry(&text, dialect, &entry).as_ref(), Ok(&text), "{dialect:?}");
        }
    }
}

#[test]
fn the_rest_of_a_file_stays() {
    let text = "\u{feff}{\n  // Mine.\n  \"theme\": 1,\n  \"mcpServers\": {\n    \"a\": { \"url\": \"x\", \"disabledTools\": [\"b\"] }, // Old.\n  },\n}\n";
    let entry = ServerEntry::new("a", ServerTransport::command("server", [""; 0]));
    let written = write_entry(text, Dialect::McpServers, &entry).unwrap();
    let file = ConfigFile::read(&written).unwrap();
    assert_eq!(file.servers()[0].transport, entry.transport, "{written}");
    assert!(!file.servers()[0].tools.permits("b"));
    assert!(
        ["\u{feff}{\n  // Mine.\n", "\"theme\": 1", "// Old."].iter().all(|part| written.contains(part)),
        "{written}"
    );

    let toml = "# Mine.\nmodel = \"x\"\n\n[mcp_servers.a]\ncommand = \"y\"\n";
    let written = write_entry(toml, Dialect::Codex, &ServerEntry::new("b", entry.transport.clone())).unwrap();
    assert!(written.starts_with(toml), "{written}");
    assert_eq!(ConfigFile::read(&written).unwrap().servers().len(), 2);
    for (text, dialect) in
        [("mcp_servers = 5", Dialect::Codex), ("[1]", Dialect::Zed), (r#"{"mcpServers": 5}"#, Dialect::Cline)]
    {
        assert!(write_entry(text, dialect, &entry).is_err(), "{text}");
    }
}

/// Files with an old entry `a` for a command `x`, and `b` for a URL, with all they can keep.
const KEPT: &[(Dialect, &str)] = &[
    (
        Dialect::McpServers,
        "{\n  // Mine.\n  \"mcpServers\": {\n    \"a\": {\n      \"type\": \"stdio\", \"command\": \"x\", \"args\": [\"old\"],\n      \"env\": {\n        // The key.\n        \"API_KEY\": \"k\", \"PORT\": 80,\n      },\n      \"cwd\": \"/srv\", \"timeout\": 5000\n    },\n    \"b\": { \"url\": \"https://example.com/old\", \"headers\": { \"authorization\": \"Bearer t\" /* Mine. */ } }\n  }\n}\n",
    ),
    (
        Dialect::OpenCode,
        r#"{"mcp": {"a": {"type": "local", "command": ["x", "old"], "environment": {"API_KEY": "k", "PORT": "80"}, "cwd": "/srv"}, "b": {"type": "remote", "url": "https://example.com/old", "headers": {"authorization": "Bearer t"}}}}"#,
    ),
    (
        Dialect::Zed,
        r#"{"context_servers": {"a": {"command": {"path": "x", "args": ["old"], "env": {"API_KEY": "k", "PORT": "80"}}, "cwd": "/srv"}, "b": {"url": "https://example.com/old", "headers": {"authorization": "Bearer t"}}}}"#,
    ),
    (
        Dialect::VsCode,
        r#"{"servers": {"a": {"command": "x", "env": {"API_KEY": "k", "PORT": "80"}, "envFile": "f", "cwd": "/srv"}, "b": {"type": "http", "url": "https://example.com/old", "headers": {"authorization": "Bearer t"}}}}"#,
    ),
    (
        Dialect::Codex,
        "# Mine.\nmodel = \"x\" # The model.\n\n[mcp_servers.a]\ncommand = \"x\" # The program.\nargs = [\"old\"]\ncwd = \"/srv\"\nenv_vars = [\"HOME\"]\n\n[mcp_servers.a.env]\n# The key.\nAPI_KEY = \"k\"\nPORT = \"80\"\n\n[mcp_servers.b]\nurl = \"https://example.com/old\"\nhttp_headers = { authorization = \"Bearer t\" } # Mine.\nbearer_token_env_var = \"T\"\n\n[other]\nkey = 1\n",
    ),
    (
        Dialect::Codex,
        "mcp_servers = { a = { command = \"x\", env = { API_KEY = \"k\", PORT = \"80\" }, cwd = \"/srv\" }, b = { url = \"https://example.com/old\", http_headers = { authorization = \"Bearer t\" } } }\n",
    ),
    (Dialect::Goose, GOOSE),
];

const GOOSE: &str = "# Mine.
GOOSE_MODEL: x # The model.
extensions:
  a:
    enabled: true
    type: stdio
    name: a
    cmd: x # The program.
    args:
    - old
    timeout: 300
    cwd: /srv
    envs:
      # The key.
      API_KEY: k
      PORT: 80
    env_keys: [HOME]

  # Mine.
  b:
    enabled: true
    type: streamable_http
    name: b
    description: ''
    uri: https://example.com/old
    headers:
      authorization: Bearer t
slash_commands:
- command: a
";

#[test]
fn lines_of_yaml_stay() {
    let entry = ServerEntry::new("a", ServerTransport::command("/bin/a b", ["serve", "mcp"]));
    let own = "  a:\n    type: \"stdio\"\n    cmd: \"/bin/a b\"\n    args: [\"serve\", \"mcp\"]\n    enabled: true\n    name: \"a\"\n    description: \"\"\n";
    for (text, expected) in [
        ("", format!("extensions:\n{own}")),
        ("# Mine.\nkey: 1", format!("# Mine.\nkey: 1\nextensions:\n{own}")),
        ("extensions: {} # Mine.\nkey: 1\n", format!("extensions: # Mine.\n{own}key: 1\n")),
        ("extensions:\n\nkey: 1\n", format!("extensions:\n{own}\nkey: 1\n")),
        (
            "extensions:\n    b:\n        cmd: |\n            x\n    # Mine.\nkey: 1\n",
            format!(
                "extensions:\n    b:\n        cmd: |\n            x\n{}    # Mine.\nkey: 1\n",
                own.replace("    ", "      ").replace("  a:", "    a:")
            ),
        ),
    ] {
        let written = write_entry(text, Dialect::Goose, &entry).unwrap();
        assert_eq!(written, expected, "{text}");
        assert_eq!(write_entry(&written, Dialect::Goose, &entry).unwrap(), written);
        assert_eq!(transport(&written, Dialect::Goose, "a"), entry.transport);
        let removed = remove_entry(&written, Dialect::Goose, "a").unwrap();
        assert_eq!(remove_entry(&removed, Dialect::Goose, "a").unwrap(), removed);
        for line in text.lines().filter(|line| !line.starts_with("extensions")) {
            assert!(removed.contains(line), "{removed}");
        }
    }
    // Forms that Goose does not write are left as they are.
    for text in ["extensions: {b: {cmd: x}}\n", "{}\n", "extensions: 5\n", "a: &x 1\nb: *x\n", "a: [\n"] {
        assert!(write_entry(text, Dialect::Goose, &entry).is_err(), "{text}");
    }
    assert!(remove_entry("extensions: {b: {cmd: x}, c: {cmd: y}}\n", Dialect::Goose, "b").is_err());
}

fn transport(text: &str, dialect: Dialect, name: &str) -> ServerTransport {
    let file = ConfigFile::read_as(text, dialect).unwrap();
    assert_eq!(file.failures(), [], "{text}");
    file.servers().iter().find(|server| server.name == name).unwrap().transport.clone()
}

#[test]
fn an_entry_of_the_same_server_keeps_its_variables_its_folder_and_its_headers() {
    for (dialect, text) in KEPT {
        let write = |text: &str, name: &str, transport| {
            write_entry(text, *dialect, &ServerEntry::new(name, transport)).unwrap()
        };
        let mut command = ServerTransport::command("x", ["new"]);
        let ServerTransport::Command { env, .. } = &mut command else { panic!() };
        env.insert("PORT".to_owned(), "81".to_owned());
        let written = write(text, "a", command.clone());
        let ServerTransport::Command { program, args, env, cwd, .. } = transport(&written, *dialect, "a")
        else {
            panic!("{written}")
        };
        assert_eq!((program.as_str(), args), ("x", vec!["new".to_owned()]), "{written}");
        assert_eq!((env["API_KEY"].as_str(), env["PORT"].as_str(), env.len()), ("k", "81", 2), "{written}");
        assert_eq!(cwd.as_deref(), Some("/srv"), "{written}");
        assert_eq!(write(&written, "a", command), written);

        let mut url = ServerTransport::url("https://example.com/new");
        let written = write(&written, "b", url.clone());
        assert_eq!(write(&written, "b", url.clone()), written);
        let ServerTransport::Http { url: sent_to, headers, .. } = transport(&written, *dialect, "b") else {
            panic!("{written}")
        };
        assert_eq!((sent_to.as_str(), headers.len()), ("https://example.com/new", 1), "{written}");
        assert_eq!(headers["authorization"], "Bearer t", "{written}");
        let ServerTransport::Http { headers, .. } = &mut url else { panic!() };
        headers.insert("Authorization".to_owned(), "Bearer new".to_owned());
        let written = write(&written, "b", url.clone());
        assert_eq!(transport(&written, *dialect, "b"), url, "{written}");
        for part in
            ["Mine.", "The key.", "The program.", "The model.", "[other]\nkey = 1", "timeout", "envFile"]
        {
            assert_eq!(written.contains(part), text.contains(part), "{part} {written}");
        }
    }
}

#[test]
fn an_entry_of_another_server_gives_it_no_secrets() {
    for (dialect, text) in KEPT {
        for (name, transport_of_other) in [
            ("a", ServerTransport::command("other", ["new"])),
            ("a", ServerTransport::url("https://example.com/new")),
            ("b", ServerTransport::url("https://evil.example/mcp")),
            ("b", ServerTransport::url("https://example.com.evil.example/mcp")),
            ("b", ServerTransport::command("x", ["new"])),
        ] {
            let entry = ServerEntry::new(name, transport_of_other.clone());
            let written = write_entry(text, *dialect, &entry).unwrap();
            assert_eq!(transport(&written, *dialect, name), transport_of_other, "{written}");
            assert_eq!(write_entry(&written, *dialect, &entry).unwrap(), written);
            let secret = if name == "a" {
                ["API_KEY", "env_vars", "env_keys", "envFile"]
            } else {
                ["Bearer t", "bearer_token", "authorization:", "authorization:"]
            };
            assert!(!secret.iter().any(|secret| written.contains(secret)), "{written}");
        }
    }
}

#[test]
fn a_removed_entry_leaves_the_rest_of_the_file() {
    for (dialect, text) in KEPT {
        let without = remove_entry(text, *dialect, "a").unwrap();
        assert_eq!(remove_entry(&without, *dialect, "a").unwrap(), without);
        let file = ConfigFile::read_as(&without, *dialect).unwrap();
        assert_eq!(file.servers().len(), 1, "{without}");
        assert_eq!(transport(&without, *dialect, "b"), transport(text, *dialect, "b"), "{without}");
        assert_eq!(without.contains("[other]\nkey = 1"), text.contains("[other]\nkey = 1"), "{without}");
    }
    for dialect in DIALECTS {
        let other = ServerEntry::new("b", ServerTransport::command("other", ["x"]));
        let before = write_entry("", dialect, &other).unwrap();
        let entry = ServerEntry::new("a", ServerTransport::command("server", [""; 0]));
        let written = write_entry(&before, dialect, &entry).unwrap();
        assert_eq!(remove_entry(&written, dialect, "a").unwrap(), before, "{dialect:?}");
        assert_eq!(remove_entry("", dialect, "a").unwrap(), "");
        assert_eq!(remove_entry(&before, dialect, "a").unwrap(), before, "{dialect:?}");
    }
    assert!(remove_entry("{", Dialect::Cursor, "a").is_err());
}

#[test]
fn programs_have_their_own_files_and_variables() {
    let home = Path::new("/home/ada");
    for dialect in DIALECTS {
        let own = [dialect.user_file(home), dialect.project_file(home)];
        for path in own.into_iter().flatten() {
            assert!(path.starts_with(home), "{path:?}");
            assert!(path.extension().is_some(), "{path:?}");
        }
        let Some(reference) = dialect.variable("WEATHER_TOKEN") else { continue };
        let entry = ServerEntry::new("a", ServerTransport::command(reference, [""; 0]));
        let text = write_entry("", dialect, &entry).unwrap();
        let file = ConfigFile::read_as(&text, dialect).unwrap();
        let resolved = file.servers()[0].resolve(variable).unwrap();
        assert_eq!(resolved, ServerTransport::command("t0ken", [""; 0]), "{dialect:?}");
    }
}
