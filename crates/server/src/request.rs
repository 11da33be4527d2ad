//! What a request says about its client: address and preferred languages.

pub mod client;
pub mod languages;

/// Returns the host name of an authority such as `example.org:8080`.
pub fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => authority,
    }
}
