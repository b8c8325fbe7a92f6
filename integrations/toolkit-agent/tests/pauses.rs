//! Properties of runs with pauses of the provider, calls, approvals and guardrails, whatever stops them.

mod groups;
mod model;

use crate::property::answered;
use crate::support::{Nothing, token_after};
use model::{Part, Pausing, pieces};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use toolkit_agent::guardrail::{GuardContext, Guardrail, Verdict};
use toolkit_agent::team::{ParallelAgent, SequentialAgent};
use toolkit_agent::{
    Agent, AgentError, AgentOutput, AssistantMessage, Conversation, Decisions, Message, ModelResponse,
    ModelRetry, RunEvent, RunOptions, Sessions,
};
use toolkit_core::{ClosureTool, ToolError, ToolRegistry};

/// What a guardrail decides about an answer.
#[derive(Debug, Clone, Copy)]
enum Decision {
    Pass,
    Block,
    Replace,
}

/// What stops a run.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stop {
    Nothing,
    /// The run is dropped after these milliseconds.
    Drop(u64),
    /// The run is cancelled after these milliseconds.
    Cancel(u64),
}

#[derive(Debug, Clone, Copy)]
struct Step {
    /// Whether the run is resumed. Otherwise, there is new input.
    resumes: bool,
    stop: Stop,
    /// Whether another process continues.
    is_reloaded: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Team {
    Alone,
    Sequence,
    Group,
}

#[derive(Debug, Clone)]
struct Case {
    script: Vec<Part>,
    /// The decisions of the guardrail, in turn. Empty if there is no guardrail.
    decisions: Vec<Decision>,
    /// Whether another guardrail checks each response, and lets it pass.
    checks_responses: bool,
    steps: Vec<Step>,
    streaming: bool,
    team: Team,
    /// Whether the runs are saved, and another process continues from the last save. Otherwise, it continues from the
    /// conversation as JSON.
    is_saved: bool,
}

fn step() -> impl Strategy<Value = Step> {
    let stop = prop_oneof![
        3 => Just(Stop::Nothing),
        2 => (0..40_u64).prop_map(Stop::Drop),
        1 => (0..40_u64).prop_map(Stop::Cancel),
    ];
    (prop::bool::weighted(0.7), stop, any::<bool>()).prop_map(|(resumes, stop, is_reloaded)| Step {
        resumes,
        stop,
        is_reloaded,
    })
}

fn case() -> impl Strategy<Value = Case> {
    let decision =
        prop_oneof![3 => Just(Decision::Pass), 1 => Just(Decision::Block), 1 => Just(Decision::Replace)];
    let team = prop_oneof![2 => Just(Team::Alone), 1 => Just(Team::Sequence), 1 => Just(Team::Group)];
    (
        prop::collection::vec(model::part(), 1..7),
        (prop::collection::vec(decision, 0..3), any::<bool>()),
        prop::collection::vec(step(), 1..6),
        any::<bool>(),
        team,
        any::<bool>(),
    )
        .prop_map(|(script, (decisions, checks_responses), steps, streaming, team, is_saved)| Case {
            script,
            decisions,
            checks_responses,
            steps,
            streaming,
            team,
            is_saved,
        })
}

/// Creates a slow guardrail that decides as told. It notes the texts that it lets pass.
fn guardrail(decisions: &[Decision], passed: &Arc<Mutex<Vec<String>>>) -> Guardrail {
    let decisions = decisions.to_vec();
    let passed = passed.clone();
    let count = Mutex::new(0);
    Guardrail::new_async("judge", move |output: AgentOutput, _: GuardContext| {
        let decision = {
            let mut count = count.lock().unwrap();
            *count += 1;
            decisions[*count % decisions.len()]
        };
        let passed = passed.clone();
        async move {
            sleep(Duration::from_millis(3)).await;
            match decision {
                Decision::Pass => passed.lock().unwrap().push(output.text),
                Decision::Block => return Verdict::Block("No.".to_owned()),
                Decision::Replace => {
                    return Verdict::Replace(AgentOutput::new("other", "Something else."));
                }
            }
            Verdict::Pass
        }
    })
}

fn tools() -> ToolRegistry {
    let work = ClosureTool::new("work", "Works.", |_: Nothing| async {
        sleep(Duration::from_millis(2)).await;
        "worked"
    });
    let ask = ClosureTool::new("ask", "Asks.", |_: Nothing| Err::<(), _>(ToolError::question("Which?")));
    ToolRegistry::from_tools([work.unwrap(), ask.unwrap()]).unwrap()
}

/// Checks that each text without calls has passed the guardrail, except for text before calls.
fn all_passed(messages: &[Message], passed: &[String]) -> Result<(), TestCaseError> {
    let said = |message: &Message| match message {
        Message::Assistant(said) => Some(said.clone()),
        _ => None,
    };
    let mut is_before_calls = false;
    for message in messages.iter().rev() {
        let Some(said) = said(message) else {
            is_before_calls = false;
            continue;
        };
        is_before_calls = !said.calls.is_empty() || said.paused && is_before_calls;
        if is_before_calls {
            continue;
        }
        let mut pieces = pieces(&said.text);
        prop_assert!(
            pieces.all(|piece| passed.iter().any(|whole| whole.contains(piece))),
            "{:?} has not passed: {messages:?}",
            said.text
        );
    }
    Ok(())
}

/// Returns whether the provider has paused the turn after this message.
fn is_paused(message: &Message) -> bool {
    matches!(message, Message::Assistant(said) if said.paused)
}

proptest! {
    #![proptest_config(crate::support::cases(256))]

    #[test]
    fn unchecked_text_is_never_shown_and_paused_work_is_never_repeated(case in case()) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(check(&case))?;
    }
}

