//! Resources and prompts of the official SDK's server.

use super::{event, registry, within};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams, Prompt, PromptArgument,
    PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, ResourceUpdatedNotificationParam, Role, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext, serve_server};
use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{duplex, split};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use toolkit_ai::Content;
use toolkit_mcp::McpErrorKind;
use toolkit_mcp::client::{McpBackoff, McpClient, McpEndpoint, McpEvent, McpProtocol};

/// Two pages of resources, a template, and a prompt.
#[derive(Clone, Default)]
struct Library {
    /// The clients that subscribe to a resource, each with the receiver of its changes.
    subscribers: Arc<Mutex<Vec<mpsc::UnboundedSender<()>>>>,
    /// The tasks of the connections.
    tasks: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Library {
    fn subscribed(&self) -> mpsc::UnboundedReceiver<()> {
        let (sender, changes) = mpsc::unbounded_channel();
        self.subscribers.lock().unwrap().push(sender);
        changes
    }

    async fn subscribers(&self, count: usize) {
        within(async {
            loop {
                self.subscribers.lock().unwrap().retain(|sender| !sender.is_closed());
                if self.subscribers.lock().unwrap().len() == count {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
    }

    fn endpoint(&self) -> McpEndpoint {
        let server = self.clone();
        McpEndpoint::streams_from(move || {
            let (near, far) = duplex(1 << 16);
            let connection = server.clone();
            let task = tokio::spawn(async move {
                let _ = serve_server(connection, far).await.unwrap().waiting().await;
            });
            server.tasks.lock().unwrap().push(task);
            async move { Ok(split(near)) }
        })
    }
}

impl ServerHandler for Library {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts();
        let capabilities = capabilities.enable_resources_subscribe().enable_resources_list_changed();
        ServerConfig::new(capabilities.build())
    }

    async fn subscribe(
        &self,
        params: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if params.uri != "file:///a" {
            return Err(ErrorData::resource_not_found("no such file", None));
        }
        let mut changes = self.subscribed();
        tokio::spawn(async move {
            while changes.recv().await.is_some() {
                let update = ResourceUpdatedNotificationParam::new(&params.uri);
                if context.peer.notify_resource_list_changed().await.is_err()
                    || context.peer.notify_resource_updated(update).await.is_err()
                {
                    return;
                }
            }
        });
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribers.lock().unwrap().clear();
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        accepted.resource_subscriptions.iter_mut().for_each(|uris| uris.retain(|uri| uri == "file:///a"));
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.subscribed();
        let sink = context.sink();
        let is_list = context.accepted().resources_list_changed == Some(true);
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                change = changes.recv() => match change {
                    None => return Ok(()),
                    Some(()) if is_list => drop(sink.notify_resource_list_changed().await),
                    Some(()) => drop(sink.notify_resource_updated("file:///a").await),
                }
            }
        }
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let is_first = page.and_then(|page| page.cursor).is_none();
        let resource = if is_first {
            Resource::new("file:///a", "a").with_description("The first\u{e0041} letter.")
        } else {
            Resource::new("file:///b", "b").with_mime_type("image/png")
        };
        let mut page = ListResourcesResult::with_all_items(vec![resource]);
        page.next_cursor = is_first.then(|| "2".to_owned());
        Ok(page)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![ResourceTemplate::new("file:///{name}", "any")]))
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = match params.uri.as_str() {
            "file:///a" => vec![ResourceContents::text("A\u{e0041}", "file:///a")],
            "file:///b" => vec![ResourceContents::blob("aGk=", "file:///b").with_mime_type("image/png")],
            "file:///" => {
                vec![ResourceContents::text("A", "file:///a"), ResourceContents::text("C", "file:///c")]
            }
            _ => return Err(ErrorData::resource_not_found("no such file", None)),
        };
        Ok(ReadResourceResult::new(contents).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let arguments = vec![PromptArgument::new("letter").with_required(true)];
        Ok(ListPromptsResult::with_all_items(vec![Prompt::new("spell", Some("Spells."), Some(arguments))]))
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let letter = params.arguments.unwrap_or_default()["letter"].as_str().unwrap().to_owned();
        let messages = vec![
            PromptMessage::new_text(Role::User, format!("Spell {letter}.")),
            PromptMessage::new_text(Role::Assistant, letter),
        ];
        Ok(GetPromptResult::new(messages).into())
    }
}

async fn connect_to(server: &Library, protocol: McpProtocol) -> McpClient {
    let backoff = McpBackoff::default().with_first(Duration::from_millis(20));
    let builder = McpClient::builder(server.endpoint()).namespace("files").backoff(backoff);
    within(builder.protocol(protocol).connect()).await.unwrap()
}

async fn connect(protocol: McpProtocol) -> McpClient {
    connect_to(&Library::default(), protocol).await
}

const PROTOCOLS: [McpProtocol; 2] = [McpProtocol::Stateless, McpProtocol::Handshake];

#[tokio::test]
async fn resources_are_listed_and_read() {
    for protocol in PROTOCOLS {
        let client = connect(protocol).await;
        let resources = within(client.resources()).await.unwrap();
        let uris: Vec<&str> = resources.iter().map(|resource| resource.uri.as_str()).collect();
        assert_eq!(uris, ["file:///a", "file:///b"]);
        assert_eq!(resources[0].description.as_deref(), Some("The first letter."));
        assert_eq!(resources[1].media_type.as_deref(), Some("image/png"));
        assert_eq!(within(client.resource_templates()).await.unwrap()[0].uri, "file:///{name}");
        assert_eq!(within(client.read_resource("file:///a")).await.unwrap(), [Content::text("A")]);
        let image = within(client.read_resource("file:///b")).await.unwrap();
        assert!(matches!(&image[..], [Content::Image(_)]), "{image:?}");
        let folder = within(client.read_resource("file:///")).await.unwrap();
        assert_eq!(
            folder,
            [Content::text("[resource file:///a]\nA"), Content::text("[resource file:///c]\nC")]
        );
        let error = within(client.read_resource("file:///x")).await.unwrap_err();
        assert_eq!(error.kind(), McpErrorKind::Protocol);
        let text = "MCP server `files`: the server refused `resources/read`: no such file (code ";
        assert!(error.to_string().starts_with(text), "{error}");
        client.close().await;
        assert_eq!(client.resources().await.unwrap_err().kind(), McpErrorKind::Connection);
    }
}

#[tokio::test]
async fn prompts_are_listed_and_filled_in() {
    for protocol in PROTOCOLS {
        let client = connect(protocol).await;
        let prompts = within(client.prompts()).await.unwrap();
        assert_eq!((prompts[0].name.as_str(), prompts[0].description.as_deref()), ("spell", Some("Spells.")));
        assert_eq!(
            (prompts[0].arguments[0].name.as_str(), prompts[0].arguments[0].is_required),
            ("letter", true)
        );
        let messages = within(client.prompt("spell", [("letter".to_owned(), "z".to_owned())])).await.unwrap();
        let messages: Vec<_> =
            messages.into_iter().map(|message| (message.is_from_model, message.content)).collect();
        assert_eq!(messages, [(false, Content::text("Spell z.")), (true, Content::text("z"))]);
        client.close().await;
    }
}

#[tokio::test]
async fn a_model_lists_and_reads_resources_with_tools() {
    let client = connect(McpProtocol::Auto).await;
    let mut registry = registry(&client);
    registry.register_provider(client.resource_tools().unwrap()).unwrap();
    let list = within(registry.call("files-list_resources", "{}")).await.unwrap();
    let expected = "file:///a (a; The first letter.)\nfile:///b (b; image/png)\nfile:///{name} (any)";
    assert_eq!(list.to_text(), expected);
    let read = within(registry.call("files-read_resource", json!({"uri": "file:///a"}))).await.unwrap();
    assert_eq!(read.to_text(), "A");
    let error = within(registry.call("files-read_resource", json!({"uri": "file:///x"}))).await.unwrap_err();
    assert!(
        error.message().contains("no such file") && error.message().contains("use a listed URI"),
        "{error}"
    );
    within(registry.call("files-read_resource", "{}")).await.unwrap_err();
}

#[tokio::test]
async fn changes_of_a_subscribed_resource_are_events_also_after_a_lost_connection() {
    for protocol in PROTOCOLS {
        let server = Library::default();
        let client = connect_to(&server, protocol).await;
        let mut events = client.events();
        // A stateless server has one more subscriber, for changes of the list.
        let lists = usize::from(protocol == McpProtocol::Stateless);
        let subscription = within(client.subscribe("file:///a")).await.unwrap();
        for _ in 0..2 {
            server.subscribers(lists + 1).await;
            server.subscribers.lock().unwrap().iter().for_each(|changed| changed.send(()).unwrap());
            let mut seen = [false; 2];
            while seen != [true; 2] {
                let is_update = event(&mut events, |event| match event {
                    McpEvent::ResourceUpdated { uri, .. } => Some(uri == "file:///a"),
                    McpEvent::ResourcesChanged => Some(false),
                    _ => None,
                });
                seen[usize::from(is_update.await)] = true;
            }
            server.tasks.lock().unwrap().drain(..).for_each(|task| task.abort());
            server.subscribers.lock().unwrap().clear();
            event(&mut events, |event| matches!(event, McpEvent::Reconnected { .. }).then_some(())).await;
        }
        server.subscribers(lists + 1).await;
        drop(subscription);
        server.subscribers(if lists == 1 { 1 } else { 0 }).await;
        let error = within(client.subscribe("file:///x")).await.unwrap_err().to_string();
        let text = match protocol {
            McpProtocol::Handshake => "the server refused `resources/subscribe`: no such file",
            _ => "the server announces no changes of `file:///x`",
        };
        assert!(error.contains(text), "{error}");
        client.close().await;
    }
}
