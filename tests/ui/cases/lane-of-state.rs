use toolkit_ai::tool;

struct Db;

#[tool(lane = "db")]
fn search(#[state] db: &Db, query: &str) {
    let Db = db;
    let _ = query;
}

fn main() {}
