//! The settings of a toolset for requests and answers.

use super::builder::OpenApiToolsBuilder;
use crate::client::security::Credentials;
use toolkit_http::client::HttpLimits;

impl OpenApiToolsBuilder {
    /// Sets the service's URL, instead of the document's servers.
    ///
    /// It may be on this machine or in a private network.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.requests.base_url = Some(url.into());
        self
    }

    /// Sets the credentials for all calls, except those of runs with [their
    /// own](crate::client::CallerCredentials).
    ///
    /// An unknown scheme is an issue.
    pub fn credentials(mut self, credentials: Credentials) -> Self {
        self.requests.credentials = credentials;
        self
    }

    /// Sets a header of every request, such as the version of the API.
    ///
    /// It replaces what an argument would send.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.requests.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the limits of time and size, beside the time limit of a call.
    ///
    /// By default, an answer may take 60 s and have 8 MiB.
    pub fn limits(mut self, limits: HttpLimits) -> Self {
        self.requests.limits = limits;
        self
    }

    /// Keeps only these fields of an operation's JSON answers, such as `owner.login`.
    ///
    /// In a list, they are fields of its items. An unknown id is an issue. If an answer has none of them, the
    /// model is told so.
    ///
    /// ```
    /// use toolkit_ai::openapi::client::OpenApiTools;
    ///
    /// let builder = OpenApiTools::builder()
    ///     .answer_fields("listRepositories", ["full_name", "owner.login"])
    ///     .list_limit(20);
    /// ```
    pub fn answer_fields<T: Into<String>>(
        mut self,
        operation: impl Into<String>,
        fields: impl IntoIterator<Item = T>,
    ) -> Self {
        let fields = fields.into_iter().map(Into::into).collect();
        let operation = operation.into();
        self.reader.choice.operations.push(operation.clone());
        self.requests.answers.fields.insert(operation, fields);
        self
    }

    /// Cuts lists in JSON answers after this number of items.
    ///
    /// The model is told their length, and how to get more.
    pub fn list_limit(mut self, items: usize) -> Self {
        self.requests.answers.list_limit = items;
        self
    }
}
