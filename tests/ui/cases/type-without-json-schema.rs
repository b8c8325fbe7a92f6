use toolkit_ai::tool;

#[derive(serde::Deserialize)]
struct Filter {
    name: String,
}

#[tool]
fn find(filters: Vec<Filter>) -> usize {
    filters.iter().map(|filter| filter.name.len()).sum()
}

fn main() {}
