use toolkit::{ToolParams, tool};

#[derive(ToolParams)]
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
}

fn around() -> Area {
    Area { city: "Rome".into() }
}

#[tool]
fn find(#[param(default = around())] area: Area, #[param(default = Unit::Imperial)] unit: Unit) -> String {
    let _ = (unit, |trip: Trip| (trip.area, trip.unit));
    area.city
}

fn main() {}
