//! The recorded tools.

use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use toolkit_core::definition::UnknownArguments;
use toolkit_core::schemars::JsonSchema;
use toolkit_core::{
    BuildError, ClosureTool, Tool, ToolContext, ToolDefinition, ToolError, ToolFuture, ToolOutput,
};
use toolkit_llm::{ChatModel, ModelError, ModelRequest, ModelResponse, ScriptedModel};

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Greet {
    name: String,
    #[serde(default = "one")]
    n: i64,
}

fn one() -> i64 {
    1
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Name {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Query {
    #[expect(dead_code)]
    q: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Any {
    a: Value,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Modelled {
    #[expect(dead_code)]
    m: M,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
#[expect(dead_code)]
struct M {
    x: i64,
    #[serde(default = "d")]
    y: String,
}

fn d() -> String {
    "d".to_owned()
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct Nothing {}

/// Creates a recorded tool, if it is known.
pub(super) fn known(name: &str) -> Option<Result<ClosureTool, BuildError>> {
    Some(match name {
        "greet" => ClosureTool::new(name, "", |Greet { name, n }: Greet| format!("hi {name} {n}")),
        "agreet" => ClosureTool::new(name, "", |Name { name }: Name| async move { json!({"hi": name}) }),
        "withctx" => ClosureTool::new_with_context(
            name,
            "",
            |_: Query, context: ToolContext| json!({"has": context.agent_name().is_some()}),
        ),
        "kw" => ClosureTool::new(name, "", |Any { a }: Any| json!({"a": a, "kw": {}}))
            .map(|tool| tool.map_metadata(|metadata| metadata.with_unknown(UnknownArguments::Ignore))),
        "model" => ClosureTool::new(name, "", |_: Modelled| "M"),
        "boom" => ClosureTool::new(name, "", |_: Nothing| Err::<(), _>(ToolError::failed("kaput"))),
        "slow" => ClosureTool::new(name, "", |_: Nothing| tokio::time::sleep(Duration::from_secs(60))),
        "esc" => ClosureTool::new_with_context(name, "", |_: Nothing, context: ToolContext| {
            context.actions().escalate();
            "esc"
        }),
        _ => return None,
    })
}

pub(super) struct Recorded {
    pub(super) definition: ToolDefinition,
    pub(super) response: Value,
    pub(super) actions: Value,
}

impl Tool for Recorded {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn call<'a>(&'a self, _: &'a str, context: &'a ToolContext) -> ToolFuture<'a> {
        if self.actions["escalate"] == true {
            context.actions().escalate();
        }
        if let Some(agent) = self.actions["transfer_to_agent"].as_str() {
            context.actions().transfer_to_agent(agent);
        }
        for (key, value) in self.actions["state_delta"].as_object().into_iter().flatten() {
            context.session().set(key, value.clone());
        }
        ToolFuture::ready(recorded(&self.response))
    }
}

/// Converts a recorded output: objects unchanged, all else under a key.
pub(super) fn recorded(response: &Value) -> Result<ToolOutput, ToolError> {
    match (response.get("error").and_then(Value::as_str), response.get("result")) {
        (Some(error), _) => Err(ToolError::failed(error)),
        (_, Some(result)) => ToolOutput::json(result).map_err(ToolError::invalid_output),
        _ => ToolOutput::json(response).map_err(ToolError::invalid_output),
    }
}

/// A model that hangs after its script.
pub(super) struct Dozing(pub(super) ScriptedModel);

impl ChatModel for Dozing {
    fn name(&self) -> &str {
        "dozing"
    }

    async fn respond(&self, request: ModelRequest) -> Result<ModelResponse, ModelError> {
        match self.0.respond(request).await {
            Err(error) if error.message() == "the script of the model has ended" => {
                std::future::pending().await
            }
            answer => answer,
        }
    }
}
