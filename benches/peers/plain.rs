// The least for calls by name, with values from the command line.

struct Input(std::env::Args);

impl Input {
    fn text(&mut self) -> String {
        self.0.next().unwrap_or_default()
    }
    fn i64(&mut self) -> i64 {
        self.text().parse().unwrap_or_default()
    }
    fn u32(&mut self) -> u32 {
        self.text().parse().unwrap_or_default()
    }
    fn f64(&mut self) -> f64 {
        self.text().parse().unwrap_or_default()
    }
    fn bool(&mut self) -> bool {
        self.text() == "true"
    }
    fn optional_u32(&mut self) -> Option<u32> {
        self.text().parse().ok()
    }
    fn optional_text(&mut self) -> Option<String> {
        self.0.next()
    }
    fn texts(&mut self) -> Vec<String> {
        vec![self.text()]
    }
}

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut input = Input(std::env::args());
    input.text();
    let name = input.text();
    println!("{}", runtime.block_on(call(&name, &mut input)));
}

async fn pause() {}
