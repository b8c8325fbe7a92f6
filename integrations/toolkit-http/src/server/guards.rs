//! The checks of a request before a server acts on it.

use super::allowed::{Host, Origin, loopback_origins};
use super::arriving_bodies::ArrivingBodies;
use super::http_body::HttpBody;
use super::peer_limits::PeerLimits;
use super::refusal::Refusal;
use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, AUTHORIZATION,
    HOST, HeaderMap, HeaderValue, ORIGIN, VARY,
};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// The guards in front of a server.
///
/// By default, they accept requests to names and from pages of this machine, and require no token. `Debug`
/// does not show the token.
///
/// ```
/// use toolkit_http::server::HttpGuards;
///
/// let mut guards = HttpGuards::new("GET, POST", "");
/// guards.set_hosts(["tools.example.com"]);
/// guards.set_token("secret");
/// assert!(guards.has_token());
/// assert!(!format!("{guards:?}").contains("secret"));
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct HttpGuards {
    /// Without any, names of this machine are accepted.
    pub(super) hosts: Vec<Host>,
    origins: Vec<Origin>,
    token: Option<Arc<str>>,
    /// The methods of the server, and the response headers that pages may read.
    cors: [&'static str; 2],
    /// Whether addresses that other machines can reach need a token.
    pub requires_token: bool,
    /// The maximum size of a request's body in bytes, 4 MiB by default.
    pub max_body: usize,
    /// The time for the headers of a request to arrive, and then for its body; 30 seconds by default.
    ///
    /// Connections that are unused for this time are closed, also if their clients do not read
    /// ([`write_timeout`](PeerLimits::write_timeout)).
    pub read_timeout: Duration,
    /// The time for running requests after the server was told to stop, 10 seconds by default.
    pub grace: Duration,
    /// The maximum number of open connections, 1,024 by default. Further ones wait.
    pub max_connections: usize,
    /// The limits for clients that hold connections and memory.
    pub peers: PeerLimits,
    arriving: ArrivingBodies,
}

impl HttpGuards {
    /// Creates the guards of a server with methods such as `GET, POST`.
    ///
    /// Pages of accepted origins may read the response headers in `exposed_headers`.
    #[must_use]
    pub fn new(methods: &'static str, exposed_headers: &'static str) -> Self {
        Self {
            hosts: Vec::new(),
            origins: loopback_origins(),
            token: None,
            cors: [methods, exposed_headers],
            requires_token: false,
            max_body: 4 << 20,
            read_timeout: Duration::from_secs(30),
            grace: Duration::from_secs(10),
            max_connections: 1_024,
            peers: PeerLimits::default(),
            arriving: ArrivingBodies::default(),
        }
    }

    /// Sets the accepted values of the header `Host`, with or without a port.
    ///
    /// By default, and with an empty list, only names of this machine are accepted, against DNS rebinding.
    pub fn set_hosts<T: Into<String>>(&mut self, hosts: impl IntoIterator<Item = T>) {
        self.hosts = hosts.into_iter().map(|host| Host::accepted(&host.into())).collect();
    }

    /// Sets the accepted values of the header `Origin`, such as `https://app.example.com` or
    /// `http://localhost:*`.
    ///
    /// Requests without this header are always accepted. Pages of accepted origins may read the responses.
    pub fn set_origins<T: Into<String>>(&mut self, origins: impl IntoIterator<Item = T>) {
        self.origins = origins.into_iter().filter_map(|origin| Origin::accepted(&origin.into())).collect();
    }

    /// Requires the header `Authorization: Bearer …` with this token.
    ///
    /// White space around the token is ignored. An empty token refuses every request.
    pub fn set_token(&mut self, token: &str) {
        self.token = Some(token.trim().into());
    }

    /// Returns whether a token is required.
    #[must_use]
    pub fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Checks the host and the origin of a request, and has it answered. Also answers the preflight of a
    /// browser for accepted origins, and lets their pages read the response.
    ///
    /// # Errors
    /// The host or the origin is not accepted.
    pub async fn guard<F>(
        &self,
        request: Request<HttpBody>,
        answer: impl FnOnce(Parts, HttpBody) -> F,
    ) -> Result<Response<HttpBody>, Refusal>
    where
        F: Future<Output = Response<HttpBody>>,
    {
        let (parts, body) = request.into_parts();
        self.check_host(&parts)?;
        let Some(origin) = parts.headers.get(ORIGIN).cloned() else { return Ok(answer(parts, body).await) };
        self.check_origin(&origin)?;
        let mut response = if parts.method == Method::OPTIONS {
            self.preflight(&parts.headers)
        } else {
            answer(parts, body).await
        };
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(self.cors[1]));
        headers.append(VARY, HeaderValue::from_static("origin"));
        Ok(response)
    }

    /// Checks the token of a request.
    ///
    /// # Errors
    /// A token is required, and the request has none or another one.
    pub fn authorize(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let Some(token) = &self.token else { return Ok(()) };
        // Comparing digests takes a time that reveals nothing about the token.
        let digest = |token: &str| hmac_sha256::Hash::hash(token.as_bytes());
        if !token.is_empty() && bearer(headers).is_some_and(|given| digest(given) == digest(token)) {
            return Ok(());
        }
        Err(Refusal::new(StatusCode::UNAUTHORIZED, "a bearer token is required"))
    }

    /// Reads the body of a request within the limits of time and size.
    ///
    /// Unless a token is required, it [counts](PeerLimits::max_unauthenticated) as still arriving.
    ///
    /// # Errors
    /// The body is too large, does not arrive in time, or ends too early.
    pub async fn read_body(&self, body: HttpBody) -> Result<Bytes, Refusal> {
        if self.has_token() {
            return self.read_authenticated_body(body).await;
        }
        let arriving = self.arriving.begin();
        tokio::select! {
            read = self.read(body, |bytes| arriving.add(bytes, self.peers.max_unauthenticated)) => read,
            () = arriving.displaced() => Err(late()),
        }
    }

    /// Does the same as [`read_body`](Self::read_body) for a request whose token the server has checked
    /// itself.
    ///
    /// # Errors
    /// As for [`read_body`](Self::read_body).
    pub async fn read_authenticated_body(&self, body: HttpBody) -> Result<Bytes, Refusal> {
        self.read(body, |_| {}).await
    }

    async fn read(&self, body: HttpBody, arrived: impl Fn(usize)) -> Result<Bytes, Refusal> {
        let reading = async {
            let mut body = Limited::new(body, self.max_body);
            let mut bytes = Vec::new();
            while let Some(frame) = body.frame().await {
                let Ok(part) = frame?.into_data() else { continue };
                arrived(part.len());
                bytes.extend_from_slice(&part);
            }
            Ok::<_, Box<dyn Error + Send + Sync>>(bytes)
        };
        match timeout(self.read_timeout, reading).await {
            Ok(Ok(bytes)) => Ok(bytes.into()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "the request is too large"))
            }
            Ok(Err(_)) => {
                let message = "the request ended too early, or is not valid HTTP";
                Err(Refusal::new(StatusCode::BAD_REQUEST, message))
            }
            Err(_) => Err(late()),
        }
    }

    fn check_host(&self, parts: &Parts) -> Result<(), Refusal> {
        let bad = |message| Err(Refusal::new(StatusCode::BAD_REQUEST, message));
        let mut headers = parts.headers.get_all(HOST).iter();
        let host = match (headers.next(), headers.next()) {
            (Some(_), Some(_)) => return bad("the request has two `Host` headers"),
            (Some(host), None) => host.to_str().ok().and_then(Host::of_request),
            // A router may drop the header.
            (None, _) => parts.uri.authority().and_then(|authority| Host::of_request(authority.as_str())),
        };
        let Some(host) = host else { return bad("the request has no valid `Host` header") };
        let is_accepted = match &self.hosts[..] {
            [] => host.is_loopback(),
            hosts => hosts.iter().any(|accepted| accepted.accepts(&host)),
        };
        if is_accepted {
            return Ok(());
        }
        Err(Refusal::new(StatusCode::FORBIDDEN, "the host of the request is not allowed"))
    }

    fn check_origin(&self, origin: &HeaderValue) -> Result<(), Refusal> {
        if let Some(origin) = origin.to_str().ok().and_then(Origin::of_request)
            && self.origins.iter().any(|accepted| accepted.accepts(&origin))
        {
            return Ok(());
        }
        Err(Refusal::new(StatusCode::FORBIDDEN, "the origin of the request is not allowed"))
    }

    fn preflight(&self, headers: &HeaderMap) -> Response<HttpBody> {
        let mut response = Response::new(HttpBody::default());
        *response.status_mut() = StatusCode::NO_CONTENT;
        let allowed = response.headers_mut();
        allowed.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(self.cors[0]));
        allowed.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("7200"));
        if let Some(names) = headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
            allowed.insert(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
        }
        response
    }
}

impl fmt::Debug for HttpGuards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let guards = &mut f.debug_struct("HttpGuards");
        guards.field("hosts", &self.hosts).field("origins", &self.origins).finish_non_exhaustive()
    }
}

fn late() -> Refusal {
    Refusal::new(StatusCode::REQUEST_TIMEOUT, "the request did not arrive in time")
}

/// Returns the bearer token of a request.
#[must_use]
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    Some(token.trim())
}
