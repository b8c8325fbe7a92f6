//! Snapshot tests of tools.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::{env, fs, process};
use toolkit_ai::prelude::*;
use toolkit_ai::testing::{assert_registry_unchanged, assert_tools_unchanged, record};

/// Weather of a place.
#[tool(name = "forecast")]
fn earlier(city: String, days: Option<u32>) -> Vec<String> {
    vec![city; days.unwrap_or(1) as usize]
}

/// The weather of a place.
#[tool(namespace = "testing", name = "forecast")]
fn later(city: String, country: String) -> Option<Vec<String>> {
    Some(vec![city, country])
}

struct File(PathBuf);

impl File {
    fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("toolkit-testing-{}-{name}", process::id()));
        Self(folder.join(name).with_extension("json"))
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
        let _ = self.0.parent().map(fs::remove_dir);
    }
}

fn failure(check: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(check)).expect_err("the tools have changed");
    *payload.downcast::<String>().expect("it says what")
}

const RECORD: &str = "TOOLKIT_TEST_RECORD";

/// Runs [`writes_the_record`] in its own process, for an environment variable.
fn update(file: &File) {
    let this = env::current_exe().expect("the program of the tests");
    let status = process::Command::new(this)
        .args(["--exact", "testing::writes_the_record", "--ignored"])
        .envs([("TOOLKIT_UPDATE", "1".as_ref()), (RECORD, file.0.as_os_str())])
        .status()
        .expect("the program runs");
    assert!(status.success());
}

#[test]
#[ignore = "other tests run it with TOOLKIT_UPDATE=1"]
fn writes_the_record() {
    let registry = ToolRegistry::from_tools(tools![earlier]).expect("one tool");
    assert_registry_unchanged(&registry, env::var_os(RECORD).expect("the path of the record"));
}

#[test]
fn a_missing_record_is_a_failure_that_says_how_to_write_it() {
    let file = File::new("missing");
    let expected = format!(
        "the record `{}` is missing; to write it, run again with TOOLKIT_UPDATE=1, then commit it",
        file.0.display()
    );
    let registry = ToolRegistry::from_tools(tools![earlier]).expect("one tool");
    assert_eq!(failure(|| assert_registry_unchanged(&registry, &file.0)), expected);
    assert_eq!(failure(|| assert_tools_unchanged(&file.0)), expected);
    assert!(!file.0.exists());
}

#[test]
fn an_update_writes_the_record_and_other_runs_report_changes() {
    let file = File::new("first");
    let registry = ToolRegistry::from_tools(tools![earlier]).expect("one tool");
    update(&file);
    let written = fs::read_to_string(&file.0).expect("it is written");
    assert!(written.starts_with("[\n  {\n    \"name\": \"forecast\""), "{written}");
    assert_registry_unchanged(&registry, &file.0);

    let renamed =
        toolkit_ai::AdaptedTool::new(later::tool()).with_name(earlier::tool().definition().name.clone());
    let mut changed = ToolRegistry::from_tools([renamed]).expect("one tool");
    changed.register(later::tool()).expect("another name");
    let message = failure(|| assert_registry_unchanged(&changed, &file.0));
    let (first, rest) = message.split_once('\n').expect("there are several lines");
    assert_eq!(first, format!("the tools differ from `{}`:", file.0.display()));
    assert_eq!(
        rest,
        "- tool `forecast`, description: was \"Weather of a place.\"\n  and is \"The weather of a place.\"\n\
         - tool `forecast`, parameters: breaking at `#/properties/days`: the property is gone\n\
         - tool `forecast`, parameters: breaking at `#/properties/country`: a property was added that must be there\n\
         - tool `forecast`, result: breaking at `#`: the type was array and is array or null\n\
         - tool `testing-forecast` is new\n\
         to accept the changes, run again with TOOLKIT_UPDATE=1"
    );
    assert_eq!(fs::read_to_string(&file.0).expect("it is there"), written, "a failure writes nothing");

    fs::write(&file.0, record(&changed)).expect("another record");
    update(&file);
    assert_eq!(fs::read_to_string(&file.0).expect("it is there"), written, "an update writes the file anew");
}

#[test]
fn all_discovered_tools_are_compared() {
    let file = File::new("discovered");
    fs::create_dir_all(file.0.parent().expect("it is in a folder")).expect("a folder is made");
    fs::write(&file.0, record(&ToolRegistry::discover().expect("no collisions"))).expect("a file is written");
    assert_tools_unchanged(&file.0);
    let fewer = ToolRegistry::from_tools(tools![earlier]).expect("one tool");
    let message = failure(|| assert_registry_unchanged(&fewer, &file.0));
    assert!(message.contains("- tool `testing-forecast` was removed"), "{message}");
}

#[test]
fn a_file_without_a_record_is_not_overwritten() {
    let file = File::new("broken");
    fs::create_dir_all(file.0.parent().expect("it is in a folder")).expect("a folder is made");
    fs::write(&file.0, "[").expect("a file is written");
    let registry = ToolRegistry::new();
    let message = failure(|| assert_registry_unchanged(&registry, &file.0));
    assert!(message.contains("broken.json: EOF while parsing a list"), "{message}");
    assert_eq!(fs::read_to_string(&file.0).expect("it is there"), "[");
}
