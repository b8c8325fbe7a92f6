use toolkit_ai::tool;

struct Db;

#[tool]
fn search(#[State] db: &Db, query: &str) {
    let Db = db;
    let _ = query;
}

fn main() {}
