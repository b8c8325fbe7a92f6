//! Signatures of JSON Web Tokens (RFC 7515, RFC 7518) and the public keys that verify them (RFC 7517).

use data_encoding::BASE64URL_NOPAD;
use ring::signature::{
    self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};
use serde::Deserialize;
use serde_json::Value;

/// A token in the compact form, not yet verified.
pub(super) struct SignedJwt<'a> {
    header: JwtHeader,
    /// The signed header and claims.
    signed: &'a [u8],
    claims: Vec<u8>,
    signature: Vec<u8>,
}

#[derive(Deserialize)]
struct JwtHeader {
    alg: String,
    kid: Option<String>,
    /// Extensions that the reader must understand.
    crit: Option<Value>,
}

impl<'a> SignedJwt<'a> {
    pub(super) fn parse(token: &'a str) -> Option<Self> {
        let decode = |part: &str| BASE64URL_NOPAD.decode(part.as_bytes()).ok();
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let header: JwtHeader = serde_json::from_slice(&decode(header)?).ok()?;
        if header.crit.is_some() {
            return None;
        }
        Some(Self {
            header,
            signed: signed.as_bytes(),
            claims: decode(claims)?,
            signature: decode(signature)?,
        })
    }

    /// Returns the claims, which are true only if a key verifies the token.
    pub(super) fn claims(&self) -> Option<Value> {
        serde_json::from_slice(&self.claims).ok()
    }
}

/// The algorithms for asymmetric keys: neither `none` nor shared secrets.
enum JwtAlgorithm {
    Rsa(&'static RsaParameters),
    Curve(&'static str, &'static dyn VerificationAlgorithm),
}

fn algorithm(name: &str) -> Option<JwtAlgorithm> {
    use JwtAlgorithm::{Curve, Rsa};
    Some(match name {
        "RS256" => Rsa(&signature::RSA_PKCS1_2048_8192_SHA256),
        "RS384" => Rsa(&signature::RSA_PKCS1_2048_8192_SHA384),
        "RS512" => Rsa(&signature::RSA_PKCS1_2048_8192_SHA512),
        "PS256" => Rsa(&signature::RSA_PSS_2048_8192_SHA256),
        "PS384" => Rsa(&signature::RSA_PSS_2048_8192_SHA384),
        "PS512" => Rsa(&signature::RSA_PSS_2048_8192_SHA512),
        "ES256" => Curve("P-256", &signature::ECDSA_P256_SHA256_FIXED),
        "ES384" => Curve("P-384", &signature::ECDSA_P384_SHA384_FIXED),
        "EdDSA" => Curve("Ed25519", &signature::ED25519),
        _ => return None,
    })
}

/// A public key of an issuer. The type of the key follows from its parts.
#[derive(Deserialize)]
pub(super) struct JwtKey {
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

fn decoded(part: Option<&str>) -> Option<Vec<u8>> {
    BASE64URL_NOPAD.decode(part?.as_bytes()).ok()
}

impl JwtKey {
    /// Reads a key; `None` if it is not for signatures.
    pub(super) fn parse(key: &Value) -> Option<Self> {
        let key = Self::deserialize(key).ok()?;
        let is_usable = key.usage.as_ref().is_none_or(|usage| usage == "sig");
        if is_usable { Some(key) } else { None }
    }

    /// Returns whether the token may name this key.
    pub(super) fn may_sign(&self, jwt: &SignedJwt<'_>) -> bool {
        let is_named = jwt.header.kid.is_none() || jwt.header.kid == self.kid;
        is_named && self.alg.as_ref().is_none_or(|alg| *alg == jwt.header.alg)
    }

    pub(super) fn verifies(&self, jwt: &SignedJwt<'_>) -> bool {
        self.may_sign(jwt) && self.verified(jwt).is_some()
    }

    fn verified(&self, jwt: &SignedJwt<'_>) -> Option<()> {
        let verified = match algorithm(&jwt.header.alg)? {
            JwtAlgorithm::Rsa(parameters) => {
                let key =
                    RsaPublicKeyComponents { n: decoded(self.n.as_deref())?, e: decoded(self.e.as_deref())? };
                key.verify(parameters, jwt.signed, &jwt.signature)
            }
            JwtAlgorithm::Curve(curve, algorithm) => {
                let mut point = decoded(self.x.as_deref())?;
                if let Some(y) = decoded(self.y.as_deref()) {
                    // The form of a point with both coordinates.
                    point.insert(0, 4);
                    point.extend(y);
                }
                if self.crv.as_deref() != Some(curve) {
                    return None;
                }
                UnparsedPublicKey::new(algorithm, point).verify(jwt.signed, &jwt.signature)
            }
        };
        verified.ok()
    }
}
