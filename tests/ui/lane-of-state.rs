use toolkit::tool;

struct Db;

#[tool(lane = "db")]
fn search(#[state] db: &Db, query: &str) {
    let (Db, _) = (db, query);
}

fn main() {}
