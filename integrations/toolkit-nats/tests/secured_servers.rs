//! Servers that require TLS or credentials, with and without them.

use crate::{add, call, registry, server};
use data_encoding::BASE64URL_NOPAD;
use nkeys::KeyPair;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use toolkit_nats::{Fleet, FleetBuilder, FleetErrorKind, FleetTools, Worker};

/// Starts a server, if there is one outside of CI.
async fn start(folder: &Path, configuration: &str) -> Option<(String, Child)> {
    tokio::task::spawn_blocking(server::address).await.unwrap()?;
    let file = folder.join("server.conf");
    fs::write(&file, configuration).unwrap();
    server::start(&["-c", file.to_str().unwrap()])
}

async fn add_over(builder: FleetBuilder) {
    let fleet = builder.connect().await.unwrap();
    let _worker = Worker::new(registry([add()])).unwrap().start(&fleet).await.unwrap();
    let tools = FleetTools::join(&fleet).await.unwrap();
    assert_eq!(call(&tools, "add", r#"{"a": 1, "b": 2}"#).await.to_text(), "3");
}

async fn refusal(builder: FleetBuilder) -> String {
    let error = builder.connect().await.unwrap_err();
    assert_eq!(error.kind(), FleetErrorKind::Connection, "{error}");
    error.to_string()
}

type Prove = Box<dyn Fn(FleetBuilder) -> FleetBuilder>;

#[tokio::test]
async fn each_kind_of_credentials_is_accepted_and_a_connection_without_them_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let user = KeyPair::new_user();
    let seed = user.seed().unwrap();
    let nkey = format!("authorization {{ users: [{{ nkey: {} }}] }}", user.public_key());
    let (operator, credentials) = credentials(folder.path());
    let kinds: [(&str, String, Prove); 4] = [
        (
            "password",
            "authorization { user: ada, password: secret }".to_owned(),
            Box::new(|fleet| fleet.user_and_password("ada", "secret")),
        ),
        ("token", "authorization { token: secret }".to_owned(), Box::new(|fleet| fleet.token("secret"))),
        ("nkey", nkey, Box::new(move |fleet| fleet.nkey(&seed))),
        ("file", operator, Box::new(move |fleet| fleet.credentials_file(&credentials))),
    ];
    for (kind, configuration, prove) in kinds {
        let Some((address, _server)) = start(folder.path(), &configuration).await else { return };
        add_over(prove(Fleet::builder(&address))).await;
        let reason = refusal(Fleet::builder(&address)).await;
        assert!(reason.contains("authorization violation"), "{kind}: {reason}");
        let wrong = Fleet::builder(&address).user_and_password("ada", "guessed");
        assert!(refusal(wrong).await.contains("authorization violation"), "{kind}");
    }
    let missing = Fleet::builder("nats://127.0.0.1:1").credentials_file(folder.path().join("none"));
    assert!(refusal(missing).await.contains("No such file"));
}

/// The guide's users: workers of two teams, and a caller.
const USERS: &str = r#"authorization { users: [
    { user: payments, password: secret, permissions: {
        publish: ["shop.live.payments", "shop.to.payments.*.tick"]
        subscribe: ["shop.to.payments.>", "shop.tools.>", "shop.who", "$SRV.>"]
        allow_responses: { max: 10000, expires: "1h" } } }
    { user: weather, password: secret, permissions: {
        publish: ["shop.live.weather", "shop.to.weather.*.tick"]
        subscribe: ["shop.to.weather.>", "shop.tools.>", "shop.who", "$SRV.>"]
        allow_responses: { max: 10000, expires: "1h" } } }
    { user: ada, password: secret, permissions: {
        publish: ["shop.to.*.*.ada.>", "shop.result.ada", "shop.tools.>", "shop.who"]
        subscribe: ["shop.live.*", "_INBOX_ada.>"] } }
] }"#;

