use toolkit::tool;

struct Db;

#[tool]
fn search(#[State] db: &Db, query: &str) {
    let (Db, _) = (db, query);
}

fn main() {}
