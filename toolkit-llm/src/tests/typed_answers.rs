//! The requests of typed answers.

use crate::facts::ApiFormat;
use crate::model::ChatModel;
use crate::model::scripted::ScriptedModel;
use crate::transport::encode_request;
use serde_json::json;
use toolkit_core::schemars::JsonSchema;

#[derive(Debug, PartialEq, serde::Deserialize, JsonSchema)]
#[schemars(crate = "toolkit_core::schemars")]
struct City {
    name: String,
    population: u32,
}

const OSLO: &str = r#"{"name": "Oslo", "population": 717710}"#;

fn oslo() -> City {
    City { name: "Oslo".to_owned(), population: 717_710 }
}

#[tokio::test]
async fn a_provider_that_expresses_the_schema_enforces_it() {
    let model = ScriptedModel::new().text(OSLO);
    assert_eq!(model.ask::<City>("Where?").await.unwrap().value, oslo());
    let request = &model.requests()[0];
    assert_eq!(request.options.output.as_ref().map(|output| output.name.as_str()), Some("City"));
    let body = encode_request(ApiFormat::OpenAiResponses, "m", request, false).body;
    assert_eq!(body["text"]["format"]["schema"]["required"], json!(["name", "population"]));
}
