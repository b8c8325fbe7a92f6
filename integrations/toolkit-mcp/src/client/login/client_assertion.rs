//! Assertions that a program signs with its own key (`private_key_jwt`, RFC 7523).

use data_encoding::{BASE64URL_NOPAD, HEXLOWER};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use rustls_pki_types::PrivatePkcs8KeyDer;
use rustls_pki_types::pem::PemObject;
use serde_json::json;
use std::time::{SystemTime, UNIX_EPOCH};

/// The time in seconds.
const LIFETIME: u64 = 300;

pub(super) enum SigningKey {
    Es256(EcdsaKeyPair),
    Rs256(RsaKeyPair),
}

impl SigningKey {
    /// Reads a PKCS #8 key; `None` if it is neither for P-256 nor RSA.
    pub(super) fn from_pem(pem: &str) -> Option<Self> {
        let key = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes()).ok()?;
        let der = key.secret_pkcs8_der();
        let curve = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &SystemRandom::new());
        curve.map(Self::Es256).or_else(|_| RsaKeyPair::from_pkcs8(der).map(Self::Rs256)).ok()
    }

    /// Returns an assertion of `client` for the authorization server `issuer`; `None` if the system has no
    /// random numbers.
    pub(super) fn assertion(&self, client: &str, issuer: &str) -> Option<String> {
        let random = SystemRandom::new();
        let mut id = [0; 16];
        random.fill(&mut id).ok()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let alg = match self {
            Self::Es256(_) => "ES256",
            Self::Rs256(_) => "RS256",
        };
        let header = json!({"alg": alg, "typ": "client-authentication+jwt"});
        let claims = json!({
            "iss": client, "sub": client, "aud": issuer,
            "iat": now, "exp": now + LIFETIME, "jti": HEXLOWER.encode(&id),
        });
        let parts = [header, claims].map(|part| BASE64URL_NOPAD.encode(part.to_string().as_bytes()));
        let signed = parts.join(".");
        let signature = match self {
            Self::Es256(key) => key.sign(&random, signed.as_bytes()).ok()?.as_ref().to_vec(),
            Self::Rs256(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &random, signed.as_bytes(), &mut signature).ok()?;
                signature
            }
        };
        Some(format!("{signed}.{}", BASE64URL_NOPAD.encode(&signature)))
    }
}
