//! The choice among the ways to authenticate, and the credentials of a request.

use super::client_credentials::AccessTokens;
use super::{Credential, Credentials};
use crate::client::operation::SecurityRequirement;
use crate::client::request::Escape;
use crate::client::request::append_query;
use bytes::Bytes;
use data_encoding::BASE64;
use http::Request;
use http::header::{AUTHORIZATION, COOKIE, HeaderMap, HeaderValue};
use serde_json::Value;
use std::sync::Arc;
use toolkit_core::ToolError;
use toolkit_core::redaction::Redactor;
use toolkit_http::client::{HttpClient, header};

#[derive(Debug, PartialEq)]
enum Placement {
    Header { name: String, prefix: String },
    Query(String),
    Cookie(String),
}

/// Returns the place of a scheme's secret; `None` for a scheme such as `mutualTLS`.
fn placement(scheme: &Value) -> Option<Placement> {
    let text = |member: &str| scheme.get(member).and_then(Value::as_str);
    let authorization =
        |prefix: String| Some(Placement::Header { name: AUTHORIZATION.as_str().to_owned(), prefix });
    match text("type")? {
        "apiKey" => {
            let name = text("name")?.to_owned();
            match text("in")? {
                "header" => Some(Placement::Header { name, prefix: String::new() }),
                "query" => Some(Placement::Query(name)),
                "cookie" => Some(Placement::Cookie(name)),
                _ => None,
            }
        }
        "http" => authorization(match text("scheme")? {
            bearer if bearer.eq_ignore_ascii_case("bearer") => "Bearer ".to_owned(),
            basic if basic.eq_ignore_ascii_case("basic") => "Basic ".to_owned(),
            other => format!("{other} "),
        }),
        "basic" => authorization("Basic ".to_owned()),
        "oauth2" | "openIdConnect" => authorization("Bearer ".to_owned()),
        _ => None,
    }
}

const EMPTY: &str = "the secret is empty";

/// Returns why a credential does not fit a scheme, without its secret. Without a scheme, only an empty secret
/// is a reason.
pub(super) fn unfit(credential: &Credential, scheme: Option<&Value>) -> Option<&'static str> {
    if matches!(credential, Credential::Secret(secret) if secret.trim().is_empty()) {
        return Some(EMPTY);
    }
    let scheme = scheme.filter(|scheme| placement(scheme).is_some())?;
    let text = |member: &str| scheme.get(member).and_then(Value::as_str).unwrap_or_default();
    let is_basic = match text("type") {
        "basic" => true,
        "http" => text("scheme").eq_ignore_ascii_case("basic"),
        _ => false,
    };
    match credential {
        Credential::Secret(_) if is_basic => Some("it is a user name and a password; use `with_basic`"),
        Credential::Basic { .. } if text("type") == "apiKey" => Some("it is an API key; use `with_secret`"),
        Credential::Basic { .. } if !is_basic => Some("it is a token; use `with_secret`"),
        _ => None,
    }
}

fn token_url(scheme: &Value) -> Option<&str> {
    let flow = match scheme.get("flows") {
        Some(flows) => flows.get("clientCredentials")?,
        // Swagger 2.0 has one flow for each scheme.
        None => scheme,
    };
    flow.get("tokenUrl")?.as_str()
}

#[derive(Default)]
pub(crate) struct Authorization {
    /// The secrets, to remove from answers.
    pub(crate) redactor: Redactor,
    /// The access tokens of earlier requests: a service may have withdrawn them.
    reused: Vec<(Arc<AccessTokens>, String)>,
}

impl Authorization {
    /// Drops refused access tokens. Returns whether another try would have new ones.
    pub(crate) async fn renew(&mut self) -> bool {
        let had_any = !self.reused.is_empty();
        for (tokens, token) in self.reused.drain(..) {
            tokens.forget(&token).await;
        }
        had_any
    }
}

/// Adds the credentials of the first complete way to authenticate. Without one, the request goes unchanged if
/// the document allows that, or the program has set headers.
///
/// # Errors
/// No way is complete, or a token cannot be fetched. The error shows no secret.
pub(crate) async fn authorize<'a>(
    request: &mut Request<Bytes>,
    ways: &'a [Vec<SecurityRequirement>],
    scheme: impl Fn(&str) -> Option<&'a Value>,
    credentials: &Credentials,
    token_client: impl Fn(&str) -> HttpClient,
) -> Result<Authorization, ToolError> {
    let mut authorization = Authorization::default();
    for (name, value) in &credentials.headers {
        let (name, value) = header(name, value).map_err(|error| unusable(name, &error.to_string()))?;
        authorization.redactor.add(value.to_str().unwrap_or_default());
        request.headers_mut().insert(name, value);
    }
    let Some(way) = complete_way(ways, &scheme, credentials) else {
        let has_header = !credentials.headers.is_empty() || request.headers().contains_key(AUTHORIZATION);
        return if has_header || is_open(ways) { Ok(authorization) } else { Err(missing(ways)) };
    };
    for requirement in way {
        let name = &requirement.scheme;
        let (Some(credential), Some(scheme)) = (credentials.schemes.get(name), scheme(name)) else {
            continue;
        };
        if let Some(reason) = unfit(credential, Some(scheme)) {
            return Err(unusable(name, reason));
        }
        let secret = secret(credential, requirement, scheme, &token_client, &mut authorization).await?;
        if secret.is_empty() {
            return Err(unusable(name, EMPTY));
        }
        authorization.redactor.add(&secret);
        if let Some(placement) = placement(scheme) {
            place(request, placement, &secret).map_err(|reason| unusable(name, reason))?;
        }
    }
    Ok(authorization)
}

