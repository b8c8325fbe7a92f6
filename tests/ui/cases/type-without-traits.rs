use toolkit_ai::tool;

struct Connection;

#[tool]
fn query(connection: Connection, sql: String) -> String {
    let Connection = connection;
    sql
}

fn main() {}
