//! The crates that a user compiles: licences, sources, and parallel versions.
//!
//! The rules are those of `deny.toml`, which `cargo deny check` reads where installed. It compiles long and
//! its advisories need a network, so other rules are checked from `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use serde_json::Value;

use super::root;

/// Unpublished packages, whose dependencies do not reach users.
const OURS_ALONE: [&str; 5] =
    ["toolkit-tests", "toolkit-benches", "toolkit-consumer", "toolkit-renamed", "toolkit-readme"];

fn run(program: &str, arguments: &[&str]) -> String {
    let output =
        Command::new(program).args(arguments).current_dir(root()).output().expect("the program runs");
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the output is text")
}

fn metadata() -> Value {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = run(&rustc, &["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("the compiler has a host");
    let arguments =
        ["metadata", "--format-version", "1", "--all-features", "--locked", "--filter-platform", host];
    serde_json::from_str(&run(env!("CARGO"), &arguments)).expect("the metadata is JSON")
}

/// The packages that users compile with our crates, by `cargo metadata`.
fn shipped(metadata: &Value) -> Vec<&Value> {
    let list = |value: &'_ Value| value.as_array().cloned().unwrap_or_default();
    let packages = metadata["packages"].as_array().expect("there are packages");
    let by_id: BTreeMap<&str, &Value> =
        packages.iter().filter_map(|package| Some((package["id"].as_str()?, package))).collect();
    let nodes = list(&metadata["resolve"]["nodes"]);
    let members = list(&metadata["workspace_members"]);
    let name = |id: &str| by_id.get(id).and_then(|package| package["name"].as_str()).unwrap_or_default();
    let is_shipped = |id: &&str| !OURS_ALONE.contains(&name(id));
    let mut open: Vec<String> =
        members.iter().filter_map(Value::as_str).filter(is_shipped).map(str::to_owned).collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        let node = nodes.iter().find(|node| node["id"] == *id);
        for dependency in node.map(|node| list(&node["deps"])).unwrap_or_default() {
            let is_used = list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"] != "dev");
            open.extend(
                dependency["pkg"].as_str().filter(|id| is_used && !seen.contains(*id)).map(str::to_owned),
            );
        }
        seen.insert(id);
    }
    seen.iter().filter_map(|id| by_id.get(id.as_str()).copied()).collect()
}

fn allowed_licences() -> Vec<String> {
    let deny = fs::read_to_string(root().join("deny.toml")).expect("the file can be read");
    let list = deny
        .split_once("allow = [")
        .and_then(|(_, rest)| rest.split_once(']'))
        .expect("licences are allowed");
    list.0
        .split(',')
        .map(|name| name.trim().trim_matches('"').to_owned())
        .filter(|name| !name.is_empty())
        .collect()
}

/// Whether the allowed licences meet an expression.
fn is_met(expression: &str, allowed: &[String]) -> bool {
    let expression = expression.trim();
    for (operator, all) in [(" OR ", false), ("/", false), (" AND ", true)] {
        let parts = split(expression, operator);
        if parts.len() > 1 {
            let mut met = parts.iter().map(|part| is_met(part, allowed));
            return if all { met.all(|met| met) } else { met.any(|met| met) };
        }
    }
    match expression.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) => is_met(inner, allowed),
        None => allowed.iter().any(|name| name == expression),
    }
}

/// The parts between an operator outside of brackets.
fn split<'a>(expression: &'a str, operator: &str) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut depth = 0_i32;
    for (at, c) in expression.char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if depth == 0 && at >= start && expression[at..].starts_with(operator) {
            parts.push(&expression[start..at]);
            start = at + operator.len();
        }
    }
    parts.push(&expression[start..]);
    parts
}

#[test]
fn every_crate_that_a_user_compiles_is_allowed() {
    let metadata = metadata();
    let allowed = allowed_licences();
    let packages = shipped(&metadata);
    let mut faults = Vec::new();
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in &packages {
        let text = |name: &str| package[name].as_str().unwrap_or_default();
        let name = text("name");
        let licence = text("license");
        let source = text("source");
        versions.entry(name).or_default().insert(text("version"));
        if !is_met(licence, &allowed) {
            faults.push(format!("{name}: the licence `{licence}` is not in deny.toml"));
        }
        if !source.is_empty() && !source.starts_with("registry+https://github.com/rust-lang/crates.io-index")
        {
            faults.push(format!("{name}: from {source}"));
        }
        let dependencies = package["dependencies"].as_array().into_iter().flatten();
        let wild = dependencies.filter(|dependency| {
            source.is_empty() && dependency["req"] == "*" && dependency["path"].is_null()
        });
        faults.extend(wild.map(|dependency| format!("{name}: any version of {}", dependency["name"])));
    }
    let twice: Vec<_> = versions.iter().filter(|(_, versions)| versions.len() > 1).collect();
    println!("{} crates with all features, of two versions: {twice:?}", packages.len());
    assert_eq!(faults, [""; 0]);
}

#[test]
fn a_licence_expression_is_read() {
    let allowed = ["MIT", "Unicode-3.0"].map(str::to_owned);
    let met = ["MIT OR GPL-3.0", "(MIT OR Apache-2.0) AND Unicode-3.0", "MIT/Apache-2.0", "MIT"];
    assert!(met.iter().all(|expression| is_met(expression, &allowed)));
    let unmet = ["GPL-3.0", "MIT AND GPL-3.0", "", "(GPL-3.0 OR ISC) AND MIT"];
    assert!(!unmet.iter().any(|expression| is_met(expression, &allowed)));
}
