//! JSON Web Tokens as access tokens, and their issuer.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use data_encoding::BASE64URL_NOPAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm,
    Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256, RSA_PKCS1_SHA512, RSA_PSS_SHA256, RsaEncoding, RsaKeyPair,
    RsaPublicKeyComponents,
};
use rustls_pki_types::PrivatePkcs8KeyDer;
use rustls_pki_types::pem::PemObject;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use toolkit_mcp::server::{JwtVerifier, VerifiedToken};

const AUDIENCE: &str = "https://tools.example.com/mcp";

fn encode(bytes: impl AsRef<[u8]>) -> String {
    BASE64URL_NOPAD.encode(bytes.as_ref())
}

type Sign = Box<dyn Fn(&[u8]) -> Vec<u8> + Send>;

struct Key {
    alg: &'static str,
    public: Value,
    sign: Sign,
}

impl Key {
    fn curve(alg: &'static str, crv: &str, signing: &'static EcdsaSigningAlgorithm) -> Self {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(signing, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(signing, document.as_ref(), &random).unwrap();
        let (x, y) = pair.public_key().as_ref()[1..].split_at(pair.public_key().as_ref().len() / 2);
        let public = json!({"kty": "EC", "crv": crv, "x": encode(x), "y": encode(y)});
        let sign = Box::new(move |text: &[u8]| pair.sign(&random, text).unwrap().as_ref().to_vec());
        Self { alg, public, sign }
    }

    fn edwards() -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let pair = Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap();
        let public = json!({"kty": "OKP", "crv": "Ed25519", "x": encode(pair.public_key())});
        Self { alg: "EdDSA", public, sign: Box::new(move |text| pair.sign(text).as_ref().to_vec()) }
    }

    fn rsa(alg: &'static str, encoding: &'static dyn RsaEncoding) -> Self {
        let key = PrivatePkcs8KeyDer::from_pem_slice(include_bytes!("../rsa_key.pem")).unwrap();
        let pair = RsaKeyPair::from_pkcs8(key.secret_pkcs8_der()).unwrap();
        let public = RsaPublicKeyComponents::<Vec<u8>>::from(pair.public());
        let public = json!({"kty": "RSA", "n": encode(public.n), "e": encode(public.e)});
        let sign = Box::new(move |text: &[u8]| {
            let mut signature = vec![0; pair.public().modulus_len()];
            pair.sign(encoding, &SystemRandom::new(), text, &mut signature).unwrap();
            signature
        });
        Self { alg, public, sign }
    }

    /// Returns the public form, named by its algorithm.
    fn published(&self) -> Value {
        let mut key = self.public.clone();
        key["kid"] = json!(self.alg);
        key["use"] = json!("sig");
        key
    }

    fn token(&self, claims: &Value) -> String {
        self.token_with(&json!({"alg": self.alg, "kid": self.alg, "typ": "at+jwt"}), claims)
    }

    fn token_with(&self, header: &Value, claims: &Value) -> String {
        let signed = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
        format!("{signed}.{}", encode((self.sign)(signed.as_bytes())))
    }
}

#[derive(Clone, Default)]
struct IssuerServer {
    url: String,
    keys: Arc<Mutex<Vec<Value>>>,
    reads: Arc<Mutex<usize>>,
}

impl IssuerServer {
    async fn serve(keys: Vec<Value>) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/tenant", listener.local_addr().unwrap());
        let issuer = Self { url, keys: Arc::new(Mutex::new(keys)), ..Self::default() };
        let router = axum::Router::new().fallback(answer).with_state(issuer.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        issuer
    }

    fn claims(&self) -> Value {
        json!({
            "iss": self.url, "sub": "ann", "aud": AUDIENCE, "scope": "notes:read", "exp": now() + 3_600,
        })
    }

    fn verifier(&self) -> JwtVerifier {
        JwtVerifier::new(&self.url, AUDIENCE).unwrap()
    }

