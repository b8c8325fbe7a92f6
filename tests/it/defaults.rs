//! Default values: in the schema as JSON, or the tool is refused.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;
use toolkit_ai::Tool;
use toolkit_ai::prelude::*;
use toolkit_ai::serde_json::{Value, json};

const FEW: u32 = 3;
const NONE: u32 = 0;

#[derive(ToolParams, serde::Serialize, Clone, Debug, PartialEq, Default)]
struct Area {
    city: String,
    radius: Option<f32>,
}

/// A type that is not `Serialize`.
#[derive(ToolParams, Debug, Default)]
#[allow(dead_code)]
struct Stop {
    #[serde(default)]
    name: String,
}

/// Without `Serialize`, too.
#[derive(ToolParams, Debug, Default, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum Unit {
    #[default]
    MetricUnit,
    #[serde(rename = "imp")]
    Imperial,
}

#[derive(ToolParams, serde::Serialize, Debug)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shape {
    Circle { radius: f64 },
    UnitSquare,
}

fn rome() -> Area {
    Area { city: "Rome".to_owned(), radius: Some(0.1) }
}

/// Every field has a default of another kind.
#[derive(ToolParams, Debug)]
#[allow(dead_code)]
struct Trip {
    #[serde(default = "rome")]
    from: Area,
    #[param(default = rome())]
    to: Area,
    #[serde(default)]
    over: Area,
    #[param(default = Shape::Circle { radius: 1.5 })]
    shape: Shape,
    #[serde(default)]
    unit: Unit,
    #[param(default = Unit::Imperial)]
    other: Unit,
    #[serde(default)]
    stops: Vec<Stop>,
    #[param(default)]
    more: Vec<Stop>,
    #[serde(default)]
    last: Option<Stop>,
    #[serde(default)]
    by_name: BTreeMap<String, Stop>,
    #[param(default = BTreeMap::from([("a".to_owned(), 1)]))]
    counts: BTreeMap<String, u8>,
    #[param(default = FEW + 1)]
    few: u32,
    #[serde(default, skip_serializing)]
    hidden: Stop,
    #[serde(default, with = "whole_seconds")]
    #[schemars(with = "u64")]
    wait: Duration,
}

mod whole_seconds {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::time::Duration;

    pub(super) fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(time.as_secs())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_secs)
    }
}

/// The defaults of the whole struct.
#[derive(ToolParams, Debug)]
#[serde(default)]
struct Settings {
    area: Area,
    unit: Unit,
    stops: Vec<Stop>,
    stop: Option<Stop>,
    number: u8,
    #[serde(skip)]
    skipped: Stop,
}

impl Default for Settings {
    fn default() -> Self {
        let area = rome();
        let unit = Unit::Imperial;
        Self { area, unit, stops: Vec::new(), stop: None, number: 7, skipped: Stop::default() }
    }
}

/// A generic type shows the same defaults.
#[derive(ToolParams, Debug)]
#[allow(dead_code)]
struct Page<T, const N: usize> {
    #[param(default = Unit::Imperial)]
    unit: Unit,
    #[serde(default)]
    items: Vec<T>,
    #[param(default = N)]
    size: usize,
}

fn defaults(schema: &Value) -> Value {
    let properties = schema["properties"].as_object().unwrap();
    let shown = properties.iter().filter_map(|(name, one)| Some((name.clone(), one.get("default")?.clone())));
    Value::Object(shown.collect())
}

fn schema<T: ToolParams>() -> Value {
    toolkit_ai::schema::schema_of::<T>()
}

#[test]
fn defaults_of_fields_are_shown_as_json_at_any_depth() {
    let rome = json!({"city": "Rome", "radius": 0.1});
    // `null` means the same as absence.
    let expected = json!({
        "from": rome, "to": rome, "over": {"city": "", "radius": null},
        "shape": {"kind": "circle", "radius": 1.5}, "unit": "metric-unit", "other": "imp",
        "stops": [], "more": [], "by_name": {}, "counts": {"a": 1}, "few": 4, "wait": 0,
    });
    assert_eq!(defaults(&schema::<Trip>()), expected);
    assert_eq!(defaults(&schema::<Vec<HashMap<String, Trip>>>()["items"]["additionalProperties"]), expected);
    assert_eq!(
        defaults(&schema::<Settings>()),
        json!({"area": rome, "unit": "imp", "stops": [], "number": 7})
    );
    assert_eq!(defaults(&schema::<Page<Stop, 9>>()), json!({"unit": "imp", "items": [], "size": 9}));
}

/// Plan.
#[tool(register = false)]
#[allow(clippy::too_many_arguments)]
fn plan(
    #[param(default = rome())] from: Area,
    #[param(default)] to: Option<Area>,
    #[param(default = Some(rome()))] over: Option<&Area>,
    #[param(default)] stops: &[Stop],
    #[param(default)] by_name: BTreeMap<String, Stop>,
    #[param(default = vec![Shape::UnitSquare])] shapes: Vec<Shape>,
    #[param(default)] unit: Unit,
    #[param(default = FEW, range = 1..=5)] few: u32,
    #[param(default = (1, "a".to_owned()))] pair: (u8, String),
    trips: Vec<Trip>,
    settings: Settings,
    page: Page<u8, 2>,
) -> String {
    format!(
        "{from:?}{to:?}{over:?}{stops:?}{by_name:?}{shapes:?}{unit:?}{few}{pair:?}{trips:?}{settings:?}{page:?}"
    )
}

