//! Typed answers beside tools: as a call's arguments, natively, or as text.

mod again;
mod property;
mod resumed;

use crate::support::{Form, Formed as _};
use crate::support::{Script, assert_sendable, question, reloaded, transcript};
use futures_core::Stream;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use toolkit_agent::structured::AnswerEvent;
use toolkit_agent::structured::TypedOutput;
use toolkit_agent::team::{ParallelAgent, SequentialAgent};
use toolkit_agent::{Agent, AgentError, Conversation, Decisions, RunEvent};
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{ClosureTool, ToolCall, ToolChoice, ToolParams, ToolRegistry};
use toolkit_llm::ApiFormat;
use toolkit_llm::model::answer::AnswerMode;
use toolkit_llm::transport::WireModel;
use toolkit_llm::{
    ChatModel, Message, ModelError, ModelOptions, ModelResponse, ModelRetry, ScriptedModel, StreamEvent,
};

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
pub(super) struct City {
    name: String,
    population: u32,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Stock {
    amounts: BTreeMap<String, u32>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Nothing {}

pub(super) const OSLO: &str = r#"{"name": "Oslo", "population": 717710}"#;
const BAD: &str = r#"{"name": [7], "inhabitants": 1}"#;

pub(super) fn oslo() -> City {
    City { name: "Oslo".to_owned(), population: 717_710 }
}

pub(super) fn pay(paid: &Arc<AtomicU32>) -> ToolRegistry {
    let paid = paid.clone();
    let pay = ClosureTool::new("pay", "Pays.", move |_: Nothing| {
        paid.fetch_add(1, Ordering::Relaxed);
        "paid"
    });
    let ask = question("ask");
    ToolRegistry::from_tools([pay.unwrap(), ask]).unwrap()
}

fn agent(model: &ScriptedModel) -> (Agent, Arc<AtomicU32>) {
    let paid = Arc::<AtomicU32>::default();
    (Agent::builder(model.clone()).tools(pay(&paid)).build().unwrap(), paid)
}

async fn answer<T: ToolParams + Send + 'static>(
    agent: &Agent,
    mode: Option<AnswerMode>,
) -> (Result<T, AgentError>, Conversation) {
    let structured = Form { mode, ..Form::new() };
    let mut conversation = Conversation::new("1");
    let ended = agent.run("Which city?").on(&mut conversation).typed().form(structured).await;
    assert_sendable(&conversation);
    (ended.map(|answer| answer.value).map_err(AgentError::from), conversation)
}

fn choice(model: &ScriptedModel, request: usize) -> ToolChoice {
    model.requests()[request].tool_use.choice.clone()
}

fn forced(name: &str) -> ToolChoice {
    ToolChoice::Tool(name.to_owned())
}

#[tokio::test]
async fn beside_tools_the_arguments_of_a_call_are_the_answer() {
    let coerced = OSLO.replace("717710", "\"717710\"");
    let model = ScriptedModel::new().call("pay", "{}").then().call("final_answer", coerced.as_str());
    let (agent, paid) = agent(&model);
    let (city, mut conversation) = answer::<City>(&agent, None).await;
    assert_eq!((city, paid.load(Ordering::Relaxed)), (Ok(oslo()), 1));
    let requests = model.requests();
    assert!(requests[0].tools.contains("final_answer") && requests[0].tools.contains("pay"));
    assert_eq!(choice(&model, 0), ToolChoice::Auto);
    assert!(
        requests[0].instructions.contains("calling the tool `final_answer`"),
        "{}",
        requests[0].instructions
    );
    let lines = transcript(conversation.messages());
    assert_eq!(lines[3..], ["agent:  calls final_answer", "results: The answer was accepted."]);

    // Without the tool, the answer becomes text later.
    let model = ScriptedModel::new().text("It is.");
    let other = Agent::builder(model.clone()).build().unwrap();
    other.run("Is it large?").on(&mut conversation).await.unwrap();
    let lines = transcript(&model.requests()[0].messages);
    assert_eq!(lines[3..], [format!("agent: {coerced}"), "user: Is it large?".to_owned()]);
    assert_eq!(conversation.messages().len(), 7);
}

#[tokio::test]
async fn all_violations_of_the_arguments_are_in_one_result_and_no_tool_runs_again() {
    let model = ScriptedModel::new()
        .call("final_answer", BAD)
        .call("pay", "{}")
        .then()
        .call("pay", "{}")
        .then()
        .call("final_answer", OSLO);
    let (agent, paid) = agent(&model);
    let (city, conversation) = answer::<City>(&agent, None).await;
    assert_eq!((city, paid.load(Ordering::Relaxed)), (Ok(oslo()), 0));
    assert_eq!([choice(&model, 1), choice(&model, 2)], [forced("final_answer"), forced("final_answer")]);
    assert!(model.requests()[1].instructions.contains(r#""population""#));
    let lines = transcript(conversation.messages());
    for violation in ["`name`: expected string", "`inhabitants`: ", "`population`: required", "not available"]
    {
        assert!(lines[2].contains(violation), "{violation}: {}", lines[2]);
    }
    assert!(lines[4].contains("Tool `pay` is not available now"), "{}", lines[4]);
}

#[tokio::test]
async fn other_calls_of_the_turn_run_before_the_answer_is_taken() {
    let model = ScriptedModel::new().call("final_answer", OSLO).call("pay", "{}").call("final_answer", BAD);
    let (agent, paid) = agent(&model);
    let (city, _) = answer::<City>(&agent, None).await;
    assert_eq!((city, paid.load(Ordering::Relaxed)), (Ok(oslo()), 1));
}

#[tokio::test]
async fn the_name_of_the_tool_is_free_and_other_types_are_wrapped() {
    let taken = ["final_answer", "final_answer_2"]
        .map(|name| ClosureTool::new(name, "Is of the user.", |_: Nothing| "taken").unwrap());
    let arguments = r#"{"answer": [1, 2]}"#;
    let model = ScriptedModel::new().call("final_answer", "{}").then().call("final_answer_3", arguments);
    let agent =
        Agent::builder(model.clone()).tools(ToolRegistry::from_tools(taken).unwrap()).build().unwrap();
    let (list, conversation) = answer::<Vec<i64>>(&agent, None).await;
    assert_eq!(list, Ok(vec![1, 2]));
    assert_eq!(transcript(conversation.messages())[2], "results: taken");
    let tool = model.requests()[0].tools.get("final_answer_3").unwrap().definition().parameters.clone();
    assert_eq!(tool["properties"]["answer"]["type"], "array");
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Filter {
    #[serde(rename = "filter[name]")]
    name: String,
}

#[tokio::test]
async fn an_answer_may_spell_its_members_as_the_provider_got_them() {
    let model = ScriptedModel::new().call("final_answer", r#"{"filter_name_": "Oslo"}"#);
    let (agent, _) = agent(&model);
    let (filter, _) = answer::<Filter>(&agent, Some(AnswerMode::Tool)).await;
    assert_eq!(filter, Ok(Filter { name: "Oslo".to_owned() }));
}

#[tokio::test]
async fn the_tool_choice_of_the_agent_leaves_room_for_the_answer() {
    let allowed = |names: &[&str]| ToolChoice::Allowed {
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        required: true,
    };
    for (set, mode, expected) in [
        (ToolChoice::Required, None, ToolChoice::Required),
        (allowed(&["pay"]), None, allowed(&["pay", "final_answer"])),
        (ToolChoice::None, None, ToolChoice::None),
        (ToolChoice::None, Some(AnswerMode::Tool), forced("final_answer")),
    ] {
        let model = ScriptedModel::new().text(OSLO);
        let agent = Agent::builder(model.clone()).tools(pay(&Arc::default())).tool_config(set.clone());
        let (city, _) = answer::<City>(&agent.build().unwrap(), mode).await;
        assert_eq!((city, choice(&model, 0)), (Ok(oslo()), expected), "{set:?}");
        // Calls are forbidden, so the provider can enforce the schema.
        let is_native = set == ToolChoice::None && mode.is_none();
        assert_eq!(model.requests()[0].options.output.is_some(), is_native);
    }
}

#[tokio::test]
async fn a_map_is_not_asked_for_in_a_native_form_without_maps() {
    for (mode, is_reported) in [(None, false), (Some(AnswerMode::Native), true)] {
        let call = json!({"id": "c", "type": "function", "function": {
            "name": "final_answer", "arguments": r#"{"amounts": {"leek": 3}}"#,
        }});
        let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
        let body = json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]});
        let transport = Script::new([body]);
        let model = WireModel::new(ApiFormat::OpenAiChat, "m", transport.clone());
        let agent = Agent::builder(model).streaming(false).build().unwrap();
        let structured = Form { mode, ..Form::new() };
        let mut conversation = Conversation::new("1");
        let mut answers =
            agent.run("What is left?").on(&mut conversation).typed::<Stock>().form(structured).stream();
        let mut lost = Vec::new();
        let mut value = None;
        while let Some(event) = answers.next().await {
            match event.unwrap() {
                AnswerEvent::Run(RunEvent::RequestLosses { losses, .. }) => lost.extend(losses),
                AnswerEvent::Answer(answer) => value = Some(answer.value),
                _ => {}
            }
        }
        assert_eq!(value, Some(Stock { amounts: BTreeMap::from([("leek".to_owned(), 3)]) }));
        let path = "/options/output/schema/properties/amounts";
        assert_eq!(lost.iter().any(|loss| loss.path.starts_with(path)), is_reported, "{lost:?}");
        let body = transport.asked().remove(0);
        assert_eq!(body.get("response_format"), None);
        assert_eq!(body["tools"][0]["function"]["name"], "final_answer");
        let maps = &body["tools"][0]["function"]["parameters"]["properties"]["amounts"];
        assert!(maps["additionalProperties"].is_object(), "{body}");
    }
}

#[test]
fn each_dialect_reports_its_losses() {
    #[derive(Deserialize, JsonSchema)]
    #[schemars(crate = "toolkit_core::schemars")]
    #[expect(dead_code)]
    struct Plain {
        name: String,
        open: bool,
        tags: Vec<String>,
        note: Option<String>,
    }
    #[derive(Deserialize, JsonSchema)]
    #[schemars(crate = "toolkit_core::schemars")]
    #[expect(dead_code)]
    struct Bounded {
        #[schemars(range(min = 1, max = 12))]
        persons: u8,
    }
    let losses = |format: ApiFormat, output: &toolkit_llm::model::OutputFormat| {
        let losses = WireModel::new(format, "m", Script::default()).output_losses(output);
        (losses.is_empty(), losses.narrowed.is_some())
    };
    let plain = toolkit_llm::model::OutputFormat::of::<Plain>();
    let bounded = toolkit_llm::model::OutputFormat::of::<Bounded>();
    let map = toolkit_llm::model::OutputFormat::of::<Stock>();
    for &format in ApiFormat::ALL {
        assert_eq!(losses(format, &plain), (true, false), "{format:?}");
        let is_anthropic = matches!(format, ApiFormat::Anthropic | ApiFormat::Bedrock);
        assert_eq!(losses(format, &bounded), (!is_anthropic, false), "{format:?}");
        let is_open_ai = matches!(format, ApiFormat::OpenAiChat | ApiFormat::OpenAiResponses);
        let is_strict = is_anthropic || is_open_ai;
        assert_eq!(losses(format, &map), (!is_strict, is_strict), "{format:?}");
    }
    let model = || WireModel::new(ApiFormat::Anthropic, "m", Script::default());
    let fallback = toolkit_llm::model::Fallback::new(ScriptedModel::new()).or(model());
    assert!(fallback.boxed().output_losses(&map).narrowed.is_some());
    assert!(
        Arc::new(toolkit_llm::model::Retrying::new(model(), ModelRetry::default()))
            .output_losses(&map)
            .narrowed
            .is_some()
    );
}

#[tokio::test]
async fn hosted_tools_are_tools_too() {
    let hosted = toolkit_llm::hosted::anthropic::web_search();
    let model = ScriptedModel::new().call("final_answer", OSLO);
    let options = ModelOptions::new().with_hosted(hosted);
    let agent = Agent::builder(model.clone()).options(options).build().unwrap();
    assert_eq!(answer::<City>(&agent, None).await.0, Ok(oslo()));
    assert!(model.requests()[0].options.output.is_none());
}

#[tokio::test]
async fn a_server_without_tools_is_asked_for_text() {
    let model =
        ScriptedModel::new().error(ModelError::from_status(400, "tools are not supported")).text(OSLO);
    let (agent, _) = agent(&model);
    assert_eq!(answer::<City>(&agent, None).await.0, Ok(oslo()));
    let request = model.requests().pop().unwrap();
    assert!(request.instructions.contains(r#""population""#) && !request.tools.contains("final_answer"));
}

#[tokio::test]
async fn an_answer_survives_an_interruption_beside_it() {
    for is_valid in [true, false] {
        let arguments = if is_valid { OSLO } else { BAD };
        let mut model = ScriptedModel::new().call("ask", "{}").call("final_answer", arguments).then();
        if !is_valid {
            model = model.call("pay", "{}").then().call("final_answer", OSLO);
        }
        let (agent, paid) = agent(&model);
        let mut conversation = Conversation::new("1");
        let ended = agent
            .run("Which city?")
            .on(&mut conversation)
            .typed::<City>()
            .await
            .map(|answer| answer.value)
            .map_err(AgentError::from);
        let Err(AgentError::Interrupted { pending, .. }) = ended else { panic!("{ended:?}") };
        assert_eq!(pending.len(), 1);
        let mut conversation = reloaded(&conversation);
        let TypedOutput { value: city, output, .. } = agent
            .resume(&mut conversation)
            .decide(Decisions::new().answer(&pending[0].id, "Oslo"))
            .typed::<City>()
            .await
            .unwrap();
        assert_eq!((city, paid.load(Ordering::Relaxed)), (oslo(), 0));
        assert_eq!(output.messages, conversation.messages());
        assert_sendable(&conversation);
    }
}

#[tokio::test]
async fn the_agent_that_answers_for_a_team_repairs_the_answer() {
    let paid = Arc::<AtomicU32>::default();
    let first = ScriptedModel::new().call("pay", "{}").text("I paid.");
    let first = Agent::builder(first).name("first").tools(pay(&paid)).build().unwrap();
    let last = ScriptedModel::new().text("Oslo!").text(OSLO);
    let last = Agent::builder(last).name("last").build().unwrap();
    let team = Agent::from(SequentialAgent::new("team", [first, last]));
    assert_eq!(team.run("Which city?").typed::<City>().await.map(|answer| answer.value), Ok(oslo()));
    assert_eq!(paid.load(Ordering::Relaxed), 1);

    let expert = ScriptedModel::new().text("Oslo!").call("pay", "{}").then().call("final_answer", OSLO);
    let expert = Agent::builder(expert).name("expert").tools(pay(&paid)).build().unwrap();
    let root = ScriptedModel::new().call("transfer_to_agent", r#"{"agent_name": "expert"}"#);
    let root = Agent::builder(root).name("root").sub_agent(expert).build().unwrap();
    assert_eq!(root.run("Which city?").typed::<City>().await.map(|answer| answer.value), Ok(oslo()));
    assert_eq!(paid.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_parallel_team_answers_again_without_calls() {
    let paid = Arc::<AtomicU32>::default();
    let agent = |name: &str, again: &str| {
        let model = ScriptedModel::new().call("pay", "{}").text("Oslo!").call("pay", "{}").text(again);
        Agent::builder(model).name(name).tools(pay(&paid)).build().unwrap()
    };
    let team = Agent::from(ParallelAgent::new("team", [agent("one", "Nothing."), agent("two", OSLO)]));
    assert_eq!(team.run("Which city?").typed::<City>().await.map(|answer| answer.value), Ok(oslo()));
    assert_eq!(paid.load(Ordering::Relaxed), 2);
}

async fn partials(model: impl ChatModel, tools: ToolRegistry) -> (Vec<Value>, City) {
    let agent = Agent::builder(model).tools(tools).build().unwrap();
    let mut answers = agent.run("Which city?").typed::<City>().stream();
    let mut partials = Vec::new();
    loop {
        match answers.next().await.unwrap().unwrap() {
            AnswerEvent::Partial(value) => partials.push(value),
            AnswerEvent::Answer(answer) => {
                assert!(answers.next().await.is_none());
                assert!(answer.output.model_calls > 0);
                return (partials, answer.value);
            }
            _ => {}
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_answer_grows_in_a_stream() {
    let deltas = |text: &str| {
        let pieces = text.split_inclusive(' ').map(|piece| Ok(StreamEvent::Text(piece.to_owned())));
        let done = StreamEvent::Done(Box::new(ModelResponse::text(text)));
        pieces.chain([Ok(done)]).collect::<Vec<_>>()
    };
    let slow = |model| crate::support::Hesitant(model);
    let wrong = "It is {\"name\": 7, \"map\": {\"name\": \"Oslo\"}}.";
    let cited = format!("{OSLO} , as in [1] and {{\"page\": 7}} .");
    let model = ScriptedModel::new().deltas(deltas(wrong)).deltas(deltas(&cited));
    let (grown, city) = partials(slow(model), ToolRegistry::new()).await;
    assert_eq!(city, oslo());
    let expected = [
        json!({}),
        json!({"name": 7}),
        json!({"name": 7, "map": {}}),
        json!({}),
        json!({"name": "Oslo"}),
        json!({"name": "Oslo", "population": 717_710}),
    ];
    assert_eq!(grown, expected);
    // Without pauses, the pieces are one partial answer.
    let (grown, _) = partials(ScriptedModel::new().deltas(deltas(OSLO)), ToolRegistry::new()).await;
    assert_eq!(grown, expected[5..]);

    let call = ToolCall::new("c", "final_answer", OSLO);
    let model = ScriptedModel::new().response(ModelResponse::calls([call]));
    let (grown, _) = partials(slow(model), pay(&Arc::default())).await;
    assert_eq!(grown.last(), Some(&expected[5]));
}

#[tokio::test]
async fn a_stream_resumes_and_ends_with_errors() {
    fn is_stream<S: Stream + Send + Unpin>(stream: S) -> S {
        stream
    }
    let model = ScriptedModel::new().text("no").text("no").text("no").text(OSLO);
    let agent = Agent::builder(model).build().unwrap();
    let mut conversation = Conversation::new("1");
    let mut answers = is_stream(agent.run("Which city?").on(&mut conversation).typed::<City>().stream());
    let mut last = None;
    while let Some(event) = answers.next().await {
        last = Some(event);
    }
    let last = last.unwrap().map_err(AgentError::from);
    assert!(matches!(last, Err(AgentError::InvalidOutput(_))));
    drop(answers);
    let mut answers = agent.resume(&mut conversation).typed::<City>().stream();
    let mut city = None;
    while let Some(event) = answers.next().await {
        if let AnswerEvent::Answer(answer) = event.unwrap() {
            city = Some(answer.value);
        }
    }
    drop(answers);
    assert_eq!(city, Some(oslo()));
    let is_user = |message: &&Message| matches!(message, Message::User(_));
    assert_eq!(conversation.messages().iter().filter(is_user).count(), 3);
}
