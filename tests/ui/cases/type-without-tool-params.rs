use toolkit_ai::{ToolParams, tool};

struct Place {
    city: String,
}

struct Point(f64, f64);

#[derive(ToolParams)]
struct Trip {
    from: Point,
    stops: Vec<Point>,
}

#[tool]
fn find(place: Place) -> String {
    place.city
}

#[tool]
async fn count(places: Vec<Place>, home: Option<Place>, points: &[Point]) -> usize {
    places.len() + home.iter().count() + points.len()
}

#[tool]
fn nearest(points: Option<&[Point]>, names: &[String], unit: &str) -> usize {
    points.iter().count() + names.len() + unit.len()
}

#[tool]
fn visit(#[param(flatten)] place: Place) -> String {
    place.city
}

fn main() {
    let Point(..) = Trip { from: Point(0.0, 0.0), stops: Vec::new() }.from;
}
