//! Access tokens and scopes.

#[cfg(feature = "jwt")]
mod jwt_signature;
#[cfg(feature = "jwt")]
mod jwt_verifier;
#[cfg(feature = "server-http")]
mod protected_resource;
mod scopes;

#[cfg(feature = "jwt")]
pub use jwt_verifier::JwtVerifier;
#[cfg(feature = "server-http")]
pub(super) use protected_resource::WELL_KNOWN;
#[cfg(feature = "server-http")]
pub use protected_resource::{ProtectedResource, VerifiedToken};
pub(super) use scopes::is_granted;
#[cfg(feature = "server-http")]
pub(super) use scopes::scopes_of;
