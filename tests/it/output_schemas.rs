//! Output schemas, and the conformance of outputs to them.

use proptest::prelude::*;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use toolkit_ai::output::Base64;
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::{Map, Value, json};
use toolkit_ai::{ClosureTool, Content, FunctionTool, IntoToolOutput, Json, Media};

type Fallible<T> = Result<T, String>;

/// What the sky does.
#[derive(serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Sky {
    /// No cloud.
    Clear,
    SomeClouds,
}

/// The weather of a day.
#[derive(serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Weather {
    city: Cow<'static, str>,
    /// In °C.
    degrees: f32,
    sky: Sky,
    /// Written as null.
    wind_speed: Option<u16>,
    /// Left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    rain: Option<u8>,
    /// Left out if none is strong, which `None` is not.
    #[serde(skip_serializing_if = "is_weak")]
    storm: Option<u8>,
    #[serde(skip)]
    _secret: u8,
    #[serde(default)]
    hours: Vec<Hour>,
    picture: Base64,
    #[serde(flatten)]
    more: BTreeMap<String, i8>,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Hour(u8, Option<f64>);

#[allow(clippy::ref_option)]
fn is_weak(storm: &Option<u8>) -> bool {
    storm.is_some_and(|storm| storm < 6)
}

#[derive(serde::Serialize, schemars::JsonSchema)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
enum Found {
    Nothing,
    Leaf(u64),
    Tree(Tree),
}

#[derive(serde::Serialize, schemars::JsonSchema, Default)]
struct Tree {
    parent: Option<Box<Self>>,
    children: Vec<Self>,
}

/// Written, but not described.
#[derive(serde::Serialize)]
struct Undescribed {
    x: i32,
}

/// Described, but says itself what it becomes.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct Spoken;

impl IntoToolOutput for Spoken {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text("spoken"))
    }
}

fn weather(full: bool) -> Weather {
    Weather {
        city: "Oslo".into(),
        degrees: -3.5,
        sky: if full { Sky::SomeClouds } else { Sky::Clear },
        wind_speed: full.then_some(65_535),
        rain: full.then_some(0),
        storm: full.then_some(9),
        _secret: 1,
        hours: if full { vec![Hour(0, None), Hour(23, Some(0.5))] } else { Vec::new() },
        picture: Base64(vec![0, 255]),
        more: if full { BTreeMap::from([("humidity".to_owned(), -1)]) } else { BTreeMap::new() },
    }
}

/// Tools that return JSON described by their types. `full` decides about the optional parts.
mod described {
    use super::{Fallible, Found, Sky, Tree, Weather, weather};
    use std::collections::{BTreeSet, HashMap};
    use toolkit_ai::output::Base64;
    use toolkit_ai::{Json, tool};

    #[tool(register = false)]
    pub(super) fn number(full: bool) -> f64 {
        if full { 1e300 } else { -0.5 }
    }

    #[tool(register = false)]
    pub(super) fn byte(full: bool) -> u8 {
        u8::from(full) * 255
    }

    #[tool(register = false)]
    pub(super) fn wide(full: bool) -> i128 {
        if full { i128::from(u64::MAX) } else { -1 }
    }

    #[tool(register = false)]
    pub(super) fn truth(full: bool) -> bool {
        full
    }

    #[tool(register = false)]
    pub(super) fn maybe(full: bool) -> Option<u32> {
        full.then_some(7)
    }

    #[tool(register = false)]
    pub(super) fn choice(full: bool) -> Sky {
        if full { Sky::SomeClouds } else { Sky::Clear }
    }

    #[tool(register = false)]
    pub(super) async fn structure(full: bool) -> Weather {
        weather(full)
    }

    #[tool(register = false)]
    pub(super) fn fallible(full: bool) -> Fallible<Option<Weather>> {
        if full { Ok(Some(weather(true))) } else { Ok(None) }
    }

    #[tool(register = false)]
    pub(super) async fn list(full: bool) -> Result<Vec<Weather>, Box<dyn std::error::Error + Send + Sync>> {
        Ok(vec![weather(full)])
    }

    #[tool(register = false)]
    pub(super) fn texts(full: bool) -> Vec<String> {
        vec![String::new(); usize::from(full)]
    }

