//! What a request says of its client.

pub mod client;
pub mod languages;

/// The name of an authority.
pub fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => authority,
    }
}
