//! The course of one row: conversations with inputs, a person who decides, listeners, and the chaos.

use crate::errand::{Dice, Errand, Reply};
use crate::script::agent;
use crate::verdict::{Course, Heard, Outcome, judge};
use crate::workers::{USER, Worker, key};
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use toolkit_agent::runs::{Cursor, InputMode, LocalRuns, RunUpdate, Runs as _};
use toolkit_agent::session::{ConversationStore, RunStatus};
use toolkit_agent::{Decision, Sessions};

/// How many inputs a conversation gets, one of them in a fork.
const INPUTS: u64 = 5;
const PERMILLE: u64 = 20;

type Workers = Arc<[tokio::sync::Mutex<Worker>; 2]>;

struct Site<S> {
    store: S,
    workers: Workers,
    is_over: AtomicBool,
    outcomes: Mutex<Vec<Outcome>>,
    decided: Mutex<Vec<(String, String, Decision)>>,
    kills: Mutex<u32>,
    stops: Mutex<u32>,
}

/// Runs the course, prints its row, and returns whether all invariants hold.
pub(crate) async fn control<S: ConversationStore + Clone>(
    store: S,
    folder: &Path,
    runs: u64,
    seed: u64,
) -> bool {
    let begun = Instant::now();
    let mut dice = Dice::new(seed);
    let workers = std::array::from_fn(|_| tokio::sync::Mutex::new(Worker::start(folder, PERMILLE)));
    let site = Arc::new(Site {
        store: store.clone(),
        workers: Arc::new(workers),
        is_over: AtomicBool::new(false),
        outcomes: Mutex::default(),
        decided: Mutex::default(),
        kills: Mutex::default(),
        stops: Mutex::default(),
    });
    let listening = Arc::new(LocalRuns::new(agent(folder), Sessions::new(store.clone())));
    let mut conversations = JoinSet::new();
    let mut listeners = JoinSet::new();
    let chaos = tokio::spawn(chaos(site.clone(), dice.split()));
    let person = tokio::spawn(person(site.clone(), dice.split()));
    for number in 0..runs.div_ceil(INPUTS) {
        if conversations.len() >= 12 {
            conversations.join_next().await.unwrap().unwrap();
        }
        conversations.spawn(converse(site.clone(), number, dice.split()));
        if number % 5 == 1 {
            listeners.spawn(listen(listening.clone(), site.clone(), format!("c{number}")));
        }
    }
    while let Some(ended) = conversations.join_next().await {
        ended.unwrap();
    }
    chaos.abort();
    let _ = chaos.await;
    let is_quiet = site.end_all().await;
    site.is_over.store(true, Ordering::Relaxed);
    person.abort();
    let mut heard = Vec::new();
    while let Some(listener) = listeners.join_next().await {
        heard.push(listener.unwrap());
    }
    let course = Course {
        outcomes: std::mem::take(&mut site.outcomes.lock().unwrap()),
        decided: std::mem::take(&mut site.decided.lock().unwrap()),
        heard,
        is_quiet,
    };
    let faults = judge(&store, folder, &course).await;
    for fault in &faults {
        eprintln!("fault: {fault}");
    }
    let (kills, stops) = (*site.kills.lock().unwrap(), *site.stops.lock().unwrap());
    let kind = folder.file_name().unwrap().to_string_lossy();
    let inputs = course.outcomes.len();
    println!(
        "| {kind} | {inputs} | {kills} | {stops} | {} | {} | {} | {} |",
        course.decided.len(),
        course.heard.len(),
        begun.elapsed().as_secs(),
        if faults.is_empty() { "hold".to_owned() } else { format!("{} broken", faults.len()) },
    );
    faults.is_empty()
}

impl<S: ConversationStore> Site<S> {
    /// Asks one of the processes, until one has answered.
    async fn ask(&self, dice: &mut Dice, errand: &Errand) -> Reply {
        loop {
            let index = usize::from(dice.below(2) == 1);
            let answer = self.workers[index].lock().await.send(errand.clone()).await;
            match timeout(Duration::from_secs(2), answer).await {
                Ok(Ok(Reply::Failed(_))) | Ok(Err(_)) | Err(_) => sleep(Duration::from_millis(5)).await,
                Ok(Ok(reply)) => return reply,
            }
        }
    }

    /// Starts processes whose store works, which continue what the others have left. Returns whether all runs end.
    async fn end_all(&self) -> bool {
        for worker in &*self.workers {
            worker.lock().await.replace(0).await;
        }
        for _ in 0..600 {
            if self.store.unfinished(None).await.unwrap().is_empty() {
                return true;
            }
            sleep(Duration::from_millis(100)).await;
        }
        false
    }

    /// Waits until a conversation has nothing to do. A run that goes on for too long is a fault, which is found at the end.
    async fn until_quiet(&self, conversation: &str) {
        for _ in 0..1_500 {
            let unfinished = self.store.unfinished(Some(USER)).await.unwrap();
            if !unfinished.iter().any(|info| info.id == conversation) {
                return;
            }
            sleep(Duration::from_millis(20)).await;
        }
        let inbox = self.store.inbox(key(conversation)).await.unwrap();
        eprintln!("{conversation} does not end; its inbox: {inbox:?}");
    }
}