    #[tool(register = false)]
    pub(super) fn borrowed(full: bool) -> Vec<&'static str> {
        vec!["a"; usize::from(full)]
    }

    #[tool(register = false)]
    pub(super) fn wrapped(full: bool) -> Result<Json<String>, std::fmt::Error> {
        Ok(Json(full.to_string()))
    }

    #[tool(register = false)]
    pub(super) fn maybe_wrapped(full: bool) -> Option<Json<Weather>> {
        full.then(|| Json(weather(true)))
    }

    #[tool(register = false)]
    pub(super) fn set(full: bool) -> BTreeSet<u16> {
        BTreeSet::from([1, u16::from(full)])
    }

    #[tool(register = false)]
    pub(super) fn map(full: bool) -> HashMap<u8, Option<bool>> {
        HashMap::from([(1, None), (2, Some(full))])
    }

    #[tool(register = false)]
    pub(super) fn pair(full: bool) -> (Option<u8>, [bool; 2]) {
        (full.then_some(1), [full; 2])
    }

    #[tool(register = false)]
    pub(super) fn tagged(full: bool) -> Found {
        if full { Found::Leaf(u64::MAX) } else { Found::Nothing }
    }

    #[tool(register = false)]
    pub(super) fn recursive(full: bool) -> Found {
        let leaf = Tree::default();
        let parent = full.then(|| Box::new(Tree::default()));
        Found::Tree(Tree { parent, children: vec![leaf] })
    }

    #[tool(register = false)]
    pub(super) fn bytes(full: bool) -> Base64<[u8; 1]> {
        Base64([u8::from(full)])
    }
}

fn all_described() -> [FunctionTool; 19] {
    use described::*;
    tools![
        number,
        byte,
        wide,
        truth,
        maybe,
        choice,
        structure,
        fallible,
        list,
        texts,
        borrowed,
        wrapped,
        maybe_wrapped,
        set,
        map,
        pair,
        tagged,
        recursive,
        bytes
    ]
}