    fn reads(&self) -> usize {
        *self.reads.lock().unwrap()
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

async fn answer(State(issuer): State<IssuerServer>, request: Request) -> Response {
    match request.uri().path() {
        "/tenant/.well-known/openid-configuration" => {
            json!({"issuer": issuer.url, "jwks_uri": format!("{}/keys", issuer.url)})
                .to_string()
                .into_response()
        }
        "/tenant/keys" => {
            *issuer.reads.lock().unwrap() += 1;
            json!({"keys": *issuer.keys.lock().unwrap()}).to_string().into_response()
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

#[tokio::test]
async fn tokens_of_every_algorithm_are_verified_with_the_published_keys() {
    let keys = [
        Key::curve("ES256", "P-256", &ECDSA_P256_SHA256_FIXED_SIGNING),
        Key::curve("ES384", "P-384", &ECDSA_P384_SHA384_FIXED_SIGNING),
        Key::edwards(),
        Key::rsa("RS256", &RSA_PKCS1_SHA256),
        Key::rsa("RS512", &RSA_PKCS1_SHA512),
        Key::rsa("PS256", &RSA_PSS_SHA256),
    ];
    let mut published: Vec<Value> = keys.iter().map(Key::published).collect();
    published.push(json!({"kty": "new", "kid": 1}));
    let issuer = IssuerServer::serve(published).await;
    let verifier = issuer.verifier();
    let expected = Some(VerifiedToken::from_claims(issuer.claims()));
    for key in &keys {
        assert_eq!(verifier.verify(key.token(&issuer.claims())).await, expected, "{}", key.alg);
        let unnamed = key.token_with(&json!({"alg": key.alg}), &issuer.claims());
        assert_eq!(verifier.verify(unnamed).await, expected, "{}", key.alg);
    }
    assert_eq!(issuer.reads(), 1);
}

#[tokio::test]
async fn a_token_that_is_forged_expired_or_made_for_another_server_is_refused() {
    let key = Key::curve("ES256", "P-256", &ECDSA_P256_SHA256_FIXED_SIGNING);
    let rsa = Key::rsa("RS256", &RSA_PKCS1_SHA256);
    let mut for_encryption = key.published();
    for_encryption["use"] = json!("enc");
    for_encryption["kid"] = json!("encryption");
    let issuer = IssuerServer::serve(vec![key.published(), rsa.published(), for_encryption]).await;
    let verifier = issuer.verifier();
    let with = |change: Value| {
        let mut claims = issuer.claims();
        claims.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        claims.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        claims
    };
    for (change, is_valid) in [
        (json!({}), true),
        (json!({"aud": ["https://other.example.com", AUDIENCE]}), true),
        (json!({"exp": now() - 10, "nbf": now() + 10}), true),
        (json!({"aud": "https://tools.example.com"}), false),
        (json!({"aud": ["https://tools.example.com/mcp/"]}), false),
        (json!({"aud": null}), false),
        (json!({"iss": "https://tools.example.com"}), false),
        (json!({"iss": null}), false),
        (json!({"exp": now() - 60}), false),
        (json!({"exp": null}), false),
        (json!({"exp": "never"}), false),
        (json!({"nbf": now() + 60}), false),
        (json!({"nbf": "yesterday"}), false),
    ] {
        let token = key.token(&with(change.clone()));
        assert_eq!(verifier.verify(token).await.is_some(), is_valid, "{change}");
    }
    let stranger = Key::curve("ES256", "P-256", &ECDSA_P256_SHA256_FIXED_SIGNING);
    let header = |alg: &str, kid: &str| json!({"alg": alg, "kid": kid});
    let valid = key.token(&issuer.claims());
    let (head, rest) = valid.split_once('.').unwrap();
    let signature = rest.split_once('.').unwrap().1;
    let other = encode(with(json!({"sub": "admin"})).to_string());
    // The public key as a shared secret.
    let signed =
        format!("{}.{}", encode(header("HS256", "RS256").to_string()), encode(issuer.claims().to_string()));
    let digest = hmac_sha256::HMAC::mac(signed.as_bytes(), rsa.public["n"].as_str().unwrap().as_bytes());
    for forged in [
        stranger.token(&issuer.claims()),
        key.token_with(&header("RS256", "RS256"), &issuer.claims()),
        key.token_with(&header("ES256", "encryption"), &issuer.claims()),
        key.token_with(&json!({"alg": "ES256", "kid": "ES256", "crit": ["b64"]}), &issuer.claims()),
        format!("{head}.{other}.{signature}"),
        format!("{}.{}.", encode(header("none", "ES256").to_string()), encode(issuer.claims().to_string())),
        format!("{signed}.{}", encode(digest)),
        format!("{head}.{signature}"),
        format!("{valid}.{signature}"),
        String::new(),
        "a.b.c".to_owned(),
    ] {
        assert_eq!(verifier.verify(forged.clone()).await, None, "{forged}");
    }
    assert_eq!(issuer.reads(), 1, "an unknown key is looked for at most every ten seconds");
}

#[tokio::test]
async fn new_keys_are_found_and_removed_keys_are_forgotten() {
    let old = Key::edwards();
    let new = Key::curve("ES256", "P-256", &ECDSA_P256_SHA256_FIXED_SIGNING);
    let issuer = IssuerServer::serve(vec![old.published()]).await;
    let verifier = issuer.verifier();
    assert!(verifier.verify(old.token(&issuer.claims())).await.is_some());
    *issuer.keys.lock().unwrap() = vec![new.published()];
    let later = async |time| {
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(time)).await;
        tokio::time::resume();
    };
    later(11).await;
    assert!(verifier.verify(old.token(&issuer.claims())).await.is_some(), "no reason to read keys");
    assert!(verifier.verify(new.token(&issuer.claims())).await.is_some());
    assert!(verifier.verify(old.token(&issuer.claims())).await.is_none());
    // The issuer publishes no key.
    issuer.keys.lock().unwrap().clear();
    later(3_601).await;
    assert!(verifier.verify(new.token(&issuer.claims())).await.is_none());
    assert_eq!(issuer.reads(), 3);
}

#[tokio::test]
async fn an_issuer_must_be_safe_and_name_itself() {
    for unsafe_issuer in ["http://login.example.com", "file:///keys", "login"] {
        let error = JwtVerifier::new(unsafe_issuer, AUDIENCE).unwrap_err();
        assert_eq!(error.to_string(), format!("the issuer `{unsafe_issuer}` is not a URL with `https`"));
    }
    let key = Key::edwards();
    let mut issuer = IssuerServer::serve(vec![key.published()]).await;
    issuer.url.push('/');
    assert_eq!(issuer.verifier().verify(key.token(&issuer.claims())).await, None);
}