#[tokio::test]
async fn defaults_of_parameters_are_shown_as_json_and_are_the_values_of_absent_arguments() {
    let rome = json!({"city": "Rome", "radius": 0.1});
    let parameters = plan::tool().definition().parameters.clone();
    let expected = json!({
        "from": rome, "over": rome, "stops": [], "by_name": {}, "shapes": [{"kind": "unit_square"}],
        "unit": "metric-unit", "few": 3, "pair": [1, "a"],
    });
    assert_eq!(defaults(&parameters), expected);
    let registry = ToolRegistry::from_tools(tools![plan]).unwrap();
    // A default means the same sent or left out.
    let short = json!({"trips": [{}], "settings": {}, "page": {}});
    let mut long = expected;
    let trip = defaults(&parameters["properties"]["trips"]["items"]);
    let members = [
        ("trips", json!([trip])),
        ("settings", defaults(&parameters["properties"]["settings"])),
        ("page", defaults(&parameters["properties"]["page"])),
    ];
    members.into_iter().for_each(|(name, value)| long[name] = value);
    let short = registry.call("plan", &short.to_string()).await.unwrap();
    assert_eq!(registry.call("plan", &long.to_string()).await.unwrap(), short);
    assert!(short.to_text().starts_with(r#"Area { city: "Rome", radius: Some(0.1) }None"#));
}

fn refusal(tool: impl Tool + 'static) -> String {
    let name = tool.definition().name.to_string();
    ToolRegistry::from_tools([tool])
        .map_or_else(|error| error.to_string(), |_| format!("`{name}` is accepted"))
}

/// A parameter and a field with the same default, and the field's name.
macro_rules! refused {
    ($($name:ident: $ty:ty = $value:expr, $expected:expr;)*) => { $({
        #[derive(ToolParams)]
        struct Fields {
            #[param(default = $value)]
            field: $ty,
        }

        /// Take a parameter.
        #[tool(register = false)]
        fn $name(#[param(default = $value)] parameter: $ty) {
            let _ = parameter;
        }

        /// Take fields.
        #[tool(register = false)]
        fn nested(list: Vec<Fields>) {
            list.into_iter().for_each(|fields| _ = fields.field);
        }

        let expected: Option<&str> = $expected;
        let path = "#/properties/parameter/default";
        match expected {
            Some(expected) => {
                let message = refusal($name::tool());
                assert!(message.contains(path) && message.contains(expected), "{message}");
                let message = refusal(nested::tool());
                let path = "#/properties/list/items/properties/field/default";
                assert!(message.contains(path) && message.contains(expected), "{message}");
            }
            None => {
                assert!(ToolRegistry::from_tools([$name::tool()]).is_ok(), stringify!($value));
                assert!(ToolRegistry::from_tools([nested::tool()]).is_ok(), stringify!($value));
            }
        }
    })* };
}

#[test]
fn defaults_that_json_cannot_say_are_refused() {
    /// A map that is no object. The macro refuses one that it can see.
    type Keyed = BTreeMap<Vec<u8>, u8>;

    let null = Some("NaN and infinity cannot be published");
    refused! {
        nan: f64 = f64::NAN, null;
        infinite: f32 = f32::NEG_INFINITY, null;
        listed: Vec<f64> = vec![1.0, f64::NAN], Some("expected number");
        mapped: BTreeMap<String, f64> = BTreeMap::from([("a".to_owned(), f64::INFINITY)]), Some("`a`");
        paired: (f64, u8) = (f64::INFINITY, 1), Some("expected number");
        keyed: Keyed = BTreeMap::from([(vec![1], 1)]), Some("key must be a string");
        none: Option<f64> = None, None;
        not_a_number: Option<f64> = Some(f64::NAN), None;
        anything: Value = Value::Null, None;
        unit: () = (), None;
        finite: f64 = f64::MAX, None;
        exact: f32 = 0.1, None;
        wide: u128 = u128::MAX, None;
        set: BTreeSet<char> = BTreeSet::from(['a']), None;
    }
}

#[test]
fn defaults_that_the_schema_refuses_are_refused() {
    #[derive(ToolParams)]
    struct Wait {
        #[serde(default, deserialize_with = "whole_seconds::deserialize")]
        #[schemars(with = "u64")]
        time: Duration,
    }

    /// Wait.
    #[tool(register = false)]
    fn wait(#[param(flatten)] wait: Wait) -> u64 {
        wait.time.as_secs()
    }

    /// Rate.
    #[tool(register = false)]
    fn rate(#[param(range = 1..=5, default = NONE)] stars: u32) -> u32 {
        stars
    }

    #[derive(ToolParams, Debug)]
    #[serde(default)]
    struct Filled {
        stops: Vec<Stop>,
    }

    impl Default for Filled {
        fn default() -> Self {
            Self { stops: vec![Stop::default()] }
        }
    }

    /// Fill.
    #[tool(register = false)]
    fn fill(filled: Filled) -> usize {
        filled.stops.len()
    }

    let message = refusal(wait::tool());
    assert!(message.contains("`#/properties/time/default`: the default is no valid argument"), "{message}");
    let message = refusal(rate::tool());
    assert!(message.contains("`#/properties/stars/default`") && message.contains('5'), "{message}");
    let message = refusal(fill::tool());
    assert!(message.contains("`#/properties/filled/properties/stops/default`"), "{message}");
    assert!(message.contains("derive `Serialize`"), "{message}");
}

#[test]
fn the_description_of_a_flattened_type_is_not_that_of_the_outer_type() {
    /// A place.
    #[derive(ToolParams)]
    struct Place {
        city: String,
    }

    #[derive(ToolParams)]
    struct Bare {
        #[serde(flatten)]
        place: Place,
    }

    /// A stay.
    #[derive(ToolParams)]
    struct Described {
        #[serde(flatten)]
        place: Place,
    }

    let _ = |bare: Bare, described: Described| (bare.place.city, described.place.city);
    assert_eq!(schema::<Bare>().get("description"), None);
    assert_eq!(schema::<Described>()["description"], "A stay.");
}