/// Submits the inputs of a conversation, and forks it at last.
async fn converse<S: ConversationStore>(site: Arc<Site<S>>, number: u64, mut dice: Dice) {
    let conversation = format!("c{number}");
    let mut begun = Vec::new();
    for input in 0..INPUTS - 1 {
        let id = format!("{number}-{input}");
        let mode = match dice.below(10) {
            0..=4 => InputMode::Enqueue,
            5..=6 => InputMode::Steer,
            7 => InputMode::Interrupt,
            8 => InputMode::Reject,
            _ => InputMode::default(),
        };
        let plan = ["p", "pl", "r", "rp", "e", "pe", "lrp", "pp", "l"];
        let plan = plan[usize::try_from(dice.below(9)).unwrap()];
        let text = format!("{conversation} {id} {plan}");
        submit(&site, &mut dice, &conversation, &id, mode, text.clone()).await;
        if mode == InputMode::Enqueue {
            begun.push((id.clone(), text));
        }
        match dice.below(8) {
            0 => {
                let errand = Errand::Cancel { conversation: conversation.clone(), run: id.clone() };
                site.ask(&mut dice, &errand).await;
                let mut outcomes = site.outcomes.lock().unwrap();
                outcomes.iter_mut().find(|outcome| outcome.id == id).unwrap().is_cancelled = true;
            }
            1..=3 => site.until_quiet(&conversation).await,
            _ => sleep(Duration::from_millis(dice.below(40))).await,
        }
    }
    let Some((id, text)) = begun.pop() else { return };
    // A restart of a process may be needed, if it has given up or another has died.
    site.until_quiet(&conversation).await;
    let fork = format!("f{number}");
    let errand = Errand::Fork { conversation, fork: fork.clone(), before: id };
    let forked = site.ask(&mut dice, &errand).await;
    if forked == Reply::Done {
        // The same calls again: what has run waits for a decision.
        let text = text.replacen('c', "f", 1);
        submit(&site, &mut dice, &fork, &format!("fork-{number}"), InputMode::Enqueue, text).await;
    }
}

async fn submit<S: ConversationStore>(
    site: &Site<S>,
    dice: &mut Dice,
    conversation: &str,
    id: &str,
    mode: InputMode,
    text: String,
) {
    let errand = Errand::Submit { conversation: conversation.to_owned(), run: id.to_owned(), mode, text };
    let reply = site.ask(dice, &errand).await;
    let outcome = Outcome {
        conversation: conversation.to_owned(),
        id: id.to_owned(),
        is_accepted: reply == Reply::Done,
        is_cancelled: false,
    };
    site.outcomes.lock().unwrap().push(outcome);
}

/// Approves refunds, or denies them, and denies what has run before. Sometimes two people decide at once.
async fn person<S: ConversationStore>(site: Arc<Site<S>>, mut dice: Dice) {
    loop {
        sleep(Duration::from_millis(20)).await;
        for info in site.store.unfinished(None).await.unwrap() {
            let RunStatus::Waiting { calls, .. } = info.summary.status else { continue };
            for call in calls {
                let denial = Decision::Deny("not again".to_owned());
                let is_refund = call.call.name == "refund" && info.id.starts_with('c');
                let first = if is_refund && dice.below(3) > 0 { Decision::Approve } else { denial.clone() };
                let mut wanted = vec![first];
                if dice.below(4) == 0 {
                    wanted.push(denial);
                }
                for decision in wanted {
                    let (conversation, call) = (info.id.clone(), call.id.clone());
                    let errand = Errand::Decide {
                        conversation: conversation.clone(),
                        call: call.clone(),
                        decision: decision.clone(),
                    };
                    if site.ask(&mut dice, &errand).await == Reply::Done {
                        site.decided.lock().unwrap().push((conversation, call, decision));
                    }
                }
            }
        }
    }
}

/// Reads a conversation in this process, which works on nothing, until all is over.
async fn listen<S: ConversationStore>(
    runs: Arc<LocalRuns>,
    site: Arc<Site<S>>,
    conversation: String,
) -> Heard {
    let mut heard: Vec<(Cursor, String)> = Vec::new();
    let mut after: Option<Cursor> = None;
    loop {
        let is_over = site.is_over.load(Ordering::Relaxed);
        let mut updates = runs.attach(key(&conversation), after.clone()).await.unwrap();
        while let Some(update) = updates.next().await {
            after = update.cursor().cloned().or(after);
            match update {
                RunUpdate::Event { cursor, event, .. } => {
                    heard.push((cursor, serde_json::to_string(&*event).unwrap()));
                }
                RunUpdate::Back { cursor, .. } => heard.retain(|(place, _)| !place.is_after(&cursor)),
                RunUpdate::Reset { .. } => heard.clear(),
                _ => break,
            }
        }
        if is_over {
            let events = heard.into_iter().map(|(_, event)| event).collect();
            return Heard { conversation, events };
        }
        sleep(Duration::from_millis(30)).await;
    }
}

async fn chaos<S: ConversationStore>(site: Arc<Site<S>>, mut dice: Dice) {
    loop {
        sleep(Duration::from_millis(60 + dice.below(400))).await;
        let worker = &site.workers[usize::from(dice.below(2) == 1)];
        if dice.below(4) > 0 {
            worker.lock().await.replace(PERMILLE).await;
            *site.kills.lock().unwrap() += 1;
        } else {
            worker.lock().await.signal("STOP").await;
            sleep(Duration::from_millis(50 + dice.below(400))).await;
            worker.lock().await.signal("CONT").await;
            *site.stops.lock().unwrap() += 1;
        }
    }
}
