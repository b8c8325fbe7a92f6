//! Makes clients of its own beside those of the library.

fn main() {
    let config = rustls::ClientConfig::builder().with_root_certificates(rustls::RootCertStore::empty());
    drop(config.with_no_client_auth());
    drop(reqwest::Client::new());
    drop(toolkit_ai::llm_http::OpenAi::new().with_key("key").chat("gpt-5"));
    println!("each client was made");
}
