//! One question: its tools and calls, compared with a validator.

use std::collections::BTreeMap;

use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind;
use serde_json::{Value, json};
use toolkit_ai::{Dispatcher, DynamicTool, Json, ToolCall, ToolRegistry, ToolResult};

use crate::spoil::{self, Spoiled};
use crate::wire::{self, WireTally};

#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) agree: usize,
    pub(crate) differ: usize,
    /// The refused calls of those that agree.
    pub(crate) refused: usize,
    /// Calls that were spoiled, and those refused with the right name.
    pub(crate) spoiled: usize,
    pub(crate) caught: usize,
    pub(crate) faults: Vec<String>,
    /// The calls through the providers' formats.
    pub(crate) wire: WireTally,
}

pub(crate) struct Question {
    id: String,
    tools: Vec<Value>,
    calls: Vec<(String, Value)>,
}

impl Question {
    pub(crate) fn read(line: &str) -> Result<Self, String> {
        let question: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let list =
            |name: &str| question[name].as_array().cloned().ok_or_else(|| format!("`{name}` is not a list"));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let calls =
            list("calls")?.iter().map(|call| (text(&call["name"]), call["arguments"].clone())).collect();
        Ok(Self { id: text(&question["id"]), tools: list("tools")?, calls })
    }

    pub(crate) async fn check(&self, tally: &mut Tally) -> Result<(), String> {
        let mut validators = BTreeMap::new();
        for tool in &self.tools {
            let validator =
                jsonschema::validator_for(&tool["parameters"]).map_err(|error| error.to_string())?;
            validators.insert(tool["name"].as_str().unwrap_or_default(), validator);
        }
        let open = self.dispatcher(|schema| schema)?;
        let results = open.dispatch(calls(&self.calls)).await;
        let mut valid = Vec::new();
        for ((name, arguments), result) in self.calls.iter().zip(&results) {
            let validator = validators.get(name.as_str()).ok_or_else(|| format!("no tool `{name}`"))?;
            if validator.is_valid(arguments) {
                valid.push((name, arguments, validator));
            }
            match self.differs(validator, arguments, result) {
                None => {
                    tally.agree += 1;
                    tally.refused += usize::from(result.is_error());
                }
                Some(how) => {
                    tally.differ += 1;
                    tally.faults.push(format!("{}: {name} {arguments}: {how}", self.id));
                }
            }
        }
        wire::check(&self.id, &open, &self.calls, &mut tally.wire).await?;
        let closed = self.dispatcher(|mut schema| {
            schema["additionalProperties"] = json!(false);
            schema
        })?;
        let mut spoiled = Vec::new();
        let mut misspelt = Vec::new();
        for (name, arguments, validator) in valid {
            let schema =
                &self.tools.iter().find(|tool| tool["name"] == **name).unwrap_or(&Value::Null)["parameters"];
            let wrong =
                spoil::without_one(schema, arguments).chain(spoil::of_wrong_type(validator, arguments));
            spoiled.extend(wrong.map(|wrong| (name.clone(), wrong)));
            misspelt.extend(spoil::misspelt(schema, arguments).map(|wrong| (name.clone(), wrong)));
        }
        self.check_spoiled(&open, spoiled, tally).await;
        self.check_spoiled(&closed, misspelt, tally).await;
        Ok(())
    }

    /// A dispatcher for tools that return their arguments.
    fn dispatcher(&self, change: impl Fn(Value) -> Value) -> Result<Dispatcher, String> {
        let mut registry = ToolRegistry::new();
        for tool in &self.tools {
            let text = |name: &str| tool[name].as_str().unwrap_or_default();
            let schema = change(tool["parameters"].clone());
            let tool = DynamicTool::new(text("name"), text("description"), schema, |args: Value| async {
                Json(args)
            })
            .map_err(|error| error.to_string())?;
            registry.register(tool).map_err(|error| error.to_string())?;
        }
        Dispatcher::new(registry).map_err(|error| error.to_string())
    }

    /// The difference from the validator's decision, if any.
    fn differs(&self, validator: &Validator, arguments: &Value, result: &ToolResult) -> Option<String> {
        match (&result.outcome, validator.is_valid(arguments)) {
            (Ok(output), true) => {
                let same =
                    serde_json::from_str::<Value>(&output.to_text()).is_ok_and(|got| got == *arguments);
                (!same).then(|| format!("the tool got {}", output.to_text()))
            }
            (Ok(_), false) => Some("accepted, but it is not valid".to_owned()),
            (Err(error), true) => Some(format!("refused, but it is valid: {error}")),
            (Err(error), false) => {
                let unnamed =
                    offenders(validator, arguments).into_iter().find(|name| !names(error.message(), name));
                unnamed.map(|name| format!("the refusal does not name `{name}`: {error}"))
            }
        }
    }

    async fn check_spoiled(&self, dispatcher: &Dispatcher, wrong: Vec<(String, Spoiled)>, tally: &mut Tally) {
        let named: Vec<(String, Value)> =
            wrong.iter().map(|(name, spoiled)| (name.clone(), spoiled.arguments.clone())).collect();
        let results = dispatcher.dispatch(calls(&named)).await;
        for ((name, spoiled), result) in wrong.iter().zip(results) {
            tally.spoiled += 1;
            match result.outcome {
                Err(error) if names(error.message(), &spoiled.param) => tally.caught += 1,
                outcome => {
                    let Spoiled { how, param, arguments } = spoiled;
                    tally
                        .faults
                        .push(format!("{}: {name} {arguments} ({how} `{param}`): {outcome:?}", self.id));
                }
            }
        }
    }
}

pub(crate) fn calls(calls: &[(String, Value)]) -> Vec<ToolCall> {
    let ids = 0..;
    let call = |(id, (name, arguments)): (i32, &(String, Value))| {
        ToolCall::new(id.to_string(), name, arguments.to_string())
    };
    ids.zip(calls).map(call).collect()
}

/// Whether a message names a parameter, or a place inside.
fn names(message: &str, param: &str) -> bool {
    ["`", ".", "["].iter().any(|end| message.contains(&format!("`{param}{end}")))
}

fn offenders(validator: &Validator, arguments: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for error in validator.iter_errors(arguments) {
        let first = error.instance_path().as_str().split('/').nth(1).map(str::to_owned);
        match (first, error.kind()) {
            (Some(name), _) => found.push(name),
            (None, ValidationErrorKind::Required { property }) => {
                found.extend(property.as_str().map(str::to_owned));
            }
            (None, ValidationErrorKind::AdditionalProperties { unexpected }) => {
                found.extend(unexpected.iter().cloned());
            }
            _ => {}
        }
    }
    found
}
