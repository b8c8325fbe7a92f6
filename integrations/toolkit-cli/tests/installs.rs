//! `install` and `uninstall`, in the files of thirteen clients.

use crate::{Program, weather, weather_path};
use std::fs;
use std::path::{Path, PathBuf};

/// The clients, with a file that has comments and a server of before, where the form allows it.
const FILES: [(&str, &str); 13] = [
    (
        "amp",
        "{\n  // Mine.\n  \"amp.mcpServers\": {\n    \"old\": { \"command\": \"old\" } // Old.\n  }\n}\n",
    ),
    (
        "claude-code",
        "{\n  \"mcpServers\": {\n    \"old\": { \"command\": \"old\" }\n  },\n  \"numStartups\": 7\n}\n",
    ),
    (
        "claude-desktop",
        "{\n\t\"mcpServers\": {\n\t\t\"old\": { \"command\": \"old\" }\n\t},\n\t\"z\": 1, \"a\": 2\n}",
    ),
    (
        "cline",
        "{\n  \"mcpServers\": {\n    \"old\": { \"command\": \"old\", \"alwaysAllow\": [\"x\"] }\n  }\n}\n",
    ),
    ("codex", "# Mine.\nmodel = \"x\"\n\n[mcp_servers.old] # Old.\ncommand = \"old\"\n\n[other]\nkey = 1\n"),
    (
        "copilot",
        "{\n  \"mcpServers\": {\n    \"old\": {\"type\": \"local\", \"command\": \"old\", \"tools\": [\"*\"]}\n  }\n}\n",
    ),
    ("cursor", "{\r\n  \"mcpServers\": {\r\n    \"old\": { \"command\": \"old\" }\r\n  }\r\n}\r\n"),
    (
        "gemini",
        "{\n  \"theme\": \"x\",\n  \"mcpServers\": {\n    \"old\": { \"command\": \"old\" }\n  }\n}\n",
    ),
    (
        "goose",
        "# Mine.\nGOOSE_MODEL: x # The model.\nextensions:\n  old:\n    enabled: true\n    type: stdio\n    name: old\n    cmd: old # Old.\n    args:\n    - x\n\n# The last.\nslash_commands: []\n",
    ),
    (
        "opencode",
        "{\n  // Mine.\n  \"mcp\": {\n    \"old\": { \"type\": \"local\", \"command\": [\"old\"] },\n  },\n}\n",
    ),
    (
        "vscode",
        "{\n  \"inputs\": [],\n  \"servers\": {\n    /* Old. */\n    \"old\": { \"command\": \"old\" }\n  }\n}\n",
    ),
    (
        "windsurf",
        "\u{feff}{\n  \"mcpServers\": {\n    \"old\": { \"serverUrl\": \"https://example.com/mcp\" }\n  }\n}\n",
    ),
    (
        "zed",
        "// Zed.\n{\n  \"context_servers\": {\n    \"old\": { \"command\": \"old\" },\n  },\n  \"theme\": \"x\",\n}\n",
    ),
];

fn at_home(home: &Path, words: &str) -> Program {
    weather(words).env("HOME", home).env("USERPROFILE", home).within(home)
}

/// Returns the files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(self::files(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}

#[test]
fn a_second_run_changes_nothing_and_uninstall_restores_each_byte() {
    for (client, text) in FILES {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("settings");
        fs::write(&file, text).unwrap();
        let run = |command: &str| {
            let ran = at_home(home.path(), &format!("{command} {client} --file settings --yes")).run();
            assert_eq!(ran.code, 0, "{client} {ran:?}");
            ran
        };
        let first = run("install");
        assert!(first.out.starts_with("written: "), "{client} {first:?}");
        let installed = fs::read_to_string(&file).unwrap();
        let program = serde_json::to_string(&weather_path()).unwrap();
        assert!(installed.contains(&program), "{client} {installed}");
        let second = run("install");
        assert!(second.out.starts_with("nothing to change: "), "{client} {second:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), installed, "{client}");
        assert_eq!(fs::read_to_string(home.path().join("settings.bak")).unwrap(), text, "{client}");
        assert_eq!(files(home.path()).len(), 2, "{client}");
        run("uninstall");
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "{client}");
        assert_eq!(fs::read_to_string(home.path().join("settings.bak2")).unwrap(), installed, "{client}");
        let last = run("uninstall");
        assert!(last.out.starts_with("nothing to change: "), "{client} {last:?}");
    }
}

