use toolkit_ai::{ToolParams, tool};

#[derive(ToolParams, Default)]
struct Area {
    city: String,
}

/// The default of an enum of plain variants needs nothing more.
#[derive(ToolParams)]
enum Unit {
    Metric,
    Imperial,
}

#[derive(ToolParams)]
struct Trip {
    #[param(default = around())]
    area: Area,
    #[param(default = Unit::Metric)]
    unit: Unit,
    #[serde(default)]
    back: Area,
    #[serde(default = "around")]
    by: Area,
    /// An empty list and `None` need nothing more, nor does a default that is left out.
    #[serde(default)]
    stops: Vec<Area>,
    #[param(default)]
    end: Option<Area>,
    #[serde(default, skip_serializing)]
    hidden: Area,
}

/// The fields of a struct with defaults are asked for one by one.
#[derive(ToolParams, Default)]
#[serde(default)]
struct Stay {
    area: Area,
    areas: Vec<Area>,
    nights: u8,
}

#[derive(ToolParams)]
struct Page<T> {
    #[serde(default)]
    first: T,
    #[serde(default)]
    rest: Vec<T>,
}

fn around() -> Area {
    Area { city: "Rome".into() }
}

#[tool]
fn find(#[param(default = around())] area: Area, #[param(default = Unit::Imperial)] unit: Unit) -> String {
    let _ = (unit, |trip: Trip, stay: Stay, page: Page<u8>| (trip.area, stay.area, page.first));
    area.city
}

fn main() {}
