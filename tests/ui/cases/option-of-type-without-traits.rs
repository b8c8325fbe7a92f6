use toolkit_ai::tool;

struct Connection;

#[tool]
fn query(connection: Option<Connection>) -> bool {
    connection.is_some()
}

fn main() {}
