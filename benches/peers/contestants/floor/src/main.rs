fn main() -> std::process::ExitCode {
    harness::run::<peer_floor::Floor>()
}
