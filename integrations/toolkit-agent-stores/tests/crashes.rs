//! Runs that are killed at random, and continued by another process or followed by new input.

use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::time::sleep;
use toolkit_agent::session::ConversationStore;
use toolkit_agent::team::{ParallelAgent, SequentialAgent};
use toolkit_agent::{Agent, Conversation, Sessions};
use toolkit_agent_stores::{FileStore, SqliteStore};
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{ClosureTool, ToolCall, ToolRegistry, ToolResult};
use toolkit_llm::{Message, ModelRequest, ModelResponse, ScriptedModel};

const FOLDER: &str = "TOOLKIT_CRASH_FOLDER";
/// The number of the process, which is part of call ids.
const ROUND: &str = "TOOLKIT_CRASH_ROUND";
/// Set for new input instead of resuming.
const NEW_INPUT: &str = "TOOLKIT_CRASH_NEW_INPUT";
const KILLS: usize = 200;

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Noted {
    id: String,
}

/// Creates a tool that notes its name and call id at each run.
fn noting(name: &str, folder: &Path) -> ClosureTool {
    let path = folder.join("runs");
    let name = name.to_owned();
    let tool = name.clone();
    let run = move |Noted { id }: Noted| {
        let (path, note) = (path.clone(), format!("{name} {id}\n"));
        async move {
            let mut file = fs::File::options().create(true).append(true).open(path).unwrap();
            file.write_all(note.as_bytes()).unwrap();
            sleep(Duration::from_millis(2)).await;
            format!("done {id}")
        }
    };
    ClosureTool::new(&tool, "Notes.", run).unwrap()
}

/// Creates an agent that calls all its tools at once, and then says what it has done.
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
    let is_expert = name == "expert";
    let round = std::env::var(ROUND).unwrap_or_default();
    let model = ScriptedModel::new().fallback(move |request: &ModelRequest| match request.messages.last() {
        Some(Message::Tool(given)) if is_expert => {
            let texts: Vec<String> = given.results.iter().map(told).collect();
            Ok(ModelResponse::text(texts.join("\n")))
        }
        Some(Message::Tool(_)) => Ok(ModelResponse::text(said.clone())),
        _ => Ok(ModelResponse::calls(names.iter().enumerate().map(|(number, name)| {
            let id = format!("call_{round}_{number}");
            let arguments = if name == "expert" { json!({"request": "Help."}) } else { json!({"id": id}) };
            ToolCall::new(id, name.as_str(), arguments.to_string())
        }))),
    });
    Agent::builder(model).name(name).tools(registry).build().unwrap()
}

/// Returns what the expert says about a result, without call ids. Its calls have the same names in each
/// round.
fn told(result: &ToolResult) -> String {
    format!("`{}` {}: {}", result.name, result.call_id, result.to_text())
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
    let is_new = sessions.user("ada").conversation("1").open().await.unwrap().messages().is_empty();
    let ended = if is_new || std::env::var_os(NEW_INPUT).is_some() {
        agent.run("Go.").on(sessions.user("ada").conversation("1")).await
    } else {
        agent.resume(sessions.user("ada").conversation("1")).await
    };
    ended.unwrap().text
}

fn assert_complete(conversation: &Conversation) {
    let messages = conversation.messages();
    for (position, message) in messages.iter().enumerate() {
        let Message::Assistant(answer) = message else { continue };
        let calls: Vec<String> = answer.calls.iter().map(|call| call.id.to_string()).collect();
        let results: Vec<String> = match messages.get(position + 1) {
            Some(Message::Tool(message)) => {
                message.results.iter().map(|result| result.call_id.to_string()).collect()
            }
            _ => Vec::new(),
        };
        assert_eq!(calls, results, "{messages:?}");
    }
}

/// Checks that the model reads of each call that has run.
fn assert_told(conversation: &Conversation, runs: &BTreeSet<String>) {
    let mut calls = &[][..];
    let mut told = Vec::new();
    for message in conversation.messages() {
        match message {
            Message::Assistant(said) => calls = &said.calls,
            Message::Tool(given) => {
                for (call, result) in calls.iter().zip(&given.results) {
                    let text = result.to_text().replace("\\n", "\n");
                    let of_call = text.lines().map(|line| format!("{} {}: {line}", call.name, call.id));
                    told.extend(of_call);
                }
            }
            _ => {}
        }
    }
    for run in runs {
        let (tool, id) = run.split_once(' ').unwrap();
        let is_about = |line: &&String| {
            if tool.starts_with("expert") {
                line.starts_with("expert ") && line.contains(&format!("`{tool}`")) && line.contains(id)
            } else {
                line.starts_with(&format!("{tool} {id}: "))
            }
        };
        let about: Vec<&String> = told.iter().filter(is_about).collect();
        assert!(!about.is_empty(), "{run} is forgotten: {told:#?}");
        let is_denied = |line: &&&String| line.contains("cancelled") || line.contains("not run");
        assert_eq!(about.iter().find(is_denied), None, "{run} has run: {told:#?}");
    }
}

async fn sessions_of(folder: &Path) -> Sessions {
    if folder.ends_with("files") {
        Sessions::new(FileStore::new(folder))
    } else {
        Sessions::new(SqliteStore::open(folder.join("a.db")).await.unwrap())
    }
}

#[tokio::test]
#[ignore = "started by the test that kills it"]
async fn child() {
    let folder = PathBuf::from(std::env::var_os(FOLDER).unwrap());
    let text = if folder.ends_with("files") {
        go(FileStore::new(&folder), &folder).await
    } else {
        go(SqliteStore::open(folder.join("a.db")).await.unwrap(), &folder).await
    };
    // A kill must not leave an empty file.
    fs::write(folder.join("unfinished"), text).unwrap();
    fs::rename(folder.join("unfinished"), folder.join("answer")).unwrap();
}

fn start(folder: &Path, round: usize, is_new_input: bool) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--ignored", "--exact", "crashes::child"])
        .env(FOLDER, folder)
        .env(ROUND, round.to_string());
    if is_new_input {
        command.env(NEW_INPUT, "1");
    }
    command.stdout(Stdio::null()).spawn().unwrap()
}

fn random(seed: &mut u64, limit: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % limit
}

#[tokio::test]
async fn a_killed_run_ends_in_another_process_and_runs_no_call_twice() {
    let mut seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos().into();
    let mut kills = 0;
    let mut lengths = [Duration::ZERO; 2];
    while kills < KILLS {
        for (kind, length) in ["files", "sqlite"].into_iter().zip(&mut lengths) {
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path().join(kind);
            fs::create_dir(&folder).unwrap();
            let mut killed = Vec::new();
            let mut inputs = 1;
            for round in 0.. {
                let begun = Instant::now();
                let is_new_input = round > 0 && random(&mut seed, 2) == 0;
                inputs += usize::from(is_new_input);
                let mut child = start(&folder, round, is_new_input);
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
            // Without a file, each kill came between a call's save and its run.
            let runs = fs::read_to_string(folder.join("runs")).unwrap_or_default();
            let all = runs.lines().count();
            let runs = runs.lines().map(str::to_owned).collect::<BTreeSet<_>>();
            assert!(all <= 6 * inputs && (!killed.is_empty() || all == 6), "{runs:?}");
            assert_eq!(runs.len(), all, "{kind}: a call ran twice after {killed:?}: {runs:?}");
            let conversation = sessions_of(&folder).await.user("ada").conversation("1").open().await.unwrap();
            assert_complete(&conversation);
            assert_told(&conversation, &runs);
        }
    }
}
