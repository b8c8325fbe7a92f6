//! What a failed run has spent.

mod streams;

use crate::support::{Configured as _, Form, Formed as _, Options};
use crate::support::{agent, cancelled_after, says};
use std::time::Duration;
use toolkit_agent::team::{ParallelAgent, SequentialAgent};
use toolkit_agent::{Agent, AgentError, Conversation, Limits, RunError, RunOutput};
use toolkit_core::{ClosureTool, ToolCall, ToolError, ToolRegistry};
use toolkit_llm::model::answer::AnswerMode;
use toolkit_llm::{ModelError, ModelErrorKind, ModelResponse, Price, ScriptedModel, StreamEvent, Usage};

/// The tokens of each response, which costs 1.
const USAGE: (u64, u64) = (600, 400);

fn price() -> Price {
    Price::per_million(1_000.0, 1_000.0)
}

fn paid(response: ModelResponse) -> ModelResponse {
    response.with_usage(Usage::new(USAGE.0, USAGE.1))
}

fn calls(calls: &[(&str, &str)]) -> ModelResponse {
    let calls = calls
        .iter()
        .zip(0..)
        .map(|((tool, arguments), at)| ToolCall::new(format!("call_{at}"), *tool, *arguments));
    paid(ModelResponse::calls(calls))
}

fn text(text: &str) -> ModelResponse {
    paid(ModelResponse::text(text))
}

fn broken() -> ModelError {
    ModelError::from_status(401, "no key")
}

