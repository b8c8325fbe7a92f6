//! The builder methods of servers that set the limits of their guards.

/// Writes builder methods into the `impl` block of a server whose private method `guards` lends its
/// [`HttpGuards`](crate::server::HttpGuards): for all clients together, or for each `peer`.
#[doc(hidden)]
#[macro_export]
macro_rules! limit_setters {
    () => { $crate::limit_setters! { @
        /// Sets the maximum size of a request in bytes, 4 MiB by default.
        with_max_request_size(bytes: usize) => max_body = bytes;
        /// Sets the time for running calls after the server was told to stop, 10 seconds by default.
        with_grace(time: Duration) => grace = time;
        /// Sets the time for the headers of a request to arrive, and then for its body; 30 seconds by
        /// default.
        ///
        /// A bound server also closes connections that are unused for this time, or whose clients [do not
        /// read](Self::with_write_timeout).
        with_read_timeout(time: Duration) => read_timeout = time;
        /// Sets the maximum number of open connections of a bound server, 1,024 by default. Further ones
        /// wait.
        with_max_connections(connections: usize) => max_connections = connections;
    } };
    (peer) => { $crate::limit_setters! { @
        /// Sets how long a client of a bound server may take nothing of a waiting response before the
        /// connection is closed; the [read timeout](Self::with_read_timeout) by default.
        with_write_timeout(time: Duration) => peers.write_timeout = Some(time);
        /// Sets the maximum number of open connections of one address to a bound server; further ones are
        /// closed at once.
        ///
        /// By default, 256 for other machines, and no limit for this one, where a proxy may connect for many
        /// clients. Another machine's proxy needs as many as all its clients.
        with_max_connections_per_address(connections: usize) => peers.max_connections_per_address = Some(connections);
        /// Sets the maximum size of all bodies that are still arriving, 64 MiB by default.
        ///
        /// Beyond it, the request that has begun first is refused with the status 408. Requests with a
        /// checked token do not count.
        with_max_unauthenticated_size(bytes: usize) => peers.max_unauthenticated = bytes;
    } };
    (@ $($(#[$doc:meta])* $method:ident($value:ident: $type:ty) => $($limit:ident).+ = $stored:expr;)*) => {
        $(
            $(#[$doc])*
            pub fn $method(mut self, $value: $type) -> Self {
                self.guards().$($limit).+ = $stored;
                self
            }
        )*
    };
}