#[test]
fn each_client_has_its_own_file() {
    for (client, _) in FILES {
        let home = tempfile::tempdir().unwrap();
        let ran = at_home(home.path(), &format!("install {client} --yes --format json")).run();
        assert_eq!(ran.code, 0, "{client} {ran:?}");
        let written = files(home.path());
        assert_eq!(written.len(), 1, "{client}");
        let report = ran.json();
        assert_eq!(report["changed"], true);
        assert_eq!(Path::new(report["file"].as_str().unwrap()).file_name(), written[0].file_name());
    }
    let home = tempfile::tempdir().unwrap();
    assert_eq!(at_home(home.path(), "install claude-code --project --yes").run().code, 0);
    assert_eq!(files(home.path())[0].file_name().unwrap(), ".mcp.json");
    assert_eq!(at_home(home.path(), "install windsurf --project --yes").run().code, 2);
}

#[test]
fn nothing_is_written_without_an_agreement() {
    let home = tempfile::tempdir().unwrap();
    let (_, text) = FILES[10];
    fs::write(home.path().join("settings"), text).unwrap();
    let asked = at_home(home.path(), "install vscode --file settings").run();
    assert_eq!(asked.code, 3, "{asked:?}");
    assert!(asked.err.contains("+       \"type\": \"stdio\""), "{asked:?}");
    let printed = at_home(home.path(), "install vscode --file settings --print").run();
    assert!(printed.out.contains("/* Old. */") && printed.out.contains("\"weather\""), "{printed:?}");
    assert_eq!(files(home.path()).len(), 1);
    assert_eq!(fs::read_to_string(home.path().join("settings")).unwrap(), text);
    fs::write(home.path().join("broken"), "{ \"servers\": ").unwrap();
    let broken = at_home(home.path(), "install vscode --file broken --yes").run();
    assert_eq!(broken.code, 1, "{broken:?}");
    assert!(broken.err.contains("is left as it is"), "{broken:?}");
}

#[test]
fn secrets_stay_references_and_the_users_variables_stay() {
    let home = tempfile::tempdir().unwrap();
    let install = |words: &str| at_home(home.path(), &format!("install {words} --file f --yes")).run();
    assert_eq!(install("vscode --env API_KEY --env REGION=eu").code, 0);
    let text = fs::read_to_string(home.path().join("f")).unwrap();
    assert!(
        text.contains("\"API_KEY\": \"${env:API_KEY}\"") && text.contains("\"REGION\": \"eu\""),
        "{text}"
    );
    let mine = text.replace("\"eu\"", "\"us\" /* Mine. */");
    fs::write(home.path().join("f"), &mine).unwrap();
    assert_eq!(install("vscode").code, 0);
    assert_eq!(fs::read_to_string(home.path().join("f")).unwrap(), mine);
    let literal = at_home(home.path(), "install claude-desktop --env API_KEY --yes").run();
    assert_eq!(literal.code, 2);
    assert!(literal.err.contains("give its value with `--env API_KEY=…`"), "{literal:?}");
}

#[cfg(unix)]
#[test]
fn links_and_modes_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = tempfile::tempdir().unwrap();
    let real = home.path().join("dotfiles.json");
    fs::write(&real, "{}\n").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    let link = home.path().join("settings");
    symlink(&real, &link).unwrap();
    assert_eq!(at_home(home.path(), "install cursor --file settings --yes").run().code, 0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("serve"));
    for file in [real, home.path().join("dotfiles.json.bak")] {
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
    }
    let dangling = home.path().join("dangling");
    symlink(home.path().join("missing"), &dangling).unwrap();
    let refused = at_home(home.path(), "install cursor --file dangling --yes").run();
    assert_eq!(refused.code, 6, "{refused:?}");
}
