use toolkit_ai::tool;

struct Place {
    city: String,
}

#[tool]
async fn count(places: Vec<Place>, home: Option<Place>, other: Place, more: &[Place], also: u8) -> usize {
    places.len() + home.iter().count() + other.city.len() + more.len() + usize::from(also)
}

fn main() {}
