//! The limits for clients that hold connections and memory, and the number of connections of each address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The default for addresses of other machines.
const MAX_CONNECTIONS_PER_ADDRESS: usize = 256;

/// The limits for clients that hold connections and memory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerLimits {
    /// The time in which a client must take a further part of a waiting response before the connection is
    /// closed; the [read timeout](super::HttpGuards::read_timeout) by default.
    pub write_timeout: Option<Duration>,
    /// The maximum number of open connections of one address; further ones are closed at once.
    ///
    /// By default, 256 for addresses of other machines, and no limit for this machine, where a proxy may
    /// connect for many clients.
    ///
    /// An address of IPv6 stands for its network of 64 bits, which one client has as a whole.
    pub max_connections_per_address: Option<usize>,
    /// The maximum size in bytes of all bodies that are still arriving, 64 MiB by default.
    ///
    /// Beyond it, the one that has begun first is refused. Requests with a checked token do not count.
    pub max_unauthenticated: usize,
}

impl Default for PeerLimits {
    fn default() -> Self {
        Self { write_timeout: None, max_connections_per_address: None, max_unauthenticated: 64 << 20 }
    }
}

#[derive(Clone, Default)]
pub(super) struct ConnectionCounts(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// An open connection, counted until it is dropped.
pub(super) struct CountedConnection {
    counts: ConnectionCounts,
    network: IpAddr,
}

impl ConnectionCounts {
    /// Counts a connection; `None` if its address has too many.
    pub(super) fn admit(&self, address: IpAddr, limits: &PeerLimits) -> Option<CountedConnection> {
        let address = address.to_canonical();
        let default = if address.is_loopback() { usize::MAX } else { MAX_CONNECTIONS_PER_ADDRESS };
        let network = network(address);
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(network).or_default();
        if *count >= limits.max_connections_per_address.unwrap_or(default).max(1) {
            return None;
        }
        *count += 1;
        Some(CountedConnection { counts: self.clone(), network })
    }
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        let mut counts = self.counts.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.network) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.network);
            }
        }
    }
}

/// Returns what stands for the addresses of one client.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At most 1,000.
    fn admitted(counts: &ConnectionCounts, address: &str, limits: &PeerLimits) -> Vec<CountedConnection> {
        let address = address.parse().expect("an address");
        (0..1_000).map_while(|_| counts.admit(address, limits)).collect()
    }

    #[test]
    fn an_address_has_its_own_connections() {
        let counts = ConnectionCounts::default();
        let none = PeerLimits::default();
        let three = PeerLimits { max_connections_per_address: Some(3), ..PeerLimits::default() };
        let mut open = Vec::new();
        for (address, limits, expected) in [
            ("192.0.2.1", &none, 256),
            ("192.0.2.1", &three, 0),
            ("::ffff:192.0.2.1", &none, 0),
            ("192.0.2.2", &three, 3),
            ("127.0.0.1", &none, 1_000),
            ("127.0.0.2", &three, 3),
            ("::1", &none, 1_000),
            ("2001:db8::1", &none, 256),
            ("2001:db8::2:3:4:5", &none, 0),
            ("2001:db8:0:1::1", &none, 256),
        ] {
            let admitted = admitted(&counts, address, limits);
            assert_eq!(admitted.len(), expected, "{address}");
            open.extend(admitted);
        }
        drop(open);
        assert!(counts.0.lock().expect("no panic").is_empty());
        assert_eq!(admitted(&counts, "192.0.2.1", &none).len(), 256);
    }
}
