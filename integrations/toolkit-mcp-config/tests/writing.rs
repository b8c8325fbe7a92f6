//! Entries written into files.

use crate::{DIALECTS, variable};
use toolkit_mcp_config::{ConfigFile, Dialect, ServerEntry, ServerTransport, write_entry};

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
        [(toml, Dialect::Codex), ("[1]", Dialect::Zed), (r#"{"mcpServers": 5}"#, Dialect::Cline)]
    {
        assert!(write_entry(text, dialect, &entry).is_err(), "{text}");
    }
}
