use std::sync::Arc;
use toolkit_ai::tool;

struct Db;

#[tool]
fn search(query: String, db: &Db) -> String {
    let Db = db;
    query
}

#[tool]
async fn count(db: Arc<Db>, table: &str) -> usize {
    let Db = &*db;
    table.len()
}

fn main() {}
