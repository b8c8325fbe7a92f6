//! Faulty settings of a server over HTTP: texts that no request can have, and addresses that cannot be bound.

use crate::mcp_error::{McpError, McpErrorKind};
use crate::server::server_settings::HttpSettings;
use http::uri::Authority;
use http::{HeaderValue, Uri};
use std::io;
use std::net::{Ipv6Addr, SocketAddr};
use tokio::net::{TcpListener, ToSocketAddrs, lookup_host};
use toolkit_http::server::HttpGuards;

impl HttpSettings {
    pub(super) fn set_fault(&mut self, method: &'static str, fault: Option<String>) {
        match fault {
            Some(fault) => self.faults.insert(method, fault),
            None => self.faults.remove(method),
        };
    }

    /// Checks that requests can have what the settings demand.
    pub(super) fn check(&self) -> Result<(), McpError> {
        if self.faults.is_empty() {
            return Ok(());
        }
        let faults: Vec<String> =
            self.faults.iter().map(|(method, fault)| format!("`{method}`: {fault}")).collect();
        Err(McpError::new(McpErrorKind::Config, faults.join("; ")))
    }
}

/// Returns what is wrong with the token, without the token.
pub(super) fn token_fault(token: &str) -> Option<String> {
    let token = token.trim();
    let fault = if token.is_empty() {
        "the bearer token is empty, so every request would be refused; set the token"
    } else if token.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer ")) {
        "give the token without `Bearer `"
    } else if HeaderValue::from_str(token).is_err() {
        "the bearer token has a line break or another character that no header can have"
    } else {
        return None;
    };
    Some(fault.to_owned())
}

pub(super) fn host_fault(host: &str) -> Option<String> {
    let host = host.trim();
    if let Some((scheme, rest)) = host.split_once("://") {
        let name = rest.split('/').next().unwrap_or_default();
        return Some(format!("write the host `{name}` without `{scheme}://`"));
    }
    if host.contains('*') {
        return Some(format!("`{host}` is no host; name each host, such as `tools.example.com`"));
    }
    if host.parse::<Authority>().is_ok() || host.parse::<Ipv6Addr>().is_ok() {
        return None;
    }
    Some(format!("`{host}` is no host; write it as `tools.example.com`"))
}

pub(super) fn origin_fault(origin: &str) -> Option<String> {
    let origin = origin.trim();
    let uri: Option<Uri> = origin.strip_suffix(":*").unwrap_or(origin).parse().ok();
    let is_site = uri.is_some_and(|uri| uri.scheme().is_some() && uri.authority().is_some());
    if is_site || origin.eq_ignore_ascii_case("null") {
        return None;
    }
    Some(format!("`{origin}` is no origin; write it as `https://app.example.com`"))
}

/// Binds an address. Errors name it, as far as it can be read.
pub(super) async fn bind(
    guards: &HttpGuards,
    address: impl ToSocketAddrs,
) -> Result<(TcpListener, SocketAddr), McpError> {
    let addresses: Vec<SocketAddr> = match lookup_host(address).await {
        Ok(addresses) => addresses.collect(),
        Err(error) => {
            let cure = "write a host and a port without `http://`, such as `127.0.0.1:8000`";
            return Err(McpError::new(
                McpErrorKind::Bind,
                format!("the address of the server cannot be read: {error}; {cure}"),
            ));
        }
    };
    let bound = match guards.bind(&addresses[..]).await {
        Ok(listener) => listener.local_addr().map(|address| (listener, address)),
        Err(error) => Err(error),
    };
    let error = match bound {
        Ok(bound) => return Ok(bound),
        Err(error) => error,
    };
    let text = match (error.kind(), &addresses[..]) {
        // The guards name the address themselves.
        (io::ErrorKind::InvalidInput, _) | (_, []) => error.to_string(),
        (io::ErrorKind::AddrInUse, [address, ..]) => {
            format!("`{address}` is in use by another program ({error}); stop it, or take another port")
        }
        (_, [address, ..]) => format!("`{address}` cannot be bound: {error}"),
    };
    Err(McpError::new(McpErrorKind::Bind, text))
}
