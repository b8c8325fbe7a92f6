//! A client wherever tools are taken.

use super::McpClient;
use toolkit_core::registry::{IntoRegistrySource, RegistrySource};

/// The tools that the server has now, so that `.tools(client)` gives them to an agent. A live registry
/// [follows](McpClient::follow) their changes.
impl IntoRegistrySource for McpClient {
    fn into_registry_source(self) -> RegistrySource {
        RegistrySource::from_provider(self)
    }
}

impl IntoRegistrySource for &McpClient {
    fn into_registry_source(self) -> RegistrySource {
        RegistrySource::from_provider(self.clone())
    }
}