const ADD: (&str, &str) = ("add", r#"{"a": 1, "b": 2}"#);

/// An agent, its run's options, and the expected end.
struct Case {
    name: &'static str,
    agent: Agent,
    options: Options,
    is_expected: fn(&AgentError) -> bool,
    /// The paid responses, model calls, tool calls and messages.
    spent: (u32, u32, u32, usize),
}

fn priced(model: ScriptedModel) -> toolkit_agent::AgentBuilder {
    agent(model).price(price())
}

fn cases() -> Vec<Case> {
    let asks = ClosureTool::new("asks", "Asks.", |_: crate::support::Nothing| {
        Err::<(), _>(ToolError::question("Which colour?"))
    });
    let mut asking = ToolRegistry::new();
    asking.register(asks.unwrap()).unwrap();
    let expert = |model: ScriptedModel| priced(model).name("expert").build().unwrap();
    let asking_expert = |model: ScriptedModel, expert: Agent| {
        let tools = ToolRegistry::from_tools([expert.to_tool().unwrap()]).unwrap();
        priced(model).tools(tools).build().unwrap()
    };
    let ask_expert = || ScriptedModel::new().response(calls(&[("expert", r#"{"request": "?"}"#)]));
    let case =
        |name, agent, is_expected, spent| Case { name, agent, options: Options::new(), is_expected, spent };
    let with = |options, case| Case { options, ..case };
    let limits = |limits| Options::new().with_limits(limits);
    let cut = ModelError::new(ModelErrorKind::Other, "cut").with_partial(text("half"));
    vec![
        case(
            "a model error after a turn",
            priced(ScriptedModel::new().response(calls(&[ADD, ADD])).error(broken())).build().unwrap(),
            |error| matches!(error, AgentError::Model(_)),
            (1, 2, 2, 3),
        ),
        case(
            "an answer that breaks off",
            priced(ScriptedModel::new().deltas([Ok(StreamEvent::Text("half".to_owned())), Err(cut)]))
                .build()
                .unwrap(),
            |error| matches!(error, AgentError::Model(_)),
            (1, 1, 0, 1),
        ),
        with(
            limits(Limits::default().with_max_model_calls(2)),
            case(
                "a limit of model calls",
                priced(ScriptedModel::new().fallback(|_| Ok(calls(&[ADD])))).build().unwrap(),
                |error| matches!(error, AgentError::Limit(_)),
                (2, 2, 2, 5),
            ),
        ),
        with(
            cancelled_after(Duration::from_secs(1)),
            case(
                "a cancellation",
                priced(ScriptedModel::new().response(calls(&[ADD, ("wait", r#"{"ms": 60000}"#)])))
                    .build()
                    .unwrap(),
                |error| matches!(error, AgentError::Cancelled),
                (1, 1, 2, 3),
            ),
        ),
        case(
            "an interruption",
            priced(ScriptedModel::new().response(calls(&[ADD])).response(calls(&[("asks", "{}")])))
                .tools(asking)
                .build()
                .unwrap(),
            |error| matches!(error, AgentError::Interrupted { .. }),
            (2, 2, 2, 3),
        ),
        case(
            "a transfer out of the team",
            priced(ScriptedModel::new().response(calls(&[("transfer_to_agent", r#"{"agent_name": "zz"}"#)])))
                .transfer_to("zz", "")
                .build()
                .unwrap(),
            |error| matches!(error, AgentError::UnknownAgent(_)),
            (1, 1, 1, 3),
        ),
        case(
            "parallel agents",
            ParallelAgent::new(
                "team",
                ["one", "other"].map(|name| {
                    let model = ScriptedModel::new().response(calls(&[ADD])).error(broken());
                    priced(model).name(name).build().unwrap()
                }),
            )
            .into(),
            |error| matches!(error, AgentError::Branches(_)),
            (2, 4, 2, 7),
        ),
        case(
            "a sequence",
            SequentialAgent::new(
                "team",
                [says("first", "Free."), priced(ScriptedModel::new().error(broken())).build().unwrap()],
            )
            .into(),
            |error| matches!(error, AgentError::Model(_)),
            (0, 2, 0, 2),
        ),
        with(
            limits(Limits::default().with_max_model_calls(2)),
            case(
                "an agent called as a tool",
                asking_expert(ask_expert(), expert(ScriptedModel::new().response(calls(&[ADD])).text("no"))),
                |error| matches!(error, AgentError::Limit(_)),
                (2, 2, 2, 3),
            ),
        ),
        case(
            "an invalid team",
            SequentialAgent::new("team", [says("a", "1"), says("a", "2")]).into(),
            |error| matches!(error, AgentError::Build(_)),
            (0, 0, 0, 1),
        ),
    ]
}

fn spent(output: &RunOutput) -> (u32, u32, u32, usize) {
    let tokens = u64::from(u32::try_from(output.usage.total()).unwrap());
    assert_eq!(tokens % (USAGE.0 + USAGE.1), 0);
    let responses = u32::try_from(tokens / (USAGE.0 + USAGE.1)).unwrap();
    assert!((output.cost - f64::from(responses)).abs() < 1e-9, "{}", output.cost);
    (responses, output.model_calls, output.tool_calls, output.messages.len())
}

async fn streamed(agent: &Agent, conversation: &mut Conversation, options: Options) -> RunError {
    agent.run("go").on(conversation).options(options).stream().finish().await.unwrap_err()
}

#[tokio::test(start_paused = true)]
async fn a_failure_has_the_tokens_the_cost_the_calls_and_the_messages_of_its_run() {
    for is_streamed in [false, true] {
        for Case { name, agent, options, is_expected, spent: expected } in cases() {
            let mut conversation = Conversation::new("1");
            says("earlier", "Hello.").run("hi").on(&mut conversation).await.unwrap();
            let failed = if is_streamed {
                streamed(&agent, &mut conversation, options).await
            } else {
                agent.run("go").on(&mut conversation).options(options).await.unwrap_err()
            };
            assert!(is_expected(&failed.error), "{name}: {failed}");
            assert_eq!(spent(&failed.output), expected, "{name}");
            assert_eq!(failed.output.messages, conversation.messages()[2..], "{name}");
            assert_eq!(conversation.latest_run().as_ref(), Some(&*failed.output), "{name}");
            assert_eq!((failed.to_string(), failed.output.text.as_str()), (failed.error.to_string(), ""));
        }
    }
}

#[tokio::test]
async fn all_attempts_of_a_typed_answer_count() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[allow(dead_code, reason = "no answer is valid")]
    struct City {
        name: String,
    }
    let model = ScriptedModel::new().response(text("Oslo")).response(text("Oslo, I said.")).error(broken());
    let agent = priced(model).build().unwrap();
    for (attempts, expected) in [(2, (2, 2, 0, 4)), (1, (0, 1, 0, 1))] {
        let mut conversation = Conversation::new("1");
        says("earlier", "Hello.").run("hi").on(&mut conversation).await.unwrap();
        let form = Form::new().with_attempts(attempts).with_mode(AnswerMode::Text);
        let failed = agent.run("go").on(&mut conversation).typed::<City>().form(form).await.err().unwrap();
        assert_eq!(spent(&failed.output), expected);
        assert_eq!(failed.output.messages, conversation.messages()[2..]);
    }
}
