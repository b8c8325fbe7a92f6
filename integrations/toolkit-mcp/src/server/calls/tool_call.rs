//! One call of a tool: from the request to the response.

use super::client_call::{self, CallEnd, CallSession, ClientCall};
use crate::server::caller::is_stateless;
use crate::server::protocol::{RawArguments, failure, is_wrapped, success};
#[cfg(feature = "server-http")]
use crate::server::request_body::RequestBody;
use crate::server::server_settings::ServerSettings;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, ContentBlock, ErrorData, Extensions, Resource};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use toolkit_core::{CallId, ErrorKind};

pub(crate) async fn run(
    session: CallSession<'_>,
    mut request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let settings = session.settings;
    let names = settings.names(&settings.dispatcher.registry());
    let call = ClientCall {
        id: settings.next_call_id(),
        name: names.unspell(&request.name),
        arguments: RawArguments::text(raw_arguments(&context.extensions), request.arguments.take()),
        input_responses: request.input_responses,
        request_state: request.request_state,
    };
    let stored = Links { settings, call: call.id.clone() };
    let wraps_outputs = !is_stateless(&context);
    let (result, tool) = match client_call::run(session, &settings.dispatcher, call, context).await? {
        CallEnd::Answered(result, tool) => (result, tool),
        CallEnd::NotFound => {
            let message = format!("Tool `{}` not found", request.name);
            return Err(ErrorData::invalid_params(message, None));
        }
        CallEnd::Refused(error) => return Ok(failure(&error).into()),
        CallEnd::Suspended(question) => return Ok(question.into()),
    };
    let links = stored.take();
    let schema = tool.as_ref().and_then(|tool| tool.definition().output_schema());
    let outcome = match result.outcome {
        Ok(output) => success(output, &result.name, schema, || full_json(settings, &links)),
        Err(error) => Err(error),
    };
    let mut result = match outcome {
        Ok(mut result) => {
            if wraps_outputs && schema.is_some_and(is_wrapped) {
                result.structured_content = result.structured_content.map(|value| json!({ "result": value }));
            }
            result
        }
        Err(error) if tool.is_none() && error.kind() == ErrorKind::NotFound => {
            return Err(ErrorData::invalid_params(error.message().to_owned(), None));
        }
        Err(error) => failure(&error),
    };
    result.content.extend(links.into_iter().map(ContentBlock::resource_link));
    Ok(result.into())
}

/// Returns the arguments as the client wrote them, if its transport has kept them.
fn raw_arguments(extensions: &Extensions) -> Option<&RawArguments> {
    if let Some(raw) = extensions.get() {
        return Some(raw);
    }
    #[cfg(feature = "server-http")]
    {
        RequestBody::arguments(extensions)
    }
    #[cfg(not(feature = "server-http"))]
    {
        None
    }
}

/// The links to the full texts of one call. Dropping them removes them from the store, even if the call was
/// cancelled.
struct Links<'a> {
    settings: &'a ServerSettings,
    call: CallId,
}

impl Links<'_> {
    fn take(&self) -> Vec<Resource> {
        let outputs = self.settings.outputs.as_ref();
        outputs.map(|outputs| outputs.take_links(&self.call)).unwrap_or_default()
    }
}

impl Drop for Links<'_> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// Returns the full JSON of a truncated result, parsed from the first full text.
fn full_json(settings: &ServerSettings, links: &[Resource]) -> Option<Value> {
    let text = settings.outputs.as_ref()?.json(&links.first()?.uri)?;
    serde_json::from_str(&text).ok()
}
