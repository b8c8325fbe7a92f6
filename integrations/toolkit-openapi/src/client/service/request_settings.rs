//! The settings of requests.

use crate::client::answer::AnswerSettings;
use crate::client::security::Credentials;
use std::time::Duration;
use toolkit_http::client::HttpLimits;

#[derive(Debug)]
pub(crate) struct RequestSettings {
    pub(crate) base_url: Option<String>,
    pub(crate) credentials: Credentials,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) limits: HttpLimits,
    pub(crate) answers: AnswerSettings,
}

impl Default for RequestSettings {
    fn default() -> Self {
        let limits = HttpLimits::default().with_total(Duration::from_secs(60)).with_max_bytes(8 << 20);
        Self {
            base_url: None,
            credentials: Credentials::default(),
            headers: Vec::new(),
            limits,
            answers: AnswerSettings::default(),
        }
    }
}