/// Returns the first way for which the program has all credentials.
fn complete_way<'a>(
    ways: &'a [Vec<SecurityRequirement>],
    scheme: &impl Fn(&str) -> Option<&'a Value>,
    credentials: &Credentials,
) -> Option<&'a Vec<SecurityRequirement>> {
    for way in ways {
        let mut is_complete = !way.is_empty();
        for SecurityRequirement { scheme: name, .. } in way {
            is_complete = is_complete
                && credentials.schemes.contains_key(name)
                && scheme(name).and_then(placement).is_some();
        }
        if is_complete {
            return Some(way);
        }
    }
    None
}

pub(crate) fn is_open(ways: &[Vec<SecurityRequirement>]) -> bool {
    ways.is_empty() || ways.iter().any(Vec::is_empty)
}

async fn secret(
    credential: &Credential,
    requirement: &SecurityRequirement,
    scheme: &Value,
    token_client: &impl Fn(&str) -> HttpClient,
    authorization: &mut Authorization,
) -> Result<String, ToolError> {
    match credential {
        Credential::Secret(secret) => Ok(secret.trim().to_owned()),
        Credential::Basic { user, password } => {
            authorization.redactor.add(password);
            Ok(BASE64.encode(format!("{user}:{password}").as_bytes()))
        }
        Credential::Source(source) => match source.0(requirement.scopes.clone()).await {
            Ok(secret) => Ok(secret.trim().to_owned()),
            Err(error) => {
                Err(unusable(&requirement.scheme, "the program has none").with_details(error.to_string()))
            }
        },
        Credential::Client(tokens) => {
            let token = tokens
                .token(token_url(scheme), &requirement.scopes, token_client)
                .await
                .map_err(|reason| unusable(&requirement.scheme, &reason))?;
            if token.is_reused {
                authorization.reused.push((tokens.clone(), token.value.clone()));
            }
            Ok(token.value)
        }
    }
}

fn place(request: &mut Request<Bytes>, placement: Placement, secret: &str) -> Result<(), &'static str> {
    let illegal = "it has characters that a header cannot hold";
    match placement {
        Placement::Header { name, prefix } => {
            let (name, value) = header(&name, &format!("{prefix}{secret}")).map_err(|_| illegal)?;
            request.headers_mut().insert(name, value);
        }
        Placement::Query(name) => {
            let mut address = request.uri().to_string();
            let escape = Escape::Reserved;
            append_query(&mut address, &format!("{}={}", escape.apply(&name), escape.apply(secret)));
            *request.uri_mut() = address.parse().map_err(|_| "it is too long")?;
        }
        Placement::Cookie(name) => add_cookie(request.headers_mut(), &name, secret).ok_or(illegal)?,
    }
    Ok(())
}

fn add_cookie(headers: &mut HeaderMap, name: &str, secret: &str) -> Option<()> {
    let cookie = format!("{name}={}", Escape::Reserved.apply(secret));
    let cookies = match headers.get(COOKIE) {
        Some(others) => format!("{}; {cookie}", others.to_str().ok()?),
        None => cookie,
    };
    let mut value = HeaderValue::from_str(&cookies).ok()?;
    value.set_sensitive(true);
    headers.insert(COOKIE, value);
    Some(())
}

fn missing(ways: &[Vec<SecurityRequirement>]) -> ToolError {
    let mut alternatives: Vec<String> = Vec::with_capacity(ways.len());
    for way in ways {
        let names: Vec<String> = way.iter().map(|requirement| format!("`{}`", requirement.scheme)).collect();
        alternatives.push(names.join(" and "));
    }
    ToolError::failed(format_args!(
        "the service needs authentication with {}, for which the program has no credentials; another call of this \
         tool will fail as well",
        alternatives.join(" or with ")
    ))
}

fn unusable(scheme: &str, reason: &str) -> ToolError {
    ToolError::failed(format_args!(
        "the credentials for `{scheme}` cannot be used: {reason}; the program must correct them"
    ))
}