/// Creates the agent or the team of a case.
fn agent(case: &Case, model: &Arc<Pausing>, passed: &Arc<Mutex<Vec<String>>>) -> Agent {
    let agent = Agent::builder(model.clone()).tools(tools()).retry(ModelRetry::never());
    let agent = agent.streaming(case.streaming).name("one");
    let agent =
        if case.decisions.is_empty() { agent } else { agent.guardrail(guardrail(&case.decisions, passed)) };
    let response = Guardrail::new("response", |_: &ModelResponse, _: &GuardContext| Verdict::Pass);
    let agent = if case.checks_responses { agent.guardrail(response) } else { agent };
    let agent = agent.build().unwrap();
    match case.team {
        Team::Alone => agent,
        Team::Sequence => SequentialAgent::new("team", [agent]).into(),
        Team::Group => ParallelAgent::new("team", [agent]).into(),
    }
}

async fn check(case: &Case) -> Result<(), TestCaseError> {
    let model = Pausing::new(&case.script);
    let passed = Arc::<Mutex<Vec<String>>>::default();
    let agent = agent(case, &model, &passed);
    let sessions = case.is_saved.then(Sessions::default);
    let mut conversation = match &sessions {
        Some(sessions) => sessions.open("ada", "1").await.unwrap(),
        None => Conversation::new("1"),
    };
    let mut said = Said::default();
    let mut is_whole = true;
    let mut paused = BTreeSet::new();
    let mut requests = 0;
    for (index, step) in case.steps.iter().enumerate() {
        let is_new = !step.resumes || index == 0;
        if is_new {
            said = Said::default();
            paused.clear();
            is_whole = true;
        }
        let options = sessions.iter().fold(RunOptions::new(), RunOptions::with_autosave);
        let ended = drive(&agent, &mut conversation, options, (is_new, step.stop), &mut said).await;
        is_whole &= step.stop == Stop::Nothing;
        // The calls of an unfinished turn follow the messages.
        let mut settled = conversation.clone();
        settled.settle();
        prop_assert!(settled.messages().starts_with(conversation.messages()), "{:?}", conversation);
        if !case.decisions.is_empty() {
            all_passed(settled.messages(), &passed.lock().unwrap())?;
        }
        answered(settled.messages())?;
        for request in &model.requests()[requests..] {
            // The provider continues the paused messages at the end.
            let continued = request.messages.iter().rev().take_while(|message| is_paused(message)).count();
            let end = request.messages.len() - continued;
            if !case.decisions.is_empty() {
                all_passed(&request.messages[..end], &passed.lock().unwrap())?;
            }
            // The model has each paused message until the run ends.
            let known: BTreeSet<String> =
                request.messages.iter().filter(|message| is_paused(message)).map(Message::to_text).collect();
            prop_assert!(known.is_superset(&paused), "{known:?} of {paused:?}");
            paused = known;
        }
        requests = model.requests().len();
        if is_whole && matches!(ended, Some(Ok(_))) {
            let begin = conversation.latest_run().unwrap().messages;
            let messages = begin.iter().filter_map(|message| match message {
                Message::Assistant(said) => Some(label(said)),
                _ => None,
            });
            prop_assert_eq!(messages.collect::<Vec<_>>(), said.messages.clone(), "the order of the events");
            if case.streaming || case.checks_responses {
                let texts = said.messages.iter().map(|(text, _)| text.as_str());
                prop_assert_eq!(texts.collect::<String>(), said.text.clone(), "the text events");
            }
        }
        if matches!(ended, Some(Ok(_) | Err(AgentError::Branches(_)))) {
            // After the failure of all agents, a group begins again.
            paused.clear();
            is_whole = false;
        }
        if step.is_reloaded {
            let pending = conversation.pending();
            conversation = match &sessions {
                Some(sessions) => {
                    // A dropped save finishes in its own task.
                    sleep(Duration::from_millis(1)).await;
                    sessions.open("ada", "1").await.unwrap()
                }
                None => serde_json::from_str(&serde_json::to_string(&conversation).unwrap()).unwrap(),
            };
            if matches!(ended, Some(Err(AgentError::Interrupted { .. }))) {
                prop_assert_eq!(conversation.pending(), pending);
            }
        }
    }
    let other = toolkit_agent::ScriptedModel::new().text("Hello.");
    let later = Agent::builder(other.clone()).name("later").build().unwrap();
    later.run_in(&mut conversation, "Hi.").await.unwrap();
    if !case.decisions.is_empty() {
        let asked = &other.requests()[0].messages;
        let texts = asked.iter().map(Message::to_text).collect::<Vec<_>>().join("\n");
        let end = conversation.messages().len() - 1;
        all_passed(&conversation.messages()[..end], &passed.lock().unwrap())?;
        let shown =
            conversation.messages()[..end].iter().map(Message::to_text).collect::<Vec<_>>().join("\n");
        prop_assert!(pieces(&texts).all(|piece| shown.contains(piece)), "{texts} of {shown}");
    }
    Ok(())
}