#[tokio::test]
async fn what_the_permissions_of_the_server_do_not_allow_is_said_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let Some((address, _server)) = start(folder.path(), USERS).await else { return };
    let connect = async |user: &str, inbox: &str| {
        let fleet = Fleet::builder(&address).prefix("shop").user_and_password(user, "secret");
        fleet.inbox_prefix(inbox).connect().await.unwrap()
    };
    let worker = |name: &str| Worker::new(registry([add()])).unwrap().with_name(name);
    let _worker = worker("payments").start(&connect("payments", "_INBOX").await).await.unwrap();
    let ada = connect("ada", "_INBOX_ada").await;
    let join = async |fleet: &Fleet, name: &str| {
        FleetTools::builder(fleet).name(name).workers_named("payments").join().await
    };
    let tools = join(&ada, "ada").await.unwrap();
    assert_eq!(call(&tools, "add", r#"{"a": 1, "b": 2}"#).await.to_text(), "3");
    // A worker cannot speak for another team.
    let weather = connect("weather", "_INBOX").await;
    let refused = [
        (worker("payments").start(&weather).await.map(drop), "shop.to.payments."),
        (join(&ada, "eve").await.map(drop), ".eve.ask"),
        (join(&connect("ada", "_INBOX").await, "ada").await.map(drop), "_INBOX."),
    ];
    for (ended, subject) in refused {
        let error = ended.unwrap_err();
        assert_eq!(error.kind(), FleetErrorKind::Permission, "{error}");
        assert!(error.to_string().contains(subject), "{error}");
    }
    assert!(worker("weather").start(&weather).await.is_ok());
}

/// Returns a server's configuration with an operator, and a user's credentials file.
fn credentials(folder: &Path) -> (String, String) {
    let operator = KeyPair::new_operator();
    let account = KeyPair::new_account();
    let user = KeyPair::new_user();
    let operator_token = token(&operator, &operator, "operator", json!({}));
    let limits = json!({"subs": -1, "conn": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1,
        "wildcards": true, "leaf": -1});
    let account_token = token(&account, &operator, "account", json!({"limits": limits}));
    let user_token =
        token(&user, &account, "user", json!({"subs": -1, "data": -1, "payload": -1, "pub": {}, "sub": {}}));
    let file = folder.join("user.creds");
    let seed = user.seed().unwrap();
    let text = format!(
        "-----BEGIN NATS USER JWT-----\n{user_token}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
    );
    fs::write(&file, text).unwrap();
    let id = account.public_key();
    let configuration = format!(
        "operator: {operator_token}\nresolver: MEMORY\nresolver_preload: {{ {id}: {account_token} }}\n"
    );
    (configuration, file.display().to_string())
}

fn token(subject: &KeyPair, issuer: &KeyPair, kind: &str, mut nats: Value) -> String {
    nats["type"] = kind.into();
    nats["version"] = 2.into();
    let claims = json!({
        "jti": kind, "iat": 1_700_000_000, "iss": issuer.public_key(), "sub": subject.public_key(),
        "name": kind, "nats": nats,
    });
    let encode = |value: Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
    let text = format!("{}.{}", encode(json!({"typ": "JWT", "alg": "ed25519-nkey"})), encode(claims));
    let signature = issuer.sign(text.as_bytes()).unwrap();
    format!("{text}.{}", BASE64URL_NOPAD.encode(&signature))
}

const EXTENSIONS: &str = "
[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical, CA:TRUE
[end]
basicConstraints = CA:FALSE
subjectAltName = DNS:localhost, IP:127.0.0.1
";

/// Makes an authority and certificates of server and client with `openssl`.
fn certificates(folder: &Path) {
    fs::write(folder.join("extensions"), EXTENSIONS).unwrap();
    let make = |name: &str, more: &[&str]| {
        let mut command = Command::new("openssl");
        command.args(["req", "-x509", "-config", "extensions", "-days", "2", "-nodes"]);
        command.args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-subj"]);
        command.arg(format!("/CN={name}")).args([
            "-keyout",
            &format!("{name}.key"),
            "-out",
            &format!("{name}.pem"),
        ]);
        let made = command.args(more).current_dir(folder).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    };
    make("authority", &["-extensions", "authority"]);
    for name in ["server", "client"] {
        make(name, &["-extensions", "end", "-CA", "authority.pem", "-CAkey", "authority.key"]);
    }
}

#[tokio::test]
async fn a_server_with_tls_is_known_by_its_authority_and_knows_clients_by_their_certificates() {
    let folder = tempfile::tempdir().unwrap();
    certificates(folder.path());
    let file = |name: &str| folder.path().join(name).display().to_string();
    let tls = format!("tls {{ cert_file: {:?}, key_file: {:?}", file("server.pem"), file("server.key"));
    let known = |address: &str| Fleet::builder(address).root_certificates(file("authority.pem"));

    let Some((address, _server)) = start(folder.path(), &format!("{tls} }}")).await else { return };
    let port = address.rsplit(':').next().unwrap();
    let address = format!("tls://localhost:{port}");
    add_over(known(&address)).await;
    let stranger = refusal(Fleet::builder(&address)).await;
    assert!(stranger.contains("invalid peer certificate: UnknownIssuer"), "{stranger}");

    let configuration = format!("{tls}, ca_file: {:?}, verify: true }}", file("authority.pem"));
    let Some((address, _server)) = start(folder.path(), &configuration).await else { return };
    add_over(known(&address).client_certificate(file("client.pem"), file("client.key"))).await;
    refusal(known(&address)).await;

    // A program that requires TLS refuses a server without.
    let Some(plain) = server::address() else { return };
    let reason = refusal(Fleet::builder(plain).require_tls()).await;
    assert!(reason.ends_with("check that the server uses TLS"), "{reason}");
}
