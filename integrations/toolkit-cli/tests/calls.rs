//! `call`: arguments, results, approvals and exit codes.

use crate::{transcript, weather};
use insta::assert_snapshot;
use serde_json::json;
use std::fs;

#[test]
fn flags_become_arguments() {
    let ran = weather("call weather-forecast --city Rome --days 2 --units fahrenheit --format json").run();
    let value = &ran.json()["content"][0]["value"];
    assert_eq!(*value, json!({"city": "Rome", "days": 2, "sky": "clear", "warmest": 75}));
    let nested =
        "call weather-map --place.lat 41.9 --place.lon -12 --layers rain --layers wind --arg.format short";
    let folder = tempfile::tempdir().unwrap();
    let ran = weather(nested).within(folder.path()).run();
    assert_eq!(ran.out.lines().next(), Some("short at 41.9, -12: rain, wind"), "{ran:?}");
    let whole =
        weather("call weather-map --place").arg(r#"{"lat": 1, "lon": 2}"#).within(folder.path()).run();
    assert_eq!(whole.out.lines().next(), Some("rain at 1, 2: "), "{whole:?}");
    let switch = weather("call alarm --city Rome --urgent --yes").run();
    assert_eq!(switch.out, "The alarm for Rome is sent, and telephones ring.\n");
    let off = weather("call alarm --city Rome --urgent=false --yes").run();
    assert_eq!(off.out, "The alarm for Rome is sent.\n");
}

#[test]
fn arguments_are_read_from_json_a_file_or_the_input() {
    let json = r#"{"city": "Oslo", "days": 1}"#;
    let expected = r#"{"city":"Oslo","days":1,"sky":"clear","warmest":24}"#;
    let call = || weather("call weather-forecast --args");
    assert_eq!(call().arg(json).run().out.trim(), expected);
    assert_eq!(call().arg("-").run_with(json).out.trim(), expected);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("call.json"), json).unwrap();
    assert_eq!(call().arg("call.json").within(folder.path()).run().out.trim(), expected);
    let on_top = call().arg(json).args("--days 9").run();
    assert_eq!(on_top.out.trim(), expected.replace("1,\"sky", "9,\"sky"));
    assert_eq!(call().arg("no-such-file").run().code, 2);
}

#[test]
fn faults_have_their_own_exit_codes() {
    assert_snapshot!(
        [
            "call weather-forecast --city Atlantis",
            "call weather-forecast --days a-few",
            "call weather-forecast --city Rome --dayz 3",
            "call alarm --city Rome",
            "call wait --seconds 20 --timeout 0.05",
        ]
        .map(transcript)
        .concat()
    );
    let told = weather("call weather-forecast --city Atlantis --format json").run();
    assert_eq!(told.code, 1);
    assert_eq!(told.json()["error"]["kind"], "failed");
}

#[test]
fn media_are_saved_under_new_names() {
    let folder = tempfile::tempdir().unwrap();
    let call = || weather("call weather-map --place.lat 1 --place.lon 2 --save").arg(folder.path()).run();
    for name in ["map.png", "map-2.png"] {
        let ran = call();
        let path = folder.path().join(name);
        assert_eq!(ran.out.lines().last().unwrap(), format!("{} (image/png, 20 bytes)", path.display()));
        assert_eq!(fs::read(path).unwrap(), b"not really a picture");
    }
    let as_json = weather("call weather-map --place.lat 1 --place.lon 2 --format json").run().json();
    assert_eq!(as_json["content"][1]["type"], "image");
    assert_eq!(as_json["content"][1]["base64"], "bm90IHJlYWxseSBhIHBpY3R1cmU=");
}

#[test]
fn a_closed_pipe_is_no_fault() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(crate::weather_path())
        .arg("list")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stderr, b"");
    assert!(output.status.success(), "{output:?}");
}
