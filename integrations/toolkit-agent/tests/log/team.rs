//! Random teams, and the programs that run them.

use crate::support::Nothing;
use crate::support::{Configured as _, Form, Formed as _, Options};
use proptest::prelude::*;
use proptest::sample::select;
use serde::Deserialize;
use serde_json::json;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use toolkit_agent::guardrail::{GuardContext, Guardrail, Verdict};
use toolkit_agent::team::{LoopAgent, ParallelAgent, SequentialAgent};
use toolkit_agent::{
    Agent, AgentBuilder, AgentError, AgentOutput, Conversation, Decision, Decisions, Limits, PendingCall,
    RunOutput,
};
use toolkit_core::error::Pending;
use toolkit_core::middleware::{Approval, PermissionRule, Permissions};
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{ClosureTool, ToolCall, ToolChoice, ToolContext, ToolError, ToolName, ToolRegistry};
use toolkit_llm::{FinishReason, Message, ModelError, ModelRequest, ModelResponse, ScriptedModel, Usage};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Call {
    /// May run again.
    Look,
    /// Must not run twice.
    Pay,
    /// May run again, and asks the program.
    Ask,
    /// May run again, with other arguments after an approval.
    Limit,
    /// May run again, and is denied.
    Steal,
    /// May run again, and changes the session.
    Set,
    /// May run again, and its output is the answer.
    Show,
    /// Calls another agent, which pays, looks and asks.
    Expert,
}

