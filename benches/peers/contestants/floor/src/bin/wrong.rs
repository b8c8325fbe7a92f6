//! The floor with a fault for the check: `add` subtracts.

use harness::Contestant;
use peer_floor::Floor;

struct Wrong(Floor);

impl Contestant for Wrong {
    type Output = String;

    fn new() -> Self {
        Self(Floor::new())
    }

    async fn call(&self, tool: &str, arguments: &str) -> Result<String, String> {
        let output = self.0.call(tool, arguments).await?;
        Ok(if output == "42" { "-8".to_owned() } else { output })
    }

    fn definitions(&self) -> String {
        self.0.definitions()
    }
}

fn main() -> std::process::ExitCode {
    harness::run::<Wrong>()
}