/// What the events of a run contain.
#[derive(Default)]
struct Said {
    /// The texts and the calls of the messages.
    messages: Vec<(String, Vec<String>)>,
    /// The text of the text events.
    text: String,
}

/// Returns the text and the names of the calls.
fn label(said: &AssistantMessage) -> (String, Vec<String>) {
    (said.text.clone(), said.calls.iter().map(|call| call.id.to_string()).collect())
}

/// Runs the agent, and notes the messages in its events. Returns `None` if the run was dropped.
async fn drive(
    agent: &Agent,
    conversation: &mut Conversation,
    options: RunOptions,
    (is_new, stop): (bool, Stop),
    said: &mut Said,
) -> Option<Result<AgentOutput, AgentError>> {
    let options = match stop {
        Stop::Cancel(after) => options.with_cancellation(token_after(Duration::from_millis(after))),
        _ => options,
    };
    let mut events = if is_new {
        agent.run_stream_in(conversation, "Go.", options)
    } else {
        let pending = conversation.pending();
        let answer = |decisions: Decisions, id: &str| decisions.answer(id, "That.");
        let decisions = pending.iter().fold(Decisions::new(), |all, call| answer(all, &call.id));
        agent.resume_stream(conversation, options.with_decisions(decisions))
    };
    let work = async {
        let mut waiting = BTreeSet::new();
        while let Some(event) = events.next().await {
            match event {
                Ok(RunEvent::Message { message, .. }) => said.messages.push(label(&message)),
                Ok(RunEvent::Text { text, .. }) => said.text.push_str(&text),
                Ok(RunEvent::Finished { output, .. }) => {
                    return Some(Ok(AgentOutput::new(output.agent.as_str(), output.text.as_str())));
                }
                Ok(RunEvent::CallPending { id, .. }) => {
                    waiting.insert(id);
                }
                Ok(_) => {}
                Err(failed) => {
                    if let AgentError::Interrupted { pending, .. } = &failed.error {
                        assert_eq!(waiting, pending.iter().map(|call| call.id.clone()).collect());
                    }
                    return Some(Err(failed.error));
                }
            }
        }
        None
    };
    match stop {
        Stop::Drop(after) => timeout(Duration::from_millis(after), work).await.ok().flatten(),
        _ => work.await,
    }
}