#[derive(Debug, Clone)]
pub(super) struct Member {
    turns: Vec<Vec<Call>>,
    is_guarded: bool,
    pauses: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Team {
    Agent(Member),
    /// Hands over after its calls.
    Handing(Member, Member),
    Sequence(Vec<Self>),
    Parallel(Vec<Self>),
    Loop(Vec<Self>),
}

impl Team {
    fn has_one_answer(&self) -> bool {
        match self {
            Self::Agent(_) | Self::Handing(..) => true,
            Self::Sequence(teams) => teams.iter().all(Self::has_one_answer),
            Self::Parallel(_) | Self::Loop(_) => false,
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) team: Team,
    pub(super) streaming: bool,
    /// Whether the run asks for a type, which the first answer violates.
    pub(super) is_typed: bool,
    pub(super) order: Order,
}

/// The pending calls to decide at once.
#[derive(Debug, Clone, Copy)]
pub(super) enum Order {
    First,
    Last,
    All,
}

fn member() -> impl Strategy<Value = Member> {
    let calls =
        [Call::Look, Call::Pay, Call::Ask, Call::Limit, Call::Steal, Call::Set, Call::Show, Call::Expert];
    let call = select(calls.to_vec());
    let turns = prop::collection::vec(prop::collection::vec(call, 1..3), 0..3);
    (turns, any::<bool>(), prop::bool::weighted(0.3)).prop_map(|(turns, is_guarded, pauses)| Member {
        turns,
        is_guarded,
        pauses,
    })
}

pub(super) fn case() -> impl Strategy<Value = Case> {
    let leaf = prop_oneof![
        2 => member().prop_map(Team::Agent),
        1 => (member(), member()).prop_map(|(member, later)| Team::Handing(member, later)),
    ];
    let team = leaf.prop_recursive(2, 5, 3, |inner| {
        let teams = prop::collection::vec(inner, 1..3);
        prop_oneof![
            teams.clone().prop_map(Team::Sequence),
            teams.clone().prop_map(Team::Parallel),
            teams.prop_map(Team::Loop),
        ]
    });
    let orders = select(vec![Order::First, Order::Last, Order::All]);
    (team, prop::bool::weighted(0.3), any::<bool>(), orders).prop_map(|(team, streaming, is_typed, order)| {
        let is_typed = is_typed && team.has_one_answer();
        Case { team, streaming, is_typed, order }
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
pub(super) struct Answer {
    #[expect(dead_code, reason = "only the form matters")]
    text: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Limit {
    amount: u32,
}

#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The payments, by the id of their call.
    pub(super) paid: Mutex<Vec<String>>,
    pub(super) limits: Mutex<Vec<u32>>,
    /// The number of requests to models.
    pub(super) requests: AtomicUsize,
}

pub(super) struct Program {
    pub(super) seen: Arc<Seen>,
    pub(super) interrupts: bool,
    pub(super) repeats_ids: bool,
    /// The prefix of its agents' names.
    pub(super) prefix: &'static str,
    /// The failing request.
    pub(super) fails_at: Option<usize>,
}

impl Default for Program {
    fn default() -> Self {
        Self { seen: Arc::default(), interrupts: true, repeats_ids: false, prefix: "agent", fails_at: None }
    }
}

impl Program {
    pub(super) fn agent(&self, case: &Case) -> Agent {
        self.build(&case.team, case, &mut 0)
    }

    fn build(&self, team: &Team, case: &Case, number: &mut usize) -> Agent {
        *number += 1;
        let name = format!("{}_{number}", self.prefix);
        match team {
            Team::Agent(member) => self.member(name, member, None, case),
            Team::Handing(member, later) => {
                *number += 1;
                let later = self.member(format!("{}_{number}", self.prefix), later, None, case);
                self.member(name, member, Some(later), case)
            }
            Team::Sequence(teams) | Team::Parallel(teams) | Team::Loop(teams) => {
                let members: Vec<_> = teams.iter().map(|team| self.build(team, case, number)).collect();
                match team {
                    Team::Sequence(_) => SequentialAgent::new(name, members).into(),
                    Team::Parallel(_) => ParallelAgent::new(name, members).into(),
                    _ => LoopAgent::new(name, members).with_max_iterations(2).into(),
                }
            }
        }
    }

    fn tools(&self, name: &str) -> ToolRegistry {
        let seen = self.seen.clone();
        let pay = move |_: Nothing, context: ToolContext| {
            let id = context.call_id().map(ToString::to_string).unwrap_or_default();
            seen.paid.lock().unwrap().push(id);
            async {
                tokio::task::yield_now().await;
                "paid"
            }
        };
        let seen = self.seen.clone();
        let limit = move |Limit { amount }: Limit| seen.limits.lock().unwrap().push(amount);
        let key = name.to_owned();
        let set = move |_: Nothing, context: ToolContext| {
            context
                .session()
                .set(key.clone(), context.call_id().map(ToString::to_string).unwrap_or_default());
        };
        let interrupts = self.interrupts;
        let ask = move |_: Nothing| if interrupts { Err(ToolError::question("Which?")) } else { Ok("blue") };
        let again = |tool: ClosureTool| tool.map_metadata(|metadata| metadata.with_idempotent(true));
        let show = |_: Nothing, context: ToolContext| {
            context.actions().skip_summarization();
            "It is shown."
        };
        let look = ClosureTool::new("look", "Looks.", |_: Nothing| "seen").unwrap();
        ToolRegistry::from_tools([
            look.map_metadata(|metadata| metadata.with_read_only(true)),
            ClosureTool::new_with_context("pay", "Pays.", pay).unwrap(),
            again(ClosureTool::new("ask", "Asks.", ask).unwrap()),
            again(ClosureTool::new("limit", "Sets a limit.", limit).unwrap()),
            again(ClosureTool::new("steal", "Steals.", |_: Nothing| "stolen").unwrap()),
            again(ClosureTool::new_with_context("set", "Remembers.", set).unwrap()),
            again(ClosureTool::new_with_context("show", "Shows.", show).unwrap()),
        ])
        .unwrap()
    }

    fn member(&self, name: String, member: &Member, later: Option<Agent>, case: &Case) -> Agent {
        let mut tools = self.tools(&name);
        if member.turns.iter().flatten().any(|call| *call == Call::Expert) {
            let turns = vec![vec![Call::Pay, Call::Look, Call::Ask]];
            let expert = Member { turns, is_guarded: false, pauses: false };
            let expert = self.member(format!("{name}_expert"), &expert, None, case);
            let tool = expert.to_tool().unwrap().with_name(ToolName::new("expert").unwrap());
            tools.register(tool).unwrap();
        }
        let rules = Permissions::new()
            .rule(PermissionRule::ask("it is high").for_tool("limit").unwrap())
            .rule(PermissionRule::deny("no").for_tool("steal").unwrap())
            .rule(PermissionRule::allow());
        let rules = if self.interrupts {
            rules.decide_later()
        } else {
            rules.with_handler(|_| async { Approval::Approve })
        };
        let model = Model {
            own: name.clone(),
            member: member.clone(),
            to: later.as_ref().map(|later| later.name().to_owned()),
            repeats_ids: self.repeats_ids,
        };
        let seen = self.seen.clone();
        let fails_at = self.fails_at;
        let model = ScriptedModel::new().fallback(move |request| {
            if fails_at == Some(seen.requests.fetch_add(1, Ordering::Relaxed)) {
                return Err(ModelError::from_status(401, "the key has expired"));
            }
            Ok(model.response(request).with_usage(Usage::new(10, 1)))
        });
        let builder =
            Agent::builder(model).name(name).tools(tools).middleware(rules).streaming(case.streaming);
        let builder = builder.before_model_async(async |request| {
            tokio::task::yield_now().await;
            ControlFlow::Continue(request)
        });
        let clean = Guardrail::new("clean", |output: &AgentOutput, _: &GuardContext| {
            let text = output.text.replace("has a secret", "is done");
            Verdict::Replace(AgentOutput::new(output.agent.as_str(), text))
        });
        let builder = if member.is_guarded { builder.guardrail(clean) } else { builder };
        later.into_iter().fold(builder, AgentBuilder::sub_agent).build().unwrap()
    }
}

/// A model whose answers depend only on the request.
struct Model {
    own: String,
    member: Member,
    to: Option<String>,
    repeats_ids: bool,
}

impl Model {
    fn response(&self, request: &ModelRequest) -> ModelResponse {
        let messages = &request.messages;
        let is_own = |message: &Message, paused: bool| match message {
            Message::Assistant(it) => it.agent == self.own && it.calls.is_empty() && it.paused == paused,
            _ => false,
        };
        let input = messages.first().map(Message::to_text).unwrap_or_default();
        let answers = messages.iter().filter(|message| is_own(message, false)).count();
        let since = messages.iter().rposition(|message| is_own(message, false)).map_or(0, |index| index + 1);
        let turn = messages.iter().skip(since).filter(|message| matches!(message, Message::Tool(_))).count();
        let is_continued = messages.last().is_some_and(|message| is_own(message, true));
        let done = if self.member.is_guarded { "has a secret" } else { "is done" };
        if self.member.pauses && !is_continued {
            let text = if turn < self.member.turns.len() || self.to.is_some() {
                "Hm. ".to_owned()
            } else {
                format!("It {done}: ")
            };
            return ModelResponse::text(text).with_finish(FinishReason::parse("pause_turn"));
        }
        let id = |index: usize| {
            if self.repeats_ids {
                "call".to_owned()
            } else {
                format!("{input}/{}.{answers}.{turn}.{index}", self.own)
            }
        };
        let answer = json!({"text": format!("{} {done}.", self.own)}).to_string();
        match (self.member.turns.get(turn), &self.to, &request.tool_use.choice) {
            (_, _, ToolChoice::None) => ModelResponse::text(answer),
            (_, _, ToolChoice::Tool(name)) => {
                let mut response = ModelResponse::calls([ToolCall::new("answer", name.as_str(), answer)]);
                // No guardrail checks a text beside the answer.
                response.message.text = format!("It {done}.");
                response
            }
            (Some(calls), ..) => ModelResponse::calls(calls.iter().enumerate().map(|(index, call)| {
                let id = id(index);
                let (name, arguments) = match call {
                    Call::Look => ("look", json!({})),
                    Call::Pay => ("pay", json!({})),
                    Call::Ask => ("ask", json!({})),
                    Call::Limit => ("limit", json!({"amount": 1_000})),
                    Call::Steal => ("steal", json!({})),
                    Call::Set => ("set", json!({})),
                    Call::Show => ("show", json!({})),
                    Call::Expert => ("expert", json!({"request": id.clone()})),
                };
                ToolCall::new(id, name, arguments.to_string())
            })),
            (None, Some(to), _) => {
                let arguments = json!({"agent_name": to}).to_string();
                ModelResponse::calls([ToolCall::new(id(0), "transfer_to_agent", arguments)])
            }
            (None, None, _) => ModelResponse::text(format!("{} {done}.", self.own)),
        }
    }
}

/// Sets limits for nested loops, which make many calls.
pub(super) fn limited(options: Options) -> Options {
    options.with_limits(Limits::default().with_max_model_calls(10_000).with_max_tool_calls(10_000))
}

impl Case {
    pub(super) async fn drive(
        &self,
        agent: &Agent,
        conversation: &mut Conversation,
        options: Options,
    ) -> Result<RunOutput, AgentError> {
        let form = Form::new();
        let options = limited(options);
        let ended = match (self.is_typed, conversation.messages().is_empty()) {
            (false, true) => agent.run("Go.").on(&mut *conversation).options(options).await,
            (false, false) => agent.resume(&mut *conversation).options(options).await,
            (true, true) => agent
                .run("Go.")
                .on(&mut *conversation)
                .options(options)
                .typed::<Answer>()
                .form(form)
                .await
                .map(|answer| answer.output),
            (true, false) => agent
                .resume(&mut *conversation)
                .options(options)
                .typed::<Answer>()
                .form(form)
                .await
                .map(|answer| answer.output),
        };
        ended.map_err(AgentError::from)
    }
}

impl Order {
    /// Decides as a program without interruptions does, but with lower limits.
    pub(super) fn decide(self, pending: &[PendingCall]) -> Decisions {
        let decided = match self {
            Self::First => &pending[..1],
            Self::Last => &pending[pending.len() - 1..],
            Self::All => pending,
        };
        decided.iter().fold(Decisions::new(), |all, call| {
            let decision = match call.reason {
                Pending::Question { .. } => Decision::Answer("blue".into()),
                _ => Decision::Change(json!({"amount": 1})),
            };
            all.with(&call.id, decision)
        })
    }
}