#[tokio::test]
async fn outputs_conform_to_their_schema() {
    for tool in all_described() {
        let name = tool.definition().name.clone();
        let schema = tool.definition().output_schema().unwrap_or_else(|| panic!("{name} has no schema"));
        jsonschema::meta::validate(schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        let validator = jsonschema::validator_for(schema).expect("the schema is one");
        let context = ToolContext::new(name.clone());
        for arguments in [r#"{"full": true}"#, r#"{"full": false}"#] {
            let output = tool.call(arguments, &context).await.expect("it returns");
            let [Content::Json(json)] = output.content() else { panic!("{name}: {output:?}") };
            let value = json.to_value().expect("it is not deep");
            if let Err(error) = validator.validate(&value) {
                panic!("{name}: {value} against {schema}: {error}");
            }
            let other = json!({"none": ["of", "them"]});
            assert!(!validator.is_valid(&other), "{name}: {schema} allows anything");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_weather_keeps_to_its_output_schema(
        degrees in any::<f32>().prop_filter("JSON knows no other", |degrees| degrees.is_finite()),
        (wind_speed, rain, storm) in any::<(Option<u16>, Option<u8>, Option<u8>)>(),
        hours in prop::collection::vec(any::<(u8, Option<u16>)>(), 0..3),
        picture in any::<Vec<u8>>(),
        more in any::<BTreeMap<String, i8>>(),
    ) {
        let hours = hours.into_iter().map(|(hour, sun)| Hour(hour, sun.map(f64::from))).collect();
        let picture = Base64(picture);
        let weather = Weather { degrees, wind_speed, rain, storm, hours, picture, more, ..weather(true) };
        // A key of the map may equal the name of a field, and then appears twice.
        prop_assume!(weather.more.keys().all(|key| !FIELDS.contains(&key.as_str())));
        let tool = described::structure::tool();
        let schema = tool.definition().output_schema().expect("it has one");
        let value = serde_json::to_value(&weather).expect("it is written");
        if let Err(error) = jsonschema::validate(schema, &value) {
            panic!("{value}: {error}");
        }
    }
}

const FIELDS: &[&str] = &["city", "degrees", "sky", "windSpeed", "rain", "storm", "hours", "picture"];

#[test]
fn output_schemas_are_tidy() {
    use described::*;
    let schemas: Map<String, Value> = tools![byte, maybe, choice, structure, map, recursive]
        .iter()
        .map(Tool::definition)
        .map(|tool| (tool.name.to_string(), tool.output_schema().cloned().unwrap_or_default()))
        .collect();
    insta::assert_json_snapshot!(schemas);
}

#[test]
fn texts_and_undescribed_types_have_no_output_schema() {
    #[tool(register = false)]
    fn nothing() {}
    #[tool(register = false)]
    #[allow(clippy::unused_unit)]
    fn unit() -> () {}
    #[tool(register = false)]
    fn fallible_unit() -> Result<(), String> {
        Ok(())
    }
    #[tool(register = false)]
    fn string() -> Fallible<String> {
        Ok(String::new())
    }
    #[tool(register = false)]
    fn lent(text: &str) -> &str {
        text
    }
    #[tool(register = false)]
    fn maybe_text(text: &str) -> Option<Cow<'_, str>> {
        Some(text.into())
    }
    #[tool(register = false)]
    fn path() -> std::path::PathBuf {
        std::path::PathBuf::new()
    }
    #[tool(register = false)]
    fn output() -> ToolOutput {
        ToolOutput::default()
    }
    #[tool(register = false)]
    fn contents() -> Vec<Content> {
        Vec::new()
    }
    #[tool(register = false)]
    fn media() -> Media {
        Media::new("image/png", [])
    }
    #[tool(register = false)]
    fn spoken() -> Spoken {
        Spoken
    }
    #[tool(register = false)]
    fn undescribed() -> Vec<Undescribed> {
        vec![Undescribed { x: 1 }]
    }
    #[tool(register = false)]
    fn undescribed_json() -> Json<Undescribed> {
        Json(Undescribed { x: 1 })
    }
    #[tool(register = false)]
    fn anything() -> Value {
        Value::Null
    }
    #[tool(register = false)]
    fn opaque() -> Result<impl serde::Serialize, String> {
        Ok(1)
    }
    let tools = tools![
        nothing,
        unit,
        fallible_unit,
        string,
        lent,
        maybe_text,
        path,
        output,
        contents,
        media,
        spoken,
        undescribed,
        undescribed_json,
        anything,
        opaque
    ];
    for tool in tools {
        let definition = tool.definition();
        assert_eq!(definition.output_schema(), None, "{}", definition.name);
    }
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Counter {
    count: u8,
}

#[toolset]
impl Counter {
    /// A copy of it.
    #[tool]
    fn copy(&self) -> Result<Self, String> {
        Ok(Self { count: self.count })
    }

    #[tool]
    fn text(&self) -> String {
        self.count.to_string()
    }
}

#[test]
fn methods_have_output_schemas_too() {
    let tools = Arc::new(Counter { count: 1 }).tools();
    let schemas: Vec<_> = tools.iter().map(|tool| tool.definition().output_schema()).collect();
    let count = json!({"type": "integer", "minimum": 0, "maximum": 255});
    let of_self = json!({"type": "object", "properties": {"count": count}, "required": ["count"]});
    assert_eq!(schemas, [Some(&of_self), None]);
}

#[test]
fn an_explicit_output_schema_goes_before_that_of_the_type() {
    let schema = json!({"type": "number", "minimum": 0});
    let tool = described::number::tool().with_output_schema(schema.clone());
    assert_eq!(tool.definition().output_schema(), Some(&schema));
    assert_eq!(described::number::tool().definition().output_schema(), Some(&json!({"type": "number"})));

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Nothing {}
    let closure = ClosureTool::new("set", "", |_: Nothing| BTreeSet::from([1_u8])).expect("a tool");
    assert_eq!(closure.definition().output_schema(), None);
    let closure = closure.with_output::<BTreeSet<u8>>();
    let set = closure.definition().output_schema().expect("it was said").clone();
    assert_eq!(set["uniqueItems"], true);
    assert_eq!(closure.with_output_schema(schema.clone()).definition().output_schema(), Some(&schema));
}

#[cfg(feature = "jsonschema")]
#[test]
fn the_output_schema_of_a_dynamic_tool_is_checked() {
    let tool =
        toolkit_ai::DynamicTool::new("count", "", json!({"type": "object"}), |_: Value| 1).expect("a tool");
    let error = tool.clone().with_output_schema(json!({"type": "numbr"})).expect_err("no such type");
    let text = error.to_string();
    assert!(text.contains(") has an invalid schema at `#/type`: in the output schema, "), "{text}");
    let tool = tool.with_output_schema(json!({"type": "number"})).expect("a schema");
    assert_eq!(tool.definition().output_schema(), Some(&json!({"type": "number"})));
}
