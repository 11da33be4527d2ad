//! The receivers of changes, and the settings of requests to them.

use node::settings::{Settings, WebhookSettings};

/// The receivers of changes, and the settings of requests to them.
pub struct WebhookReceivers {
    /// The receivers.
    pub hooks: Vec<WebhookSettings>,
    /// The settings, of which proxy and certificates are used.
    pub settings: Settings,
}

impl WebhookReceivers {
    /// Returns the receivers that the settings name.
    pub fn of(settings: &Settings) -> Self {
        Self {
            hooks: settings.webhook.clone(),
            settings: settings.clone(),
        }
    }
}
