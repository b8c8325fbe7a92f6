//! The processes that own the runs, and how the controller starts, asks, stops and kills them.

use crate::errand::{Errand, Numbered, Reply};
use crate::failing_store::FailingStore;
use crate::script::agent;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::oneshot;
use toolkit_agent::Sessions;
use toolkit_agent::runs::{LocalRuns, RunInput, Runs as _, RunsError};
use toolkit_agent::session::{ConversationKey, ConversationStore, StoreError};

/// The user of all conversations.
pub(crate) const USER: &str = "ada";

pub(crate) fn key(id: &str) -> ConversationKey<'_> {
    ConversationKey { user: USER, id }
}

/// Works on runs until the standard input ends.
pub(crate) async fn work(store: impl ConversationStore, folder: &Path, permille: u64) {
    let sessions = Sessions::new(FailingStore::new(store, permille));
    let runs = LocalRuns::new(agent(folder), sessions.clone()).with_poll(Duration::from_millis(20));
    while runs.take_over().await.is_err() {}
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        let Numbered { number, content } = serde_json::from_str::<Numbered<Errand>>(&line).unwrap();
        let (runs, sessions) = (runs.clone(), sessions.clone());
        tokio::spawn(async move {
            let content = run(content, &runs, &sessions).await;
            println!("{}", serde_json::to_string(&Numbered { number, content }).unwrap());
        });
    }
}

async fn run(errand: Errand, runs: &LocalRuns, sessions: &Sessions) -> Reply {
    match errand {
        Errand::Submit { conversation, run, mode, text } => {
            let input = RunInput::new(text).with_message_id(&run).with_run(run).with_mode(mode);
            reply(runs.submit(key(&conversation), input).await.map(drop))
        }
        Errand::Decide { conversation, call, decision } => {
            reply(runs.decide(key(&conversation), &call, decision, "bob").await)
        }
        Errand::Cancel { conversation, run } => reply(runs.cancel(key(&conversation), &run).await.map(drop)),
        Errand::Fork { conversation, fork, before } => {
            let forked = sessions.user(USER).conversation(conversation).fork(fork, before).await;
            match forked {
                // The input was taken back, for example.
                Err(error) if error.to_string().contains("cannot be forked") => {
                    Reply::Refused(error.to_string())
                }
                forked => reply(forked.map(drop).map_err(RunsError::Store)),
            }
        }
    }
}

fn reply(result: Result<(), RunsError>) -> Reply {
    match result {
        Ok(()) => Reply::Done,
        Err(RunsError::Store(error)) if StoreError::is_conflict(&error) => Reply::Refused(error.to_string()),
        Err(RunsError::Store(error)) => Reply::Failed(error.to_string()),
        Err(error) => Reply::Refused(error.to_string()),
    }
}

type Asked = Arc<Mutex<HashMap<u64, oneshot::Sender<Reply>>>>;

/// A process that works.
pub(crate) struct Worker {
    folder: PathBuf,
    child: Child,
    stdin: ChildStdin,
    asked: Asked,
    next: u64,
}

impl Worker {
    /// Starts a process, in whose store this many of 1,000 changes fail.
    pub(crate) fn start(folder: &Path, permille: u64) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg("work").arg(folder).arg(permille.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let asked = Asked::default();
        let answered = asked.clone();
        tokio::spawn(async move {
            let mut lines = BufReader::new(stdout).lines();
            // The last line of a killed process may be torn.
            while let Ok(Some(line)) = lines.next_line().await
                && let Ok(Numbered { number, content }) = serde_json::from_str::<Numbered<Reply>>(&line)
            {
                let asked = answered.lock().unwrap().remove(&number);
                if let Some(asked) = asked {
                    let _ = asked.send(content);
                }
            }
            answered.lock().unwrap().clear();
        });
        Self { folder: folder.to_owned(), child, stdin, asked, next: 0 }
    }

    /// Sends an errand. The reply is an error if the process dies before.
    pub(crate) async fn send(&mut self, errand: Errand) -> oneshot::Receiver<Reply> {
        self.next += 1;
        let (sender, receiver) = oneshot::channel();
        self.asked.lock().unwrap().insert(self.next, sender);
        let line = serde_json::to_string(&Numbered { number: self.next, content: errand }).unwrap() + "\n";
        if self.stdin.write_all(line.as_bytes()).await.is_err() {
            self.asked.lock().unwrap().remove(&self.next);
        }
        receiver
    }

    /// Kills the process at once, and starts another one in its place.
    pub(crate) async fn replace(&mut self, permille: u64) {
        self.child.kill().await.unwrap();
        self.asked.lock().unwrap().clear();
        *self = Self::start(&self.folder, permille);
    }

    /// Sends a signal, such as `STOP`.
    pub(crate) async fn signal(&self, name: &str) {
        let Some(id) = self.child.id() else { return };
        let status = Command::new("kill").arg(format!("-{name}")).arg(id.to_string()).status().await;
        assert!(status.unwrap().success());
    }
}
