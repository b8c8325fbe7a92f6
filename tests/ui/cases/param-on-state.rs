use toolkit_ai::tool;

struct Db;

#[tool]
fn search(query: String, #[state] #[param(description = "The database.")] db: &Db) -> String {
    let Db = db;
    query
}

fn main() {}
