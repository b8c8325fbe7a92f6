//! Runs that are killed at random points, and continued by another process.

use crate::support::{Nothing, assert_sendable};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::time::sleep;
use toolkit_agent::session::{ConversationStore, FileStore, SqliteStore};
use toolkit_agent::team::{ParallelAgent, SequentialAgent};
use toolkit_agent::{Agent, Message, ModelRequest, ModelResponse, ScriptedModel, Sessions};
use toolkit_core::{ClosureTool, ToolCall, ToolRegistry};

/// The folder of a killed run, for the child process.
const FOLDER: &str = "TOOLKIT_CRASH_FOLDER";
const KILLS: usize = 200;

/// Creates a tool that notes its name in a file each time it runs.
fn noting(name: &str, folder: &Path) -> ClosureTool {
    let (path, note) = (folder.join("runs"), format!("{name}\n"));
    let run = move |_: Nothing| {
        let (path, note) = (path.clone(), note.clone());
        async move {
            let mut file = fs::File::options().create(true).append(true).open(path).unwrap();
            file.write_all(note.as_bytes()).unwrap();
            sleep(Duration::from_millis(2)).await;
            "done"
        }
    };
    ClosureTool::new(name, "Notes.", run).unwrap()
}

/// Creates an agent that calls all its tools at once, and then says that it is done.
fn agent(name: &str, folder: &Path, tools: &[&str], below: Option<&Agent>) -> Agent {
    let mut registry = ToolRegistry::new();
    let tools = tools.iter().map(|tool| format!("{name}_{tool}"));
    let mut names: Vec<String> = tools.collect();
    for tool in &names {
        registry.register(noting(tool, folder)).unwrap();
    }
    if let Some(agent) = below {
        registry.register(agent.to_tool().unwrap()).unwrap();
        names.push(agent.name().to_owned());
    }
    let said = format!("{name} is done.");
    let model = ScriptedModel::new().fallback(move |request: &ModelRequest| match request.messages.last() {
        Some(Message::Tool(_)) => Ok(ModelResponse::text(said.clone())),
        _ => Ok(ModelResponse::calls(names.iter().enumerate().map(|(number, name)| {
            let arguments = if name == "expert" { r#"{"request": "Help."}"# } else { "{}" };
            ToolCall::new(format!("call_{number}"), name.as_str(), arguments)
        }))),
    });
    Agent::builder(model).name(name).tools(registry).build().unwrap()
}

fn team(folder: &Path) -> Agent {
    let expert = agent("expert", folder, &["pay", "send"], None);
    let first = agent("first", folder, &["pay"], Some(&expert));
    let group = ParallelAgent::new("group", [first, agent("second", folder, &["pay", "send"], None)]);
    SequentialAgent::new("team", [group.into(), agent("last", folder, &["pay"], None)]).into()
}

async fn go(store: impl ConversationStore, folder: &Path) -> String {
    let sessions = Sessions::new(store);
    let agent = team(folder);
    let is_new = sessions.open("ada", "1").await.unwrap().messages().is_empty();
    let ended = match is_new {
        true => sessions.run(&agent, "ada", "1", "Go.").await,
        false => sessions.resume(&agent, "ada", "1").await,
    };
    ended.unwrap().text
}

async fn sessions_of(folder: &Path) -> Sessions {
    match folder.ends_with("files") {
        true => Sessions::new(FileStore::new(folder)),
        false => Sessions::new(SqliteStore::open(folder.join("a.db")).await.unwrap()),
    }
}

/// The process that is killed.
#[tokio::test]
#[ignore = "started by the test that kills it"]
async fn child() {
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let text = match folder.ends_with("files") {
        true => go(FileStore::new(&folder), &folder).await,
        false => go(SqliteStore::open(folder.join("a.db")).await.unwrap(), &folder).await,
    };
    // A kill must not leave a file without its text.
    fs::write(folder.join("unfinished"), text).unwrap();
    fs::rename(folder.join("unfinished"), folder.join("answer")).unwrap();
}

fn start(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "crashes::child"])
        .env(FOLDER, folder)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Returns a number below `limit`.
fn random(seed: &mut u64, limit: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % limit
}

#[tokio::test]
async fn a_killed_run_ends_in_another_process_and_runs_no_call_twice() {
    let mut seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos().into();
    let (mut kills, mut lengths) = (0, [Duration::ZERO; 2]);
    while kills < KILLS {
        for (kind, length) in ["files", "sqlite"].into_iter().zip(&mut lengths) {
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path().join(kind);
            fs::create_dir(&folder).unwrap();
            let mut killed = Vec::new();
            loop {
                let begun = Instant::now();
                let mut child = start(&folder);
                if *length > Duration::ZERO && killed.len() < 4 {
                    let micros = u64::try_from(length.as_micros()).unwrap();
                    let delay = Duration::from_micros(random(&mut seed, micros));
                    sleep(delay).await;
                    if child.try_wait().unwrap().is_none() {
                        child.kill().unwrap();
                        killed.push(delay);
                    }
                }
                let status = child.wait().unwrap();
                assert!(status.success() || status.code().is_none(), "{status} after {killed:?}");
                if folder.join("answer").exists() {
                    *length = begun.elapsed().max(Duration::from_millis(5));
                    break;
                }
            }
            kills += killed.len();
            assert_eq!(fs::read_to_string(folder.join("answer")).unwrap(), "last is done.");
            // There is no file if each kill came after a call was saved and before it ran.
            let runs = fs::read_to_string(folder.join("runs")).unwrap_or_default();
            let mut runs: Vec<String> = runs.lines().map(str::to_owned).collect();
            runs.sort();
            let all = runs.len();
            runs.dedup();
            assert!(all <= 6 && (!killed.is_empty() || all == 6), "{runs:?}");
            assert_eq!(runs.len(), all, "{kind}: a call ran twice after {killed:?}: {runs:?}");
            assert_sendable(&sessions_of(&folder).await.open("ada", "1").await.unwrap());
        }
    }
}
